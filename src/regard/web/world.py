"""The little world for the page: scenes with everything known about them, and sentences in two languages."""

from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from regard.web.errors import RefusedError
from regard.web.state import AppState

if TYPE_CHECKING:
    from regard.world import Scene, Stereo

SIZE = 256  # pixels along the side of a picture
Image = Literal["rgb", "depth", "masks", "left", "right", "disparity"]
Split = Literal["train", "test", "novel", "rearranged"]
Style = Literal["whole", "each", "relations", "counts"]
Language = Literal["en", "de", "it", "cs"]
Seed = Annotated[int, Query(ge=0, le=2**31 - 1)]
Index = Annotated[int, Query(ge=0, le=2**31 - 1)]
PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}


def router(_: AppState) -> APIRouter:
    """Scenes, their pictures, and pairs of sentences."""
    routes = APIRouter(prefix="/api/world")

    @routes.get("/scene")
    def scene(seed: Seed = 0, index: Index = 0, split: Split = "test", style: Style = "each") -> dict[str, Any]:
        """A scene: its things, what is said of them in four languages, and where its pictures are."""
        return describe_scene(seed, index, split, style)

    @routes.get("/scene/{image}.png", response_class=Response, responses=PNG)
    def picture(image: Image, seed: Seed = 0, index: Index = 0, split: Split = "test") -> Response:
        """One picture of a scene: as either eye sees it, its depth, or which thing each pixel shows."""
        # The same address is the same picture on every machine.
        return Response(
            render(image, seed, index, split), media_type="image/png", headers={"Cache-Control": "max-age=86400"}
        )

    @routes.get("/pair")
    def pair(
        source: Language, target: Language, index: Index = 0, split: Literal["train", "test"] = "test"
    ) -> dict[str, Any]:
        """A sentence in two languages, and which of its words belong together."""
        from regard.world.language import pairs, text

        if source == target:
            raise RefusedError(422, f"a pair needs two languages, not {source!r} twice; choose another target")
        found = pairs(source, target, split=split)[index]
        return {
            "source": list(found.source),
            "target": list(found.target),
            "text": text(found.source),
            "reference": text(found.target),
            "alignment": sorted(map(list, found.alignment)),
        }

    return routes


@lru_cache(maxsize=64)
def describe_scene(seed: int, index: int, split: Split, style: Style) -> dict[str, Any]:
    """Everything about a scene but its pixels."""
    from regard.world.language import LANGUAGES, describe
    from regard.world.language.scenes import looks

    both = _stereo(seed, index, split)
    one, size = both.left.scene, both.left.size
    things = [
        {
            "id": i,
            "name": " ".join((*looks(thing), thing.kind)),
            "kind": thing.kind,
            "colour": thing.colour,
            "fill": thing.fill,
            "scale": thing.scale,
            "depth": round(thing.depth, 3),
            "shown": round(float(shown), 3),
            "box": [round(float(each) / size, 4) for each in (x, y, right - x, bottom - y)],
        }
        for i, (thing, (x, y, right, bottom), shown) in enumerate(
            zip(one.things, both.left.boxes, both.left.shown, strict=True)
        )
    ]
    captions = {}
    for language in LANGUAGES:
        said = describe(one, language, style)
        captions[language] = {"text": said.text, "words": _place_words(said.text, said.words, said.names)}
    query = f"seed={seed}&index={index}&split={split}"
    return {
        "seed": seed,
        "index": index,
        "split": split,
        "things": things,
        "captions": captions,
        "images": {
            image: f"/api/world/scene/{image}.png?{query}"
            for image in ("rgb", "depth", "masks", "left", "right", "disparity")
        },
        "facts": _facts(one),
    }


@lru_cache(maxsize=256)
def render(image: Image, seed: int, index: int, split: Split) -> bytes:
    """A picture as a PNG. Masks are grey: 0 is the backdrop, 1 the first thing; depth is grey, and near is bright."""
    import numpy as np
    from PIL import Image as Images

    both = _stereo(seed, index, split)
    if image == "masks":
        pixels = (both.left.instance + 1).astype(np.uint8)
    elif image == "depth":
        pixels = _to_grey(1 / both.left.depth)
    elif image == "disparity":
        pixels = _to_grey(both.disparity)
    else:
        pixels = (both.right if image == "right" else both.left).rgb
    found = BytesIO()
    Images.fromarray(pixels).save(found, "PNG")
    return found.getvalue()


@lru_cache(maxsize=16)
def _stereo(seed: int, index: int, split: Split) -> "Stereo":
    from regard.world import scenes, stereo

    return stereo(scenes(seed=seed, split=split)[index], SIZE)


def _to_grey(values: Any) -> Any:
    """From the least value to the largest."""
    low, high = float(values.min()), float(values.max())
    return ((values - low) / max(high - low, 1e-9) * 255 + 0.5).astype("uint8")


def _place_words(text: str, words: tuple[str, ...], names: tuple[tuple[int, ...], ...]) -> list[dict[str, Any]]:
    """The words as they stand in a text, with what stands before each of them."""
    found, at = [], 0
    for word, things in zip(words, names, strict=True):
        start = text.lower().find(word.lower(), at)
        end = start + len(word)
        one = things[0] if len(things) == 1 else None
        found.append({"text": text[start:end], "before": text[at:start], "things": list(things), "thing": one})
        at = end
    return found


def _facts(one: "Scene") -> dict[str, Any]:
    from regard.world import relations

    count = range(len(one.things))
    return {
        "palette": one.backdrop.palette,
        "light": {"angle": round(one.light.angle, 1), "strength": round(one.light.strength, 2)},
        "relations": [[a, relation, b] for a in count for b in count for relation in sorted(relations(one, a, b))],
    }
