"""uvicorn's protocol with a time limit for what a client sends first."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How long a client may take for the headers of a request. Bodies have a limit in app.py."""


class TimedProtocol(H11Protocol):
    """Closes connections on which the headers of the next request are not there in time: uvicorn
    waits for them without end, and each holds a file."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def _await_request(self) -> None:
        self.loop.call_later(SECONDS, self._close_unless_asked, self.cycle)

    def _close_unless_asked(self, last: object) -> None:
        """last: the request that was the last when the time began."""
        if self.cycle is last and not self.transport.is_closing():
            self.transport.close()
