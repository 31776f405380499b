"""A chat as the user sees it: turns, rounds of tool calls, answers and how they ended."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import attrs

from bridge.wire import PROGRESS_TOOL

from .facts import Json


class Mode(enum.Enum):
    AGENT = "agent"
    ASK = "ask"
    PARTICIPANT = "participant"
    """Another extension's part of the chat: bare text, and nothing that says whose it is."""


class Ending(enum.Enum):
    OPEN = "open"
    COMPLETE = "complete"
    STOPPED = "stopped"
    FAILED = "failed"
    EMPTY = "empty"


@attrs.define(eq=False)
class Answer:
    """What came in answer to one request, in the host's hands."""

    fact: int
    parts: list[Json] = attrs.field(factory=list[Json])
    ending: Ending = Ending.OPEN
    kept: bool = True
    """Whether the host keeps what had come when it was stopped: the provider returned normally."""
    visible: int | None = None
    """How much of the text the user saw when it was cut short; None: all of it."""
    left_out: bool = False
    """Whether the host leaves it out of its requests, because the chat is too long."""
    is_forgotten: bool = False
    """Whether the host has forgotten what was thought."""

    @property
    def text(self) -> str:
        return "".join(part["value"] for part in self.parts if part["type"] == "text")

    @property
    def seen(self) -> str:
        return self.text[: self.visible]

    @property
    def calls(self) -> list[Json]:
        return [part for part in self.parts if part["type"] == "tool_call"]

    @property
    def shows_progress(self) -> bool:
        """Whether it ends with a call of the progress tool, so that it is shown so far."""
        return any(call["toolName"] == PROGRESS_TOOL for call in self.calls)

    @property
    def is_silent(self) -> bool:
        """Whether nothing is in it but a call of the progress tool."""
        return all(part.get("toolName") == PROGRESS_TOOL for part in self.parts)


@attrs.define(eq=False)
class Result:
    call_id: str
    fact: int | None
    """None: it says nothing, as that of the progress tool, or that there is none."""
    text: str
    image: bool = False


@attrs.define(eq=False)
class Round:
    """An answer, and the results of its calls."""

    answer: Answer
    results: list[Result] = attrs.field(factory=list[Result])
    paused: bool = False
    """The host asked after it whether to go on; it is left out later."""

    @property
    def waits(self) -> list[Json]:
        """The calls without a result."""
        done = [result.call_id for result in self.results]
        return [call for call in self.answer.calls if call["toolCallId"] not in done]

    def in_order(self) -> None:
        """Put the results in the order of the calls, whichever came first."""
        order = [call["toolCallId"] for call in self.answer.calls]
        self.results.sort(key=lambda result: order.index(result.call_id))


@attrs.define(eq=False)
class Turn:
    """What the user said, and all that came of it."""

    number: int
    mode: Mode
    text: str = ""
    word: int | None = None
    """The fact that the user said it; None where the user only went on, or gave a command."""
    date: str = "today"
    """What the host rendered round it; frozen."""
    image: bytes | None = None
    command: bool = False
    notice: bool = False
    """Whether the host says it by itself."""
    steers: bool = False
    """Whether it was said while tools ran."""
    model: str = ""
    sent: int = 0
    """When it was sent, for hosts that write it down."""
    rounds: list[Round] = attrs.field(factory=list[Round])
    rebuilt: bool = False
    """After a reload only what was visible is left of it."""

    @property
    def ending(self) -> Ending:
        return self.rounds[-1].answer.ending if self.rounds else Ending.COMPLETE

    @property
    def newest(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None

    def copy(self) -> Turn:
        """A copy that goes its own way, in a fork."""
        rounds = [attrs.evolve(one, results=list(one.results)) for one in self.rounds]
        return attrs.evolve(self, rounds=rounds)


@attrs.frozen
class Summary:
    """A text in place of everything before a point: turn, and round in it (-1: its message)."""

    before: tuple[int, int]
    number: int
    facts: tuple[int, ...]
    is_whole: bool = False
    """Whether the user asked for it, so that it stands for all that there was."""


@attrs.frozen
class Former:
    """A chat before an edit, for going back."""

    turns: list[Turn]
    summaries: list[Summary]
    restored: bool


@attrs.define(eq=False)
class Chat:
    """One chat of the user's, or of a tool's."""

    name: str
    conversation_id: str
    log: str
    model: str
    mode: Mode = Mode.AGENT
    run: int = 0
    turns: list[Turn] = attrs.field(factory=list[Turn])
    summaries: list[Summary] = attrs.field(factory=list[Summary])
    former: list[Former] = attrs.field(factory=list["Former"])
    """What it was before each edit."""
    restored: bool = False
    """Whether something was taken out since the last request."""
    led_by: tuple[Chat, str] | None = None
    """The chat whose tool call leads this one, and the call."""
    explores: bool = False
    """Whether it is a sub-agent that only reads, whose requests don't name the chat."""

    @property
    def waiting(self) -> list[Json]:
        """The calls whose tools run, or await the user's confirmation."""
        if not self.turns or self.turns[-1].newest is None or self.turns[-1].rebuilt:
            return []
        newest = self.turns[-1].newest
        return newest.waits if newest.answer.ending is Ending.COMPLETE else []

    @property
    def summary(self) -> Summary | None:
        """What stands in place of the beginning."""
        return self.summaries[-1] if self.summaries else None

    def said(self) -> tuple[int, ...]:
        """What the user said."""
        return tuple(turn.word for turn in self.turns if turn.word is not None)

    def accepted(self) -> Iterator[int]:
        """Every fact that the user sees as said, in order."""
        for turn in self.turns:
            if turn.word is not None:
                yield turn.word
            for one in turn.rounds:
                yield one.answer.fact
                yield from (result.fact for result in one.results if result.fact is not None)
