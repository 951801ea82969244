"""One word in many sentences: where its vectors lie after each layer, and whether they tell its senses apart."""

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field

from regard.files import read_json
from regard.web import answers
from regard.web.ask import Ask, Name
from regard.web.errors import RefusedError
from regard.web.opened import Place
from regard.zoo import SENSES

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from regard.web.inside import Inside
    from regard.web.state import AppState
    from regard.web.ticket import Ticket

SENTENCES, LETTERS, MOST = 60, 300, 4  # of all senses together, characters of one, and senses
Sentence = Annotated[str, Field(max_length=LETTERS)]


class Senses(Ask):
    """A word, and sentences for each of its senses."""

    model: Name
    word: Annotated[str, Field(min_length=1, max_length=60)]
    senses: Annotated[list[Annotated[list[Sentence], Field(max_length=SENTENCES)]], Field(max_length=MOST)]


def router(state: "AppState") -> APIRouter:
    """The maps of a word."""
    routes = APIRouter(prefix="/api/senses")

    @routes.get("")
    def recorded() -> list[dict[str, Any]]:
        """Maps of a model that does not come along."""
        return [read_json(path) for path in sorted(SENSES.glob("*.json"))]

    @routes.post("")
    async def senses(asked: Senses, request: Request) -> dict[str, Any]:
        """A map after each layer of a model."""
        place = state.models.place(asked.model)
        found: dict[str, Any] = await state.worker.run(
            run, place, asked.word, asked.senses, gone=request.is_disconnected
        )
        return found

    return routes


def run(inside: "Inside", ticket: "Ticket", place: Place, word: str, senses: list[list[str]]) -> dict[str, Any]:
    """The maps, in the process of the models."""
    pipeline = answers.opened(inside, ticket, place)
    if pipeline.tokenizer is None:
        raise RefusedError(422, f"{place.name} has no tokenizer to read a sentence with; choose another model")
    with answers.answering(pipeline, ticket):
        return {"model": place.name} | draw(pipeline, word, senses)


def draw(pipeline: Any, word: str, senses: list[list[str]]) -> dict[str, Any]:
    """Where a word lies after each layer, and how far its senses are apart there."""
    from regard.analysis.contexts import contexts_by_layer

    unknown = getattr(pipeline.tokenizer, "unknown", None)
    if unknown is not None and unknown in pipeline.tokenizer.encode([word], start=False, stop=False)[0]:
        raise ValueError(f"{pipeline.name} has no pieces for “{word}”; give a word that it knows")
    sentences = [each for some in senses for each in some]
    of = [number for number, some in enumerate(senses) for _ in some]
    found = contexts_by_layer(
        pipeline.model,
        pipeline.tokenizer,
        sentences,
        [word],
        limit=pipeline.limit,
        lower=bool(pipeline.card.get("lower")),
    )
    points = found[0].occurrences
    if len(points) < 3:
        raise ValueError(f"“{word}” occurs {len(points)} times, and a map needs 3 or more; give more sentences")
    kinds = [of[each.sentence] for each in points]
    layers, before = [], None
    for each in found:
        spots, shares = _flatten(each.vectors, before)
        layers.append(
            {
                "name": each.layer,
                "points": spots.round(4).tolist(),
                "shares": shares,
                "apart": _apart(each.vectors, kinds),
            }
        )
        before = spots
    words = [
        {"sentence": sentences[each.sentence], "first": each.first, "last": each.last, "sense": kind}
        for each, kind in zip(points, kinds, strict=True)
    ]
    return {"word": word, "words": words, "layers": layers}


def _flatten(
    vectors: "Float[np.ndarray, 'n w']", before: "Float[np.ndarray, 'n 2'] | None"
) -> "tuple[Float[np.ndarray, 'n 2'], list[float]]":
    """The two principal axes of some vectors, turned so that points stay where they were as far as they can."""
    import numpy as np

    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    spots = left[:, :2] * sizes[:2]
    total = float((sizes**2).sum())
    shares = [round(float(size**2) / total, 4) if total > 1e-12 else 0.0 for size in sizes[:2]]
    spots = (
        spots / max(float(np.abs(spots).max()), 1e-9)
        if total > 1e-9 * max(1.0, float((vectors**2).sum()))
        else 0 * spots
    )
    if before is not None:
        first, _, last = np.linalg.svd(spots.T @ before)
        spots = spots @ first @ last
    return spots, shares


def _apart(vectors: "Float[np.ndarray, 'n w']", kinds: list[int]) -> float | None:
    """How much farther apart two vectors of different senses are than two of the same one, on average."""
    import numpy as np

    exact = vectors.astype(np.float64)
    away = np.linalg.norm(exact[:, None] - exact, axis=-1)
    first, second = np.triu_indices(len(kinds), 1)
    same = np.array(kinds)[first] == np.array(kinds)[second]
    pairs = away[first, second]
    if same.all() or not same.any() or pairs[same].mean() < 1e-6:
        return None
    return round(float(pairs[~same].mean() / pairs[same].mean()), 3)
