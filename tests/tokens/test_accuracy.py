"""How far the estimate is from o200k_base, by kinds of text that it was not fitted to."""

from __future__ import annotations

import re

import pytest

from bridge.tokens.message import estimate_text
from tooling import exact_tokens

from .kinds import KINDS, ROOT

MOST = 0.05
MOST_OF = {
    **dict.fromkeys(["English prose", "JSON", "Markdown", "diffs"], 0.02),
    **dict.fromkeys(["Python", "C and C++", "JavaScript and TypeScript"], 0.02),
    "Thai, Khmer, Lao, Amharic": 0.1,
}
PAGE = ROOT / "docs" / "explanation" / "tokens.md"
ROW = re.compile(r"^\| (?P<kind>[^|]+) \| (?P<texts>\d+) \| (?P<error>[\d.]+) % \|", re.MULTILINE)
TOLERANCE = 0.01
"""The texts are those of the packages that are installed, so that no number stays the same."""


def error(texts: list[str]) -> float:
    """Return the mean absolute error, relative to the exact count of each text."""
    errors = [abs(estimate_text(text) / exact_tokens.count(text) - 1) for text in texts]
    return sum(errors) / len(errors)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_error_of_each_kind_is_small(kind: str) -> None:
    texts = KINDS[kind]()
    assert texts
    assert error(texts) <= MOST_OF.get(kind, MOST)


def test_the_page_tells_the_errors_as_they_are() -> None:
    told = {row["kind"]: float(row["error"]) / 100 for row in ROW.finditer(PAGE.read_text("utf-8"))}
    assert set(told) == set(KINDS)
    for kind, texts in KINDS.items():
        assert error(texts()) == pytest.approx(told[kind], abs=TOLERANCE), kind
