"""The examples on the pages for other programs print what the pages say."""

from __future__ import annotations

import doctest

import pytest

from docs import generate


@pytest.mark.parametrize("name", ["count-tokens", "adapt-a-stream"])
def test_the_library_answers_as_the_page_says(name: str) -> None:
    page = generate.ROOT / "docs" / "how-to" / f"{name}.md"
    text = page.read_text(encoding="utf-8").replace("```", "")  # a fence is no output
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(examples.examples) > 15
    told: list[str] = []
    assert doctest.DocTestRunner().run(examples, out=told.append).failed == 0, "".join(told)
