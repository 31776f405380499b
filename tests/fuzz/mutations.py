"""Lines that nobody meant: known ones, changed in their bytes or in their JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

JSON = dict[str, Any]

MOST_BYTES = 20_000
"""No line that is made here is longer."""
_DEEP = 3_000
_ODD: Sequence[bytes] = (
    *(b"null", b"true", b"-1", b"0.5", b"1e400", b"-0", b"NaN", b"9" * 400, b"[]", b"{}", b'""'),
    *(
        b'"\\ud83d"',
        b'"\\u0000"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\x00",
    ),
    *(b"[" * _DEEP, b"[" * _DEEP + b"]" * _DEEP, b'{"a":' * _DEEP),
    *(b'"' + b"x" * 5_000 + b'"', b'"' + b"[" * 500 + b'"', b'"' + b"`" * 500 + b'"'),
    *(b"data:", b"event:", b"id:", b"\n\n", b",", b":", b"}", b"]", b'"'),
)
_VALUES: Sequence[Any] = (
    *(None, True, -1, 0, 2**63, 10**30, 0.5, "", "x", "\ud83d", "\u0000", "9" * 4_000, "a\u2028b"),
    *("[" * 300, "```\n" * 50, "<script" * 50, "(" * 300),
    *([], {}, [[]], [None], {"a": {}}, {"type": "text"}, ["x"] * 200),
)


def mutated(corpus: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Return so many lines, made of those of the corpus; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        line = chance.choice(corpus)
        if chance.random() < 0.6:
            line = _in_json(line, chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
            line = _in_bytes(line, corpus, chance)
        yield line[:MOST_BYTES]


def _in_bytes(line: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(line) + 1)
    end = min(len(line), start + chance.choice((0, 1, 1, 2, 8, 60)))
    match chance.randrange(6):
        case 0:
            return line[:start] + line[end:]
        case 1:
            return line[:start] + chance.randbytes(end - start) + line[end:]
        case 2:
            return line[:end] + line[start:]
        case 3:
            return line[:start]
        case 4:
            other = chance.choice(corpus)
            return line[:start] + other[chance.randrange(len(other)) :]
        case _:
            return line[:start] + chance.choice(_ODD) + line[end:]


def _in_json(line: bytes, chance: random.Random) -> bytes:
    """Change values, names and places in the JSON of a line, and leave it JSON."""
    start = max(line.find(b"{"), 0)
    try:
        whole = json.loads(line[start:])
    except (ValueError, RecursionError):
        return line
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.choice(list(_places(whole)) or [None])
        if place is None:
            break
        inside, key = place
        match chance.randrange(6):
            case 0:
                del inside[key]
            case 1:
                inside[key] = [inside[key]] * chance.choice((1, 2, 8))
            case 2:
                inside[key] = {"type": inside[key]}
            case 3 if isinstance(inside, dict):
                inside[chance.choice(("id", "type", "method", "text", "status"))] = inside[key]
            case _:
                inside[key] = copy.deepcopy(chance.choice(_VALUES))
    try:
        return line[:start] + json.dumps(whole, ensure_ascii=chance.random() < 0.5).encode()
    except UnicodeEncodeError:
        return line[:start] + json.dumps(whole).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    match value:
        case dict():
            keys: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        case list():
            keys = list(range(len(value)))  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return
    for key in keys:
        yield value, key
        yield from _places(value[key])
