"""A connection over which no request comes: it is closed, so that silent ones cannot keep others out."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.web import guard


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, which itself waits for the first request without end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(guard.PATIENCE, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()
