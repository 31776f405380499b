"""Measure the present speed of this machine, relative to the one of the limits.

A number in microseconds holds for one machine. Other users of a shared machine slow it by half at
times, for minutes, and no repetition helps. So a standard load (decode, look up, hash, encode; the
interpreter alone) is measured just before and after each benchmark. On a slower machine a limit in
units of time is higher by the same factor. It is never lower.

Machines differ in one thing that this load doesn't show: some need much longer for memory that is
used for the first time. A benchmark that depends on it has a load of that kind.
"""

from __future__ import annotations

import hashlib
import time
from statistics import median

import msgspec

REFERENCE_SECONDS = 0.00075
"""The CPU time of one round where the numbers were given, when nothing else ran."""
LARGE_SECONDS = 0.028
"""The CPU time of `_large` there: no longer step was measured where the limit was given."""
_ROUNDS = 60
_LINE = b'{"jsonrpc":"2.0","method":"m","params":{"requestId":1,"part":{"value":"a word"}}}'


def pace_of_large_data() -> float:
    """Return as `pace` does, for the reading of large data, as of an image in a request."""
    line = msgspec.json.encode({"data": b"\x89" * (24 * 1024 * 1024)})
    return max(1.0, median(_large(line) for _ in range(5)) / LARGE_SECONDS)


def pace() -> float:
    """Return how many times as long as there the same takes here; at least 1."""
    return max(1.0, median(_round() for _ in range(_ROUNDS)) / REFERENCE_SECONDS)


def _round() -> float:
    began = time.thread_time()
    seen: dict[bytes, int] = {}
    for number in range(300):
        message = msgspec.json.decode(_LINE)
        message["params"]["requestId"] = number
        digest = hashlib.blake2b(msgspec.json.encode(message), digest_size=16).digest()
        seen[digest] = seen.get(digest, 0) + len(str(message["params"]["part"]))
    return time.thread_time() - began


def _large(line: bytes) -> float:
    began = time.thread_time()
    msgspec.json.decode(line, type=_Large)
    return time.thread_time() - began


class _Large(msgspec.Struct):
    data: bytes
