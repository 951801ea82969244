"""How models of pictures see: where they look and how far, what decides, and how alike their layers are."""

from regard.analysis.seeing.alike import Alike, cka
from regard.analysis.seeing.components import feature_colours, filter_components, position_similarity
from regard.analysis.seeing.decisive import gradcam, gradients, integrated_gradients, occlusion
from regard.analysis.seeing.distance import Distance, attention_distances
from regard.analysis.seeing.faithful import Curve, covers, deletion, insertion, points_at
from regard.analysis.seeing.field import Field, receptive_field
from regard.analysis.seeing.heads import best_head, head_overlaps, last_looks, middle_disc, most, overlap
from regard.analysis.seeing.pointing import Marked, Scored, agree, make_map, marked, score_maps, ways_of
from regard.analysis.seeing.rollout import rollout
from regard.analysis.seeing.sampling import Sampled, sampling
from regard.analysis.seeing.streams import streams

__all__ = [
    "Alike",
    "Curve",
    "Distance",
    "Field",
    "Marked",
    "Sampled",
    "Scored",
    "agree",
    "attention_distances",
    "best_head",
    "cka",
    "covers",
    "deletion",
    "feature_colours",
    "filter_components",
    "gradcam",
    "gradients",
    "head_overlaps",
    "insertion",
    "integrated_gradients",
    "last_looks",
    "make_map",
    "marked",
    "middle_disc",
    "most",
    "occlusion",
    "overlap",
    "points_at",
    "position_similarity",
    "receptive_field",
    "rollout",
    "sampling",
    "score_maps",
    "streams",
    "ways_of",
]
