"""Who may ask: a page in the browser must not be reached through another one."""

from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Refuses requests that a foreign page has made the browser send.

    A foreign name that was pointed at this machine stands in the header Host (DNS rebinding): 421
    for names that are not in `names`; addresses in numbers can't be pointed elsewhere, and pass. A
    form on a foreign page sends its own Origin: 403 unless that is the Host.

    names: under which the page may be asked for, in lower case.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app = app
        self.names = frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origin = headers.get("host", ""), headers.get("origin")
            if not self._is_known(host):
                known = ", ".join(sorted(self.names))
                app = PlainTextResponse(f"This page is at {known}, not at {host}.\n", 421)
            elif origin is not None and origin.partition("://")[2] != host:
                app = PlainTextResponse("Only this page itself may send a form here.\n", 403)
        await app(scope, receive, send)

    def _is_known(self, host: str) -> bool:
        name = host_name(host)
        return name in self.names or _is_address(name)


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
