"""The lines of our own code that compute a step, for the page that explains them."""

import ast
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

import regard
from regard.web.errors import RefusedError
from regard.web.state import AppState

PACKAGE = Path(regard.__file__).parent
SHOWN = ("attention", "layers", "layers/position")
PARSING = Lock()  # Python 3.11 may crash where two threads parse at once (cpython#106905)


class Source(BaseModel):
    """A function or a class, and where it stands."""

    name: str
    path: str
    first: int
    last: int
    code: str


def router(_: AppState) -> APIRouter:
    """One definition by its name."""
    routes = APIRouter(prefix="/api")

    @routes.get("/source")
    def source(name: Annotated[str, Query(max_length=200)]) -> Source:
        """The code of a definition, such as attention.core.weigh or attention.core.Additive.forward."""
        with PARSING:
            known = definitions()
        if name not in known:
            near = [each for each in known if each.rpartition(".")[2] == name.rpartition(".")[2]] or list(known)[:3]
            raise RefusedError(404, f"no code is shown under {name!r}; try {', '.join(near[:3])}")
        return known[name]

    return routes


@cache
def definitions() -> dict[str, Source]:
    """Everything that is shown, by its dotted name; requests are compared with these names only."""
    found: dict[str, Source] = {}
    for path in (path for folder in SHOWN for path in sorted((PACKAGE / folder).glob("*.py"))):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            _collect(found, module, node, path, text.splitlines())
    return found


def _collect(found: dict[str, Source], above: str, node: ast.stmt, path: Path, lines: list[str]) -> None:
    if not isinstance(node, ast.ClassDef | ast.FunctionDef):
        return
    name, last = f"{above}.{node.name}", node.end_lineno or node.lineno
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    code = "\n".join(lines[first - 1 : last])
    shown = f"src/regard/{path.relative_to(PACKAGE).as_posix()}"
    found[name] = Source(name=name, path=shown, first=first, last=last, code=code)
    for inner in node.body if isinstance(node, ast.ClassDef) else ():
        _collect(found, name, inner, path, lines)
