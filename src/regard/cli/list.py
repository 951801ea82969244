"""List the parts that models are made of, the models, the tasks, and the bundled trained models.

Each part is shown as you would call it, with the first sentence of what it says about itself; a model with the fields
of its Config and the names of its sizes, which `regard.models.build` makes. Without a kind, the kinds are counted.

    regard list                    the kinds, and how many there are of each
    regard list masks              who may see whom
    regard list attentions --json  the equation and its modules, for programs
    regard list zoo                trained models, with what was measured of them
"""

import ast
import json
import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from regard import plugins
from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, CYAN, DIM, ink
from regard.cli.source import PACKAGE, assigns, constant, definitions, keys, parse_file, sentence, signature
from regard.names import unknown
from regard.zoo import card as read_card

GROUP = "Reference"

# What each kind is, and the files it is read from. A leading minus takes files away again.
KINDS = {
    "models": ("one file each, one paper each; yours too", ["models/*.py", "-models/family.py"]),
    "tasks": ("one file each: call, evaluate, look inside; yours too", ["pipelines/*.py"]),
    "attentions": ("the equation and its modules", [f"attention/{name}.py" for name in ("attention", "core", "hard")]),
    "biases": ("what is added to the scores", ["attention/bias.py"]),
    "masks": ("who may see whom", ["attention/masks.py"]),
    "partitions": ("which tokens of an image are grouped", ["attention/partition.py"]),
    "positions": ("where a token stands", ["layers/position/*.py"]),
    "layers": ("what is not attention", ["layers/**/*.py", "-layers/position/*.py"]),
    "zoo": ("bundled trained models", ["zoo/*/card.json"]),
}


@dataclass(frozen=True, slots=True)
class Flags:
    kind: Annotated[Positional[str], arg(metavar="KIND")] = ""
    """models, tasks, attentions, biases, masks, partitions, positions, layers or zoo."""
    json: bool = False
    """Print JSON instead of text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A class, a function or a model, as its source describes it."""

    name: str
    signature: str
    summary: str
    module: str


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model, as its card describes it."""

    name: str
    summary: str
    megabytes: float
    card: dict[str, object]


def main(flags: Flags) -> None:
    """Print the parts of a kind, or the kinds."""
    if not flags.kind:
        counts = {kind: len(parts(kind)) for kind in KINDS}
        print(json.dumps(counts, indent=2) if flags.json else "\n".join(_kind(kind, counts[kind]) for kind in KINDS))
        return
    if flags.kind not in KINDS:
        raise UsageError(unknown("kind", flags.kind, KINDS))
    found = parts(flags.kind)
    if flags.json:
        print(json.dumps([asdict(part) for part in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(map(_format, found)) or ("the zoo is empty" if flags.kind == "zoo" else f"no {flags.kind} yet"))


def parts(kind: str) -> list[Part | Trained]:
    """Every part of a kind, file by file."""
    readers: dict[str, Callable[[Path], Sequence[Part | Trained]]] = {
        "models": _model,
        "tasks": _task,
        "zoo": _read_bundled,
    }
    own = plugins.paths() if kind in ("models", "tasks") and plugins.modules() else []  # one that is broken says so
    return [part for path in [*_files(KINDS[kind][1]), *own] for part in readers.get(kind, _public)(path)]


def _files(patterns: list[str]) -> list[Path]:
    found = {path: None for pattern in patterns if pattern[0] != "-" for path in sorted(PACKAGE.glob(pattern))}
    taken = {path for pattern in patterns if pattern[0] == "-" for path in PACKAGE.glob(pattern[1:])}
    return [path for path in found if path not in taken and path.name != "__init__.py"]


def _model(path: Path) -> list[Part]:
    """A model is its file; what can be chosen about it are the fields of its Config."""
    tree = parse_file(path)
    if not assigns(tree, "FAMILY"):
        return []
    config = next((node for node in definitions(tree) if node.name == "Config"), None)
    sizes = f" Sizes: {', '.join(named)}." if (named := keys(tree, "PRESETS")) else ""
    return [Part(path.stem, signature(config, tree) if config else "", sentence(tree) + sizes, _module(path))]


def _task(path: Path) -> list[Part]:
    """A task is its file; what goes in and what comes out stand in its class."""
    tree = parse_file(path)
    if not assigns(tree, "PIPELINE"):
        return []
    for kind in (node for node in definitions(tree) if isinstance(node, ast.ClassDef)):
        for line in kind.body:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "(task, takes, gives)":
                task, takes, gives = ast.literal_eval(line.value)
                return [Part(task, f"{takes} → {gives}", sentence(tree), _module(path))]
    return []


def _read_bundled(path: Path) -> list[Trained]:
    """A model of the zoo is its folder, and what is known about it stands in its card."""
    folder = path.parent
    if folder.name.startswith("."):
        return []
    card = read_card(folder)
    measured = card.get("measured") or {}
    facts = [
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in measured.items()
    ]
    told = " ".join(f"{part}." for part in (str(card.get("title", "")).rstrip("."), ", ".join(facts)) if part)
    size = sum(each.stat().st_size for each in folder.iterdir() if each.is_file())
    return [Trained(folder.name, told or "It has no card.", round(size / 1e6, 1), card)]


def _public(path: Path) -> list[Part]:
    """What a package exports of a file, or every public name where it does not say."""
    tree, package = parse_file(path), path.parent / "__init__.py"
    exported = constant(parse_file(package), "__all__") if package.exists() else None
    return [
        Part(node.name, signature(node, tree), sentence(node), _module(path))
        for node in definitions(tree)
        if not isinstance(exported, list | tuple) or node.name in exported
    ]


def _module(path: Path) -> str:
    if not path.is_relative_to(PACKAGE):
        return str(path)  # a plugin
    return ".".join(("regard", *path.relative_to(PACKAGE).with_suffix("").parts))


def _kind(kind: str, count: int) -> str:
    return f"{ink(kind.ljust(11), CYAN)} {count:>3}  {ink(KINDS[kind][0], DIM)}"


def _format(part: Part | Trained) -> str:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    shown = f"({part.signature})" if isinstance(part, Part) else f"  {part.megabytes:.1f} MB"
    call = textwrap.wrap(f"{part.name}{shown}", width, subsequent_indent="  ")
    head = "\n".join(call).replace(part.name, ink(part.name, BOLD, CYAN), 1)
    return "\n".join((head, *textwrap.wrap(part.summary, width, initial_indent="    ", subsequent_indent="    ")))
