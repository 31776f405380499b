"""Compares what was decided about a recording with what a person would have decided.

Labels stand beside recordings in `labels.json`: file, request, label. They speak of lines ("A",
"A/sub1") where we have numbered conversations; a line may be several of ours, one after the other,
because a branch is a conversation of its own. Nothing here judges who is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, assert_never

import attrs
import msgspec

from bridge.history.message import Message
from bridge.inspection.steps import RequestDecision
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Opens, Reason
from bridge.routing.request import RequestClass
from bridge.value import Value

from .recording import RequestId

LabelKind: TypeAlias = Literal[
    "new",
    "continue",
    "retry",
    "branch",
    "utility",
    "compaction",
    "sub-agent",
    "sub-agent-continue",
    "one-shot",
]


class LabelError(Exception):
    """The labels can't be read; the message says why."""


class Label(Value):
    """A person's verdict on one request."""

    conversation: str
    """The line that it belongs to."""
    kind: LabelKind
    extends: RequestId | None = None
    replaces: tuple[RequestId, ...] = ()
    """The requests that it takes back."""
    new_from: int = 0
    new_texts: tuple[str, ...] = ()
    """A piece of each word that the agent must be given now, in order."""
    alt_new_from: tuple[int, ...] | None = None
    fork_new_from: int | None = None
    """The first new message of a separate request, if it is seen as a fork of its chat."""


class _Labelled(msgspec.Struct):
    requests: dict[str, Label]


Labels: TypeAlias = Mapping[str, Label]
"""By request."""

_decoder = msgspec.json.Decoder(dict[str, _Labelled])


def read_labels(content: bytes, file: str) -> Labels | None:
    """Return the labels of a recording, None if it has none; raises `LabelError`."""
    try:
        files = _decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LabelError(str(error)) from None
    return files[file].requests if file in files else None


def words(messages: tuple[Message, ...]) -> list[str]:
    """Return what messages say to an agent, apart from what the host adds: requests and results."""
    said: list[str] = []
    for message in messages:
        said.extend(message.results)
        if message.request is not None:
            said.append(message.request)
    return said


def kind_of(decision: RequestDecision) -> LabelKind:
    """Return a decision's kind in the words of labels."""
    reason, request_class = decision.outcome.reason, decision.request_class
    match reason:
        case Reason.ONE_SHOT:
            return _ONE_SHOTS.get(request_class, "one-shot")
        case Reason.SUPERSEDES | Reason.BRANCH:
            return "branch"
        case Reason.PENDING_CALL | Reason.PROGRESS | Reason.EXTENDS | Reason.TOLERANT:
            led = request_class is RequestClass.SUB_AGENT
            return "sub-agent-continue" if led else "continue"
        case Reason.NEW | Reason.UNPROVEN:
            return "new"
        case Reason.SUB_AGENT:
            return "sub-agent"
        case Reason.RETRY | Reason.REPEAT:
            return "retry"
        case _:
            assert_never(reason)


_ONE_SHOTS: dict[RequestClass, LabelKind] = {
    RequestClass.UTILITY: "utility",
    RequestClass.COMPACTION: "compaction",
}


@attrs.define
class Comparison:
    """Decisions against labels, one after the other."""

    labels: Labels
    different: set[str] = attrs.field(factory=set[str], init=False)
    """The requests that aren't as labelled."""
    _seen: set[str] = attrs.field(factory=set[str], init=False)
    _lines: dict[ConversationKey, str] = attrs.field(
        factory=dict["ConversationKey", str], init=False
    )

    def check(self, decision: RequestDecision) -> list[str]:
        """Return how a decision differs from its label; nothing if it doesn't, or has none."""
        request = str(decision.request)
        label = self.labels.get(request)
        if label is None:
            return []
        self._seen.add(request)
        differences = [
            *self._line(decision, label),
            *_kind(decision, label),
            *_place(decision, label),
            *self._replaced(decision, label),
            *_words(decision, label),
        ]
        if differences:
            self.different.add(request)
        return differences

    def finish(self) -> list[str]:
        """Return the labelled requests about which nothing was decided."""
        never = [request for request in self.labels if request not in self._seen]
        self.different.update(never)
        return never

    @property
    def agreeing(self) -> int:
        """The number of requests that are as labelled."""
        return len(self._seen - self.different)

    def _line(self, decision: RequestDecision, label: Label) -> list[str]:
        line = self._lines.setdefault(decision.conversation, label.conversation)
        if line == label.conversation:
            return []
        ours = f"conversation {decision.conversation} is line {line} so far"
        return [f"{ours}, the label says {label.conversation}"]

    def _replaced(self, decision: RequestDecision, label: Label) -> list[str]:
        outcome = decision.outcome
        if isinstance(outcome, Opens) and outcome.origin is not None:
            origin = self._lines.get(outcome.origin)
            if origin is not None and origin != label.conversation and not label.replaces:
                return []  # a fork: the exchanges that it lacks live on in its origin
        if set(decision.replaces) == set(label.replaces):
            return []
        return [f"takes back {_list(decision.replaces)}, the label says {_list(label.replaces)}"]


def _kind(decision: RequestDecision, label: Label) -> list[str]:
    kind = kind_of(decision)
    # Nothing in a direct call says that no other will build on it.
    if kind == label.kind or (kind, label.kind) == ("new", "one-shot"):
        return []
    return [f"{kind}, the label says {label.kind}"]


def _place(decision: RequestDecision, label: Label) -> list[str]:
    """Compare what a request builds on, and where in it the new begins."""
    differences: list[str] = []
    apart = decision.outcome.reason is Reason.ONE_SHOT and label.fork_new_from is not None
    if decision.extends != label.extends and not apart:
        ours, theirs = _list(_one(decision.extends)), _list(_one(label.extends))
        differences.append(f"extends {ours}, the label says {theirs}")
    allowed = {label.new_from, *(label.alt_new_from or ())}
    if decision.new_from not in allowed:
        numbers = " or ".join(str(number) for number in sorted(allowed))
        differences.append(f"new from {decision.new_from}, the label says {numbers}")
    return differences


def _words(decision: RequestDecision, label: Label) -> list[str]:
    given = words(decision.delivered)
    wrong = first_difference(given, label.new_texts)
    return [] if wrong is None else [wrong]


def first_difference(given: list[str], expected: list[str] | tuple[str, ...]) -> str | None:
    """Return where words differ from the pieces that are expected of them, None if nowhere."""
    for index, piece in enumerate(expected):
        if index >= len(given):
            return f"doesn't give {piece!r}"
        if piece not in given[index]:
            return f"gives {given[index][:60]!r} where {piece!r} is due"
    if len(given) > len(expected):
        return f"gives {given[len(expected)][:60]!r}, which isn't new"
    return None


def _one(request: RequestId | None) -> tuple[RequestId, ...]:
    return () if request is None else (request,)


def _list(requests: tuple[RequestId, ...]) -> str:
    return ", ".join(str(request) for request in requests) or "nothing"
