"""People who chat at the same time, each with words that nobody else says.

A person's marks (`p03-0012`) come back in the answers. An answer with somebody else's mark, one
without the newest of its own, a request that isn't settled, or an error of a kind that chaos
doesn't explain: each fails the run.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import attrs
import trio

from bridge.wire import PERMISSION_TOOL
from tests.fakes.editor import ASKING, Chat, FakeEditor, Request, tool_result, tools

JSON = dict[str, Any]
Kind = Literal["acp", "endpoint", "eliza"]

PATIENCE = 180.0
"""Seconds for one request on a machine that is busy with other things; only a hang needs more."""
MARK = re.compile(r"p\d\d-\d{4}")
WORDS: dict[Kind, Sequence[str]] = {
    "acp": (
        "hello",
        "hello",
        "slow",
        "flood",
        "hang",
        "die",
        "noise",
        "deny",
        "ask",
        "ask",
        "late",
    ),
    "endpoint": ("hello", "hello", "slow", "hang", "stall", "cut", "reset", "broken", "busy"),
    "eliza": ("hello", "!long 200", "!hang"),
}
NEVER_ENDS = {"hang", "!hang"}
EXPLAINED = {"AgentFailed", "Unavailable", "Blocked"}
"""What may become of a request when agents are killed and endpoints break; not `Internal`."""


@attrs.define(eq=False)
class Person:
    """Opens one chat after the other."""

    number: int
    kind: Kind
    agent: JSON = attrs.field(repr=False)
    editor: FakeEditor = attrs.field(repr=False)
    chance: random.Random = attrs.field(repr=False)
    outcomes: Counter[str] = attrs.field(factory=Counter[str])
    _turns: int = 0

    async def live(self, until: float) -> None:
        """Chat until that time."""
        while trio.current_time() < until:
            await self.chat(self.chance.randint(1, 5), until=until)

    async def chat(self, turns: int, *, calm: bool = False, until: float = float("inf")) -> None:
        """Have one chat; a calm one has no accidents."""
        settings: JSON = {"idleSeconds": 1.5}
        options = tools(PERMISSION_TOOL, "read_file") if self.number % 2 else ASKING
        chat = Chat(self.editor, agent=self.agent, options=options, settings=settings)
        for _ in range(turns):
            await self._turn(chat, "hello" if calm else self.chance.choice(WORDS[self.kind]), calm)
            if not calm:
                await trio.sleep(self.chance.choice((0, 0, 0.1, 2.5)))  # the last: it grows idle
            if trio.current_time() > until:
                break

    async def _turn(self, chat: Chat, word: str, calm: bool) -> None:
        mark = self._new_mark()
        request = chat.ask(f"{mark} {word}")
        fate = "wait" if calm else self.chance.choice(("wait", "wait", "cancel", "edit", "both"))
        if word in NEVER_ENDS and fate == "wait":
            fate = "cancel"
        if fate != "wait":
            await trio.sleep(self.chance.choice((0, 0.01, 0.2, 1.0)))
        if fate in ("cancel", "both"):
            self.editor.cancel(request)
        if fate in ("edit", "both"):
            old, mark = request, self._new_mark()
            chat.take_back(1)
            request = chat.ask(f"{mark} hello")
            await self._settled(old)
            fate = "wait"
        await self._settled(request)
        self.check(request, mark if fate == "wait" else None)
        chat.keep(request)
        if request.calls:
            await self._answer(chat, request.calls)

    async def _answer(self, chat: Chat, calls: Sequence[JSON]) -> None:
        """Let the agent do what it asks for, or not, or say something else."""
        match self.chance.randrange(3):
            case 0:
                chat.take_back(1)
                request = chat.ask(f"{self._new_mark()} hello")
            case choice:
                words = "Approved" if choice == 1 else "Denied"
                request = chat.ask(*(tool_result(call, words) for call in calls))
        await self._settled(request)
        self.check(request)
        chat.keep(request)
        if request.calls:  # another question: this chat has been asked enough
            chat.take_back(1)

    async def _settled(self, request: Request) -> None:
        await request.settled(PATIENCE)
        self.check(request)

    def check(self, request: Request, mark: str | None = None) -> None:
        """Look at an answer: whose it is, and whether it may be that."""
        heard = set(MARK.findall(request.text))
        foreign = {one for one in heard if not one.startswith(f"p{self.number:02d}-")}
        assert not foreign, f"{self} was told {foreign}: {request}"
        assert request.reply is not None
        if "error" not in request.reply:
            self.outcomes["answered"] += 1
            if mark is not None and self.kind != "eliza":
                assert mark in heard, f"an answer to something else than {mark}: {request}"
        else:
            kind: str = request.error.get("data", {}).get("kind", "")
            self.outcomes[kind] += 1
            assert kind in EXPLAINED, f"{self} got {request.error}"

    def _new_mark(self) -> str:
        self._turns += 1
        return f"p{self.number:02d}-{self._turns:04d}"
