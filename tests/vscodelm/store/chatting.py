"""A process that leads chats at random, until it is killed; and what can be told of it afterwards.

A chat is a string: each letter is a turn. Many begin and end with the same letters, so that looking
a chat up finds others, too. Each process writes down what it does before others can notice, all of
them into one file.
"""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import attrs
import trio

from tests.strategies import user
from vscodelm.store.opening import Memories, start_memories

from .chats import CLOCK, SCOPE, record, spoken

LETTERS = "ab"
LONGEST = 4


@attrs.define
class Leader:
    """Leads chats; each of its sessions stands for one that it has open, by what it knows."""

    memories: Memories
    log: int
    chance: random.Random
    name: str
    sessions: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    count: int = attrs.field(default=0, init=False)

    def write(self, *words: str) -> None:
        os.write(self.log, (" ".join(words) + "\n").encode())

    async def step(self) -> None:
        if self.sessions and self.chance.random() < 0.2:
            chat = self.chance.choice([*self.sessions])
            self.memories.sessions.release(SCOPE, self.sessions.pop(chat))
            return
        before, new = self._next()
        session = self.sessions.pop(before, None) or await self._found(before)
        if session is not None and not await self.memories.sessions.begin(SCOPE, session):
            self.write("lost", session)
            self.memories.sessions.release(SCOPE, session)
            session = None
        if session is None:
            self.count += 1
            session = f"{self.name}-{self.count}"
            assert await self.memories.sessions.begin(SCOPE, session)
            self.write("told", session, before)
        self.write("turn", session, new)
        await trio.sleep(self.chance.uniform(0, 0.002))  # it may be killed meanwhile
        if self.chance.random() < 0.1:
            return  # the turn failed, and the session is left
        self.write("end", session, new)
        chat = before + new
        self.memories.sessions.settle(SCOPE, session, record(chat), None)
        if chat in self.sessions:
            self.memories.sessions.release(SCOPE, self.sessions.pop(chat))
        self.sessions[chat] = session

    def _next(self) -> tuple[str, str]:
        """Return a chat, and what is said next in it."""
        new = self.chance.choice(LETTERS)
        live = [chat for chat in self.sessions if len(chat) < LONGEST]
        if live and self.chance.random() < 0.5:
            return self.chance.choice(live), new
        return "".join(self.chance.choices(LETTERS, k=self.chance.randrange(LONGEST))), new

    async def _found(self, before: str) -> str | None:
        known = await self.memories.sessions.find(SCOPE, (*spoken(record(before)), user("more")))
        if known is None:
            return None
        self.write("found", known.handle, before[: known.steps // 2])
        if known.steps < 2 * len(before):
            self.write("told", known.handle, before[known.steps // 2 :])
        return known.handle


async def _lead(state: Path, log: int, seed: int, steps: int) -> None:
    async with trio.open_nursery() as nursery:
        memories = start_memories(state, nursery, now=lambda: CLOCK)
        leader = Leader(memories, log, random.Random(seed), str(seed))
        for _ in range(steps):
            await leader.step()
        memories.leave()


def lead(state: str, log: str, seed: int, steps: int) -> None:
    """Be the process."""
    number = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    trio.run(partial(_lead, Path(state), number, seed, steps))


@attrs.define
class Witness:
    """Knows what the agent's sessions know, by what the processes wrote down."""

    knows: dict[str, str | None] = attrs.field(factory=dict[str, "str | None"], init=False)
    """None: a turn runs, or was left in the middle."""
    found: int = attrs.field(default=0, init=False)
    lost: int = attrs.field(default=0, init=False)
    cut_short: int = attrs.field(default=0, init=False)
    _in_turn: dict[str, str] = attrs.field(factory=dict[str, str], init=False)

    def hear(self, line: str) -> None:
        what, session, *rest = line.split(" ")
        chat = rest[0] if rest else ""
        match what:
            case "found":
                assert self.knows[session] == chat, f"{session} knows {self.knows[session]}"
                self.found += 1
            case "lost":
                self.lost += 1
            case "told":
                self.knows[session] = f"{self.knows.get(session, '')}{chat}"
            case "turn":
                self._in_turn[session] = f"{self.knows[session]}{chat}"
                self.knows[session] = None
            case _:
                self.knows[session] = self._in_turn.pop(session)

    def hear_all(self, lines: list[str]) -> None:
        for line in lines:
            self.hear(line)
        self.cut_short = len(self._in_turn)
