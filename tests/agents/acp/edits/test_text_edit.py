from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.acp.edits import text_edit
from agents.acp.edits.text_edit import (
    CHANGED_MEANWHILE,
    FILE_HAS_RETURN,
    LONE_RETURN,
    MOST_HUNK_BYTES,
    NOT_TEXT,
    Impossible,
    NewFile,
    Replacement,
    Unchanged,
    edit_for,
    plain,
)

LINE = st.sampled_from(["", "a", "b", "aa", "ab", "    return", "é"])
TEXT = st.lists(LINE, max_size=12).map("\n".join)
"""Few lines, so that a line is often there more than once."""


def test_a_missing_or_an_empty_file_is_created() -> None:
    assert edit_for("\ufeffx\n", None, None) == NewFile("x\n")
    assert edit_for("x", "", "") == NewFile("x")
    assert edit_for("x", "it was longer", "") == NewFile("x")


@pytest.mark.parametrize("text", ["x\r\ny\r\n", "x\ny\r\n", "x\ny\n"])
def test_a_new_file_has_the_line_ends_that_the_agent_means(text: str) -> None:
    assert edit_for(text, None, None) == edit_for(text, "z\n", "") == NewFile(text)


@pytest.mark.parametrize(("meant", "buffer"), [("a\rb", None), ("a\rb", ""), ("a\rb", "a")])
def test_a_text_whose_line_ends_the_editor_would_change_is_refused(
    meant: str, buffer: str | None
) -> None:
    assert edit_for(meant, None, buffer) == Impossible(LONE_RETURN)
    assert edit_for(meant, None, meant) == Unchanged()


@pytest.mark.parametrize("meant", ["b", "b\r\r\nc"])
def test_a_file_whose_line_ends_the_editor_would_change_is_refused(meant: str) -> None:
    assert edit_for(meant, None, "a\r\r\nb") == Impossible(FILE_HAS_RETURN)
    assert edit_for(meant, meant, "a\r\r\nb") == Unchanged(), "nothing is meant"


def test_an_equal_text_is_no_edit_whatever_its_line_ends() -> None:
    assert edit_for("a\nb\n", None, "\ufeffa\r\nb\r\n") == Unchanged()
    assert edit_for("a\nb\n", "c", "a\nb\n") == Unchanged()


def test_a_write_of_what_was_read_keeps_what_the_user_typed_since() -> None:
    assert edit_for("a\n", "a\n", "a\nmine\n") == Unchanged()


def test_the_hunk_goes_from_the_first_to_the_last_changed_line() -> None:
    edit = edit_for("1\nB\n3\nD\n5\n", None, "1\n2\n3\n4\n5\n")
    assert edit == Replacement("2\n3\n4\n", "B\n3\nD\n", "1\nB\n3\nD\n5\n")


def test_the_first_line_is_a_hunk_by_itself() -> None:
    edit = edit_for("ONE\n2\n3\n", "1\n2\n3\n", "1\n2\nmine\n")
    assert edit == Replacement("1\n", "ONE\n", "ONE\n2\nmine\n")
    long = "".join(f"{number}\n" for number in range(MOST_HUNK_BYTES // 2))
    assert isinstance(edit_for(f"first\n{long}", None, long), Replacement)


@given(st.integers(2, 12), st.data())
def test_a_line_is_changed_whatever_the_user_typed_in_another(
    count: int, data: st.DataObject
) -> None:
    ours, theirs = data.draw(st.permutations(range(count)))[:2]
    read = [f"<{number}>\n" for number in range(count)]
    meant = [f"meant {line}" if at == ours else line for at, line in enumerate(read)]
    buffer = [f"mine {line}" if at == theirs else line for at, line in enumerate(read)]
    edit = edit_for("".join(meant), "".join(read), "".join(buffer))
    both = [f"meant {line}" if at == ours else line for at, line in enumerate(buffer)]
    assert edit == Replacement(read[ours], meant[ours], "".join(both))


def test_the_hunk_is_widened_until_it_is_there_once() -> None:
    edit = edit_for("x\na\nx\nb\n", None, "x\na\nx\na\nx\nb\n")
    assert isinstance(edit, Replacement)
    assert edit.result == "x\na\nx\nb\n"
    assert "x\na\nx\na\nx\nb\n".count(edit.old) == 1


def test_a_line_that_is_added_is_anchored_at_its_neighbours() -> None:
    edit = edit_for("a\nnew\nb\n", None, "a\nb\n")
    assert edit == Replacement("a\nb\n", "a\nnew\nb\n", "a\nnew\nb\n")


def test_what_the_user_typed_elsewhere_stays() -> None:
    edit = edit_for("1\nTWO\n3\n4\n", "1\n2\n3\n4\n", "1\n2\n3\n4\nmine\n")
    assert edit == Replacement("2\n", "TWO\n", "1\nTWO\n3\n4\nmine\n")


def test_what_the_user_typed_in_a_neighbour_doesnt_hide_the_hunk() -> None:
    edit = edit_for("a\nx\nB\nx\nd\n", "a\nx\nb\nx\nd\n", "mine\nx\nb\nx\nd\n")
    assert edit == Replacement("b\n", "B\n", "mine\nx\nB\nx\nd\n")


@pytest.mark.parametrize(
    ("meant", "read", "buffer"),
    [
        ("a\nX\nb\n", "a\nb\n", "a\nX\nb\nmine\n"),
        ("X\na\nb\n", "a\nb\n", "X\na\nb\nmine\n"),
        ("a\nb\nX\n", "a\nb\n", "mine\na\nb\nX\n"),
        ("a\nX\nb\nY\nc\n", "a\nb\nc\n", "a\nX\nb\nY\nc\nmine\n"),
        ("a\nX", "a", "mine\na\nX"),
        ("a\nnew\nb\n", "a\nb\n", "mine\nb\n"),
    ],
)
def test_lines_are_added_only_between_the_lines_that_were_read(
    meant: str, read: str, buffer: str
) -> None:
    """They may be there already: an agent repeats an edit that wasn't certain."""
    assert edit_for(meant, read, buffer) == Impossible(CHANGED_MEANWHILE)


def test_lines_are_added_whatever_the_user_typed_elsewhere() -> None:
    edit = edit_for("a\nX\nb\n", "a\nb\n", "mine\na\nb\nmine, too\n")
    assert edit == Replacement("a\nb\n", "a\nX\nb\n", "mine\na\nX\nb\nmine, too\n")
    assert edit_for("a\nbc", "a\nb", "mine\nb") == Replacement("b", "bc", "mine\nbc")
    edit = edit_for("a\nb\nX\n", "a\nb\n", "mine\nb\n")
    assert edit == Replacement("b\n", "b\nX\n", "mine\nb\nX\n")


def test_what_the_user_typed_in_the_same_line_is_not_overwritten() -> None:
    assert edit_for("1\nTWO\n", "1\n2\n", "1\n2 mine\n") == Impossible(CHANGED_MEANWHILE)


@pytest.mark.parametrize("buffer", ["1\ngrab\n", "1\nmine b\n", "1\nb mine"])
def test_a_line_that_only_contains_the_hunk_isnt_edited(buffer: str) -> None:
    read = "1\nb\n" if buffer[-1] == "\n" else "1\nb"
    meant = read.replace("b", "B")
    assert edit_for(meant, read, buffer) == Impossible(CHANGED_MEANWHILE)


def test_a_last_line_without_an_end_is_edited_also_if_the_user_adds_another() -> None:
    edit = edit_for("1\nB", "1\nb", "1\nb\nmine\n")
    assert edit == Replacement("b", "B", "1\nB\nmine\n")


@pytest.mark.parametrize(
    ("meant", "read", "buffer"),
    [
        ("a", "a\n", "a\nmine\n"),
        ("a\nc", "a\nb\n", "a\nb\nmine\n"),
        ("a\n", "a", "a\nmine\n"),
        ("a\n", "a\nx", "a\nx\nmine\n"),
        ("", "x", "x\nmine\n"),
        ("a\nb", "a\n", "a\nmine\n"),
    ],
)
def test_a_line_of_the_users_isnt_joined_to_the_last_one(
    meant: str, read: str, buffer: str
) -> None:
    assert edit_for(meant, read, buffer) == Impossible(CHANGED_MEANWHILE)


def test_the_last_line_end_is_the_agents_if_the_user_adds_lines_elsewhere() -> None:
    assert edit_for("a\nb", "a\nb\n", "mine\na\nb\n") == Replacement("b\n", "b", "mine\na\nb")
    assert edit_for("a\nb\n", "a\nb", "mine\na\nb") == Replacement("a\nb", "a\nb\n", "mine\na\nb\n")
    assert edit_for("a\n", "a\nb", "mine\na\nb") == Replacement("b", "", "mine\na\n")
    assert edit_for("a\n", "a\nb\n", "a\nb\nmine\n") == Replacement("b\n", "", "a\nmine\n")


def test_a_hunk_whose_place_is_unclear_is_refused() -> None:
    read = "a\nb\n"
    assert edit_for("a\nB\n", read, read + read) == Impossible(CHANGED_MEANWHILE)


@pytest.mark.parametrize("text", ["\0", "a\0b"])
def test_binary_is_refused(text: str) -> None:
    assert edit_for(text, None, "a") == Impossible(NOT_TEXT)
    assert edit_for("a", None, text) == Impossible(NOT_TEXT)


@pytest.mark.limit("agents.acp.edits.text_edit.MOST_HUNK_BYTES")
def test_a_hunk_that_is_too_large_is_refused_in_words() -> None:
    edit = edit_for("x" * (MOST_HUNK_BYTES + 1), None, None)
    assert isinstance(edit, Impossible)
    assert "256 KB" in edit.reason
    assert isinstance(edit_for("x" * MOST_HUNK_BYTES, None, None), NewFile)
    assert isinstance(edit_for("é" * (MOST_HUNK_BYTES // 2 + 1), None, "a"), Impossible)


def test_a_file_of_equal_lines_is_looked_through_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def counted(part: str, text: str) -> bool:
        looks.append(part)
        return part in text and text.find(part) == text.rfind(part)

    monkeypatch.setattr(text_edit, "_is_once", counted)
    read = "a\n" * 5000
    for meant in ("a\n" * 2500 + "b\n" + "a\n" * 2500, "b\n" + "a\n" * 4999):
        edit = edit_for(meant, read, "x\n" + read[2:])
        assert isinstance(edit, Impossible)
    assert len(looks) < 200


@given(TEXT, TEXT)
def test_what_is_meant_is_what_comes_out_where_nobody_else_edits(meant: str, read: str) -> None:
    match edit_for(meant, read, read):
        case Unchanged():
            assert plain(meant) == plain(read)
        case NewFile(text=text):
            assert not read
            assert text == meant
        case Replacement(old=old, new=new, result=result):
            assert read.count(old) == 1
            assert read.replace(old, new) == result == meant
        case Impossible():
            pytest.fail("nothing stands in the way")


@given(TEXT, TEXT, TEXT)
def test_an_edit_is_exact_or_refused_whatever_the_user_typed(
    meant: str, read: str, buffer: str
) -> None:
    edit = edit_for(meant, read, buffer)
    if isinstance(edit, Replacement):
        assert buffer.count(edit.old) == read.count(edit.old) == 1
        assert buffer.replace(edit.old, edit.new) == edit.result
        assert read.replace(edit.old, edit.new) == meant


COUNT = 6
"""Lines of a text, each another."""


def text_of(lines: list[str], *, ends: bool) -> str:
    return "\n".join(lines) + "\n" * (ends and bool(lines))


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(["same", "same", "same", "other", "gone"]), min_size=COUNT, max_size=COUNT
    ),
    st.sets(st.integers(0, COUNT), max_size=2),
    st.integers(0, COUNT),
    st.integers(0, COUNT),
    st.integers(0, 2),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_an_agent_and_the_user_both_get_their_lines_or_the_edit_is_refused(
    kinds: list[str],
    gaps: set[int],
    first: int,
    count: int,
    added: int,
    ends: tuple[bool, bool, bool],
) -> None:
    """The user changes lines and adds some in gaps; the agent changes some that are together."""
    end = min(first + count, COUNT)
    lines = [f"line {number}" for number in range(COUNT)]
    new = [f"new {number}" for number in range(added)]
    read_lines, meant_lines = lines, lines[:first] + new + lines[end:]
    buffer_lines: list[str] = []
    both: list[str] = []
    for at in range(COUNT + 1):
        typed = [f"typed {at}"] * (at in gaps)
        kind = kinds[at] if at < COUNT else "gone"
        line = [] if kind == "gone" else [lines[at] if kind == "same" else f"mine {at}"]
        buffer_lines += typed + line
        both += typed + (new if at == first else []) + ([] if first <= at < end else line)
    read, meant, buffer = (
        text_of(one, ends=has)
        for one, has in zip((read_lines, meant_lines, buffer_lines), ends, strict=True)
    )
    means = ends[0] if not meant else ends[1]
    if first < end:
        is_free = set(kinds[first:end]) == {"same"} and gaps.isdisjoint(range(first + 1, end))
    elif means != ends[0] and first < COUNT:  # all lines to the end are replaced
        is_free = set(kinds[first:]) == {"same"} and gaps.isdisjoint(range(first + 1, COUNT + 1))
    else:
        beside = kinds[max(0, first - 1) : first + 1]
        is_free = set(beside) == {"same"} and first not in gaps
    match edit_for(meant, read, buffer):
        case Replacement(result=result):
            assert is_free or meant_lines == read_lines
            assert result == text_of(both, ends=ends[2] if means == ends[0] else means)
        case Unchanged():
            assert meant in (read, buffer)
        case NewFile():
            assert not buffer
        case Impossible(reason=reason):
            assert reason == CHANGED_MEANWHILE
            assert buffer != read, "nothing stands in the way"


@given(TEXT, TEXT, TEXT, TEXT, st.sampled_from(["line of the user\n", "another\nof them\n"]))
def test_two_who_edit_different_lines_both_get_theirs(
    before: str, old: str, new: str, after: str, mine: str
) -> None:
    read = f"<{before}>\nfirst\n{old}|\nlast\n{after}"
    meant = f"<{before}>\nfirst\n{new}|\nlast\n{after}"
    edit = edit_for(meant, read, mine + read)
    if isinstance(edit, Replacement):
        assert edit.result == mine + meant
    else:
        assert isinstance(edit, Unchanged)
