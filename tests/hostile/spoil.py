"""Ways to spoil a good file by chance: its bytes, its lines, or the values of its JSON."""

import json
from random import Random
from typing import Any

# What programs stumble over, as values of JSON. Those that Python would write otherwise are put there as they are.
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400, '"\\ud800"', "[" * 5000, '{"a":' * 3000, '"\\u0000"')
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 2**31, 2**63, -(2**63), 10**18, 1.5, -0.0, 1e308, 1e-320),
    *("", " ", "a", "\n", "../../etc/passwd", "é", "🐶", "a" * 5000, "0", "nan", "__class__", "%s%n"),
    *([], {}, [[]], [None], [1, 2, 3], {"": ""}, {"a": {"b": []}}, [[1, 2], [3]], ["a"] * 50),
)
NUMBERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
PIECES = (
    b"",
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\t",
    b'"',
    b"(",
    b")",
    b"{",
    b"[",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"-",
    b"e",
    b" ",
)


def spoil(data: bytes, dice: Random) -> bytes:
    """The same with one to four things wrong, whichever kind of file it is."""
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        data = dice.choice(WAYS)(data, dice)
    return data


def spoil_json(data: bytes, dice: Random) -> bytes:
    """JSON that is still JSON, as a rule, with one to three values, keys or entries that are others."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return spoil(data, dice)
    raw: list[str] = []
    for _ in range(dice.choice((1, 1, 2, 3))):
        value = _change(value, dice, raw)
    text = json.dumps(value)
    for i, each in enumerate(raw):
        text = text.replace(json.dumps(f"RAW {i}"), each)
    return text.encode()


def spoil_lines(data: bytes, dice: Random) -> bytes:
    """One line of JSON lines spoilt, put elsewhere, or left out."""
    lines = data.split(b"\n")
    place = dice.randrange(len(lines))
    way = dice.randrange(4)
    if way == 0:
        lines.insert(dice.randrange(len(lines)), lines[place])
    elif way == 1:
        del lines[place]
    else:
        lines[place] = (spoil_json if way == 2 else spoil)(lines[place], dice)
    return b"\n".join(lines)


def _change(value: Any, dice: Random, raw: list[str]) -> Any:
    """A value with one of the values in it changed, wherever it lies."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        match dice.randrange(8):
            case 0:
                return {name: each for name, each in value.items() if name != key}
            case 1:
                return value | {str(dice.choice(VALUES))[:40]: value[key]}
            case _:
                return value | {key: _change(value[key], dice, raw)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        place, found = dice.randrange(len(value)), list(value)
        match dice.randrange(6):
            case 0:
                del found[place]
            case 1:
                found.insert(place, value[dice.randrange(len(value))])
            case _:
                found[place] = _change(found[place], dice, raw)
        return found
    if dice.random() < 0.2:
        raw.append(dice.choice(RAW))
        return f"RAW {len(raw) - 1}"
    if isinstance(value, int | float) and not isinstance(value, bool) and dice.random() < 0.5:
        return dice.choice((-value, value + 1, value - 1, value * 1000, value / 3, str(value)))
    return dice.choice(VALUES)


def _flip(data: bytes, dice: Random) -> bytes:
    """One bit is another."""
    found = bytearray(data)
    for _ in range(dice.choice((1, 1, 3, 20))):
        if found:
            found[_place(found, dice)] ^= 1 << dice.randrange(8)
    return bytes(found)


def _cut(data: bytes, dice: Random) -> bytes:
    """It ends too early."""
    return data[: dice.randrange(len(data) + 1)]


def _drop(data: bytes, dice: Random) -> bytes:
    """Some of it is missing."""
    start = _place(data, dice)
    return data[:start] + data[start + dice.choice((1, 2, 4, 8, 100)) :]


def _repeat(data: bytes, dice: Random) -> bytes:
    """Some of it is there twice, or a thousand times."""
    start = _place(data, dice)
    part = data[start : start + dice.choice((1, 4, 16, 200))]
    return data[:start] + part * dice.choice((2, 2, 3, 1000)) + data[start:]


def _insert(data: bytes, dice: Random) -> bytes:
    """Something stands there that does not belong."""
    start = _place(data, dice)
    return data[:start] + dice.choice(PIECES) * dice.choice((1, 1, 5, 3000)) + data[start:]


def _number(data: bytes, dice: Random) -> bytes:
    """A number in it is one at the edge of what its bytes can hold."""
    size, start = dice.choice((1, 2, 4, 8)), _place(data, dice)
    number = dice.choice(NUMBERS) % 256**size
    return data[:start] + number.to_bytes(size, dice.choice(("little", "big"))) + data[start + size :]


def _exchange(data: bytes, dice: Random) -> bytes:
    """Two parts have changed places."""
    first, second = sorted((_place(data, dice), _place(data, dice)))
    size = dice.choice((1, 4, 8, 40))
    a, b = data[first : first + size], data[second : second + size]
    return data[:first] + b + data[first + size : second] + a + data[second + size :]


def _place(data: bytes | bytearray, dice: Random) -> int:
    """A place in it, more often near the beginning, where files say what they are."""
    most = min(len(data), dice.choice((16, 64, 512, 2**20, 2**30)))
    return dice.randrange(most) if most else 0


WAYS = (_flip, _flip, _cut, _drop, _repeat, _insert, _number, _number, _exchange)
