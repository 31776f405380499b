from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.acp.render import diff as module
from agents.acp.render.diff import MOST_CHARACTERS, MOST_LINES, diff_view
from agents.acp.schema.content import Diff


def shown(old: str | None, new: str) -> list[str]:
    """Return the lines of a change of the whole file."""
    return part_shown(old, new, new)


def part_shown(
    old: str | None, new: str, file: str | None = None, line: int | None = None
) -> list[str]:
    lines = diff_view(Diff("/x/a.py", new, old), "a.py", file, line).split("\n")
    assert lines[0] == "```diff"
    return lines[1 : lines.index("```")]


def test_a_change_is_a_unified_diff() -> None:
    assert shown("a\nb\nc\n", "a\nB\nc\n") == [
        "--- a.py", "+++ a.py", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c",
    ]  # fmt: skip


def test_lines_that_recur_are_not_taken_for_changed() -> None:
    assert shown("\na\n\na\n\na\n", "\na\n\n\na\n\na\n")[2:] == [
        "@@ -1,6 +1,7 @@", " ", " a", " ", "+", " a", " ", " a",
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


def test_a_part_of_a_file_says_nothing_of_its_end_or_its_place() -> None:
    assert part_shown("a\nb", "a\nc") == ["--- a.py", "+++ a.py", " a", "-b", "+c"]
    assert part_shown("b", "b\nc\n")[2:] == [" b", "+c"]
    assert part_shown(None, "a")[2:] == ["@@ -0,0 +1,1 @@", "+a"]


def test_hunks_without_a_place_are_told_apart() -> None:
    old = [f"{number}\n" for number in range(50)]
    heads = part_shown("".join(old), "".join(["first\n", *old, "last\n"]))
    assert [line for line in heads if line.startswith("@@")] == ["@@ … @@"]


FILE = "".join(f"line {number}\n" for number in range(1, 11)) + "the end"


def test_the_file_tells_the_place_and_whole_lines() -> None:
    assert part_shown("five", "5", FILE)[2:] == [
        "@@ -2,7 +2,7 @@", " line 2", " line 3", " line 4",
        "-line five", "+line 5", " line 6", " line 7", " line 8",
    ]  # fmt: skip


def test_a_file_that_is_not_changed_yet_tells_it_too() -> None:
    assert part_shown("line 2\n", "two\n", FILE)[2:] == [
        "@@ -1,5 +1,5 @@", " line 1", "-line 2", "+two", " line 3", " line 4", " line 5",
    ]  # fmt: skip


def test_a_last_line_end_that_both_sides_lack_is_no_news() -> None:
    assert part_shown("an end", "the end", FILE)[-2:] == ["-an end", "+the end"]
    assert part_shown("nine", "9", FILE.replace("line 9", "line nine"))[-1] == " the end"


def test_a_file_that_was_emptied_is_known_too() -> None:
    assert part_shown("a", "", "")[2:] == [
        "@@ -1,1 +0,0 @@", "-a", "\\ No newline at end of file",
    ]  # fmt: skip


def test_a_place_that_is_not_certain_is_not_told() -> None:
    assert part_shown("x", "line", FILE)[2:] == ["-x", "+line"]
    assert part_shown("x", "nowhere", FILE)[2:] == ["-x", "+nowhere"]
    assert part_shown("x", "", FILE)[2:] == ["-x"]


@pytest.mark.limit("agents.acp.render.diff._MOST_OCCURRENCES")
def test_a_text_that_is_everywhere_is_not_looked_for_everywhere() -> None:
    assert part_shown("y", "x", "x\n" * 999, 999)[2].startswith("@@ -996,4")
    assert part_shown("y", "x", "x\n" * 1001, 1001)[2:] == ["@@ -1001,1 +1001,1 @@", "-y", "+x"]
    assert part_shown("a\ny", "a\nx", "a\nx\n" * 1001, 2002)[2:] == [" a", "-y", "+x"]


def test_the_line_that_the_agent_names_is_the_place() -> None:
    assert part_shown("x", "line", FILE, 9)[2] == "@@ -6,6 +6,6 @@"
    assert part_shown("x", "y", None, 40)[2] == "@@ -40,1 +40,1 @@"
    assert part_shown("x", "line", FILE, 90)[2] == "@@ -90,1 +90,1 @@"
    assert part_shown("line\nx", "line\ny", None, 40)[2] == " line", "is it the 40th, or the next?"
    assert part_shown("a\nx", "a\nb", "a\nb\nc\na\nb\n", 5)[2] == "@@ -2,4 +2,4 @@"


def test_a_file_with_other_line_ends_is_the_same_file() -> None:
    assert part_shown("x", "line 4\nline 5", FILE.replace("\n", "\r\n"))[2] == "@@ -1,7 +1,8 @@"


def test_a_change_of_line_ends_is_said() -> None:
    for old, new in (("a\r\n", "a\n"), ("a", "a\n")):
        assert diff_view(Diff("a", new, old), "a.py") == "Only line ends change in `a.py`."


@given(st.text("ab\n", min_size=1), st.text("ab\n"), st.text("cd\n"), st.text("cd\n"))
def test_what_is_shown_of_a_part_makes_the_file_as_it_is(
    new: str, old: str, before: str, after: str
) -> None:
    file = before + new + after
    lines = diff_view(Diff("a", new, old), "a.py", file).split("\n")
    if not new.strip() or lines[0] != "```diff" or not lines[3].startswith("@@ -"):
        return
    was = (before + old + after).removesuffix("\n").split("\n") if before + old + after else []
    hunks = [line for line in lines[3:-1] if not line.startswith("\\")]
    assert patched(was, hunks) == file.removesuffix("\n").split("\n")


def test_no_change_is_said() -> None:
    assert diff_view(Diff("a", "x", "x"), "a.py") == "No change in `a.py`."


@pytest.mark.limit("agents.acp.render.diff._MOST_COMPARED")
@pytest.mark.checklist(27)
def test_a_huge_change_is_not_compared_and_is_bounded() -> None:
    text = diff_view(Diff("a", "x\n" * 20_000, "y\n" * 20_000), "a.py", "x\n" * 20_000)
    assert "@@ -1,20000 +1,20000 @@" in text
    assert text.endswith("*… 39,921 more lines of this change*")
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


def lines_of(diff: Diff) -> tuple[list[str], int]:
    lines, left_out = module.diff_lines(diff)
    return [line for line in lines if not line.startswith("@@")], left_out


@pytest.mark.limit("agents.acp.render.diff.MOST_CHARACTERS")
def test_a_change_may_have_so_many_characters() -> None:
    new = "x" * 99 + "\n"
    count = MOST_CHARACTERS // 100
    assert lines_of(Diff("a", new * count)) == (["+" + new[:-1]] * count, 0)
    over, left_out = lines_of(Diff("a", new * count + "y"))
    assert len(over) == 401
    assert over[0] == over[398] == "+" + new[:-1]
    assert f"+[… {left_out:,} characters left out …]" in over
    assert over[-1] == "+y"
    assert left_out == MOST_CHARACTERS + 2 - 399 * 100 - 2
    text = diff_view(Diff("a", new * count + "y"), "a")
    assert "@@ -0,0 +1,401 @@" in text
    assert "many more lines of this change" in text


@pytest.mark.limit("agents.acp.render.diff.MOST_LINES")
def test_a_change_may_have_so_many_lines() -> None:
    half = MOST_LINES // 2
    lines, left_out = lines_of(Diff("a", "x\n" * half, "y\n" * half))
    assert (len(lines), left_out) == (MOST_LINES, 0)
    lines, left_out = lines_of(Diff("a", "x\n" * (half + 1), "y\n" * half))
    assert left_out
    assert len(lines) <= MOST_LINES


def test_of_a_large_file_only_the_change_is_shown() -> None:
    lines = "".join(f"line {number}\n" for number in range(50_000))
    change = Diff("a", lines.replace("line 30000\n", "new\n"), lines)
    assert lines_of(change) == ([
        " line 29997", " line 29998", " line 29999", "-line 30000", "+new",
        " line 30001", " line 30002", " line 30003",
    ], 0)  # fmt: skip
    ends = Diff("a", lines.replace("\n", "\r\n"), lines)
    assert diff_view(ends, "a").startswith("Only line ends")
    assert lines_of(Diff("a", lines + "end", lines))[0][-1] == "+end"
    (line, *_), left_out = lines_of(Diff("a", "", "x" * MOST_CHARACTERS + "\n"))
    assert line == "-" + "x" * (len(line) - 1)
    assert left_out > MOST_CHARACTERS - len(line) * 3


TEXTS = st.text("ab\n", max_size=20)


@example("", "\na\n", "\na\n\n", "\na\n\na")
@example("\nb\na\n", "", "b\na\n", "\n\n\n\n\n")
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_large_change_is_compared_as_a_small_one(
    start: str, removed: str, added: str, end: str
) -> None:
    change = Diff("a", start + added + end, start + removed + end)
    small = lines_of(change)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_CHARACTERS", -1)
        patch.setattr(module, "_BLOCK", 4)
        assert lines_of(change) == small
