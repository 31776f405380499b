"""Measure the present speed of this machine, relative to the one of the limits.

A number in microseconds holds for one machine. Other users of a shared machine slow it by half at
times, for minutes, and no repetition helps. So a standard load (decode, look up, hash, encode; the
interpreter alone) is measured just before and after each benchmark. On a slower machine a limit in
units of time is higher by the same factor. It is never lower.
"""

from __future__ import annotations

import hashlib
import time
from statistics import median

import msgspec

REFERENCE_SECONDS = 0.00075
"""The CPU time of one round where the numbers were given, when nothing else ran."""
_ROUNDS = 60


def pace() -> float:
    """Return how many times as long as there the same takes here; at least 1."""
    return max(1.0, median(_round() for _ in range(_ROUNDS)) / REFERENCE_SECONDS)


def _round() -> float:
    began = time.thread_time()
    seen: dict[bytes, int] = {}
    line = b'{"jsonrpc":"2.0","method":"m","params":{"requestId":1,"part":{"value":"a word"}}}'
    for number in range(300):
        message = msgspec.json.decode(line)
        message["params"]["requestId"] = number
        digest = hashlib.blake2b(msgspec.json.encode(message), digest_size=16).digest()
        seen[digest] = seen.get(digest, 0) + len(str(message["params"]["part"]))
    return time.thread_time() - began
