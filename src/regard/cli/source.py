"""Read what Python files say about themselves without running them, so that an answer never waits for torch."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

Definition = ast.ClassDef | ast.FunctionDef


def parse_file(path: Path) -> ast.Module:
    """The syntax tree of a file; a file that does not parse, such as one half written, says nothing."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def constant(tree: ast.Module, name: str) -> object:
    """The value of a module-level `NAME = literal`, or None."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return ast.literal_eval(node.value)
    return None


def assigns(tree: ast.Module, name: str) -> bool:
    """Whether a module has a `NAME = …` at its top."""
    return any(
        isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        for node in tree.body
    )


def keys(tree: ast.Module, name: str) -> list[str]:
    """The keys of a module-level `NAME = {"key": …}`, whatever their values are."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == name:
                return [str(key.value) for key in node.value.keys if isinstance(key, ast.Constant)]
    return []


def sentence(node: ast.Module | Definition) -> str:
    """The first sentence of a docstring; a citation alone, such as `Vaswani 2017.`, takes the next one along."""
    paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph)  # not between "eq." and its number
    return " ".join(sentences[: 2 if len(sentences[0].split()) < 3 else 1])


def definitions(tree: ast.Module) -> list[Definition]:
    """The classes and functions of a module that do not begin with an underscore."""
    return [n for n in tree.body if isinstance(n, Definition) and not n.name.startswith("_")]


def signature(node: Definition, tree: ast.Module) -> str:
    """What to write between the brackets: names and defaults, without types."""
    if isinstance(node, ast.FunctionDef):
        return _arguments(node.args)
    bases = _with_bases(node, tree)
    for each in bases:
        for method in each.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                return _arguments(method.args)
    # Without a constructor of its own it is a dataclass, whose fields come base first.
    fields = [field for each in reversed(bases) for field in each.body if isinstance(field, ast.AnnAssign)]
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        fields = []
    return ", ".join(ast.unparse(field.target) + _default(field.value) for field in fields)


def _default(value: ast.expr | None) -> str:
    """The default of a field of a dataclass, also where `field(default=…)` says it."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "field":
        said = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
        made = f"={said['default_factory']}()" if "default_factory" in said else ""
        return f"={said['default']}" if "default" in said else made
    return f"={ast.unparse(value)}" if value else ""


def _with_bases(node: ast.ClassDef, tree: ast.Module) -> list[ast.ClassDef]:
    """A class and those of its bases that the same file defines, nearest first."""
    known = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    bases = [known[b.id] for b in node.bases if isinstance(b, ast.Name) and b.id in known]
    return [node, *(each for base in bases for each in _with_bases(base, tree))]


def _arguments(arguments: ast.arguments) -> str:
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    for argument in filter(None, (arguments.vararg, arguments.kwarg)):
        argument.annotation = None
    positional = arguments.posonlyargs or arguments.args
    if positional and positional[0].arg == "self":
        del positional[0]
    return ast.unparse(arguments)
