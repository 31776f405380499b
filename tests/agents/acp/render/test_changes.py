from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
import pytest

from agents.acp.calls.state import CallRecord
from agents.acp.render import changes
from agents.acp.render.changes import Changes
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.schema.content import (
    Content,
    Diff,
    TextContent,
    ToolCall,
    ToolCallContent,
    ToolCallLocation,
)
from agents.events import Attach, Say
from bridge.wire import WatchedFiles

TEXT = "one\ntwo\nthree\n"
UNKNOWN = "unknown"


def call(
    *content: ToolCallContent,
    kind: str = "edit",
    at: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> CallRecord:
    places = tuple(ToolCallLocation(path) for path in at)
    return CallRecord("1", kind=kind, content=content, locations=places, files=files or {})


def earlier(*calls: CallRecord) -> dict[str, Any]:
    """Return what is known of the files of these calls."""
    noted = Changes()
    for one in calls:
        noted.note(one)
    return sent(noted.record())


def sent(record: Attach | None) -> dict[str, Any]:
    if record is None:
        return {}
    files: list[dict[str, Any]] = msgspec.json.decode(record.data)["files"]
    return {one["path"]: one.get("before", UNKNOWN) for one in files}


def test_the_text_from_before_is_told_by_the_changes_that_were_made() -> None:
    made = call(
        Diff("/a", "1\n", "one\n"), Diff("/a", "3\n", "three\n"), files={"/a": "1\ntwo\n3\n"}
    )
    assert earlier(made) == {"/a": TEXT}


def test_a_whole_text_and_its_line_ends_are_told() -> None:
    files = {"/a": "1\r\ntwo\r\n"}
    assert earlier(call(Diff("/a", "1\ntwo\n", TEXT), files=files)) == {"/a": TEXT}
    assert earlier(call(Diff("/a", "1\n", "one\r\n"), files=files)) == {"/a": "one\ntwo\n"}


def test_a_new_file_had_no_text() -> None:
    assert earlier(call(Diff("/a", TEXT), files={"/a": TEXT})) == {"/a": None}


@pytest.mark.parametrize(
    ("after", "diffs"),
    [
        (None, (Diff("/a", "1", "one"),)),  # the file can't be read
        ("1 1", (Diff("/a", "1", "one"),)),  # in two places
        ("2", (Diff("/a", "1", "one"),)),  # changed once more
        ("x\n", (Diff("/a", "", "one"),)),  # taken out somewhere
        ("x\ny", (Diff("/a", "x"),)),  # new, but more is in it
        ("x", (Diff("/a", "1", "2"), Diff("/a", "x"))),  # new, and changed before
    ],
)
def test_what_cant_be_told_for_certain_is_unknown(after: str | None, diffs: Sequence[Diff]) -> None:
    files = {} if after is None else {"/a": after}
    assert earlier(call(*diffs, files=files)) == {"/a": UNKNOWN}


def test_the_first_change_of_a_turn_counts() -> None:
    first = call(Diff("/a", "1\n", "one\n"), files={"/a": "1\ntwo\nthree\n"})
    second = call(Diff("/a", "2\n", "two\n"), files={"/a": "1\n2\nthree\n"})
    assert earlier(first, second) == {"/a": TEXT}


def test_a_call_without_changes_names_places_only_if_it_changes_them() -> None:
    assert earlier(call(kind="delete", at=["/a"])) == {"/a": UNKNOWN}
    assert earlier(call(kind="read", at=["/a"])) == {}
    assert earlier(call(Diff("/a", "1", "1"), at=["/b"])) == {}


def test_what_the_editor_has_changed_is_left_out() -> None:
    edited = {PurePath("/a")}
    noted = Changes(edited)
    made = call(Diff("/a", "1", "one"), Content(TextContent("Done.")), Diff("/b", "2", "two"))
    noted.note(made)
    assert list(sent(noted.record())) == ["/b"]
    assert noted.beside(made.content) == made.content[1:]


@pytest.mark.limit("agents.acp.render.changes.MOST_NAMED")
def test_the_line_names_some_files_and_counts_the_others() -> None:
    noted = Changes(root="/w")
    assert noted.lines() == []
    noted.note(call(kind="edit", at=[f"/w/{n}" for n in range(changes.MOST_NAMED)]))
    names = ", ".join(f"`{n}`" for n in range(changes.MOST_NAMED))
    assert noted.lines() == [f"📝 Changed by the agent: {names}"]
    noted.note(call(kind="edit", at=["/w/more", "/w/most"]))
    assert noted.lines() == [f"📝 Changed by the agent: {names} and 2 more"]


@pytest.mark.limit("agents.acp.render.changes.MOST_NOTED")
@pytest.mark.limit("agents.acp.render.changes.MOST_SENT")
def test_many_files_are_bounded() -> None:
    noted = Changes()
    noted.note(call(kind="edit", at=[f"/{n}" for n in range(changes.MOST_NOTED + 1)]))
    assert noted.lines()[0].endswith(f" and {changes.MOST_NOTED - changes.MOST_NAMED} more")
    assert len(sent(noted.record())) == changes.MOST_SENT


@pytest.mark.limit("agents.acp.render.changes.MOST_TEXT")
def test_long_texts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_TEXT", 2 * len(TEXT))
    calls = [call(Diff(f"/{n}", "1", TEXT), files={f"/{n}": "1"}) for n in range(4)]
    assert earlier(*calls) == {"/0": TEXT, "/1": TEXT, "/2": UNKNOWN, "/3": UNKNOWN}


def test_the_end_of_a_turn_names_the_changed_files_once_in_our_own_words() -> None:
    renderer = Renderer(SessionView(), root="/w", by_editor={PurePath("/w/theirs")})
    for number, status in enumerate(("completed", "failed", "completed")):
        path = ("/w/a", "/w/failed", "/w/theirs")[number]
        content = (Diff(path, "2", "1"),)
        done = ToolCall(str(number), "Edit", kind="edit", status=status, content=content)
        shown = "".join(say.text for say in renderer.update(done) if isinstance(say, Say))
        assert ("+2" in shown) is (path == "/w/a")
    say, record = renderer.finish()
    assert say == Say("\n\n📝 Changed by the agent: `a`", by_us=True)
    assert isinstance(record, Attach)
    assert sent(record) == {"/w/a": UNKNOWN}


def test_what_no_call_has_named_is_named_apart_in_words_that_accuse_nobody() -> None:
    noted = Changes(by_editor=(PurePath("/w/mine"),), root="/w")
    noted.note(call(Diff("/w/a", "y\n", "x\n"), files={"/w/a": "y\n"}))
    assert noted.lines() == ["📝 Changed by the agent: `a`"]
    noted.notice(WatchedFiles(("/w/a", "/w/mine", "/w/built", "/elsewhere\n[x](y)")))
    line = "📝 Changed while the agent worked: `built`, `/elsewhere [x](y)`"
    assert noted.lines() == ["📝 Changed by the agent: `a`", line]
    assert sent(noted.record()) == {
        "/w/a": "x\n",
        "/w/built": UNKNOWN,
        "/elsewhere\n[x](y)": UNKNOWN,
    }


def test_files_beyond_the_named_ones_are_counted_with_those_of_the_editor() -> None:
    noted = Changes()
    noted.notice(WatchedFiles(("/a", "/b"), 40))
    assert noted.lines()[0].endswith("`/b` and 40 more")
    noted.notice(WatchedFiles(tuple(f"/{at}" for at in range(changes.MOST_NAMED + 2)), 40))
    assert noted.lines()[0].endswith(" and 42 more")
    noted.notice(WatchedFiles((), 40))
    assert noted.lines() == []


def test_files_that_another_agent_may_have_changed_are_said_to_be_so() -> None:
    noted = Changes()
    noted.note(call(kind="edit", at=["/a"]))
    noted.notice(WatchedFiles(("/a",)), is_alone=False)
    assert noted.lines() == ["📝 Changed by the agent: `/a`"]
    assert noted.lines_when_stopped() == ["📝 Changed in the turn that was stopped: `/a`"]
    noted.notice(WatchedFiles(("/b",)), is_alone=False)
    doubt = "(another agent worked at the same time)"
    assert noted.lines()[1:] == [f"📝 Changed while the agent worked: `/b` {doubt}"]
    both = f"📝 Changed in the turn that was stopped: `/a`, `/b` {doubt}"
    assert noted.lines_when_stopped() == [both]


@pytest.mark.parametrize("name", ["/w/src/a.py", "/w/./src//a.py", "src/a.py", "w/src/a.py"])
def test_a_file_is_named_once_however_the_agent_names_it(name: str) -> None:
    noted = Changes(by_editor=[PurePath("/w/mine")], root="/w")
    noted.note(call(Diff(name, "1", "2"), Diff("./mine", "1", "2")))
    noted.note(call(kind="edit", at=["/w/src/a.py"]))
    noted.notice(WatchedFiles(("/w/src/a.py",)))
    assert noted.lines() == ["📝 Changed by the agent: `src/a.py`"]
    assert sent(noted.record()) == {"/w/src/a.py": UNKNOWN}
    assert not noted.beside([Diff("./mine", "1", "2")])
