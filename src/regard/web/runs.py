"""Trainings on this machine, while they run and afterwards, and the models of this server."""

import os
import shlex
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as Segment

from regard import recipes
from regard.files import read
from regard.train import curve
from regard.train.curve import STEP, thin
from regard.web.errors import RefusedError
from regard.web.files import read_object, read_rows
from regard.web.models import Models
from regard.web.state import AppState

POINTS = 1000  # of a curve
SCORES = 20  # of a curve that a model keeps: each is a chart, and the file may be a stranger's


def router(state: AppState) -> APIRouter:
    """Runs below a folder, by name, and the zoo."""
    routes, folder, models = APIRouter(prefix="/api"), state.runs, state.models

    @routes.get("/runs")
    def runs() -> list[dict[str, Any]]:
        """Every run: what was asked for, and how far it is; then the models that kept the curve of theirs."""
        return [
            *(_describe(name, place) for name, place in list_runs(folder).items()),
            *(_describe_kept(name, model, models) for name, model in kept_curves(folder, models).items()),
        ]

    @routes.get("/runs/{name}/metrics")
    def metrics(
        name: Annotated[str, Segment(max_length=200)], after: Annotated[int, Query(ge=-1, le=2**53)] = -1
    ) -> dict[str, Any]:
        """What was measured behind a step, in at most a thousand rows; those with a score are all there."""
        kept = kept_curves(folder, models)
        place = models.folders[kept[name]] if name in kept else _find(name, folder)
        rows = [row for row in (_read_curve(place)[0] if name in kept else _rows(place)) if row["step"] > after]
        return {
            "rows": thin(rows, POINTS),
            "step": max((row["step"] for row in rows), default=max(after, 0)),
            "alive": name not in kept and _alive(place),
        }

    @routes.get("/zoo")
    def zoo() -> list[dict[str, Any]]:
        """The models of this server, with what was measured of them and the command that trained each."""
        return [_describe_model(about, models.card(about["name"])) for about in models.about()]

    return routes


def list_runs(folder: Path | None) -> dict[str, Path]:
    """The folders of runs by name."""
    if folder is None or not folder.is_dir():
        return {}
    return {path.parent.name: path.parent for path in sorted(folder.glob("*/recipe.json"))}


def kept_curves(folder: Path | None, models: Models) -> dict[str, str]:
    """The models that kept the curve of their training and whose run is not here, by a name that no run has."""
    runs = list_runs(folder)
    here = {(place / "model").resolve() for place in runs.values()}
    kept = [name for name, place in models.folders.items() if place not in here and (place / curve.NAME).is_file()]
    return {f"{name} (model)" if name in runs else name: name for name in kept}


def _read_curve(place: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows that a model kept, in their order, and which of its scores are better high."""
    found = read_object(place / curve.NAME)
    given, scores = found.get("rows"), found.get("scores")
    numbers = [
        {key: value for key, value in row.items() if type(value) in (int, float)}
        for row in (given if isinstance(given, list) else [])
        if isinstance(row, dict) and type(row.get("step")) is int
    ]
    shown = STEP.union(sorted({key for row in numbers for key in row.keys() - STEP})[:SCORES])
    rows = [{key: value for key, value in row.items() if key in shown} for row in numbers]
    rows.sort(key=lambda row: row["step"])
    return thin(rows, POINTS), scores if isinstance(scores, dict) else {}


def training_command(card: dict[str, Any]) -> str | None:
    """The command that trained a model, with the flags that differ from their defaults, where the card has them."""
    name, used = card.get("recipe"), card.get("trained_with")
    if not isinstance(name, str) or not isinstance(used, dict) or not used:
        return None
    known = {module.name for module in iter_modules(recipes.__path__)}
    recipe = getattr(import_module(f"regard.recipes.{name}"), "Recipe", None) if name in known else None
    if recipe is None:
        return None
    flags = [_flag(field.name, used.get(field.name), field.default) for field in fields(recipe)]
    return " ".join(["regard train", name, *filter(None, flags)])


def _flag(name: str, value: Any, default: Any) -> str:
    """A flag as one types it; nothing for what is so without it."""
    value = tuple(value) if isinstance(value, list) else value
    if value is None or value == default or isinstance(value, dict):
        return ""
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag} {shlex.join(map(str, value if isinstance(value, tuple) else (value,)))}"


def _describe_model(about: dict[str, Any], card: dict[str, Any]) -> dict[str, Any]:
    recipe, stages = card.get("recipe"), card.get("stages")
    trained = {
        "recipe": recipe if isinstance(recipe, str) else None,
        "stages": len(stages) if isinstance(stages, list) else 1,
    }
    return about | {"card": card, "command": training_command(card), "trained": trained}


def _find(name: str, folder: Path | None) -> Path:
    known = list_runs(folder)
    if name not in known:
        way = f"try {', '.join(list(known)[:3])}" if known else "none lies here; start one by regard train"
        raise RefusedError(404, f"no run is called {name!r}; {way}")
    return known[name]


def _describe(name: str, place: Path) -> dict[str, Any]:
    about, rows = read_object(place / "recipe.json"), _rows(place)
    flags, last = about.get("fields"), rows[-1] if rows else {}
    seconds, scores = last.get("seconds"), about.get("scores")
    card = read_object(place / "model/card.json")
    return {
        "name": name,
        "recipe": str(about.get("recipe", "")),
        "fields": flags if isinstance(flags, dict) else {},
        "steps": _count(flags.get("steps")) if isinstance(flags, dict) else None,
        "step": last.get("step", 0),
        "best": _best(rows, scores if isinstance(scores, dict) else {}),
        "minutes": round(seconds / 60, 1) if isinstance(seconds, int | float) else 0.0,
        "alive": _alive(place),
        "problem": _problem(place, about, rows),
        "card": card or None,
        "samples": _samples(place),
        "model": None,
    }


def _describe_kept(name: str, model: str, models: Models) -> dict[str, Any]:
    """A training as far as its model tells of it."""
    (rows, scores), card = _read_curve(models.folders[model]), models.card(model)
    flags, minutes, step = card.get("trained_with"), card.get("minutes"), rows[-1]["step"] if rows else 0
    return {
        "name": name,
        "recipe": str(card.get("recipe") or ""),
        "fields": flags if isinstance(flags, dict) else {},
        "steps": _count(step),
        "step": step,
        "best": _best(rows, scores),
        "minutes": minutes if isinstance(minutes, int | float) else 0.0,
        "alive": False,
        "problem": None if rows else f"{curve.NAME} has no row that can be read",
        "card": card or None,
        "samples": [],
        "model": model,
    }


def _best(rows: list[dict[str, Any]], scores: dict[str, Any]) -> dict[str, Any]:
    """The best value of each score, as it was written down."""
    best: dict[str, Any] = {}
    for row in rows:
        for score in row.keys() - STEP:
            value = row[score]
            if isinstance(value, int | float):
                better = max if scores.get(score) == "higher" else min
                best[score] = better(best.get(score, value), value)
    return best


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


def _problem(place: Path, about: dict[str, Any], rows: list[dict[str, Any]]) -> str | None:
    """What somebody spoilt in the folder of a run; the rest of it is shown all the same."""
    if not about:
        return "recipe.json cannot be read, so its flags are not known"
    measured = place / "metrics.jsonl"
    if not rows and measured.is_file() and measured.stat().st_size:
        return "metrics.jsonl has no line that can be read"
    return None


def _samples(place: Path) -> list[dict[str, str]]:
    """What the model last made of some held-out things."""
    rows = [row["samples"] for row in read_rows(place / "samples.jsonl") if isinstance(row.get("samples"), list)]
    shown = rows[-1] if rows else []
    return [{key: str(value) for key, value in each.items()} for each in shown if isinstance(each, dict)]


def _rows(place: Path) -> list[dict[str, Any]]:
    """What was measured, read again only when the file has changed."""
    try:
        about = (place / "metrics.jsonl").stat()
    except OSError:
        return []
    return _read_metrics(place, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=32)
def _read_metrics(place: Path, changed: int, size: int) -> list[dict[str, Any]]:  # noqa: ARG001 - both tell versions apart
    return list(read_rows(place / "metrics.jsonl"))


def _alive(place: Path) -> bool:
    """Whether the process that holds the folder is still there, and has something left to do."""
    if (place / "model").is_dir() or os.name != "posix":
        return False
    try:
        os.kill(int(read(place / ".lock", 20)), 0)
    except PermissionError:
        return True  # of somebody else
    except (OSError, ValueError, OverflowError):
        return False
    return _locked(place / ".lock")


def _locked(path: Path) -> bool:
    """Whether a training holds the lock; its number alone may be that of another process by now."""
    import fcntl

    try:
        file = path.open("rb")
    except OSError:  # the training has ended meanwhile, or it is somebody else's
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:  # it is held; or the file system has no locks
            return True
    return False
