"""The embedded little world: scenes, pictures and their ground truth, equal on every machine, without end.

    view = scenes(seed=0, split="train")
    picture = render(view[7], size=64)

Contact sheets are in `regard.world.sheet`, sentences in `regard.world.language`.
"""

from regard.world.build import SPLITS, scenes
from regard.world.cloud import Cloud, points
from regard.world.flow import Flow, bring_back, flow
from regard.world.groups import Meant, group_masks, groups, meant
from regard.world.parts import PARTS, Parts, parts
from regard.world.picture import Picture, render, render_batch, room
from regard.world.recall import Recall, recalls
from regard.world.rig import BESIDE, CAMERA, Mount, carry, project, sees
from regard.world.scene import COLOURS, FILLS, KINDS, RELATIONS, SIZES, Backdrop, Light, Scene, Thing, relations
from regard.world.sensor import infrared, range_finder
from regard.world.shift import SHIFTS, shifted
from regard.world.stereo import Stereo, stereo, warp
from regard.world.video import Clip, clip
from regard.world.view import View

__all__ = [
    "BESIDE",
    "CAMERA",
    "COLOURS",
    "FILLS",
    "KINDS",
    "PARTS",
    "RELATIONS",
    "SHIFTS",
    "SIZES",
    "SPLITS",
    "Backdrop",
    "Clip",
    "Cloud",
    "Flow",
    "Light",
    "Meant",
    "Mount",
    "Parts",
    "Picture",
    "Recall",
    "Scene",
    "Stereo",
    "Thing",
    "View",
    "bring_back",
    "carry",
    "clip",
    "flow",
    "group_masks",
    "groups",
    "infrared",
    "meant",
    "parts",
    "points",
    "project",
    "range_finder",
    "recalls",
    "relations",
    "render",
    "render_batch",
    "room",
    "scenes",
    "sees",
    "shifted",
    "stereo",
    "warp",
]
