"""What each task gives, as a page can draw it: one function a task, from a question to its reading and its output.

A task that is not named here is run by its own `attend`, and its output is a plain value.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from regard.files import jsonable
from regard.web.captioning import captioned
from regard.web.files import sanitize
from regard.web.gold import find_pair, gold
from regard.web.matching import matched
from regard.web.painting import painted
from regard.web.perceiving import perceived, queried
from regard.web.question import Pair, Question
from regard.web.ranging import ranged
from regard.web.segmenting import segmented
from regard.web.shapes import Answered, Output, kept_output, read_hypothesis
from regard.web.telling import told
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.text import Words

NEXT = 10  # of the likeliest next pieces that are told
LAST = 50  # of those behind the whole text, among which a page draws
LABELS = 100


def run(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """Ask a model what its task asks."""
    task = TASKS.get(pipeline.task)
    if task is not None:
        return task(pipeline, question, edits, ticket)
    reading = pipeline.attend(question.plain, edits=edits)
    return reading, {"kind": "value", "value": sanitize(jsonable(reading.output))}


def written(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """Translate and parse: what the search found, its tree, and the truth where it is known."""
    wishes, pair = dict(question.options), None
    force, text = wishes.pop("force", None), question.given
    if isinstance(text, Pair):
        if getattr(pipeline, "multilingual", False):
            wishes.setdefault("to", text.target)
        text, pair = find_pair(text)
    decode = pipeline.tokenizer.decode

    def tell(words: Sequence[int]) -> None:
        ticket.tell({"event": "step", "done": len(words), "of": None, "text": decode(words)})

    reading = pipeline.attend(text, edits=edits, target=force, tell=tell, **wishes)
    to = wishes.get("to")
    source: Any = reading.axes["source"]
    reading = replace(reading, axes={**reading.axes, "source": _join_tag(pipeline, source, to)})
    return reading, {
        "kind": "written",
        "outputs": [read_hypothesis(pipeline, each) for each in reading.output.outputs],
        "beam": {"nodes": _nodes(pipeline, reading)},
        "gold": None if pair is None else gold(pipeline, pair, to, edits, reading),
    }


def following(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """Generate: how a text goes on, and for every token of both how likely it was and what may come next."""
    from regard.attention import record
    from regard.decode.forcing import evaluating

    wishes = dict(question.options)
    most, greedy, choices = wishes.pop("max_new", 0), wishes.pop("greedy", False), wishes.pop("choices", ())
    given = question.plain
    (prompt,) = pipeline.prompts.encode([given])
    ids, text = list(prompt), ""
    if most:
        with evaluating(pipeline.model), record(pipeline.model, edits=edits):
            new, text = _go_on(pipeline, prompt, most, {"seed": wishes.get("seed", 0)} if greedy else wishes, ticket)
        ids = [*prompt, *new][: pipeline.limit]
    with kept_output(pipeline.model) as said:
        reading = pipeline.attend(ids, edits=edits, guesses=NEXT)
    gained = said[-1][0, :, : pipeline.vocab].float().softmax(dim=-1)
    own = [None, *(round(float(gained[i, word]), 6) for i, word in enumerate(ids[1:]))]
    words: Any = reading.axes["words"]
    steps = [
        {"piece": piece, "probability": chance, "top": [[each.text, round(each.probability, 6)] for each in guesses]}
        for piece, chance, guesses in zip(words.pieces, own, reading.output.guesses, strict=True)
    ]
    shown = f"“{given}”" + (f" → “{text}”" if text else "")
    output = {"kind": "next", "text": text, "prompt": given if isinstance(given, str) else "", "read": len(prompt)}
    output |= {"steps": steps, "last": _behind(pipeline, ids, gained[-1])}
    if choices:
        output["choices"] = _weigh(pipeline, given, choices, edits)
    return replace(reading, caption=shown), output


def masked(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """Fill: guesses at each hidden word; a text that hides none is read, and nothing is guessed."""
    from regard.pipelines.fill import HIDDEN

    text = question.plain
    given = tuple(text.split("\t", 1)) if isinstance(text, str) and "\t" in text else text
    if isinstance(text, str) and not HIDDEN.search(text):
        (row,) = pipeline.rows([given])
        reading = pipeline.reading(row, edits, lambda _: None, lambda _: f"“{text}”")
        return reading, {"kind": "masked", "text": text, "blanks": []}
    top = min(question.options.get("top", NEXT), pipeline.tokenizer.vocab)
    reading = pipeline.attend(given, edits=edits, top=top, own=question.options.get("own", ()))
    words: Any = reading.axes["words"]
    mask = pipeline.tokenizer.entry(pipeline.tokenizer.mask)
    places = [place for place, piece in enumerate(words.pieces) if piece == mask]
    said = reading.output.own or [None] * len(places)
    blanks = [
        {
            "place": place,
            "guesses": [[each.word, round(each.chance, 6)] for each in guesses],
            "own": None if known is None else [known.word, round(known.chance, 6), known.rank],
        }
        for place, guesses, known in zip(places, reading.output.guesses, said, strict=True)
    ]
    return reading, {"kind": "masked", "text": reading.output.text, "blanks": blanks}


def labels(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """Classify and recognize: the likeliest labels, the likeliest first; two texts have a tab between them."""
    given = question.plain
    pair = isinstance(given, str) and "\t" in given
    reading = pipeline.attend(tuple(given.split("\t")) if pair else given, edits=edits)
    best = sorted(reading.output.scores.items(), key=lambda each: -each[1])[:LABELS]
    return reading, {"kind": "labels", "labels": [[name, round(chance, 6)] for name, chance in best]}


def vectors(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """Embed and similar: the numbers of a text; of two with a tab between them, also how alike they are."""
    from regard.attention import record

    texts = question.plain.split("\t", 1) if isinstance(question.plain, str) else [question.plain]
    reading = pipeline.attend(texts[0], edits=edits)
    with record(pipeline.model, edits=edits):
        found = pipeline.vectors(texts)
    norms = found / found.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    cosine = round(float(norms[0] @ norms[1]), 6) if len(texts) == 2 else None
    numbers = [[round(each, 5) for each in row] for row in found.tolist()]
    return reading, {"kind": "vectors", "vectors": numbers, "cosine": cosine}


def boxes(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """Detect: what is where, and which query of the model found it."""
    from regard.vision.boxes import to_corners

    with kept_output(pipeline.model) as said:
        reading = pipeline.attend(question.plain, edits=edits)
    scores, kinds = said[0].logits[0].float().softmax(-1)[:, :-1].max(dim=-1)
    corners = to_corners(said[0].boxes[0].float()).clamp(0, 1).tolist()
    threshold = question.options.get("threshold", 0.5)
    found = [
        {
            "box": [round(each, 5) for each in (left, top, right - left, bottom - top)],
            "label": pipeline.labels[int(kinds[query])],
            "score": round(float(scores[query]), 5),
            "query": query,
        }
        for query, (left, top, right, bottom) in enumerate(corners)
        if float(scores[query]) >= threshold
    ]
    return reading, {"kind": "boxes", "boxes": sorted(found, key=lambda each: -each["score"])}


TASKS: dict[str, Callable[[Any, Question, Any, Ticket], Answered]] = {
    "translate": written,
    "parse": written,
    "generate": following,
    "fill": masked,
    "classify": labels,
    "embed": vectors,
    "similar": vectors,
    "recognize": labels,
    "perceive": perceived,
    "queries": queried,
    "detect": boxes,
    "caption": captioned,
    "match": matched,
    "paint": painted,
    "ask": told,
    "depth": ranged,
    "segment": segmented,
}
# What may be wished of each task.
OPTIONS: dict[str, tuple[str, ...]] = {
    "translate": ("beam", "to", "length_penalty", "force"),
    "parse": ("beam", "length_penalty", "force"),
    "generate": ("max_new", "temperature", "top_p", "top_k", "seed", "greedy", "choices"),
    "fill": ("top", "own"),
    "detect": ("threshold",),
    "caption": ("beam", "length_penalty", "force"),
    "match": ("templates", "pair", "top"),
    "ask": ("max_new",),
    "paint": ("steps", "guidance", "temperature", "top_k", "top_p", "seed"),
    "segment": ("points", "not_points", "box"),
}


def _go_on(
    pipeline: Any, prompt: Sequence[int], most: int, wishes: dict[str, Any], ticket: Ticket
) -> tuple[list[int], str]:
    """The ids that are written behind a prompt, told one by one, and what they say."""
    from regard.decode.generate import stream
    from regard.decode.prompt import begin
    from regard.decode.wishes import Wishes

    wanted, prompts = Wishes(max_new_tokens=most, **wishes), pipeline.prompts
    limit = min(most, pipeline.limit - len(prompt) + 1)
    speller, ids = prompts.speller(prompt), list[int]()
    state, first = begin(pipeline.model, [prompt], pad=prompts.pad)
    steps = stream(
        pipeline.writer.step, state, first, stop=prompts.stops, limit=limit, choose=wanted.choice(len(first))
    )
    for done, turn in enumerate(steps, start=1):
        if turn.words[0] not in prompts.stops:
            ids.append(turn.words[0])
            speller.add(turn.words[0])
        ticket.tell({"event": "step", "done": done, "of": limit, "text": speller.text})
    speller.finish()
    return ids, speller.text


def _behind(pipeline: Any, ids: Sequence[int], chances: Any) -> Output:
    """What may follow a text: the likeliest pieces, and of all the others how many there are of which log probability.

    So a page can tell what any temperature makes of them, without having all of them.
    """
    logs = chances.clamp(min=1e-30).log()
    best = logs.topk(min(LAST, len(logs)))
    stops = pipeline.prompts.stops
    top = []
    for i, log in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        speller = pipeline.prompts.speller(ids)
        speller.add(i)
        speller.finish()
        (piece,) = (str(i),) if pipeline.tokenizer is None else pipeline.tokenizer.words([i]).pieces
        top.append({"piece": piece, "text": speller.text, "log": round(log, 5), "ends": i in stops})
    rest = logs.index_fill(0, best.indices, 1.0)
    bins, counts = ((rest[rest <= 0] * 4).round() / 4).unique(return_counts=True)
    return {"top": top, "rest": list(map(list, zip(bins.tolist(), counts.tolist(), strict=True)))}


def _weigh(pipeline: Any, text: str, choices: Sequence[str], edits: Any) -> list[list[Any]]:
    """The log probability of each of some texts, if it followed a prompt."""
    from regard.attention import record
    from regard.decode.forcing import evaluating
    from regard.decode.prompt import weigh_choices
    from regard.pipelines.shots import split_choices

    before, behind = split_choices(pipeline, text, choices)
    with evaluating(pipeline.model), record(pipeline.model, edits=edits):
        (found,) = weigh_choices(pipeline.model, [before], [behind], pad=pipeline.prompts.pad)
    return [[choice, round(float(logs.sum()), 5)] for choice, logs in zip(choices, found, strict=True)]


def _join_tag(pipeline: Any, axis: "Words", to: str | None) -> "Words":
    """The axis of a source on which the tag of a language is one word, as it is for the model's readers."""
    from regard.text import Words

    tag = pipeline.prefix(to).rstrip()
    (ids,) = pipeline.tokenizer.encode([tag])
    count = len(ids)
    spans = [span for span in axis.spans if span[0] >= count]
    if not tag or not spans or spans[0][0] != count:  # a piece across the edge
        return axis
    names = axis.labels[len(axis.spans) - len(spans) :]
    return Words(axis.pieces, ((0, count - 1), *spans), (tag, *names))


def _nodes(pipeline: Any, reading: "Reading") -> list[Output]:
    """The pieces that the search considered."""
    nodes = reading.output.nodes
    known = {node.word for node in nodes if node.word is not None}
    said = {word: pipeline.tokenizer.words([word]).pieces[0] for word in known}
    return [
        {"id": i, "piece": said.get(node.word, ""), **asdict(node), "log_prob": round(node.log_prob, 5)}
        for i, node in enumerate(nodes)
    ]
