"""What was looked at, inside a notebook: the explorer's bench on it, in one piece that needs nothing else.

    regard.show(regard.load("de-en").attend("Ein Hund läuft."))
    regard.show(hf_model, tokenizer, "The dog sleeps.")

    with regard.record(model) as trace:
        model(ids)
    regard.show(trace, rows=words)

Nothing is fetched, so that a notebook that is sent away shows the same; where scripts do not run, every head is there
as a picture.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from regard.analysis.figure import Panel, svg
from regard.analysis.reading import Reading, find_kind, read_layer
from regard.analysis.view import Axis, View, Views, shrink
from regard.text.words import Words
from regard.web.assets import PAGE
from regard.web.bundle import bundle

if TYPE_CHECKING:
    from regard.attention import Trace

CELLS = 40  # words on a side that are drawn one by one, with their names; beyond, a head is a picture
WIDE, TALL = 4, 256  # heads side by side, and pixels of such a picture
MOST = 8_000_000  # weights in a page, two bytes each: a ViT-B has 6 million, 30 layers on 100 words 3 million


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A trace to look at: a notebook draws it, `html` is the same as text, and `views` is what a file can hold."""

    views: Views

    def html(self) -> str:
        """The whole page: pictures of all heads, which the bench takes the place of where scripts run."""
        parts = [_attention(view, unfolded=i == 0) for i, view in enumerate(self.views.views)]
        title = escape(self.views.title)
        # No text of a model can end the element that holds the numbers.
        data = json.dumps(self.views.to_json("f16"), ensure_ascii=False).replace("<", "\\u003c")
        return (
            '<!doctype html><html lang="en" data-static><meta charset="utf-8">'
            f'<meta name="color-scheme" content="light dark"><title>{title}</title><style>{_style()}</style>'
            f'<body><main><div id="room" class="room room-file plain"><h1>{title}</h1>{"".join(parts)}</div></main>'
            f'<script type="application/json" id="views">{data}</script>'
            f'<script type="module">{_script()}</script></body></html>'
        )

    def _repr_html_(self) -> str:
        # In a frame of its own, which keeps its style to itself and reaches nothing of the page around it.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.html())}" '
            f'title="{escape(self.views.title)}" style="width:100%;height:40rem;border:0" loading="lazy"></iframe>'
        )

    def __repr__(self) -> str:
        names = ", ".join(view.name for view in self.views.views)
        return f"Shown({names})"


PLAIN = (  # where no script runs
    ".plain h1{font-size:17px;margin:4px 0 8px}.plain summary{cursor:pointer;padding:4px 0}"
    ".plain summary small{opacity:.7}.plain figure{display:inline-block;margin:0 12px 12px 0}"
    ".plain figcaption{font-size:13px;opacity:.7}.plain svg{max-width:100%;height:auto}"
    ".plain img{image-rendering:pixelated;background:#eee}.room{padding:.5rem}"
)


@cache
def _style() -> str:
    """The page's own style but for its letters, which a notebook would have to carry each time."""
    names = ("ink", "frame", "rooms", "views", "bench")
    return "".join((PAGE / f"style/{name}.css").read_text(encoding="utf-8") for name in names) + PLAIN


@cache
def _script() -> str:
    """The bench as one script; it holds no tag that would end it."""
    return bundle("notebook.js").replace("</", "<\\/")


def show(
    what: "Reading | Trace | Any",
    rows: "Sequence[str] | Any" = None,
    columns: Sequence[str] | str | None = None,
    *,
    names: Sequence[str] | None = None,
    example: int = 0,
    title: str = "Attention",
) -> Shown:
    """Look at a reading or a trace in a notebook: one example of the batch, all its attentions or those `names`.

    A reading of a pipeline's `attend` knows its words. A model of `transformers` is shown by `show(model, tokenizer,
    text)`: it runs once, watched. Of a trace, `rows` are the words that asked and `columns` those
    that were looked at, which are the same if left out; they name the attentions that are as long, and places are
    numbered elsewhere.
    """
    from torch import nn

    from regard.attention import Trace

    if isinstance(what, nn.Module):
        what, rows, columns = _watch(what, rows, columns), None, None
    if not isinstance(what, Reading | Trace):
        raise TypeError(
            f"{what!r:.80} is no Reading, Trace or model; give what regard.load(name).attend(text) returns, the trace "
            f"of `with regard.record(model) as trace`, or a model, its tokenizer and a text"
        )
    known = [each.name for each in what.maps] if isinstance(what, Reading) else list(what)
    wanted = known if names is None else list(names)
    if not wanted:
        raise ValueError("nothing has looked in this trace; run the model inside the scope of record")
    see = _of_reading(what) if isinstance(what, Reading) else _of_trace(what, rows, columns, example)
    views, held = list[View](), 0
    for name in wanted:
        view = see(name)
        held += view.weights.size
        if held > MOST:
            raise ValueError(
                f"{len(wanted)} attentions have more than {MOST:,} weights, too many for one page; name some of "
                "them by names=[…], or give a shorter text"
            )
        views.append(view)
    return Shown(Views((what.caption or title) if isinstance(what, Reading) else title, tuple(views)))


def _watch(model: Any, tokenizer: Any, text: Any) -> Reading:
    """Run a model once on a text."""
    from regard.pipelines import load

    if tokenizer is None or not isinstance(text, str):
        raise TypeError(
            "a model is shown with its tokenizer and a text: regard.show(model, tokenizer, 'The dog sleeps.')"
        )
    return load(model, tokenizer=tokenizer).attend(text)


def _of_reading(reading: Reading) -> Callable[[str], View]:
    return lambda name: reading.view(name, words=True)


def _of_trace(
    trace: "Trace", rows: Sequence[str] | None, columns: Sequence[str] | None, example: int
) -> Callable[[str], View]:
    def view(name: str) -> View:
        every = trace.map(name)
        if not 0 <= example < len(every):
            raise ValueError(f"there is no example {example} in a batch of {len(every)}; count from 0")
        weights: np.ndarray = every[example].float().cpu().numpy()
        return View(
            name,
            _axis(rows, weights.shape[1]),
            _axis(rows if columns is None else columns, weights.shape[2]),
            weights,
            kind=find_kind(name, weights),
            layer=read_layer(name),
            heads=len(weights),
        )

    return view


def _axis(words: Sequence[str] | None, count: int) -> Words:
    fits = words is not None and len(words) == count
    return Words.whole(words if fits and words is not None else [str(i) for i in range(count)])


def _labels(axis: Axis) -> tuple[str, ...]:
    return axis.pieces if isinstance(axis, Words) else tuple(str(i) for i in range(len(axis)))


def _attention(view: View, *, unfolded: bool) -> str:
    rows, columns = len(view.rows), len(view.columns)
    picture = _draw(view) if max(rows, columns) <= CELLS else "".join(map(_picture, range(view.heads), view.weights))
    about = f"{view.heads} heads, {rows} × {columns}" if view.heads > 1 else f"{rows} × {columns}"
    return (
        f"<details{' open' if unfolded else ''}><summary>{escape(view.name)} <small>{about}</small></summary>"
        f"{picture}</details>"
    )


def _draw(view: View) -> str:
    """Small multiples with their words."""
    rows, columns = (_labels(axis) for axis in (view.rows, view.columns))
    panels = [Panel(f"head {head}", rows, columns, each) for head, each in enumerate(view.weights)]
    return svg(panels, columns=min(WIDE, view.heads))


def _picture(head: int, weights: Float[np.ndarray, "r c"]) -> str:
    """A head as pixels: what would be too many words is at least a shape."""
    from PIL import Image

    height, width = (min(side, TALL) for side in weights.shape)
    small = shrink(weights, height, width)
    grey = 255 - np.rint(small / max(float(small.max()), 1e-12) * 255).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(grey).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode()
    return (
        f'<figure><img alt="head {head}" width="{TALL}" height="{TALL}" src="data:image/png;base64,{data}">'
        f"<figcaption>head {head}</figcaption></figure>"
    )
