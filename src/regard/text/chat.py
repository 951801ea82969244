"""Chat templates: who said what, laid out as a model was trained to read it.

A template is a program that came with a stranger's model. It runs in Jinja's sandbox, where nothing is changed and no
attribute beyond plain data is reached, and every loop, call and text is counted: it ends, and it stays small.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

TEMPLATE = 100_000  # characters of a template
TEXT = 1_000_000  # characters of anything it makes
STEPS = 200_000  # items, calls and pieces that it may take in all
SECONDS = 5.0  # that it may take
WHOLE = 2**63  # no number is larger

Message = Mapping[str, Any]  # as {"role": "user", "content": "Hello"}

# Methods and filters that templates use and whose cost is that of what they are given.
_METHODS = {
    *("strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition", "startswith"),
    *("endswith", "upper", "lower", "title", "capitalize", "swapcase", "find", "rfind", "index", "count"),
    *("removeprefix", "removesuffix", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric"),
    *("get", "items", "keys", "values", "replace", "join"),
}
_FILTERS = {
    *("trim", "length", "count", "upper", "lower", "capitalize", "title", "default", "d", "first", "last", "list"),
    *("string", "int", "float", "abs", "items", "map", "select", "selectattr", "reject", "rejectattr", "safe", "e"),
    *("escape", "sort", "unique", "dictsort", "reverse", "min", "max", "round"),
}


def render(
    template: str,
    messages: Sequence[Message],
    *,
    start: str = "",
    stop: str = "",
    answer: bool = True,
) -> str:
    """The text of a conversation by a template; with `answer`, it ends where the model is to speak.

    `start` and `stop` are what the tokenizer's tokens for the beginning and the end of a text are called.
    """
    if len(template) > TEMPLATE:
        raise ValueError(f"a chat template of {len(template):,} characters is too long; at most {TEMPLATE:,} are read")
    sandbox = _Sandbox()
    try:
        tree = _Counted().visit(sandbox.parse(template))
        program = sandbox.template_class.from_code(sandbox, sandbox.compile(tree), sandbox.globals)
        given = {
            "messages": [dict(each) for each in messages],
            "bos_token": start,
            "eos_token": stop,
            "add_generation_prompt": answer,
            "tools": None,
            "documents": None,
        }
        return sandbox.join(program.generate(given))
    except jinja2.TemplateError as error:
        raise ValueError(f"this model's chat template cannot be followed: {error}") from None
    except (ArithmeticError, LookupError, AttributeError, TypeError, ValueError, RecursionError, MemoryError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"this model's chat template fails: {said[:300]}") from None


class _Generation(Extension):
    """`{% generation %}` marks what the assistant says, for training; here it changes nothing."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja reads it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox that counts what is done in it, and does no operation whose result is far larger than what it takes."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation])
        self.left, self.end = STEPS, time.monotonic() + SECONDS
        own: dict[str, Callable[..., Any]] = {"tojson": self.to_json, "join": self.filter_join, "replace": self.replace}
        self.filters = {name: self.counting(each) for name, each in self.filters.items() if name in _FILTERS} | own
        self.globals = {
            "range": self.range,
            "namespace": self.globals["namespace"],
            "raise_exception": _refuse,
            "strftime_now": lambda form: datetime.now().strftime(str(form)[:100]),
        }

    def spend(self, steps: int = 1) -> None:
        """Count what is done."""
        self.left -= steps
        if self.left < 0:
            raise SecurityError(f"it takes more than {STEPS:,} steps")
        if time.monotonic() > self.end:
            raise SecurityError(f"it takes more than {SECONDS:.0f} seconds")

    def bound(self, size: int) -> None:
        """Refuse what would be too large, before it is made."""
        if size > TEXT:
            raise SecurityError(f"it makes a text of more than {TEXT:,} characters")
        self.spend(size // 64)

    def join(self, parts: Iterable[Any], between: str = "") -> str:
        """Parts one behind another: `~`, the filter and the method, and the text as a whole."""
        said, size = [], 0
        for part in parts:
            said.append(str(part))
            size += len(said[-1]) + len(between)
            self.spend()
            if size > TEXT:
                break
        self.bound(size)
        return between.join(said)

    def filter_join(self, parts: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
        return self.join((self.getitem(part, attribute) for part in parts) if attribute is not None else parts, str(d))

    def replace(self, text: str, old: str, new: str, count: int = -1) -> str:
        text, old, new = str(text), str(old), str(new)
        self.bound(len(text) + (text.count(old) if count < 0 else min(count, text.count(old))) * len(new))
        return text.replace(old, new, count)

    def to_json(self, value: Any, indent: int | None = None, ensure_ascii: bool = False, **_: Any) -> str:
        deep = None if indent is None else min(max(int(indent), 0), 8)
        return self.join(json.JSONEncoder(indent=deep, ensure_ascii=ensure_ascii).iterencode(value))

    def range(self, *edges: int) -> range:
        found = range(*edges)
        self.spend(len(found))
        return found

    def walk(self, items: Any) -> list[Any]:
        """What a loop goes through."""
        found = list(islice(items, self.left + 1))
        self.spend(len(found))
        return found

    def hold(self, value: Any) -> Any:
        """What a template has made, counted with all that is inside: a list of two of itself, 60 times, has no end."""
        inside, seen = [value], 0
        while inside and seen <= self.left:
            seen += 1
            part = inside.pop()
            if isinstance(part, Namespace):
                part = object.__getattribute__(part, "_Namespace__attrs")
            if isinstance(part, dict):
                inside += [*part.keys(), *part.values()]
            elif isinstance(part, list | tuple):
                inside += part
        self.spend(seen)
        return value

    def counting(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that costs as much as it is given."""

        def count(*args: Any, **options: Any) -> Any:
            for each in args:
                self.spend(
                    len(each) // 64 + 1 if isinstance(each, str) else len(each) if hasattr(each, "__len__") else 1
                )
            return inner(*args, **options)

        for mark in ("jinja_pass_arg", "contextfilter", "environmentfilter"):
            if hasattr(inner, mark):
                setattr(count, mark, getattr(inner, mark))
        return count

    def call(self, context: Any, function: Any, /, *args: Any, **options: Any) -> Any:
        for each in (*args, *options.values()):
            self.hold(each)
        own, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(own, str):
            self.spend(len(own) // 64)
            if name == "join":
                return self.join(args[0] if args else (), own)
            if name == "replace":
                return self.replace(own, *args)
        return super().call(context, function, *args, **options)

    def wrap_str_format(self, value: Any) -> None:
        """Formats may ask for any width, so that there are none here."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str | list | tuple | dict | int | float):
            return attr in _METHODS
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        self.spend()
        for one, other in ((left, right), (right, left)):
            if isinstance(one, int) and abs(one) >= WHOLE:
                raise SecurityError(f"it counts beyond {WHOLE:,}")
            if isinstance(one, str | list | tuple):
                self._check_text(operator, one, other)
        if operator == "**":
            raise SecurityError("it takes powers")
        return self.binop_table[operator](left, right)

    def _check_text(self, operator: str, text: Sequence[Any], other: Any) -> None:
        if operator == "%":
            raise SecurityError("it formats by %")
        size = len(other) if operator == "+" and hasattr(other, "__len__") else 0
        self.bound(len(text) * other if operator == "*" and isinstance(other, int) else len(text) + size)


class _Counted(NodeTransformer):
    """A template whose loops and joined texts pass through the sandbox."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - as Jinja calls it
        if node.recursive:
            raise SecurityError("it has a recursive loop")
        made = self.generic_visit(node)
        node.iter = _ask("walk", node.iter)
        return made

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return _ask("hold", self.generic_visit(node))

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _ask("hold", self.generic_visit(node))

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        made = self.generic_visit(node)
        return _ask("hold", made) if node.ctx == "load" else made

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        made: Any = self.generic_visit(node)
        return _ask("join", nodes.List(made.nodes, lineno=node.lineno))


def _ask(name: str, what: Any) -> nodes.Call:
    """A call of a method of the sandbox."""
    line = what.lineno
    return nodes.Call(nodes.EnvironmentAttribute(name, lineno=line), [what], [], None, None, lineno=line)


def _refuse(message: object) -> None:
    raise jinja2.TemplateError(str(message)[:300])
