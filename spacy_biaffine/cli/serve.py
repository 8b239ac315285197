"""``python -m spacy biaffine serve``."""

from typing import Annotated

import typer

LOOPBACK = ("127.0.0.1", "::1", "localhost")

ANY = {"0.0.0.0", "::"}
"""Addresses of no machine: all of this one's."""

PIPELINE = "en_biaffine_web_sm"
"""What is served where no other pipeline is named."""


def serve(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder or name of a pipeline")
    ] = PIPELINE,
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="Address; by default only this machine has access")
    ] = LOOPBACK[0],
    max_length: Annotated[
        int, typer.Option("--max-length", min=1, help="Most characters of a text")
    ] = 2000,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", help="A further name that browsers may ask for; repeatable"),
    ] = None,
) -> None:
    """Show what a pipeline makes of a sentence, on a page in the browser.

    Trees, roles, entities, relations, tags, and how sure the pipeline is of them; for programs as
    JSON, /openapi.json says how. Ctrl+C ends it.

    Example: python -m spacy biaffine serve training/model-best
    """
    from functools import partial

    import spacy
    from spacy.util import is_package
    from wasabi import msg

    try:
        import uvicorn

        from ..serve.app import make_app
        from ..serve.protocol import TimedProtocol
    except ImportError as error:
        msg.fail(f"{error}. The page needs: pip install -e '.[serve]' in a clone", exits=1)
    if model == PIPELINE and not is_package(PIPELINE):
        msg.fail(
            f"{PIPELINE} is not installed",
            "Install its wheel (docs/pipeline.md), or name another pipeline: "
            "python -m spacy biaffine serve MODEL",
            exits=1,
        )
    try:
        names = _names(host) | {name.lower() for name in allowed_hosts or ()}
        app = make_app(partial(spacy.load, model), max_length=max_length, names=names)
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    if host not in LOOPBACK:
        msg.warn(
            f"Whoever can reach this machine at {host} can use this page: it has no password and "
            f"no encryption.",
            f"It answers under addresses in numbers and under {', '.join(sorted(names - ANY))}. "
            f"For another name: --allowed-host NAME",
        )
    msg.good(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        http=TimedProtocol,
    )


def _names(host: str) -> set[str]:
    """Under which the page may be asked for: the address it was started with, and where that is
    open to others, this machine's names."""
    import socket

    names = {host.lower()}
    if host not in LOOPBACK:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return names
