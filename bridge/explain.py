"""Tells a person, request by request, what was decided and why. Text in, text out.

A text is shown by its first words, never whole, and without what a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import attrs

from .branches import drawn
from .exchange import Ending
from .labels import Comparison, Labels
from .message import Message
from .recording import Happening, RequestNumber
from .replay import Decision, Ended, Refused, Replay, Step
from .router import Joins, Opens, Outcome, Reason, Tally
from .rules import Rule
from .telling_rows import rows
from .value import Value

MOST_CHARACTERS = 60
"""How much of a text is shown."""
FIRST_MESSAGES, LAST_MESSAGES = 3, 6
"""How many messages are listed; what lies between them is counted."""
_INDENT = 12


class Explanation(Value):
    """What there is to tell, line by line, and whether labels say something else."""

    lines: tuple[str, ...]
    is_different: bool


def explain(happenings: Iterable[Happening], labels: Labels | None = None) -> Explanation:
    """Replay what happened and return what was decided; raises `RecordingError`."""
    replay = Replay()
    comparison = None if labels is None else Comparison(labels)
    lines: list[str] = []
    for block in _blocks(replay.steps(happenings), comparison):
        lines += [*block.lines(), ""]
    lines += _tally(replay.tally)
    lines += drawn(replay.lines())
    if comparison is not None and labels is not None:
        lines += ["", *(f"request {name} never came" for name in comparison.finish())]
        lines.append(f"{comparison.agreeing} of {len(labels)} as labelled")
    return Explanation(tuple(lines), comparison is not None and bool(comparison.different))


@attrs.define
class _Block:
    """What is told of one request."""

    decision: Decision
    differences: list[str]
    ended: Ended | None = None

    def lines(self) -> Iterator[str]:
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
            stays = isinstance(outcome, Opens)
            yield _line("leaves" if stays else "withdraws", _requests(*decision.replaces))
        yield from (_line(name, text) for name, text in rows(decision.telling))
        yield _line("gives", f"message {decision.new_from} and on")
        yield from (_line("", line) for line in _messages(decision.delivered))
        yield _line("answer", _answer(self.ended))
        yield from (_line("DIFFERENT", difference) for difference in self.differences)


@attrs.define
class _Refusal:
    """What is told of a request that nothing was decided about."""

    refused: Refused

    def lines(self) -> Iterator[str]:
        yield f"request {self.refused.request}: refused"
        yield _line("why", _shown(self.refused.reason, 3 * MOST_CHARACTERS))


def _blocks(steps: Iterable[Step], comparison: Comparison | None) -> list[_Block | _Refusal]:
    blocks: list[_Block | _Refusal] = []
    newest: dict[RequestNumber, _Block] = {}
    for step in steps:
        match step:
            case Decision():
                differences = [] if comparison is None else comparison.check(step)
                newest[step.request] = _Block(step, differences)
                blocks.append(newest[step.request])
            case Ended():
                newest[step.request].ended = step
            case Refused():
                blocks.append(_Refusal(step))
            case _:
                assert_never(step)
    return blocks


def _why(decision: Decision) -> str:
    outcome = decision.outcome
    match outcome.reason:
        case Reason.PENDING_CALL:
            return "it answers calls that this conversation waits for"
        case Reason.EXTENDS:
            return "it repeats this conversation and goes on"
        case Reason.TOLERANT:
            return "it repeats this conversation in other words and goes on"
        case Reason.RETRY:
            return f"it asks the same again{_off(outcome)}"
        case Reason.SUPERSEDES:
            return "it goes on without the newest exchange"
        case Reason.BRANCH:
            return f"it goes on in another way{_off(outcome)}"
        case Reason.SUB_AGENT:
            return f"a call that conversation {_origin(outcome)} waits for leads it"
        case Reason.ONE_SHOT:
            return "no later request will build on it"
        case Reason.UNPROVEN:
            return "it is like a live conversation, but nothing proves that it is that one"
        case Reason.NEW:
            return "it is no live conversation's"
    assert_never(outcome.reason)


def _off(outcome: Outcome) -> str:
    """Return where a branch comes from; the conversation it leaves goes on living."""
    return "" if isinstance(outcome, Joins) else f", apart from conversation {outcome.origin}"


def _origin(outcome: Outcome) -> str:
    return "?" if isinstance(outcome, Joins) else str(outcome.origin)


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
        who = "results"
        said.append(", ".join(message.results))
    if text:
        said.append(_quoted(text))
    return f"{who:<8}{'; '.join([*said, *_attached(message)])}"


def _attached(message: Message) -> Iterator[str]:
    if message.calls:
        yield "calls " + ", ".join(f"{call.name} ({call.call_id})" for call in message.calls)
    if message.images:
        yield "1 image" if len(message.images) == 1 else f"{len(message.images)} images"


def _answer(ended: Ended | None) -> str:
    if ended is None:
        return f"{Ending.OPEN.value}: nothing is told of its end"
    told = [ended.ending.value]
    if ended.failure is not None:
        told[0] += f" ({_shown(ended.failure)})"
    if ended.answer is not None:
        if ended.answer.text:
            told.append(_quoted(ended.answer.text))
        told.extend(_attached(ended.answer))
    return "; ".join(told)


def _tally(tally: Tally) -> Iterator[str]:
    total = sum(tally.classes.values())
    if not total:
        yield "no chat request in it"
        return
    yield f"{total} {'request' if total == 1 else 'requests'}"
    rows = {
        "class": {kind.value: number for kind, number in tally.classes.items()},
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
