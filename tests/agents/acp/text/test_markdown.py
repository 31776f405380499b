from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agents.acp.text.markdown import (
    DEEPEST,
    MOST_ITEMS,
    TEXT_LENGTH,
    TITLE_LENGTH,
    WHOLE_LENGTH,
    Exhibit,
    clean,
    code,
    cut,
    escape,
    excerpt,
    fenced,
    inline,
    link,
    one_line,
    size,
    title_of,
    unfenced,
)
from tests.agents.acp.strategies import json_values
from tests.growth import assert_linear

if TYPE_CHECKING:
    from markdown_it.token import Token

# What matters in Markdown, often.
SIGNS = st.text(st.sampled_from("`~*_[]()<>!\\#&;$|-+=:/ \n\tab1é😀"), max_size=40)


def inner(markdown: str) -> list[Token]:
    """Return the inline tokens of what must be one paragraph."""
    tokens = MarkdownIt("commonmark").parse(f"x {markdown}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return tokens[1].children or []


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title", ""),
        ("a\x1bcb\x1b", "ab"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("a\r\nb\r", "a\nb"),
        ("bell\x07 tab\tend\x9b", "bell tab\tend"),
        ("a\u202eb\u2028c", "abc"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_text_is_cleaned_as_a_terminal_would_leave_it(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_one_line_is_one_line_and_not_longer_than_allowed() -> None:
    assert one_line("  a\n\n b\rc\t", 20) == "a b c"
    assert one_line("x" * 30, 10) == "x" * 9 + "…"
    assert one_line("\x1b[2J" * 50, 10) == ""


@given(SIGNS)
@example("a\\`b`")
@example("&lt; &#60;")
def test_an_escaped_line_shows_what_it_was(text: str) -> None:
    line = one_line(text, 100)
    tokens = inner(escape(line))
    assert {token.type for token in tokens} <= {"text", "text_special"}
    assert "".join(token.content for token in tokens) == f"x {line}".rstrip()


@given(SIGNS)
def test_a_title_is_text_and_code_and_nothing_else(text: str) -> None:
    tokens = inner(inline(one_line(text, 100)))
    assert {token.type for token in tokens} <= {"text", "text_special", "code_inline"}


def test_code_in_a_title_stays_code() -> None:
    assert inline("Run `npm *test*` in a_b") == "Run `npm *test*` in a_b"


@given(SIGNS.filter(lambda text: bool(one_line(text, 100))))
def test_a_code_span_holds_the_line(text: str) -> None:
    line = one_line(text, 100)
    _, span = inner(code(line))
    assert span.type == "code_inline"
    assert span.content == line


@given(SIGNS, SIGNS)
def test_nothing_gets_out_of_a_fence(text: str, language: str) -> None:
    (token,) = MarkdownIt("commonmark").parse(fenced(text, language))
    assert token.type == "fence"
    assert token.content == (text if text.endswith("\n") else f"{text}\n")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("```py\nprint()\n```", ("print()", "py")),
        ("````\n```\nx\n```\n````\n", ("```\nx\n```", "")),
        ("```\na\n```\nand\n```\nb\n```", ("```\na\n```\nand\n```\nb\n```", "")),
        ("plain", ("plain", "")),
        ("```\n```", ("", "")),
    ],
)
def test_a_block_in_a_fence_of_its_own_is_taken_out_of_it(
    text: str, inside: tuple[str, str]
) -> None:
    assert unfenced(text) == inside


# What `unfenced` says in linear time.
_FENCED = re.compile(r"\s*(`{3,})([^\n`]*)\n(.*?)\n?\1`*\s*", re.DOTALL)


@given(st.lists(st.sampled_from(["```", "````", "`", "\n", "a", " "]), max_size=12).map("".join))
@example("```\n```")
@example("```\n\n```")
@example("```a\nb```` ")
def test_a_block_is_what_the_pattern_says(text: str) -> None:
    found = _FENCED.fullmatch(text)
    if found is None or f"\n{found[1]}" in found[3]:
        assert unfenced(text) == (text, "")
    else:
        assert unfenced(text) == (found[3], found[2].strip())


@pytest.mark.parametrize("piece", ["`", "```", "```\n", "\n`", "` ", " "])
def test_a_block_is_taken_out_of_its_fence_in_linear_time(piece: str) -> None:
    assert_linear(lambda count: "```\n" + piece * count + "x", unfenced, 20_000)


def test_links_go_to_pages_and_files_only() -> None:
    assert link("a [b]", "https://e.org/a (b)") == r"[a \[b\]](https://e.org/a%20%28b%29)"
    assert link("", "file:///a\nb") == "link (`file:///a b`)"
    assert link("x", "command:rm") == "x (`command:rm`)"
    assert link("x", "") == "x (`?`)"
    assert link("x", "https://e.org/" + "a" * 3000).startswith("x (`https://e.org/aaa")


@given(SIGNS, SIGNS)
def test_a_link_is_one_link(label: str, path: str) -> None:
    tokens = inner(link(label, f"https://e.org/{path}"))
    assert [token.type for token in tokens].count("link_open") == ("\n" not in path)


def test_an_excerpt_keeps_the_beginning_and_more_of_the_end() -> None:
    lines = excerpt("\n".join(str(number) for number in range(100)), 6).split("\n")
    assert lines == ["0", "1", "… 94 more lines …", "96", "97", "98", "99"]


@pytest.mark.limit("agents.acp.text.markdown._LONGEST_CLEANED")
def test_an_excerpt_of_something_huge_is_small() -> None:
    shown = excerpt("x" * 1_000_000, 10)
    assert len(shown) < 2000
    assert "800,000 characters left out" in shown


@pytest.mark.limit("agents.acp.text.markdown._LONGEST_LINE")
def test_a_long_line_of_an_excerpt_is_cut() -> None:
    assert excerpt("x" * 400 + "\n" + "y" * 401, 2) == "x" * 400 + "\n" + "y" * 399 + "…"


def test_what_is_too_long_is_cut() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (40_000, "40 kB"), (1_200_000, "1.2 MB")],
)
def test_sizes_are_for_people(count: int, text: str) -> None:
    assert size(count) == text


any_text = st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Read config.py", "Read config.py"),
        ("  two\n lines\t", "two lines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("a\x1b]0;rm -rf /\x07b", "a]0;rm -rf /b"),
        ("nul\x00bell\x07", "nulbell"),
        ("\u202etxt.exe", "txt.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\ud83d", ""),
        ("\u2028line", "line"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("⚠\ufe0f", "⚠\ufe0f"),
        ("soft\u00ad\U000e0041\u3164hyphen", "softhyphen"),
        ("", ""),
    ],
)
def test_a_title_is_one_line_that_can_be_seen(text: str, title: str) -> None:
    assert title_of(text) == title


@given(any_text)
def test_a_title_is_short_and_can_be_sent(text: str) -> None:
    title = title_of(text * 50)
    assert len(title) <= TITLE_LENGTH
    assert "\n" not in title
    assert "\x1b" not in title
    title.encode()


@pytest.mark.limit("agents.acp.text.markdown.TITLE_LENGTH")
def test_a_title_that_is_cut_says_so() -> None:
    assert title_of("x" * TITLE_LENGTH) == "x" * TITLE_LENGTH
    assert title_of("x" * 10_000) == "x" * (TITLE_LENGTH - 1) + "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\n\tlines\n", "two\n\tlines\n"),
        ("dos\r\nlines", "dos\nlines"),
        ("rm -rf / \rls      ", "rm -rf / ␍ls      "),
        ("\x1b]0;x\x07", "␛]0;x␇"),
        ("\x7f\x85", "␡\ufffd"),
        ("\u202etxt", "\ufffdtxt"),
        ("\ud83d", "\ufffd"),
        ("a\u3164\U000e0041b", "a\ufffd\ufffdb"),
        ("dix\u00a0% 👩\u200d💻⚠\ufe0f", "dix\u00a0% 👩\u200d💻⚠\ufe0f"),
    ],
)
@pytest.mark.checklist(34)
def test_what_is_hidden_in_a_text_is_shown(text: str, shown: str) -> None:
    assert Exhibit().text(text) == shown


@pytest.mark.limit("agents.acp.text.markdown.TEXT_LENGTH")
def test_the_middle_of_a_long_text_is_left_out_and_its_end_is_shown() -> None:
    shown = Exhibit().text("a" * 10_000 + "; rm -rf /")
    assert shown.startswith("aaa")
    assert shown.endswith("; rm -rf /")
    assert f"… {10_010 - TEXT_LENGTH:,} characters left out …" in shown
    assert len(shown) < TEXT_LENGTH + 100


def test_json_is_shown_as_it_is() -> None:
    value: Any = {"a": [1, 2.5, None, True, "x"], "b": {"c": {}}}
    assert Exhibit().value(value) == value


def test_keys_are_shown_as_texts_are() -> None:
    assert Exhibit().value({"a\x00": 1}) == {"a␀": 1}


@pytest.mark.limit("agents.acp.text.markdown.MOST_ITEMS")
def test_long_lists_and_objects_say_how_much_is_missing() -> None:
    shown = Exhibit().value(list(range(MOST_ITEMS + 5)))
    assert shown == [*range(MOST_ITEMS), "… 5 more"]
    shown = Exhibit().value({str(at): at for at in range(MOST_ITEMS + 5)})
    assert len(shown) == MOST_ITEMS + 1
    assert shown["…"] == "5 more"
    whole = list(range(MOST_ITEMS))
    assert Exhibit().value(whole) == whole
    assert Exhibit().value({str(at): at for at in whole}) == {str(at): at for at in whole}


@pytest.mark.limit("agents.acp.text.markdown.DEEPEST")
def test_deep_structures_end() -> None:
    value: Any = "bottom"
    for _ in range(2_000):
        value = [value]
    shown = Exhibit().value(value)
    for _ in range(DEEPEST):
        (shown,) = shown
    assert shown == "…"


def test_there_is_one_room_for_all() -> None:
    exhibit = Exhibit()
    shown = [exhibit.text("x" * TEXT_LENGTH) for _ in range(8)]
    assert shown[0] == "x" * TEXT_LENGTH
    assert shown[-1] == f"… {TEXT_LENGTH:,} characters left out …"
    assert exhibit.value(["more"]) == "…"
    assert exhibit.value(7) == 7


@pytest.mark.limit("agents.acp.text.markdown.WHOLE_LENGTH")
@given(st.recursive(json_values, lambda inner: inner.map(lambda value: [value] * 50)))
@example([-100_000_000] * 50)
@example([-1.2345678901234567e-300] * 50)
@pytest.mark.checklist(34)
def test_whatever_is_shown_is_bounded_and_can_be_sent(value: Any) -> None:
    shown = Exhibit().value([[value] * 200] * 200)
    assert len(msgspec.json.encode(shown)) < 10 * WHOLE_LENGTH
