"""Codes made for a place, each beside a plain one: the ground under pictures of any scale, a sphere, a graph."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import floats, painted
from regard.data.painted import portraits
from regard.layers import MLP, Block
from regard.layers.position import Fourier, GroundSample, Harmonics, Laplacian, Sinusoidal2d, laplacian, sinusoid
from regard.progress import Progress
from regard.train.small import learn

CLAIM = Claim(
    name="places",
    deck="Erdem, Other positional encodings",
    sentence="ScaleMAE uses ground sample distance positional encoding to train a MAE across spatial scales of remote "
    "sensing data. Geographic location encoding with spherical harmonics. Laplacian positional encodings to encode "
    "node positions in a graph.",
    experiment="Three codes where they belong. Scale: a small ViT learns where the thing in a picture of the world "
    "lies, from pictures of 16 and 24 pixels in patches of 4, and is asked at 32 pixels, which it never saw. Sphere: a "
    "small network learns a field of bumps on a globe from 500 places, and is asked in 2,000 others. Graph: nodes that "
    "look at their neighbours learn whether two marked nodes of a strip of random points are near, 5 or 6 steps apart, "
    "or far, 9 and more, in two blocks, so that no look reaches from one to the other.",
    control="Plain codes of as many numbers in the same networks: waves of row and column, whatever a patch measures "
    "on the ground; waves of longitude and latitude; waves of a node's number, which is given by chance. And none.",
    criterion="Scores run from 0, guessing, to 1: the share of the variance of places and of the field that is "
    "explained, and twice the right answers less one. The number is the least of three gains: of the code made for the "
    "place over the plain one, seed by seed. Supported if the intervals of all three lie above zero, refuted if any "
    "lies below zero, otherwise not at this scale; so it is if a code made for its place scores less than 0.3.",
    measures="more does a code made for its place score than a plain one, where it gains least",
    seeds=3,
)

MADE, PLAIN, NONE = "made for it", "plain", "none"
CODES = (MADE, PLAIN, NONE)
SCALE, SPHERE, GRAPH = "scale", "sphere", "graph"
PLACES = (SCALE, SPHERE, GRAPH)
LEAST = 0.3
WIDTH, HEADS, PATCH = 48, 4, 4
SEEN, STRANGE = (16, 24), 32  # sides of pictures, in pixels
DEGREE = 8  # of spherical harmonics, which makes 81 numbers of a place
NODES, EIGENVECTORS = 48, 8
NEAR, FAR = (5, 6), 9  # steps between two nodes
STEPS = {SCALE: 300, SPHERE: 800, GRAPH: 300}


@dataclass(frozen=True, slots=True)
class Field:
    """A smooth field on a globe: bumps of several widths. No harmonic is made of finitely many others of its kind."""

    middles: Float[Tensor, "k 3"]
    heights: Float[Tensor, " k"]
    widths: Float[Tensor, " k"]

    def at(self, points: Float[Tensor, "n 2"]) -> Float[Tensor, "n 1"]:
        """Its value at longitudes and latitudes in degrees."""
        near = (directions(points) @ self.middles.T - 1) / self.widths
        return (near.exp() * self.heights).sum(dim=-1, keepdim=True)


def directions(points: Float[Tensor, "n 2"]) -> Float[Tensor, "n 3"]:
    """Points on a globe as vectors of length 1."""
    longitude, latitude = points.deg2rad().unbind(-1)
    flat = latitude.cos()
    return torch.stack((flat * longitude.cos(), flat * longitude.sin(), latitude.sin()), dim=-1)


def on_globe(count: int, chance: torch.Generator) -> Float[Tensor, "n 2"]:
    """Longitudes and latitudes of points that are spread evenly over a globe."""
    around, up = torch.rand(2, count, generator=chance)
    return torch.stack((360 * around - 180, (2 * up - 1).asin().rad2deg()), dim=-1)


@dataclass(frozen=True, slots=True)
class Strips:
    """Graphs of points on a strip, two nodes of each marked, and whether they are near."""

    edges: Bool[Tensor, "g n n"]
    marked: Float[Tensor, "g n 1"]
    eigenvectors: Float[Tensor, "g n k"]
    near: Int[Tensor, " g"]

    def rows(self, chosen: Int[Tensor, " r"]) -> "Strips":
        """Some of them."""
        return Strips(self.edges[chosen], self.marked[chosen], self.eigenvectors[chosen], self.near[chosen])


def strips(count: int, chance: torch.Generator) -> Strips:
    """Random points on a strip, joined where they are close, and numbered by chance; near and far by turns."""
    edges, marked, near = list[Tensor](), list[Tensor](), list[int]()
    while len(near) < count:
        places = torch.rand(NODES, 2, generator=chance) * torch.tensor([12.0, 1.0])
        joined = torch.cdist(places, places) < 1.1
        joined.fill_diagonal_(False)
        wanted = len(near) % 2 == 0
        steps = hops(joined)
        known = torch.nonzero((steps >= NEAR[0]) & (steps <= NEAR[1]) if wanted else (steps >= FAR) & (steps < NODES))
        if len(known):
            mark = torch.zeros(NODES, 1)
            mark[known[int(torch.randint(len(known), (), generator=chance))]] = 1.0
            edges.append(joined)
            marked.append(mark)
            near.append(int(wanted))
    joined = torch.stack(edges)
    return Strips(joined, torch.stack(marked), laplacian(joined, EIGENVECTORS) * NODES**0.5, torch.tensor(near))


def hops(edges: Bool[Tensor, "n n"]) -> Int[Tensor, "n n"]:
    """The least number of edges between two nodes; NODES where no way leads."""
    found = torch.full(edges.shape, NODES)
    reached = torch.eye(len(edges), dtype=torch.bool)
    for step in range(FAR + 4):
        found[reached & (found == NODES)] = step
        reached = reached | (reached.float() @ edges.float() > 0)
    return found


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The score of each code in each place, by seed."""
    runs = []
    for (seed, place, code), inner in parts(progress, list(product(seeds, PLACES, CODES))):
        torch.manual_seed(seed)
        score = LEARN[place](code, seed, 2 if quick else STEPS[place], quick, inner)
        runs.append({"place": place, "code": code, "seed": seed, "score": score})
    return {"runs": runs}


def judge(numbers: Numbers) -> Finding:
    gains = {place: student(_gains(numbers, place)) for place in PLACES}
    scores = {(place, code): student(_scores(numbers, place, code))[0] for place in PLACES for code in CODES}
    number, low, high = min(gains.values())
    learned = min(scores[place, MADE] for place in PLACES) >= LEAST
    said = "; ".join(
        f"{place} {scores[place, MADE]:.2f} against {scores[place, PLAIN]:.2f} by a plain code and "
        f"{scores[place, NONE]:.2f} by none (gain {gains[place][1]:+.2f} to {gains[place][2]:+.2f})"
        for place in PLACES
    )
    return Finding(
        verdict(
            supported=learned and all(gain[1] > 0 for gain in gains.values()),
            refuted=learned and any(gain[2] < 0 for gain in gains.values()),
        ),
        number,
        (low, high),
        f"Scores of the codes made for their place: {said}.",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(code, *zip(*(student(_scores(numbers, place, code)) for place in PLACES), strict=True)) for code in CODES
    ]
    names = (
        f"scale: where the thing lies,\n{STRANGE} pixels after {SEEN[0]} and {SEEN[1]}",
        "sphere: a field on a globe,\nin places not seen",
        "graph: near or far,\nbeyond what two blocks see",
    )
    return figure(
        "Codes made for a place, and plain ones",
        [Panel("", "", "score: 0 is a guess, 1 is right", bars, names)],
        "Whiskers are 95 % intervals over seeds.",
    )


class _Seer(nn.Module):
    """A small ViT for pictures of any side that says where something lies."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.ground = GroundSample(WIDTH) if code == MADE else None
        self.plain = Sinusoidal2d(WIDTH) if code == PLAIN else None
        self.blocks = nn.ModuleList(Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, 2 * WIDTH)) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, image: Float[Tensor, "b 3 s s"]) -> Float[Tensor, "b 2"]:
        x = self.embed(image).permute(0, 2, 3, 1)
        if self.ground is not None:
            x = self.ground(x, SEEN[0] / image.shape[-1])
        elif self.plain is not None:
            x = self.plain(x)
        x = x.flatten(1, 2)
        for block in self.blocks:
            x = block(x)
        where: Tensor = self.head(self.norm(x).mean(dim=1))
        return where


@lru_cache(maxsize=6)
def _pictures(split: str, count: int, side: int) -> tuple[Float[Tensor, "n 3 s s"], Float[Tensor, "n 2"]]:
    """Pictures of one thing each, and where it lies, from -1 to 1."""
    shown = portraits(split, count)
    where = torch.tensor([(scene.things[0].x, scene.things[0].y) for scene in shown])
    return floats(painted(shown, side)), 2 * where - 1


def _scale(code: str, seed: int, steps: int, quick: bool, progress: Progress) -> float:
    chance, count = torch.Generator().manual_seed(seed), 16 if quick else 4000
    model = _Seer(code)

    def loss() -> Tensor:
        side = SEEN[int(torch.randint(2, (), generator=chance))]
        pictures, where = _pictures("train", count, side)
        rows = torch.randint(count, (48,), generator=chance)
        return F.mse_loss(model(pictures[rows]), where[rows])

    track(learn(model, loss, steps=steps, lr=2e-3), steps, progress)
    pictures, where = _pictures("test", 16 if quick else 600, STRANGE)
    return _explained(model(pictures), where)


def _sphere(code: str, seed: int, steps: int, quick: bool, progress: Progress) -> float:
    chance = torch.Generator().manual_seed(seed)
    bumps = 24
    widths = 0.05 * 8 ** torch.rand(bumps, generator=chance)
    field = Field(directions(on_globe(bumps, chance)), torch.randn(bumps, generator=chance), widths)
    places, tests = on_globe(50 if quick else 500, chance), on_globe(50 if quick else 2000, chance)
    values = field.at(places)
    encode = Harmonics(DEGREE, 80) if code == MADE else _Angles() if code == PLAIN else nn.Linear(2, 80)
    model = nn.Sequential(encode, nn.Linear(80, 64), nn.GELU(), nn.Linear(64, 1))

    def loss() -> Tensor:
        rows = torch.randint(len(places), (64,), generator=chance)
        return F.mse_loss(model(_given(code, places[rows])), values[rows])

    track(learn(model, loss, steps=steps, lr=3e-3, weight_decay=0.01), steps, progress)
    return _explained(model(_given(code, tests)), field.at(tests))


class _Angles(nn.Module):
    """Waves of longitude and of latitude, each by itself, through a learned linear map."""

    def __init__(self) -> None:
        super().__init__()
        self.waves = Fourier(2, 20, 20)
        self.embed = nn.Linear(self.waves.width, 80)

    def forward(self, points: Float[Tensor, "n 2"]) -> Float[Tensor, "n 80"]:
        encoding: Tensor = self.embed(self.waves(points))
        return encoding


def _given(code: str, points: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """Degrees for harmonics; for all others, angles from -1 to 1."""
    return points if code == MADE else points / torch.tensor([180.0, 90.0])


@lru_cache(maxsize=4)
def _strips(seed: int, count: int) -> Strips:
    return strips(count, torch.Generator().manual_seed(seed))


class _Walker(nn.Module):
    """Nodes that look at their neighbours; the answer is read at the marked ones."""

    plain: Tensor

    def __init__(self, code: str) -> None:
        super().__init__()
        self.embed = nn.Linear(1 + EIGENVECTORS, WIDTH)
        self.position = Laplacian(EIGENVECTORS, WIDTH) if code == MADE else None
        self.blocks = nn.ModuleList(Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, 2 * WIDTH)) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, 2))
        waves = sinusoid(torch.arange(NODES), EIGENVECTORS, 100.0)  # nodes are numbered by chance already
        self.register_buffer("plain", waves if code == PLAIN else torch.zeros_like(waves))

    def forward(self, some: Strips) -> Float[Tensor, "g 2"]:
        x = self.embed(torch.cat((some.marked, self.plain.expand(len(some.marked), -1, -1)), dim=-1))
        if self.position is not None:
            x = self.position(x, some.eigenvectors)
        for block in self.blocks:
            x = block(x, visible=some.edges[:, None])
        answer: Tensor = self.head((self.norm(x) * some.marked).sum(dim=1))
        return answer


def _graph(code: str, seed: int, steps: int, quick: bool, progress: Progress) -> float:
    known, tests = _strips(seed, 16 if quick else 3000), _strips(seed + 1000, 16 if quick else 600)
    chance, model = torch.Generator().manual_seed(seed), _Walker(code)

    def loss() -> Tensor:
        some = known.rows(torch.randint(len(known.near), (32,), generator=chance))
        return F.cross_entropy(model(some), some.near)

    track(learn(model, loss, steps=steps, lr=3e-3), steps, progress)
    with torch.no_grad():
        right = model(tests).argmax(dim=-1) == tests.near
    return 2 * float(right.float().mean()) - 1


LEARN: dict[str, Callable[[str, int, int, bool, Progress], float]] = {SCALE: _scale, SPHERE: _sphere, GRAPH: _graph}


@torch.no_grad()
def _explained(said: Float[Tensor, "n c"], right: Float[Tensor, "n c"]) -> float:
    """The share of the variance that is explained; at least -1, since nothing is gained by being absurd."""
    missed = (said - right).square().mean() / right.var(dim=0, correction=0).mean()
    return max(-1.0, 1 - float(missed))


def _scores(numbers: Numbers, place: str, code: str) -> list[float]:
    return [run["score"] for run in numbers["runs"] if (run["place"], run["code"]) == (place, code)]


def _gains(numbers: Numbers, place: str) -> list[float]:
    return [a - b for a, b in zip(*(_scores(numbers, place, code) for code in (MADE, PLAIN)), strict=True)]
