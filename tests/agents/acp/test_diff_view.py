from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.content import Diff
from agents.acp.diff_view import diff_view


def shown(old: str | None, new: str) -> list[str]:
    lines = diff_view(Diff("/x/a.py", new, old), "a.py").split("\n")
    assert lines[0] == "```diff"
    return lines[1 : lines.index("```")]


def test_a_change_is_a_unified_diff() -> None:
    assert shown("a\nb\nc\n", "a\nB\nc\n") == [
        "--- a.py", "+++ a.py", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c",
    ]  # fmt: skip


def test_lines_far_from_a_change_are_left_out_and_counted() -> None:
    old = [f"{number}\n" for number in range(5000)]
    new = [*old[:4000], "new\n", *old[4000:]]
    lines = shown("".join(old), "".join(new))
    assert lines[2:] == [
        "@@ -3998,6 +3998,7 @@",
        " 3997",
        " 3998",
        " 3999",
        "+new",
        " 4000",
        " 4001",
        " 4002",
    ]


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    old = [f"{number}\n" for number in range(50)]
    new = ["first\n", *old, "last\n"]
    heads = [line for line in shown("".join(old), "".join(new)) if line.startswith("@@")]
    assert heads == ["@@ -1,3 +1,4 @@", "@@ -48,3 +49,4 @@"]


@pytest.mark.checklist(27)
def test_a_new_file_comes_from_nowhere() -> None:
    assert shown(None, "a\n") == ["--- /dev/null", "+++ a.py", "@@ -0,0 +1,1 @@", "+a"]


def test_a_new_empty_file_is_shown_too() -> None:
    assert shown(None, "") == ["--- /dev/null", "+++ a.py"]


def test_a_missing_last_line_end_is_a_difference() -> None:
    assert shown("a\n", "a")[3:] == ["-a", "+a", "\\ No newline at end of file"]


def test_no_change_is_said() -> None:
    assert diff_view(Diff("a", "x", "x"), "a.py") == "No change in `a.py`."


@pytest.mark.limit("agents.acp.diff_view._MOST_COMPARED")
@pytest.mark.checklist(27)
def test_a_huge_change_is_not_compared_and_is_bounded() -> None:
    text = diff_view(Diff("a", "x\n" * 100_000, "y\n" * 100_000), "a.py")
    assert "@@ -1,100000 +1,100000 @@" in text
    assert text.endswith("*… 199,921 more lines of this change*")
    assert len(text.split("\n")) < 100


def test_a_fence_in_the_text_and_a_line_end_in_the_path_break_nothing() -> None:
    text = diff_view(Diff("a", "```\n\x1b[31m" + "x" * 1000 + "\n"), "a\n# b")
    assert text.startswith("````diff\n--- /dev/null\n+++ a # b\n")
    assert text.endswith("…\n````")
    assert "\x1b" not in text


def patched(old: list[str], lines: list[str]) -> list[str]:
    """Do what the hunks say, as `patch` does."""
    new: list[str] = []
    at = 0
    for line in lines:
        if head := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line):
            start, count, new_start, new_count = map(int, head.groups())
            begin = start - 1 if count else start
            new += old[at:begin]
            at = begin
            assert len(new) == (new_start - 1 if new_count else new_start)
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            new += [line[1:]] if line[0] == " " else []
    return new + old[at:]


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=15)


@given(LINES, LINES, LINES, LINES)
def test_a_diff_makes_the_new_text_of_the_old_one(
    start: list[str], removed: list[str], added: list[str], end: list[str]
) -> None:
    old, new = [*start, *removed, *end], [*start, *added, *end]
    if old == new:
        return
    lines = shown("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    assert patched(old, lines[2:]) == new
