"""No tolerance without a recording that needs it: a rule is switched off, and one is misjudged.

Switching one off means that the difference which it tolerates is one like any other.
"""

from __future__ import annotations

from typing import Any

import pytest

from bridge.history.exchange import Match
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing import align, router
from bridge.routing import relate as diff
from bridge.routing.align import RecordedMessage
from bridge.routing.relate import Path
from vscodelm.replay.explain import explain

from .cases import CASES, played


def _misjudged() -> list[str]:
    names: list[str] = []
    for name in CASES:
        script = played(name)
        if explain(script.happenings(), script.labels).is_different:
            names.append(name)
    return names


def _switch_off(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    aligner: Any = align._Aligner  # pyright: ignore[reportPrivateUsage]  # where rules are applied
    same, exact, skip, extra = align.same, diff.exact, aligner._skip, aligner._extra

    def same_but_for_it(item: RecordedMessage, theirs: Message) -> Rule | bool | None:
        found = same(item, theirs)
        return None if found is rule else found

    def exact_but_for_it(history: History, incoming: Path, **how: Any) -> Any:
        found = exact(history, incoming, **how)
        return None if isinstance(found, Match) and rule in found.rules else found

    def skip_but_for_it(self: Any, length: int, why: Rule) -> bool:
        return False if why is rule else skip(self, length, why)

    def no_summary(message: Message) -> bool:
        return False

    def no_results(self: Any) -> bool:
        return False

    def no_extra_preamble(self: Any) -> bool:
        summary = self.to < len(self.incoming) and align.is_summary(self.incoming[self.to])
        return extra(self) if summary else False

    def no_call(path: Path) -> Any:
        return iter(())

    monkeypatch.setattr(align, "same", same_but_for_it)
    monkeypatch.setattr(diff, "exact", exact_but_for_it)
    monkeypatch.setattr(router, "exact", exact_but_for_it)
    monkeypatch.setattr(aligner, "_skip", skip_but_for_it)
    if rule is Rule.SUMMARY:
        monkeypatch.setattr(align, "is_summary", no_summary)
    if rule is Rule.RESULTS_REGROUPED:
        monkeypatch.setattr(aligner, "_found_results", no_results)
    if rule is Rule.PREAMBLE:
        monkeypatch.setattr(aligner, "_extra", no_extra_preamble)
    if rule is Rule.CALL_ALONE:
        monkeypatch.setattr(router, "_trailing_results", no_call)


@pytest.mark.parametrize("rule", Rule)
def test_a_recording_is_misjudged_without_the_rule(
    rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    _switch_off(rule, monkeypatch)
    assert _misjudged(), f"{rule.value} is needed by no recording of ours"


def test_none_is_misjudged_with_all_of_them() -> None:
    assert _misjudged() == []
