"""Many conversations through one process, each checked against an Eliza of its own.

What is drawn is drawn from a seed, so a failure comes back; only the order in which the process
gets to answer what is open at once is its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import attrs
import pytest

from agents.eliza.engine import Eliza
from tests.e2e.process import started
from tests.fakes.editor import JSON, Chat, FakeEditor, Request

OPENINGS = (
    "Hello, I am {name}.",
    "My name is {name}.",
    "{name} made me come here.",
    "My computer calls me {name}.",
)
"""With a name of its own: chats that share a whole exchange can't be told apart."""
THINGS = ("my mother", "my dog", "the compiler", "money", "a dream", "school", "nobody", "the sea")
TEXTS = (
    "I remember {thing}.",
    "I am afraid of {thing}.",
    "You remind me of {thing}.",
    "Why can't I forget {thing}?",
    "It was always {thing}, wasn't it?",
    "If only {thing} were here.",
    "Perhaps.",
    "Yes.",
    "Hm.",
    "My friend likes {thing}.",
    "I dreamt of {thing}.",
    "Sorry, I was thinking of {thing}.",
)
AT_ONCE = 40
"""How many requests are open together."""


@attrs.define(eq=False)
class Conversation:
    """A chat, and what of it the user stands by: one text for each exchange that counts."""

    name: str
    chat: Chat
    chance: random.Random
    said: list[str] = attrs.field(factory=list[str])
    lengths: list[int] = attrs.field(factory=list[int])
    """How long the history was before each of them."""

    def ask(self) -> Request:
        """Do what a user does: go on, try again, or take back what was said."""
        deed = self.chance.choices(("go on", "retry", "edit", "go back"), (12, 2, 2, 1))[0]
        if not self.said:
            return self._say(self._opening())
        match deed:
            case "retry":
                return self._say(self._take_back(1))
            case "edit":
                self._take_back(1)
            case "go back":
                self._take_back(self.chance.randint(1, len(self.said)))
            case _:
                pass
        return self._say(self._text() if self.said else self._opening())

    def hang(self) -> Request:
        """Ask for what has no end."""
        return self.chat.ask(f"!hang {self.name}")

    def check(self, request: Request) -> None:
        """Take an answer in, which must be that of an Eliza who heard this chat alone."""
        eliza = Eliza()
        answers = [eliza.hear(text) for text in self.said]
        assert request.text == answers[-1], self.said
        self.chat.keep(request)

    def leave(self, request: Request) -> None:
        """Take the end of what has no end in; VS Code may drop it."""
        if self.chance.random() < 0.5:
            self.chat.keep(request)

    def _say(self, text: str) -> Request:
        self.lengths.append(len(self.chat.history))
        self.said.append(text)
        return self.chat.ask(text)

    def _take_back(self, exchanges: int) -> str:
        text = self.said[-exchanges]
        del self.chat.history[self.lengths[-exchanges] :]
        del self.said[-exchanges:]
        del self.lengths[-exchanges:]
        return text

    def _opening(self) -> str:
        return self.chance.choice(OPENINGS).format(name=self.name)

    def _text(self) -> str:
        return self.chance.choice(TEXTS).format(thing=self.chance.choice(THINGS))


def rounds(conversations: int, turns: int, chance: random.Random) -> Iterator[list[int]]:
    """Yield which conversations speak together; each speaks `turns` times."""
    rest = [index for index in range(conversations) for _ in range(turns)]
    chance.shuffle(rest)
    while rest:
        together = list(dict.fromkeys(rest[:AT_ONCE]))
        for index in together:
            rest.remove(index)
        yield together


async def converse(
    editor: FakeEditor, chance: random.Random, conversations: int, turns: int, settings: JSON
) -> int:
    """Lead the conversations and return the number of requests."""
    those = [
        Conversation(
            f"Nobody{number}", Chat(editor, settings=settings), random.Random(chance.random())
        )
        for number in range(conversations)
    ]
    for together in rounds(conversations, turns, chance):
        hung = [(those[i], those[i].hang()) for i in together if chance.random() < 0.1]
        for conversation, request in hung:
            await request.shows("me.")
            editor.cancel(request)
            await request.settled()
            conversation.leave(request)
        asked = [(those[i], those[i].ask()) for i in together]
        for conversation, request in asked:
            await request.settled()
            conversation.check(request)
    return len(editor.requests)


@pytest.mark.parametrize("seed", range(3))
async def test_interleaved_conversations_stay_apart(seed: int) -> None:
    async with started() as process:
        requests = await converse(process.editor, random.Random(seed), 60, 4, {})
        stats = await process.editor.call("lm/stats")
    assert stats["requestsByClass"]["main"] == requests
    assert {"extends", "retry", "branch"} <= set(stats["matchesByRule"])


async def test_interleaved_conversations_stay_apart_where_there_is_room_for_few() -> None:
    """Most are replayed to a session of their own each time."""
    async with started() as process:
        settings = {"maxSessions": 10}
        await converse(process.editor, random.Random(4), 60, 4, settings)
        stats = await process.editor.call("lm/stats")
    assert stats["liveConversations"] <= 10 + AT_ONCE
    assert stats["missesByReason"]["new"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("max_sessions", [50, 5000])
async def test_a_thousand_interleaved_conversations_stay_apart(max_sessions: int) -> None:
    async with started() as process:
        settings = {"maxSessions": max_sessions}
        requests = await converse(process.editor, random.Random(1966), 1000, 4, settings)
        stats = await process.editor.call("lm/stats")
    assert requests >= 4000
    assert stats["requestsByClass"]["main"] == requests
    assert stats["liveConversations"] <= max_sessions + AT_ONCE
