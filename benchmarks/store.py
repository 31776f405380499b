"""Measure the store: finding a chat among many, and the wait of a turn.

A lookup is timed in the store, on the clock. Other work on the machine only makes it longer. So
each absent chat is looked up several times, and the fastest counts. The limit applies to the median
over the chats. The report adds the user's wait: the way to the store's thread and back wakes two
threads. Looking up a stored chat also takes it, so this can be measured only once; that time is the
disk's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import trio

from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.routing.sketch import Sketch
from bridge.wire import Role, TextPart
from vscodelm.store.database import open_database
from vscodelm.store.folder import StoreFolder
from vscodelm.store.opening import Memories, start_memories
from vscodelm.store.sessions import NOBODY, SessionName, Sessions

from .harness import Result

SCOPE = b"an agent's scope"
CHATS = 100_000
TURNS = 6
LOOKUPS = 200
TRIES = 5


def measure(*, chats: int = CHATS, turns: int = TURNS, lookups: int = LOOKUPS) -> list[Result]:
    """Measure on a disk, among chats of which many begin and end alike."""
    with tempfile.TemporaryDirectory(prefix="vscodelm-benchmarks-") as folder:
        _fill(Path(folder), chats, turns)
        looked_up = 1e3 * _looked_up(Path(folder), turns, lookups)
        waited, found, settled, begun = trio.run(_wait, Path(folder), chats, turns, lookups)
    note = f"{chats:,} chats of {turns} turns; {waited:.2f} ms with the way to its thread"
    return [
        Result("store: lookup", looked_up, 1.0, "ms", f"{note}, {found:.2f} if taken and synced"),
        Result("store: settle", settled, 50.0, "us", "nobody waits"),
        Result("store: begin", begun, 50.0, "ms", "synced before the agent is given anything"),
    ]


def _looked_up(folder: Path, turns: int, lookups: int) -> float:
    """Return how many seconds it takes to find that a chat isn't there, which is like others."""
    database = open_database(StoreFolder(folder))
    sessions = Sessions(b"us")
    times: list[float] = []
    for number in range(lookups):
        path = _path(f"{number}", turns, odd=True)
        tries: list[float] = []
        for _ in range(TRIES):
            began = time.perf_counter()
            known = sessions.find(database, SCOPE, path)
            tries.append(time.perf_counter() - began)
            if known is not None:
                raise RuntimeError(f"{known.handle} was found for another chat")
        times.append(min(tries))
    database.close()
    return statistics.median(times)


async def _wait(
    folder: Path, chats: int, turns: int, lookups: int
) -> tuple[float, float, float, float]:
    """Return what is waited for a lookup, a find and a settle (us), and a begin; in ms else."""
    async with trio.open_nursery() as nursery:
        memories = start_memories(folder, nursery)
        try:
            await memories.sessions.find(SCOPE, _path("nobody's", turns))  # it is open now
            misses = [await _miss(memories, number, turns) for number in range(lookups)]
            found = [
                await _find(memories, number * (chats // lookups), turns)
                for number in range(lookups)
            ]
            begun = [await _begin(memories, number, turns) for number in range(lookups)]
            settled = [_settle(memories, number, turns) for number in range(lookups)]
        finally:
            memories.leave()
    miss, find, begin = (1e3 * statistics.median(times) for times in (misses, found, begun))
    return miss, find, 1e6 * statistics.median(settled), begin


async def _miss(memories: Memories, number: int, turns: int) -> float:
    """Look up a chat that isn't there, but begins and ends as others do."""
    path = _path(f"{number}", turns, odd=True)
    best = float("inf")
    for _ in range(TRIES):
        began = time.perf_counter()
        known = await memories.sessions.find(SCOPE, path)
        best = min(best, time.perf_counter() - began)
        if known is not None:
            raise RuntimeError(f"{known.handle} was found for another chat")
    return best


async def _find(memories: Memories, number: int, turns: int) -> float:
    path = _path(f"{number}", turns)
    began = time.perf_counter()
    known = await memories.sessions.find(SCOPE, path)
    seconds = time.perf_counter() - began
    if known is None or known.handle != f"session {number}":
        raise RuntimeError(f"chat {number} was not found, but {known}")
    return seconds


async def _begin(memories: Memories, number: int, turns: int) -> float:
    """Begin a turn in a session that has a row."""
    memories.sessions.settle(SCOPE, f"live {number}", _record(f"live {number}", turns), None)
    await memories.sessions.find(SCOPE, ())  # so that it is written
    began = time.perf_counter()
    if not await memories.sessions.begin(SCOPE, f"live {number}"):
        raise RuntimeError("a session of ours was lost")
    return time.perf_counter() - began


def _settle(memories: Memories, number: int, turns: int) -> float:
    record = _record(f"live {number}", turns)
    began = time.perf_counter()
    memories.sessions.settle(SCOPE, f"live {number}", record, None)
    return time.perf_counter() - began


def _fill(folder: Path, chats: int, turns: int) -> None:
    """Store the chats. Their turns are those of one chat but for one: making them takes long."""
    database = open_database(StoreFolder(folder))
    sessions = Sessions(NOBODY)
    now = time.time()
    with database.transaction(durable=False):
        for number in range(chats):
            sketch = Sketch.of(_record(f"{number}", turns))
            if sketch is None:
                raise RuntimeError("the chat proves nothing")
            name = SessionName(SCOPE, f"session {number}")
            sessions.settle(database, name, sketch, None, now, was_written=False)
    database.close()


def _said(role: Role, text: str) -> Message:
    return Message.of(role, [TextPart(text)])


_SAME = [
    Exchange((_said("user", f"ask {turn}"),), _said("assistant", f"hear {turn}"), Ending.COMPLETE)
    for turn in range(TURNS)
]


def _record(name: str, turns: int) -> tuple[Exchange, ...]:
    """A chat that many others begin and end like: only its second turn is its own."""
    own = Exchange((_said("user", name),), _said("assistant", f"{name}?"), Ending.COMPLETE)
    group = _said("assistant", f"group {_number(name) % (CHATS // 20)}")
    last = Exchange((_said("user", "and?"),), group, Ending.COMPLETE)
    return (_SAME[0], own, *_SAME[2 : turns - 1], last)


def _path(name: str, turns: int, *, odd: bool = False) -> Sequence[Message]:
    messages = [
        message
        for one in _record(name, turns)
        for message in (*one.asked, one.answer)
        if message is not None
    ]
    if odd:
        messages[2] = _said("user", "something else")
    return (*messages, _said("user", "go on"))


def _number(name: str) -> int:
    return int.from_bytes(name.encode(), "big")
