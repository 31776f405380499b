from __future__ import annotations

import doctest

from docs import generate

PAGE = generate.ROOT / "docs" / "how-to" / "count-tokens.md"


def test_the_library_answers_as_the_page_says() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("```", "")  # a fence is no output
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(examples.examples) > 15
    told: list[str] = []
    assert doctest.DocTestRunner().run(examples, out=told.append).failed == 0, "".join(told)
