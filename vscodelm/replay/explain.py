"""Tells a person, request by request, what was decided and why. Text in, text out.

A text is shown by its first words, never whole, and without what a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import attrs

from bridge.history.exchange import Ending
from bridge.history.message import Message
from bridge.history.progress_rounds import is_progress_call
from bridge.history.rules import Rule
from bridge.routing.router import Joins, Opens, Outcome, Reason, Tally
from bridge.value import Value

from .branches import drawn
from .labels import Comparison, Labels
from .recording import Happening, RequestNumber
from .run import ASSUMED, Replay
from .steps import Over, ReplayStep, RequestDecision, RequestEnded, RequestRefused, SessionBegan
from .telling_rows import rows, rows_of_session

MOST_CHARACTERS = 60
"""Characters of a text that are shown."""
FIRST_MESSAGES, LAST_MESSAGES = 3, 6
"""Messages that are listed; those between them are counted."""
_INDENT = 12


class Explanation(Value):
    """An explanation, line by line, and whether it contradicts labels."""

    lines: tuple[str, ...]
    is_different: bool


def explain(happenings: Iterable[Happening], labels: Labels | None = None) -> Explanation:
    """Replay what happened and return what was decided; raises `RecordingError`."""
    replay = Replay()
    comparison = None if labels is None else Comparison(labels)
    lines: list[str] = []
    blocks = _blocks(replay.steps(happenings), comparison)
    for block in blocks:
        lines += [*block.lines(replay.is_exact), ""]
    lines += _tally(replay.tally)
    lines += drawn(replay.lines())
    if blocks and not replay.is_exact:
        lines += ["assumed", *(f"  {one}" for one in ASSUMED)]
    if comparison is not None and labels is not None:
        lines += ["", *(f"request {name} never came" for name in comparison.finish())]
        lines.append(f"{comparison.agreeing} of {len(labels)} as labelled")
    return Explanation(tuple(lines), comparison is not None and bool(comparison.different))


@attrs.define
class _Block:
    """The report on one request."""

    decision: RequestDecision
    differences: list[str]
    ended: RequestEnded | None = None
    began: SessionBegan | None = None

    def lines(self, is_exact: bool) -> Iterator[str]:
        decision, outcome = self.decision, self.decision.outcome
        where = f"conversation {decision.conversation}"
        if isinstance(outcome, Opens):
            where = f"opens {where}"
        yield f"request {decision.request}: {decision.request_class.value}, {where}"
        yield _line("why", f"{outcome.reason.value}: {_why(decision)}")
        for rule in _in_order(outcome.match.rules):
            yield _line("rule", f"{rule.value}: {_first_sentence(rule.reason)}")
        if outcome.runner_up is not None:
            rival = outcome.runner_up
            yield _line("runner-up", f"conversation {rival.conversation}: {rival.verdict}")
        if decision.extends is not None:
            base, ending = _requests(decision.extends), decision.committed
            if ending is None:
                yield _line("extends", base)
            else:
                yield _line("commits", f"{base}, {ending.value}")
        if decision.replaces:
            yield _line(_left(outcome), _requests(*decision.replaces))
        told = rows_of_session(decision.telling, self.began) if is_exact else rows(decision.telling)
        yield from (_line(name, text) for name, text in told)
        if outcome.reason is not Reason.REPEAT:
            yield _line("gives", f"from message {decision.new_from} on")
            yield from (_line("", line) for line in _messages(decision.delivered))
        yield _line("answer", _answer(self.ended))
        yield from (_line("DIFFERENT", difference) for difference in self.differences)


@attrs.define
class _Refusal:
    """The report on a request that got no conversation."""

    refused: RequestRefused

    def lines(self, _is_exact: bool) -> Iterator[str]:
        yield f"request {self.refused.request}: refused"
        yield _line("why", _shown(self.refused.reason, 3 * MOST_CHARACTERS))


@attrs.define
class _End:
    """The report on the end of a conversation."""

    over: Over

    def lines(self, _is_exact: bool) -> Iterator[str]:
        yield f"conversation {self.over.conversation} ends: {_ENDS[self.over.reason]}"


_ENDS = {
    "idle": "it was idle for too long",
    "least-recently-used": "a new one needs room, and this one was used least recently",
    "waited-longest": "a new one needs room, and the user has not answered this one for longest",
    "leaving": "the server ends",
    "internal": "an unexpected error occurred in it",
}


def _blocks(
    steps: Iterable[ReplayStep], comparison: Comparison | None
) -> list[_Block | _Refusal | _End]:
    blocks: list[_Block | _Refusal | _End] = []
    newest: dict[RequestNumber, _Block] = {}
    for step in steps:
        match step:
            case RequestDecision():
                differences = [] if comparison is None else comparison.check(step)
                newest[step.request] = _Block(step, differences)
                blocks.append(newest[step.request])
            case RequestEnded():
                newest[step.request].ended = step
            case SessionBegan():
                newest[step.request].began = step
            case RequestRefused():
                blocks.append(_Refusal(step))
            case Over():
                blocks.append(_End(step))
            case _:
                assert_never(step)
    return blocks


def _why(decision: RequestDecision) -> str:
    outcome = decision.outcome
    match outcome.reason:
        case Reason.PENDING_CALL:
            return "it answers calls that this conversation waits for"
        case Reason.PROGRESS:
            return "the editor has shown what was said, and waits for the rest"
        case Reason.EXTENDS:
            return "it repeats this conversation and continues it"
        case Reason.TOLERANT:
            return "it repeats this conversation in other words and continues it"
        case Reason.RETRY:
            return f"it asks the same question again{_off(outcome)}"
        case Reason.REPEAT:
            return "the host sends the same request again by itself, and gets the same answer"
        case Reason.SUPERSEDES:
            return "it continues without the newest exchange"
        case Reason.BRANCH:
            return f"it continues in another way{_off(outcome)}"
        case Reason.SUB_AGENT:
            return _led(outcome)
        case Reason.ONE_SHOT:
            return "no later request will build on it"
        case Reason.UNPROVEN:
            return "it is similar to a live conversation, but nothing proves that it continues it"
        case Reason.NEW:
            return "it matches no live conversation"
    assert_never(outcome.reason)


def _left(outcome: Outcome) -> str:
    """Return what becomes of the requests that a request takes the place of."""
    if outcome.reason is Reason.REPEAT:
        return "repeats"
    return "leaves" if isinstance(outcome, Opens) else "withdraws"


def _off(outcome: Outcome) -> str:
    """Return where a branch comes from; the conversation that it leaves stays live."""
    return "" if isinstance(outcome, Joins) else f", as a branch of conversation {outcome.origin}"


def _led(outcome: Outcome) -> str:
    origin = None if isinstance(outcome, Joins) else outcome.origin
    if origin is None:
        return "its system prompt says that it is a sub-agent"
    return f"a call that conversation {origin} waits for started this sub-agent"


def _requests(*requests: RequestNumber) -> str:
    numbers = ", ".join(str(request) for request in requests)
    return f"request {numbers}" if len(requests) == 1 else f"requests {numbers}"


def _messages(messages: tuple[Message, ...]) -> Iterator[str]:
    hidden = len(messages) - FIRST_MESSAGES - LAST_MESSAGES
    if hidden <= 1:
        yield from map(_message, messages)
        return
    yield from map(_message, messages[:FIRST_MESSAGES])
    yield f"... {hidden} more ..."
    yield from map(_message, messages[-LAST_MESSAGES:])


def _message(message: Message) -> str:
    """Return a message on one line: who speaks, and how it begins."""
    said: list[str] = []
    who = "agent" if message.role == "assistant" else "user"
    if message.role == "user" and message.request is None:
        who = "host"
    text = message.request or message.text
    if message.results:
        results = [result for result in message.results if not is_progress_call(result)]
        who = "results" if results else "host"
        said.append(", ".join(results) or "a progress round is over")
    if text:
        said.append(_quoted(text))
    return f"{who:<8}{'; '.join([*said, *_attached(message)])}"


def _attached(message: Message) -> Iterator[str]:
    calls = [call for call in message.calls if not is_progress_call(call.call_id)]
    if calls:
        yield "calls " + ", ".join(f"{call.name} ({call.call_id})" for call in calls)
    if message.images:
        yield "1 image" if len(message.images) == 1 else f"{len(message.images)} images"


def _answer(ended: RequestEnded | None) -> str:
    if ended is None:
        return f"{Ending.OPEN.value}: its end isn't recorded"
    if ended.repeat is not None:
        return f"goes on in {_requests(ended.repeat)}"
    told = [ended.ending.value]
    if ended.failure is not None:
        told[0] += f" ({_shown(ended.failure)})"
    if ended.answer is not None:
        if ended.answer.text:
            told.append(_quoted(ended.answer.text))
        told.extend(_attached(ended.answer))
    return "; ".join(told)


def _tally(tally: Tally) -> Iterator[str]:
    total = sum(tally.classes.values()) + tally.rounds
    if not total:
        yield "no chat request in it"
        return
    yield f"{total} {'request' if total == 1 else 'requests'}"
    rows = {
        "class": {kind.value: number for kind, number in tally.classes.items()},
        "harness": {one.value: number for one, number in tally.harnesses.items()},
        "rounds": {"of the progress tool": tally.rounds} if tally.rounds else {},
        "joined": {r.value: n for r in Reason if (n := tally.matches[r.value])},
        "by rule": {r.value: n for r in Rule if (n := tally.matches[r.value])},
        "opened": {r.value: n for r in Reason if (n := tally.misses[r])},
    }
    for name, row in rows.items():
        if row:
            yield _line(name, ", ".join(f"{number} {what}" for what, number in row.items()))


def _in_order(rules: frozenset[Rule]) -> list[Rule]:
    return [rule for rule in Rule if rule in rules]


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0]


def _line(name: str, text: str) -> str:
    return f"  {name:<{_INDENT}}{text}"


def _quoted(text: str) -> str:
    return f'"{_shown(text)}"'


def _shown(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the first words of a text, on one line."""
    # No more is looked at than can be shown: texts are long.
    line = " ".join(text[: 4 * most].split())
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    if len(clean) <= most and len(text) <= 4 * most:
        return clean
    return clean[: most - 3].rstrip() + "..."
