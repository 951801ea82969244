"""The page's modules as one script, for places that fetch nothing: a notebook, a file that is sent away.

No tool is needed, since all modules are ours and formatted alike: each becomes a function that is called once and gives
what it exports; they come in the order in which they need each other.
"""

import re
from pathlib import Path, PurePosixPath

from regard.web.assets import PAGE

IMPORT = re.compile(r'^import\s+(?:\*\s+as\s+(?P<whole>\w+)|\{(?P<names>[^}]*)\})\s+from\s+"(?P<path>[^"]+)";\n', re.M)
EXPORT = re.compile(r"^export\s+(?P<kind>const|async function|function\*?|class)\s+(?P<name>\w+)", re.M)
OTHER = re.compile(r"^(import|export)\b.*$|(?<![.\w*{(])import\(", re.M)
COMMENT = re.compile(r"/\*\*.*?\*/|^\s*//[^\n]*$", re.S | re.M)  # most of them are types


def bundle(entry: str, folder: Path = PAGE / "js") -> str:
    """A script that does what a module does, with all that it imports; it refuses what it would get wrong."""
    done: dict[str, str] = {}
    _add(entry, folder, done, ())
    return '"use strict";\nconst modules = {};\n' + "".join(done.values())


def _add(name: str, folder: Path, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ValueError(f"{name} imports itself by way of {above[-1]}; take what both need into a third file")
    code = COMMENT.sub("", (folder / name).read_text(encoding="utf-8"))

    def take(found: re.Match[str]) -> str:
        path = _below(name, found["path"])
        _add(path, folder, done, (*above, name))
        wanted = found["whole"] or "{" + re.sub(r"\bas\b", ":", found["names"]) + "}"
        return f'const {wanted} = modules["{path}"];\n'

    code = IMPORT.sub(take, code)
    given = [found["name"] for found in EXPORT.finditer(code)]
    code = EXPORT.sub(lambda found: f"{found['kind']} {found['name']}", code)
    if odd := OTHER.search(code):
        raise ValueError(f"{name} says {odd[0]!r}, which no bundle can hold; import and export by name")
    code = re.sub(r"\n\s*\n+", "\n", code).strip()
    done[name] = f'modules["{name}"] = (() => {{\n{code}\nreturn {{ {", ".join(given)} }};\n}})();\n'


def _below(name: str, path: str) -> str:
    """A path relative to a module, as one relative to the folder."""
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
