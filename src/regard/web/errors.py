"""What the server answers when it does not answer."""

from collections.abc import Mapping

from pydantic import BaseModel


class Problem(BaseModel):
    """Why a request was refused: the value, the rule and the way out, in one sentence."""

    error: str


class RefusedError(Exception):
    """A request that is answered by a sentence."""

    def __init__(self, status: int, error: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(error)
        # What somebody typed may hold half a character, which no answer can.
        self.status, self.error = status, error.encode("utf-8", "replace").decode()
        self.headers = dict(headers or {})
