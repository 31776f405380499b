"""Explain, request by request, what was decided and why. Text in, text out.

A text is shown by its first words, never whole, and without what a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import attrs

from bridge.history.exchange import Ending
from bridge.history.rules import Rule
from bridge.inspection.facts import (
    ENDS,
    MOST_CHARACTERS,
    attached,
    facts,
    message_lines,
    requests_named,
    shown,
)
from bridge.inspection.steps import (
    InspectionStep,
    Over,
    RequestDecision,
    RequestEnded,
    RequestRefused,
    SessionBegan,
)
from bridge.models import Complete, as_given
from bridge.routing.outcome import Opens, Reason, Tally
from bridge.value import Value
from bridge.wire import RequestId

from .branches import drawn
from .labels import Comparison, Labels
from .recording import Happening
from .run import ASSUMED, Replay

_INDENT = 12


class Explanation(Value):
    """An explanation, line by line, and whether it contradicts labels."""

    lines: tuple[str, ...]
    is_different: bool


def explain(
    happenings: Iterable[Happening], labels: Labels | None = None, complete: Complete = as_given
) -> Explanation:
    """Replay what happened and return what was decided; raises `RecordingError`."""
    replay = Replay(complete)
    comparison = None if labels is None else Comparison(labels)
    lines: list[str] = []
    blocks = _blocks(replay.steps(happenings), comparison)
    for block in blocks:
        lines += [*block.lines(replay.is_exact), ""]
    lines += _tally(replay.tally)
    lines += drawn(replay.tracker.branches())
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
        for name, text in facts(decision, self.began, is_exact=is_exact):
            yield _line(name, text)
        if outcome.reason is not Reason.REPEAT:
            yield _line("gives", f"from message {decision.new_from} on")
            yield from (_line("", line) for line in message_lines(decision.delivered, shown))
        yield _line("answer", _answer(self.ended))
        yield from (_line("DIFFERENT", difference) for difference in self.differences)


@attrs.define
class _Note:
    """The report on a request that got no conversation, or on the end of a conversation."""

    text: tuple[str, ...]

    def lines(self, _is_exact: bool) -> Iterator[str]:
        yield from self.text


def _blocks(steps: Iterable[InspectionStep], comparison: Comparison | None) -> list[_Block | _Note]:
    blocks: list[_Block | _Note] = []
    newest: dict[RequestId, _Block] = {}
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
            case RequestRefused(request=request, reason=reason):
                why = _line("why", shown(reason, 3 * MOST_CHARACTERS))
                blocks.append(_Note((f"request {request}: refused", why)))
            case Over(conversation=key, reason=reason):
                blocks.append(_Note((f"conversation {key} ends: {ENDS[reason]}",)))
            case _:
                assert_never(step)
    return blocks


def _answer(ended: RequestEnded | None) -> str:
    if ended is None:
        return f"{Ending.OPEN.value}: its end isn't recorded"
    if ended.repeat is not None:
        return f"goes on in {requests_named(ended.repeat)}"
    told = [ended.ending.value]
    if ended.failure is not None:
        told[0] += f" ({shown(ended.failure)})"
    if ended.answer is not None:
        if ended.answer.text:
            told.append(f'"{shown(ended.answer.text)}"')
        told.extend(attached(ended.answer))
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


def _line(name: str, text: str) -> str:
    return f"  {name:<{_INDENT}}{text}"
