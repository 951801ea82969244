"""Claims for the page: sentence and experiment, what was found, and the figure as numbers that the page draws."""

from dataclasses import asdict
from typing import Any, Literal, TypedDict

from fastapi import APIRouter

from regard.claims.claim import Claim, Result, claim, claims, load
from regard.claims.plot import read_panels
from regard.lectures import named_in
from regard.web.errors import RefusedError
from regard.web.state import AppState


class Scale(TypedDict):
    """Where a guess of a number may lie."""

    least: float
    most: float
    kind: Literal["even", "log"]


def _even(least: float | int, most: float | int) -> Scale:
    return {"least": least, "most": most, "kind": "even"}


def _log(least: float | int, most: float | int) -> Scale:
    return {"least": least, "most": most, "kind": "log"}


SHARE = _even(-1, 1)  # more or less of all answers, which is what most claims count
SCALES: dict[str, Scale] = {
    "bottleneck": _even(-20, 80),
    "distilled": _even(0, 1.5),
    "finetuning": _log(0.1, 1000),
    "future": _log(0.1, 1000),
    "memory": _even(0, 3),
    "near_and_far": _even(0, 2),
    "patches": _even(0, 2),
    "privileged": _even(-20, 60),
    "recall": _even(-1.5, 1.5),
    "room": _even(0, 90),
    "scale": _log(0.0001, 10),
    "sensors": _even(-5, 30),
    "sequential": _log(0.1, 1000),
    "steadier": _log(0.1, 10),
    "table1": _even(0, 12),
}


def router(_: AppState) -> APIRouter:
    """All claims in short, and each of them in full."""
    routes = APIRouter(prefix="/api/claims")

    @routes.get("")
    def every() -> list[dict[str, Any]]:
        """Every claim: its sentence and its experiment, and the verdict with its number where it was run."""
        return [describe(one, load(one.name)) for one in claims().values()]

    @routes.get("/{name}")
    def single(name: str) -> dict[str, Any]:
        """One claim with all that was measured, and its figure as numbers."""
        try:
            one = claim(name[:100])
        except ValueError as error:
            raise RefusedError(404, str(error)) from None
        result = load(one.name)
        found = {"numbers": result.numbers, "figure": read_panels(result.figure)} if result else {}
        return describe(one, result) | {"numbers": None, "figure": None} | found

    return routes


def pages() -> tuple[str, ...]:
    """All that a site without a server needs, by the address that it is asked for."""
    return "/api/claims", *(f"/api/claims/{name}" for name in claims())


def describe(one: Claim, result: Result | None) -> dict[str, Any]:
    """A claim and what was found about it; a claim that was not run yet has no verdict."""
    return asdict(one) | {
        "decks": named_in(one.deck),
        "command": f"regard claim run {one.name}",
        "scale": SCALES.get(one.name, SHARE),
        "verdict": result.verdict if result else None,
        "number": result.number if result else None,
        "interval": list(result.interval) if result else None,
        "summary": result.summary if result else None,
        "text": result.says if result else None,
        "seeds": len(result.seeds) if result else one.seeds,
        "minutes": result.minutes if result else None,
        "conditions": result.conditions if result else None,
    }
