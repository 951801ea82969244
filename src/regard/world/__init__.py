"""The embedded little world: scenes, pictures and their ground truth, equal on every machine, without end.

    view = scenes(seed=0, split="train")
    picture = render(view[7], size=64)

Contact sheets are in `regard.world.sheet`, sentences in `regard.world.language`.
"""

from regard.world.build import SPLITS, scenes
from regard.world.cloud import Cloud, points
from regard.world.picture import Picture, render, render_batch, room
from regard.world.recall import Recall, recalls
from regard.world.scene import COLOURS, FILLS, KINDS, RELATIONS, SIZES, Backdrop, Light, Scene, Thing, relations
from regard.world.sensor import infrared, range_finder
from regard.world.shift import SHIFTS, shifted
from regard.world.stereo import Stereo, stereo, warp
from regard.world.video import Clip, clip
from regard.world.view import View

__all__ = [
    "COLOURS",
    "FILLS",
    "KINDS",
    "RELATIONS",
    "SHIFTS",
    "SIZES",
    "SPLITS",
    "Backdrop",
    "Clip",
    "Cloud",
    "Light",
    "Picture",
    "Recall",
    "Scene",
    "Stereo",
    "Thing",
    "View",
    "clip",
    "infrared",
    "points",
    "range_finder",
    "recalls",
    "relations",
    "render",
    "render_batch",
    "room",
    "scenes",
    "shifted",
    "stereo",
    "warp",
]
