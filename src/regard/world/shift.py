"""Named ways to make a picture strange while its truth stays known, for tests of robustness.

Each takes a picture and gives one of the same size. What its masks mean afterwards is written in the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, UInt8

from regard.chance import Chance
from regard.world import noise
from regard.world.build import scene as build
from regard.world.picture import Picture, render
from regard.world.scene import MOST, SIZES, UNSEEN_FILLS, UNSEEN_PALETTES, Scene
from regard.world.silhouette import turned

# What becomes of the masks, boxes, depth and instances.
SAME = "same"  # every pixel keeps its meaning
FOLLOW = "follow"  # the things are the same ones in the same order, elsewhere or of another size
MORE = "more"  # as before for the first things; new ones come after them, behind


@dataclass(frozen=True, slots=True)
class Shift:
    """A named change of pictures."""

    about: str
    masks: str
    apply: Callable[[Picture, int], Picture]

    def __call__(self, picture: Picture, seed: int = 0) -> Picture:
        return self.apply(picture, seed)


def sketch(picture: Picture, _: int = 0) -> Picture:
    """Outlines in ink on white paper, drawn at twice the size and scaled down."""
    twice = render(picture.scene, 2 * picture.size)
    surface = twice.instance.astype(np.int16)
    line: Bool[np.ndarray, "h w"] = np.zeros(surface.shape, np.bool_)
    line[:, 1:] |= surface[:, 1:] != surface[:, :-1]
    line[1:] |= surface[1:] != surface[:-1]
    thick = line.copy()
    thick[:, :-1] |= line[:, 1:]
    thick[:-1] |= line[1:]
    ink = thick.reshape(picture.size, 2, picture.size, 2).sum(axis=(1, 3))
    grey = (255 - ink * 55).astype(np.uint8)
    return replace(picture, rgb=np.repeat(grey[..., None], 3, axis=2))


def inverted(picture: Picture, _: int = 0) -> Picture:
    return replace(picture, rgb=255 - picture.rgb)


def noisy(picture: Picture, seed: int = 0) -> Picture:
    bell = noise.normal(Chance(seed, "noise"), *picture.rgb.shape) * 28
    return replace(picture, rgb=_bytes(picture.rgb + bell))


def blurred(picture: Picture, _: int = 0) -> Picture:
    """Three box blurs along each side, which is nearly a Gaussian; wider in a larger picture."""
    reach = max(1, picture.size // 48)
    rgb: np.ndarray = picture.rgb.astype(np.float32)
    for axis in (0, 1, 0, 1, 0, 1):
        padded = np.pad(rgb, [(reach, reach) if i == axis else (0, 0) for i in range(3)], mode="edge")
        parts = [padded.take(range(s, s + picture.size), axis) for s in range(2 * reach + 1)]
        rgb = sum(parts[1:], parts[0]) / (2 * reach + 1)
    return replace(picture, rgb=_bytes(rgb))


def textured(picture: Picture, _: int = 0) -> Picture:
    """Every thing is filled with a chessboard, which no split contains."""
    fill = UNSEEN_FILLS[0]
    return _again(picture, replace(picture.scene, things=tuple(replace(t, fill=fill) for t in picture.scene.things)))


def elsewhere(picture: Picture, seed: int = 0) -> Picture:
    """A backdrop of colours and a pattern that no split contains."""
    palette = Chance(seed, "elsewhere").choose(UNSEEN_PALETTES)
    strange = replace(picture.scene.backdrop, palette=palette, pattern="checks")
    return _again(picture, replace(picture.scene, backdrop=strange))


def rotated(picture: Picture, seed: int = 0) -> Picture:
    """All things turn about the middle of the picture, by 30° to 330°; the backdrop stays."""
    angle = Chance(seed, "rotated").uniform(30.0, 330.0)
    cosine, sine = turned(angle)
    things = tuple(
        replace(
            thing,
            # Drawn in a little, so that what was in a corner stays in the picture.
            x=0.5 + 0.75 * (cosine * (thing.x - 0.5) - sine * (thing.y - 0.5)),
            y=0.5 + 0.75 * (sine * (thing.x - 0.5) + cosine * (thing.y - 0.5)),
            angle=thing.angle + angle,
        )
        for thing in picture.scene.things
    )
    return _again(picture, replace(picture.scene, things=things))


def tiny(picture: Picture, _: int = 0) -> Picture:
    """Every thing at half its size."""
    things = tuple(replace(thing, size=thing.size / 2) for thing in picture.scene.things)
    return _again(picture, replace(picture.scene, things=things))


def crowded(picture: Picture, seed: int = 0) -> Picture:
    """Small strangers hang behind the things, until there are twelve."""
    chance = Chance(seed, "crowded")
    kept = picture.scene.things
    crowd = [thing for index in range(2) for thing in build(chance.bits(), index, things=6).things]
    low, high = SIZES["small"]
    strangers = [replace(thing, size=chance.uniform(low, high), depth=1.75) for thing in crowd[: MOST - len(kept)]]
    return _again(picture, replace(picture.scene, things=(*kept, *strangers)))


SHIFTS: dict[str, Shift] = {
    "sketch": Shift("outlines in ink on white paper", SAME, sketch),
    "inverted": Shift("every colour turned into its opposite", SAME, inverted),
    "noise": Shift("a grainy film", SAME, noisy),
    "blur": Shift("out of focus", SAME, blurred),
    "textures": Shift("an unseen fill on every thing", SAME, textured),
    "backgrounds": Shift("an unseen backdrop", SAME, elsewhere),
    "rotated": Shift("all things turned about the middle", FOLLOW, rotated),
    "tiny": Shift("things at half their size", FOLLOW, tiny),
    "crowded": Shift("twelve things instead of a few", MORE, crowded),
}


def shifted(picture: Picture, name: str, seed: int = 0) -> Picture:
    """A picture under the named shift."""
    if name not in SHIFTS:
        raise ValueError(f"no shift is called {name!r}; choose {', '.join(SHIFTS)}")
    return SHIFTS[name](picture, seed)


def _again(picture: Picture, scene: Scene) -> Picture:
    return render(scene, picture.size)


def _bytes(rgb: np.ndarray) -> UInt8[np.ndarray, "h w 3"]:
    return np.clip(rgb + 0.5, 0.0, 255.0).astype(np.uint8)
