"""The host's side of a chat: what it holds as history, and what it does to it.

Each method of a `Chat` is something that happens. Those that end in a request label it, from what
happened and not from what our rules make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from vscodelm.replay.labels import Label, LabelKind

from .script import (
    AGENT_TOOLS,
    JSON,
    PREAMBLE,
    SYSTEM,
    Script,
    message,
    reduced,
    result,
    text,
    user,
    wrapped,
)


@attrs.define
class Chat:
    """The host's side of one chat."""

    script: Script
    line: str
    host_id: str | None = "chat-1"
    """The host's conversation id; None: a host that says nothing of the kind."""
    tools: Sequence[str] = AGENT_TOOLS
    model: str = "m"
    kind: LabelKind = "new"
    """What its first request is."""
    session: str = attrs.field(
        default=attrs.Factory(lambda self: self.line.partition("/")[0], takes_self=True)
    )
    """What the user sees as one chat."""
    history: list[JSON] = attrs.field(factory=lambda: [user(text(PREAMBLE))])
    """What the host will send of what was said; cases change it as hosts do."""
    last: int | None = None
    """The request that the next one builds on."""
    run: int = 1
    turn: int = 0
    initiator: str | None = None
    """Who asks, where the host says so."""
    _fresh_from: int | None = None
    _fresh: list[str] = attrs.field(factory=list[str])
    _before: dict[int, int] = attrs.field(factory=dict[int, int])
    """How long the history was before each request's own messages."""
    _built_on: dict[int, int | None] = attrs.field(factory=dict[int, "int | None"])
    _unfinished: list[tuple[JSON, str, str]] = attrs.field(factory=list[tuple[JSON, str, str]])
    """Turns that a reload rebuilds: the user's message, what was typed, and what was visible."""
    _typed: tuple[JSON, str] = attrs.field(factory=lambda: (user(), ""))

    # The user.

    def asks(
        self,
        said: str,
        *attached: JSON,
        with_results: Sequence[str] = (),
        kind: LabelKind = "continue",
        replaces: Sequence[int] = (),
    ) -> int:
        """Send what the user typed; after results, if some are still to be given."""
        for call_id in with_results:
            self._add(user(result(call_id)), call_id)
        newest = user(*attached, text(self._worded(said)))
        self._typed = (newest, said)
        self._add(newest, said)
        self.run, self.turn = self.run + 1, self.turn + 1
        return self._send(kind, replaces)

    def edits(self, request: int, said: str, *, with_results: Sequence[str] = ()) -> int:
        """Type something else in place of what began `request`, and send it."""
        taken = self.goes_back(request)
        for call_id in with_results:
            self._add(user(result(call_id)), call_id)
        self._add(user(text(self._worded(said))), said)
        self.run += 1
        return self._send("branch", taken)

    def regenerates(self, request: int) -> int:
        """Send what began `request` once more; what came after is gone."""
        label = self.script.labels[str(request)]
        own = self.history[self._before[request] :][: len(label.new_texts)]
        taken = self.goes_back(request)
        self._fresh_from = len(self.history)
        self.history += own
        self._fresh = list(label.new_texts)
        self.run += 1
        return self._send("retry", taken)

    def forks(self, line: str, *, before: int) -> Chat:
        """Begin a second chat with what was said before a request; the id is the same."""
        other = Chat(self.script, line, self.host_id, self.tools, self.model, "branch")
        other.history = self.history[: self._before[before]]
        other.last = self._built_on[before]
        other._built_on, other._before = dict(self._built_on), dict(self._before)
        other.turn = self.turn
        return other

    def switches(self, line: str, model: str) -> Chat:
        """Go on with another model, which knows nothing of the chat."""
        other = Chat(self.script, line, self.host_id, self.tools, model, session=self.session)
        other.history, other.turn = list(self.history), self.turn
        other._fresh = self._words_so_far()
        return other

    def leads(self, line: str, said: str) -> Chat:
        """Begin a sub-agent, with its first request: it shares the id and the run."""
        sub = Chat(self.script, line, self.host_id, self.tools[2:], self.model, "sub-agent")
        sub.run, sub.turn = self.run, 1
        sub.add_and_send(user(text(sub._worded(said))), said)
        return sub

    def hears_of(self, other: Chat) -> None:
        """Go on after what was said with another model meanwhile."""
        self._fresh_from = len(self.history)
        self._fresh = other._words_so_far()[len(self._words_so_far()) :]
        self.history = list(other.history)

    def hears(self, said: str, answer: str | None = None) -> None:
        """Hold a turn that was led elsewhere."""
        self._add(user(text(self._worded(said))), said)
        if answer is not None:
            self.history.append(message("assistant", text(answer)))

    def goes_back(self, request: int) -> list[int]:
        """Cut the history before what began `request`; return the requests that are gone."""
        taken: list[int] = []
        newest = self.last
        while newest is not None and newest >= request:
            taken.append(newest)
            newest = self._built_on[newest]
        self.last = newest
        del self.history[self._before[request] :]
        return taken[::-1]

    # The agent.

    def answers(self, said: str) -> None:
        """Answer, in pieces."""
        half = len(said) // 2
        self.script.answer(self._open, text(said[:half]), text(said[half:]))
        self.history.append(message("assistant", text(said)))

    def calls(self, *calls: JSON, said: str = "") -> None:
        """Answer with calls."""
        said_first = [text(said)] if said else []
        self.script.answer(self._open, *said_first, *calls)
        self.history.append(message("assistant", text(said), *calls))

    def is_stopped(
        self, said: str = "", *, visible: str | None = None, keeps: bool = False
    ) -> None:
        """Be stopped by the user after `said`; `keeps`: the provider returned, it didn't throw."""
        if said:
            self.script.part(self._open, text(said))
        self.script.cancel(self._open)
        self.script.end(self._open, None if keeps else "Canceled")
        if keeps:
            self.history.append(message("assistant", text(said)))
        else:
            self._leave_unfinished(said if visible is None else visible)

    def fails(self, said: str = "", *, visible: str | None = None) -> None:
        """Fail after `said`."""
        if said:
            self.script.part(self._open, text(said))
        self.script.end(self._open, "The line is dead.")
        self._leave_unfinished(said if visible is None else visible)

    def is_silent(self) -> None:
        """End without a word."""
        self.script.end(self._open)

    # The host.

    def gives(self, *call_ids: str) -> int:
        """Send the results of calls, each in a message of its own."""
        for call_id in call_ids:
            self._add({**user(result(call_id)), "name": ""}, call_id)
        return self._send("continue")

    def add_and_send(self, newest: JSON, *said: str) -> int:
        """Send a message that the case made; `said`: the words in it."""
        self._add(newest, *said)
        return self._send("continue")

    def repeats(self) -> int:
        """Send the newest request once more, though nobody asked for it."""
        newest = self._open
        label = self.script.labels[str(newest)]
        self._fresh_from = self._before[newest]
        self._fresh = list(label.new_texts)
        self.last = self._built_on[newest]
        return self._send("retry", [newest])

    def reloads(self) -> None:
        """Rebuild the turns that didn't end well, as a reloaded window does."""
        for said, typed, visible in self._unfinished:
            at = self.history.index(said)
            self.history[at] = user(text(reduced(typed)))
            if visible:
                self.history.insert(at + 1, message("assistant", text(visible)))
        self._unfinished.clear()

    def summarises(self, summary: str, *, keeping: int) -> None:
        """Put a summary in place of all but the newest messages."""
        kept = self.history[-keeping:] if keeping else []
        told = f"<conversation-summary>\n{summary}\n</conversation-summary>"
        self.history[:] = [self.history[0], user(text(told)), *kept]

    def sends_aside(
        self, line: str, kind: LabelKind, prompt: str, system: str | None = None, **how: Any
    ) -> int:
        """Send a request beside the chat that shows all of it and asks something else."""
        shown = [*self.history, user(text(prompt))]
        said = (*self._words_so_far(), prompt)
        label = Label(line, kind, new_from=0, new_texts=said)
        lineage = message("system", text(self._system if system is None else system))
        how = {"initiator": self.initiator, **how}
        return self.script.request(label, [lineage, *shown], model=self.model, **how)

    def options(self, **rest: Any) -> JSON:
        """Return the private options that the host's agent sends along."""
        if self.host_id is None:
            return rest
        return {
            "_capturingTokenCorrelationId": f"token-{len(self.script.labels)}",
            "_otelTraceContext": {"traceId": f"run-{self.host_id}-{self.run}"},
            "_enableThinking": True,
            "_conversationId": self.host_id,
            **rest,
        }

    # What these share.

    @property
    def _system(self) -> str:
        return SYSTEM.format(session=self.session)

    def _worded(self, said: str) -> str:
        """Return what the host makes of what the user types."""
        return wrapped(said)

    @property
    def _open(self) -> int:
        assert self.last is not None, "nothing was asked"
        return self.last

    def _add(self, newest: JSON, *said: str) -> None:
        if self._fresh_from is None:
            self._fresh_from = len(self.history)
        self.history.append(newest)
        self._fresh.extend(said)

    def _send(self, kind: LabelKind, replaces: Sequence[int] = ()) -> int:
        begins = self.last is None and kind != "retry"
        if begins or self.kind == "branch":
            kind, self.kind = self.kind, "new"
        assert self._fresh_from is not None, "nothing to send"
        first = self.last is None
        label = Label(
            self.line,
            kind,
            None if kind == "sub-agent" else self.last,
            tuple(replaces),
            0 if first else self._fresh_from + 1,
            tuple(self._fresh),
        )
        if kind == "continue" and "/sub" in self.line:
            label = replace(label, kind="sub-agent-continue")
        system = message("system", text(self._system))
        options = self.options(_telemetryTurn=self.turn) if self.host_id else {}
        number = self.script.request(
            label, [system, *self.history], self.tools, options, self.model, self.initiator
        )
        self._before[number], self._built_on[number] = self._fresh_from, self.last
        self.last, self._fresh_from, self._fresh = number, None, []
        return number

    def _leave_unfinished(self, visible: str) -> None:
        self._unfinished.append((*self._typed, visible))

    def _words_so_far(self) -> list[str]:
        words: list[str] = []
        newest = self.last
        while newest is not None:
            words[:0] = self.script.labels[str(newest)].new_texts
            newest = self._built_on[newest]
        return words
