"""Questions as a page asks them, and what happens to them."""

import json
from typing import Any


def read_events(response: Any) -> list[dict[str, Any]]:
    """What happened to a question, event by event."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


def question(text: str = "La casa rossa.", **wishes: Any) -> dict[str, Any]:
    """A question as a page asks it: to `small`, unless another model is wished for."""
    pair, numbers, picture = (wishes.pop(name, None) for name in ("pair", "numbers", "picture"))
    given = {"pair": pair, "numbers": numbers, "picture": picture}
    named = {name: value for name, value in given.items() if value is not None} or {"text": text}
    model, edits = wishes.pop("model", "small"), wishes.pop("edits", [])
    return {"model": model, "input": named, "options": wishes, "edits": edits}
