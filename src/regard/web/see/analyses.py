"""Every analysis by its name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from regard.web.see.asked import Asked, Options
from regard.web.see.decisive import decides
from regard.web.see.features import colours
from regard.web.see.groups import groups
from regard.web.see.heads import distance, looks, rolled

if TYPE_CHECKING:
    from regard.analysis.reading import Reading

How = Literal["looks", "rollout", "distance", "groups", "gradcam", "gradients", "integrated", "occlusion", "pca"]

# Those that a reading tells by itself, edits and all; and those for which its model runs again.
OF_READING: dict[str, Callable[["Reading", Options], dict[str, Any]]] = {
    "looks": looks,
    "rollout": rolled,
    "distance": distance,
    "groups": groups,
}
OF_MODEL: dict[str, Callable[[Asked, Options], dict[str, Any]]] = {
    "gradcam": decides("gradcam"),
    "gradients": decides("gradients"),
    "integrated": decides("integrated"),
    "occlusion": decides("occlusion"),
    "pca": colours,
}


def see(given: "Reading | Asked", how: How, options: Options = Options()) -> dict[str, Any]:
    """One analysis of a reading; a ValueError says why there is none."""
    reading = given.reading if isinstance(given, Asked) else given
    about = {"how": how, "model": reading.model}
    if how in OF_READING:
        return about | OF_READING[how](reading, options)
    if not isinstance(given, Asked):
        raise ValueError(f"{how} runs the model again; give its pipeline too, as Asked(reading, pipeline)")
    return about | OF_MODEL[how](given, options)
