"""uvicorn's protocol with limits for connections and for what clients send and read."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How long a client may take for the headers of a request. Bodies have a limit in asked.py."""

READ_SECONDS = 60.0
"""How long a client may take to read an answer."""

MOST_CONNECTIONS = 200
"""Open connections. Each holds a file, of which a process has 256 on macOS."""


class TimedProtocol(H11Protocol):
    """Closes connections beyond `MOST_CONNECTIONS`, those on which the headers of the next request
    are not there in time, and those whose client does not read: uvicorn waits without end."""

    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        # Writing is paused while anything waits to be sent.
        transport.set_write_buffer_limits(high=0)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cancel()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._cancel()
        super().resume_writing()

    def _cancel(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _await_request(self) -> None:
        self.loop.call_later(SECONDS, self._close_unless_asked, self.cycle)

    def _close_unless_asked(self, last: object) -> None:
        """last: the request that was the last when the time began."""
        if self.cycle is last and not self.transport.is_closing():
            self.transport.close()
