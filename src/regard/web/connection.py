"""Connections that wait for their client: they are closed, so that those who say nothing cannot keep others out."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.web import guard

CROWD = 1000  # connections from which on room is made for others
YOUNG = 1.0  # seconds that a connection has in any case


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, which itself waits for a client without end."""

    began = 0.0  # when its client was first waited for
    heard = False  # whether all that the client had said a second after that has been read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()
        self.loop.call_later(guard.PATIENCE, self._close_silent)
        if len(self.connections) > CROWD:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        if self.cycle is not None and self.cycle.response_complete:  # another request
            self._begin()
        super().data_received(data)

    def _begin(self) -> None:
        self.began, self.heard = self.loop.time(), False
        # A timer runs behind whatever has come in before it, also in a loop that is late.
        self.loop.call_later(YOUNG, self._have_heard)

    def _have_heard(self) -> None:
        self.heard = True

    def _close_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def _make_room(self) -> None:
        """Close those whose clients do not go on, the oldest first."""
        mine = (each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing())
        idle = sorted((each for each in mine if each._is_idle() or each._is_stuck()), key=lambda each: each.began)
        for each in idle[: len(self.connections) - CROWD]:
            if each._is_stuck():
                each.transport.abort()
            else:
                each.transport.close()

    def _is_idle(self) -> bool:
        """Whether its client has not finished its question, or has its answer and asks nothing more."""
        return self.heard and (self.cycle is None or self.cycle.more_body or self.cycle.response_complete)

    def _is_stuck(self) -> bool:
        """Whether its client does not read what it is sent."""
        return self.transport.get_write_buffer_size() > 0 and self.loop.time() - self.began > guard.PATIENCE
