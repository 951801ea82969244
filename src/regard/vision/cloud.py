"""Clouds of points of strangers: opened within bounds, centred and scaled, and varied for training.

Whatever is wrong with a file is a `CloudError` in one sentence. z is up.
"""

import math
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float32

from regard import files
from regard.chance import Chance
from regard.vision.dice import uniforms

BYTES = 64 * 2**20  # of a file, and of an array that is packed in one
LARGEST = 1e100  # of a coordinate: its square is still a number
LINE = 2**16  # bytes of a line
POINTS = (4, 1_000_000)  # the fewest that have a shape, and the most that are read
ENDS = (".npz", ".npy", ".xyz")
NAMES = ("points", "xyz", "pos")  # what an npz with several arrays may call them

Points = Float32[np.ndarray, "n 3"]


class CloudError(ValueError):
    """A cloud that cannot be opened, with the reason and the way out in one sentence."""


def open_cloud(source: str | Path | bytes | Float[np.ndarray, "n c"], *, name: str = "") -> Points:
    """The points of a .npy, .npz or .xyz file, of its bytes or of an array, a row each, centred and with radius 1.

    What stands behind the first three numbers of a row, such as colours, is left out. `name` is what an error calls
    bytes.
    """
    name = name or (str(source) if isinstance(source, str | Path) else "the cloud")
    if isinstance(source, np.ndarray):
        return centre(source, name)
    data = _bytes(source, name)
    if data[:6] == b"\x93NUMPY":
        found = _array(data, name)
    elif data[:2] == b"PK":
        found = _packed(data, name)
    else:
        found = _lines(data, name)
    return centre(found, name)


def centre(points: np.ndarray, name: str = "the cloud") -> Points:
    """Points around their mean, the farthest at a distance of 1; what is no cloud is refused."""
    if points.ndim != 2 or points.shape[1] < 3 or points.dtype.kind not in "fiu":
        raise CloudError(f"{name} has {points.dtype} of shape {points.shape}; give numbers of (points, 3)")
    if not POINTS[0] <= len(points) <= POINTS[1]:
        raise CloudError(f"{name} has {len(points):,} points; give {POINTS[0]} to {POINTS[1]:,}")
    xyz = points[:, :3].astype(np.float64)
    if not np.isfinite(xyz).all():
        wrong = int(np.flatnonzero(~np.isfinite(xyz).all(axis=1))[0])
        raise CloudError(f"{name} has a point that is NaN or infinite, number {wrong}; leave such points out")
    if float(np.abs(xyz).max()) > LARGEST:
        raise CloudError(f"{name} has a point farther away than {LARGEST:g}; give numbers that are not as large")
    xyz -= xyz.mean(axis=0)
    radius = float(np.sqrt((xyz**2).sum(axis=1).max()))
    if radius == 0.0:
        raise CloudError(f"{name} has all its points at one place, so that it has no shape; give others")
    found: np.ndarray = xyz / radius
    return found.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Few:
    """How a cloud becomes what a model sees: so many of its points, the same ones every time."""

    count: int = 1024

    def fit(self, points: Points) -> Float32[np.ndarray, "{self.count} 3"]:
        """As many points as the model sees: some of a larger cloud, those of a smaller one again and again."""
        if len(points) <= self.count:
            return np.resize(points, (self.count, 3))
        order = np.argsort(uniforms(Chance(0, "few points"), len(points)), kind="stable")
        return points[np.sort(order[: self.count])]


def vary(
    points: Float32[np.ndarray, "b n 3"],
    chance: Chance,
    count: int,
    *,
    turn: float = 20.0,
    scale: float = 0.15,
    jitter: float = 0.01,
) -> Float32[np.ndarray, "b {count} 3"]:
    """Clouds as they are met in training: `count` points of each, turned about z by up to `turn` degrees, and more.

    Each axis is stretched by up to the share `scale`, and each point is moved by noise of the deviation `jitter`.
    """
    batch, every = points.shape[:2]
    order = np.argsort(uniforms(chance, batch * every).reshape(batch, every), axis=1)[:, :count]
    some = np.take_along_axis(points, order[:, :, None], axis=1)
    angles = (2 * uniforms(chance, batch) - 1) * math.radians(turn)
    turned = np.zeros((batch, 3, 3))
    turned[:, 0, 0] = turned[:, 1, 1] = np.cos(angles)
    turned[:, 0, 1], turned[:, 1, 0] = np.sin(angles), -np.sin(angles)
    turned[:, 2, 2] = 1
    stretched = 1 + (2 * uniforms(chance, batch * 3).reshape(batch, 1, 3) - 1) * scale
    first, second = uniforms(chance, 2 * some.size).reshape(2, *some.shape)
    noise = np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)  # Box and Muller 1958
    found: np.ndarray = some @ turned * stretched + jitter * noise
    return found.astype(np.float32)


def _bytes(source: str | Path | bytes, name: str) -> bytes:
    try:
        data = source if isinstance(source, bytes) else files.read(Path(source), BYTES)
    except FileNotFoundError:
        raise CloudError(f"{name} is not there; give a file that ends in {', '.join(ENDS)}") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise CloudError(
            f"{said if name in said else f'{name} cannot be read ({said})'}; give a smaller file"
        ) from None
    if not data or len(data) > BYTES:
        raise CloudError(f"{name} has {len(data):,} bytes; give 1 to {BYTES:,}")
    return data


def _array(data: bytes, name: str) -> np.ndarray:
    stream = BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize > BYTES:
            raise ValueError(f"it claims {dtype} of shape {shape}")
        flat = np.frombuffer(data, dtype, math.prod(shape), stream.tell())
        return flat.reshape(shape, order="F" if fortran else "C")
    except Exception as error:  # numpy parses a header as Python, which fails in many ways
        raise CloudError(f"{name} is cut short or damaged ({_short(error)}); save it again by numpy.save") from None


def _packed(data: bytes, name: str) -> np.ndarray:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            inside = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            chosen = [each for each in NAMES if each in inside] or (list(inside) if len(inside) == 1 else [])
            if not chosen:
                raise CloudError(f"{name} has arrays called {', '.join(inside)[:80]}; call the points {NAMES[0]!r}")
            if inside[chosen[0]].file_size > BYTES:
                raise CloudError(f"{name} unpacks to more than {BYTES:,} bytes; take fewer points")
            return _array(archive.read(inside[chosen[0]]), name)
    except CloudError:
        raise
    except Exception as error:  # an archive fails in as many ways as it may be packed
        raise CloudError(f"{name} is cut short or damaged ({_short(error)}); save it again by numpy.savez") from None


def _lines(data: bytes, name: str) -> np.ndarray:
    found: list[list[float]] = []
    stream = BytesIO(data)
    for number, line in enumerate(iter(lambda: stream.readline(LINE), b""), start=1):
        if len(line) == LINE or number > 2 * POINTS[1]:
            raise CloudError(f"{name}, line {number}, is too long or one too many; give x, y and z a line, and fewer")
        cells = line.partition(b"#")[0].replace(b",", b" ").split(maxsplit=3)
        if not cells:
            continue
        try:
            found.append([float(cell) for cell in cells[:3]])
        except ValueError:
            found.append([])
        if len(found[-1]) < 3:
            raise CloudError(
                f"{name}, line {number}, is no x, y and z; give three numbers a line, or {', '.join(ENDS)}"
            )
        if len(found) > POINTS[1]:
            raise CloudError(f"{name} has more than {POINTS[1]:,} points; take fewer")
    return np.asarray(found, np.float64).reshape(-1, 3)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
