"""Every regular expression of the tree takes linear time, whatever the text."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tooling import patterns
from tooling.patterns import Pattern, Unowned, attacks, python_patterns, script_patterns

from .growth import cost

LENGTH = 3_000
"""Characters. A bad pattern takes many milliseconds for so many."""
_SUSPICIOUS_SECONDS = 0.001
_BOUND = 2.8
"""How many times as long twice the text may take: 2 is linear, 4 the square."""
_TRIES = 6
"""A bad pattern takes too long each time; a busy machine doesn't disturb each time."""


FOUND = [*python_patterns(), *script_patterns()]


@pytest.mark.parametrize("pattern", FOUND, ids=lambda p: p.owner)
def test_each_pattern_takes_linear_time(pattern: Pattern) -> None:
    assert stalls(pattern) == ""


def stalls(pattern: Pattern) -> str:
    """Return the beginning of a text that takes more than linear time, "" if there is none."""
    for use in sorted(pattern.uses or {"search"}):
        run = _user(pattern.compiled, use)
        for length in (LENGTH // 10, LENGTH):
            for number, text in enumerate(attacks(pattern.compiled, length)):
                if cost(run, text, repeats=1) > _SUSPICIOUS_SECONDS:
                    double = [*attacks(pattern.compiled, 2 * length)][number]
                    if all(cost(run, double) > _BOUND * cost(run, text) for _ in range(_TRIES)):
                        return repr(text[:60])
    return ""


def _user(compiled: re.Pattern[Any], use: str) -> Callable[[Any], object]:
    empty = b"" if isinstance(compiled.pattern, bytes) else ""
    if use in ("sub", "subn"):
        return lambda text: compiled.sub(empty, text)
    if use in ("findall", "finditer"):  # a list of all would cost memory, and so time, beside it
        find: Callable[[Any], Iterable[object]] = getattr(compiled, "finditer")  # noqa: B009
        return lambda text: deque(find(text), maxlen=0)
    return getattr(compiled, use)


@pytest.mark.parametrize(
    ("source", "use"),
    [
        (r"\[`?([^\]`]*)`?\]\([^)]*\)", "sub"),
        (r"<(script|style|head)\b.*?</\1>", "search"),
        (r"\s*(`{3,})([^\n`]*)\n(.*?)\n?\1`*\s*", "fullmatch"),
        (r"^-+|-+$", "sub"),
        (r"\d+\.", "findall"),
        (r"(a+)+b", "search"),
        (rb"x*y", "search"),
    ],
)
def test_a_bad_pattern_is_noticed(source: Any, use: str) -> None:
    compiled = re.compile(source, re.DOTALL)
    if source == r"(a+)+b":  # it would never end: what is shown is that it would be tried
        texts = [*attacks(compiled, 20)]
        assert any(set(text) <= {"a", "!"} and text.endswith("!") for text in texts)
        return
    assert stalls(Pattern("here", compiled, frozenset({use})))


def test_all_kinds_of_owners_are_found() -> None:
    owners = {one.owner for one in FOUND}
    assert "agents.acp.text.markdown._ESCAPES" in owners
    assert "agents.open_responses.http.errors._STATUSES[6]" in owners, "in a table"
    assert any(re.fullmatch(r"agents.open_responses.request.body:\d+", one) for one in owners)
    scripts = [one.compiled.pattern for one in FOUND if ".ts:" in one.owner]
    assert r"\r?\n" in scripts
    assert any("workspaceFolder" in one for one in scripts)


@pytest.mark.parametrize(
    "source",
    [
        "import re\ndef f(x):\n    return re.compile(x)",
        "import re\ndef f(x, y):\n    return re.search(x + '*', y)",
        "import re\ndef f(x, y):\n    return re.search('a', x, flags=y)",
        "from re import compile",
        "import re\nNAME = [re.compile(one).pattern for one in ()]",
    ],
)
def test_a_pattern_without_an_owner_is_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unowned_pattern.py").write_text(source)
    monkeypatch.setattr(patterns, "ROOT", tmp_path)
    monkeypatch.setattr(patterns, "PACKAGES", (".",))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(Unowned, match="unowned_pattern"):
        python_patterns()


@pytest.mark.parametrize("source", ["new RegExp(made)", r"x = /\p{L}+/u;"])
def test_a_pattern_that_python_can_not_try_is_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made.ts").write_text(source)
    monkeypatch.setattr(patterns, "SCRIPTS", tmp_path)
    with pytest.raises(Unowned, match="made"):
        script_patterns()
