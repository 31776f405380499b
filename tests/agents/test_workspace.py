"""The texts of files and the changed files are asked of the editor, one request each."""

from __future__ import annotations

from pathlib import Path, PurePath

import attrs
import msgspec
import pytest
import trio
import trio.testing
from msgspec import UNSET, Raw

from agents import workspace
from agents.workspace import (
    CHANGED_SECONDS,
    MOST_CHANGED,
    MOST_REASON,
    EditorTexts,
    FileWatch,
    TextUnreadable,
    Workspace,
)
from bridge.jsonrpc import RpcResponse
from bridge.methods import CHANGED_FILES, READ_TEXT_FILE, WATCH_FILES
from bridge.wire import (
    Capabilities,
    ReadTextFileParams,
    ReadTextFileResult,
    WatchedFiles,
    WatchedFilesParams,
    WatchFilesParams,
)
from tests.fakes.waiting import PATIENCE


@attrs.define
class Port:
    """The connection to an editor."""

    window: Workspace
    answers: list[RpcResponse] = attrs.field(factory=list[RpcResponse])
    asked: list[tuple[str, msgspec.Struct]] = attrs.field(factory=list[tuple[str, msgspec.Struct]])
    told: list[msgspec.Struct] = attrs.field(factory=list[msgspec.Struct])
    forgotten: list[str] = attrs.field(factory=list[str])

    @property
    def texts(self) -> EditorTexts:
        return self.window.texts

    def ask(self, id_: str, method: str, params: msgspec.Struct) -> None:
        assert method in (READ_TEXT_FILE, CHANGED_FILES)
        self.asked.append((id_, params))
        if self.answers:
            answer = self.answers.pop(0)
            assert self.window.answer(RpcResponse(id_, answer.result, answer.error))

    def tell(self, method: str, params: msgspec.Struct) -> None:
        assert method == WATCH_FILES
        self.told.append(params)

    def forget(self, id_: str) -> None:
        self.forgotten.append(id_)


def port_with(*answers: RpcResponse) -> Port:
    window = Workspace()
    port = Port(window, list(answers))
    window.connect(port, Capabilities(read_text_file=True, changed_files=True))
    return port


def watch_with(*answers: RpcResponse) -> tuple[Port, FileWatch]:
    port = port_with(*answers)
    watch = port.window.watches.begin()
    assert watch is not None
    return port, watch


def result(text: bytes) -> RpcResponse:
    return RpcResponse(None, Raw(text), UNSET)


async def test_the_text_and_whether_it_is_saved_are_returned() -> None:
    port = port_with(result(b'{"text": "a", "isDirty": true}'), result(b'{"text": null}'))
    with trio.fail_after(PATIENCE):
        assert await port.texts.read("/a") == ReadTextFileResult("a", is_dirty=True)
        assert await port.texts.read("/b") == ReadTextFileResult(None)
    assert [params for _, params in port.asked] == [*map(ReadTextFileParams, ("/a", "/b"))]
    assert len({id_ for id_, _ in port.asked}) == 2
    assert not port.forgotten


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RpcResponse(None, UNSET, Raw(b'{"message": "It is binary."}')), "file: It is binary."),
        (RpcResponse(None, UNSET, Raw(b'{"code": 1}')), "couldn't read the file."),
        (RpcResponse(None, UNSET, Raw(b"7")), "couldn't read the file."),
        (RpcResponse(None, UNSET, UNSET), "can't be used"),
        (result(b'{"text": 7}'), r"\$\.text"),
        (result(b"{}"), "can't be used"),
    ],
)
async def test_another_answer_is_an_error_in_words(answer: RpcResponse, words: str) -> None:
    port = port_with(answer)
    with trio.fail_after(PATIENCE), pytest.raises(TextUnreadable, match=words):
        await port.texts.read("/a")


@pytest.mark.limit("agents.workspace.MOST_REASON")
async def test_the_words_of_an_error_are_bounded() -> None:
    error = Raw(msgspec.json.encode({"message": "x" * (MOST_REASON + 1)}))
    port = port_with(RpcResponse(None, UNSET, error))
    with trio.fail_after(PATIENCE), pytest.raises(TextUnreadable) as caught:
        await port.texts.read("/a")
    assert str(caught.value).count("x") == MOST_REASON


async def test_a_read_that_is_cancelled_is_taken_back_and_a_late_answer_is_ignored() -> None:
    port = port_with()
    with trio.move_on_after(0):
        await port.texts.read("/a")
    (id_,) = port.forgotten
    assert not port.window.answer(RpcResponse(id_, Raw(b'{"text": "a"}'), UNSET))


@pytest.mark.limit("agents.workspace.READ_SECONDS")
async def test_an_editor_that_is_silent_is_waited_for_a_while(
    autojump_clock: trio.testing.MockClock,
) -> None:
    port = port_with()
    with trio.fail_after(60), pytest.raises(TextUnreadable, match="in 10 s"):
        await port.texts.read("/a")
    assert len(port.forgotten) == 1


async def test_an_editor_without_texts_isnt_asked() -> None:
    window = Workspace()
    window.connect(Port(window), Capabilities())
    assert not window.texts.are_offered
    with pytest.raises(TextUnreadable, match="This editor"):
        await window.texts.read("/a")
    assert not window.answer(RpcResponse(None, Raw(b"{}"), UNSET))
    assert window.watches.begin() is None


# The files that change.


async def test_the_changed_files_of_a_turn_are_asked_for_by_its_number() -> None:
    answers = [result(b'{"paths": ["/a", "b", "/a", "/c"], "more": 2}'), result(b'{"more": -1}')]
    port, watch = watch_with(*answers)
    other = port.window.watches.begin()
    assert other is not None
    with trio.fail_after(PATIENCE):
        assert await watch.changed() == WatchedFiles(("/a", "/c"), 2)
        assert await other.changed() == WatchedFiles()
    assert [params for _, params in port.asked] == [WatchedFilesParams(1), WatchedFilesParams(2)]
    watch.end()
    watch.end()
    begun = [WatchFilesParams(1), WatchFilesParams(2)]
    assert port.told == [*begun, WatchFilesParams(1, is_over=True)]


@pytest.mark.limit("agents.workspace.MOST_CHANGED")
async def test_further_changed_files_are_counted() -> None:
    paths = [f"/{at}" for at in range(MOST_CHANGED + 3)]
    _, watch = watch_with(result(msgspec.json.encode({"paths": paths, "more": 4})))
    with trio.fail_after(PATIENCE):
        assert await watch.changed() == WatchedFiles(tuple(paths[:MOST_CHANGED]), 7)


@pytest.mark.parametrize(
    "answer", [RpcResponse(None, UNSET, Raw(b'{"code": 1}')), result(b'{"paths": 7}')]
)
async def test_an_answer_that_names_no_files_costs_only_the_line(answer: RpcResponse) -> None:
    _, watch = watch_with(answer)
    with trio.fail_after(PATIENCE):
        assert await watch.changed() == WatchedFiles()


@pytest.mark.limit("agents.workspace.CHANGED_SECONDS")
async def test_an_editor_that_names_no_changed_files_is_waited_for_a_while(
    autojump_clock: trio.testing.MockClock,
) -> None:
    port, watch = watch_with()
    with trio.fail_after(60):
        began = trio.current_time()
        assert await watch.changed() == WatchedFiles()
    assert trio.current_time() - began == CHANGED_SECONDS
    assert len(port.forgotten) == 1


# Several turns at once.


def two_watches(*answers: RpcResponse) -> tuple[FileWatch, FileWatch]:
    port, one = watch_with(*answers)
    other = port.window.watches.begin()
    assert other is not None
    return one, other


def paths(*names: str) -> list[PurePath]:
    return [PurePath(name) for name in names]


def named(*paths: str) -> RpcResponse:
    return result(msgspec.json.encode({"paths": paths}))


async def test_a_file_that_only_another_turns_calls_have_changed_is_left_out() -> None:
    one, other = two_watches(named("/a", "/b", "/c"), named("/a", "/b", "/c"))
    one.note_calls(paths("/a"))
    other.note_calls(paths("/b"))
    with trio.fail_after(PATIENCE):
        assert await one.changed() == WatchedFiles(("/a", "/c"))
        one.end()
        assert await other.changed() == WatchedFiles(("/b", "/c")), "also of a turn that is over"
    assert not one.is_alone
    assert not other.is_alone


async def test_a_turn_is_alone_while_no_other_agent_uses_tools() -> None:
    one, other = two_watches(named("/a"))
    one.note_calls(paths("/a"))
    with trio.fail_after(PATIENCE):
        assert await one.changed() == WatchedFiles(("/a",)), "its own calls change nothing"
    assert one.is_alone
    assert not other.is_alone


async def test_a_turn_that_begins_beside_another_agents_tools_isnt_alone() -> None:
    port, one = watch_with(named("/a"))
    one.note_calls(paths("/a"))
    beside = port.window.watches.begin()
    assert beside is not None
    assert not beside.is_alone
    one.note_calls(paths("/a"))
    with trio.fail_after(PATIENCE):
        assert await beside.changed() == WatchedFiles(("/a",)), "it changed once more since"
    one.end()
    after = port.window.watches.begin()
    assert after is not None
    assert after.is_alone


@pytest.mark.limit("agents.workspace.MOST_ELSEWHERE")
async def test_the_files_of_other_turns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MOST_ELSEWHERE", 2)
    one, other = two_watches(named("/a", "/b", "/c"))
    one.note_calls(paths("/a", "/b"))
    one.note_calls(paths("/c"))
    with trio.fail_after(PATIENCE):
        assert await other.changed() == WatchedFiles(("/c",))


def test_a_path_below_the_target_of_a_folder_is_that_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    target, link = str(tmp_path / "target"), str(tmp_path / "link")
    one = Workspace(("/project", link))
    assert one.spelled(f"{target}/x/a.py") == f"{link}/x/a.py"
    assert one.spelled(target) == link
    for path in (f"{link}/a.py", "/project/a.py", f"{target}s/a.py", "a.py", ""):
        assert one.spelled(path) == path
    both = Workspace((link, target))
    assert both.spelled(f"{target}/a.py") == f"{target}/a.py"
