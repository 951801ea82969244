"""Where things hang: apart where there is room, now and then half behind, half before or inside another."""

from collections.abc import Callable
from dataclasses import replace

from regard.chance import Chance
from regard.world.scene import Thing
from regard.world.silhouette import turned

Place = tuple[float, float]

_HOSTS = {"disc": 0.0, "square": 0.0, "heart": 0.05, "ring": 0.0}  # what can hold a thing, and how far below its centre


def placed(chance: Chance, things: list[Thing], allowed: Callable[[list[Thing]], bool]) -> tuple[Thing, ...]:
    """The things where there is room for them, tried until the whole is allowed."""
    # Big things first: they find room more easily, and can then hold small ones.
    order = sorted(range(len(things)), key=lambda i: -things[i].size)
    queue = [things[i] for i in order]
    attempt = 0
    while True:
        # Six big things do not fit side by side: after some attempts they may come closer.
        places = _places(chance, queue, room=max(0.62, 1.06 - 0.04 * (attempt // 2)))
        attempt += 1
        if places is not None:
            where = dict(zip(order, places, strict=True))
            hung = [replace(thing, x=where[i][0], y=where[i][1]) for i, thing in enumerate(things)]
            if allowed(hung):
                return tuple(hung)


def _places(chance: Chance, bare: list[Thing], room: float) -> list[Place] | None:
    places: list[Place] = []
    for thing in bare:
        low, high = thing.size * 1.02, 1.0 - thing.size * 1.02
        for _ in range(12):
            (x, y), beside = _somewhere(chance, thing, bare, places, low, high)
            if low <= x <= high and low <= y <= high and _fits(x, y, thing, bare, places, room, beside):
                places.append((x, y))
                break
        else:
            return None
    return places


def _somewhere(
    chance: Chance, thing: Thing, bare: list[Thing], places: list[Place], low: float, high: float
) -> tuple[Place, int | None]:
    """A place in the open; or now and then inside, half behind or half before another thing, which is named."""
    if places and chance.happens(0.5):
        beside = chance.below(len(places))
        other, (x, y) = bare[beside], places[beside]
        if other.colour != thing.colour:
            if thing.size < 0.52 * other.size and other.kind in _HOSTS and thing.depth < other.depth:
                return (x, y + _HOSTS[other.kind] * other.size), beside
            if chance.happens(0.6):
                near, far = _nearest(thing, other), 0.78 * (thing.size + other.size)
                away = chance.uniform(min(near, far), far)
                cosine, sine = turned(chance.uniform(0.0, 360.0))
                return (x + away * cosine, y + away * sine), beside
    return (chance.uniform(low, high), chance.uniform(low, high)), None


def _nearest(a: Thing, b: Thing) -> float:
    """How near two things may come: most of the one behind has to stay visible."""
    front, back = (a.size, b.size) if a.depth < b.depth else (b.size, a.size)
    return max(0.55 * (front + back), front + 0.05 * back)


def _fits(
    x: float, y: float, thing: Thing, bare: list[Thing], places: list[Place], room: float, beside: int | None
) -> bool:
    """Whether a place leaves room for everybody who hangs already, but the one it was chosen to be beside."""
    for index, (other_x, other_y) in enumerate(places):
        if index != beside:
            other = bare[index]
            least = room * (thing.size + other.size)
            if room < 1.0:
                least = max(least, _nearest(thing, other))
            if (x - other_x) * (x - other_x) + (y - other_y) * (y - other_y) < least * least:
                return False
    return True
