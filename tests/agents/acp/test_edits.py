"""An ACP agent reads and writes files through the editor, in the whole system."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from agents.acp.edits import desk, known
from agents.acp.edits.text_edit import CHANGED_MEANWHILE
from agents.events import TURN_CANCELLED
from agents.workspace import READ_SECONDS, Workspace
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.edited_files import CREATE, EDITING, PERMISSION, REPLACE_MANY
from tests.fakes.editor import (
    ASKING,
    Chat,
    FakeEditor,
    Request,
    connected,
    quiet,
    tool_result,
)
from tests.fakes.waiting import PATIENCE

JSON = dict[str, Any]
EDITOR: JSON = {"edits": "editor"}
AWAIT: JSON = {"await": True}
OUTCOMES: JSON = {"outcomes": True}
FILE = "/project/a.py"
TEXT = "one\ntwo\nthree\n"


@asynccontextmanager
async def scene(
    *steps: JSON,
    capabilities: tuple[str, ...] = ("readTextFile",),
    settings: JSON | None = None,
    options: JSON = EDITING,
    folder: str = "/project",
    **script: Any,
) -> AsyncGenerator[tuple[FakeEditor, PeerAgent, Chat], None]:
    """Open a chat with an agent whose first turn has these steps, and whose editor has a file."""
    window = Workspace()
    script = {"turns": [list(steps)], **script}
    async with agent_in_process(script, workspace=window) as (agent, peers):
        async with connected(agent, workspace=window, leaves_within=30) as editor:
            editor.files.disk[FILE] = TEXT
            await editor.initialize(*capabilities).settled()
            window.open_folders((folder,))
            yield editor, peers, Chat(editor, options=options, settings=settings or EDITOR)
        assert peers.faults == []


async def said(chat: Chat) -> str:
    """Ask, carry out what is called for, and return what the agent says in the end."""
    chat.editor.patience = desk.SAVED_SECONDS + PATIENCE
    return (await chat.carry_out(chat.ask("Go"))).text


def names(request: Request) -> list[str]:
    return [one["toolName"] for one in request.calls]


def initialized(peers: PeerAgent) -> list[JSON]:
    """Return the capabilities that each process was told."""
    return [
        one["params"]["clientCapabilities"]
        for one in peers.heard
        if one.get("method") == "initialize"
    ]


# Reading.


async def test_a_read_returns_what_the_user_sees() -> None:
    async with scene({"read": FILE}, AWAIT, OUTCOMES) as (editor, peers, chat):
        editor.files.unsaved[FILE] = "not saved\r\n"
        await said(chat)
        assert contents(peers) == ["not saved\r\n"]
        assert editor.texts_asked == [FILE]
        assert initialized(peers)[0]["fs"] == {"readTextFile": True, "writeTextFile": True}


@pytest.mark.parametrize(
    ("line", "limit", "shown"),
    [(2, 1, "two"), (2, None, "two\nthree\n"), (None, 2, "one\ntwo"), (9, 9, ""), (0, 1, "one")],
)
async def test_a_read_may_be_of_some_lines(line: int | None, limit: int | None, shown: str) -> None:
    where = {key: value for key, value in (("line", line), ("limit", limit)) if value is not None}
    async with scene({"read": FILE, **where}, AWAIT, OUTCOMES) as (_, peers, chat):
        await said(chat)
        assert contents(peers) == [shown]


def contents(peers: PeerAgent) -> list[str]:
    """Return the texts that the agent has read."""
    results = [one.get("result") for one in peers.heard if "method" not in one]
    return [one["content"] for one in results if isinstance(one, dict) and "content" in one]


async def test_a_missing_file_is_said_in_the_protocols_way() -> None:
    async with scene({"read": "/project/no"}, AWAIT, OUTCOMES) as (_, __, chat):
        assert await said(chat) == "-32002 There is no file /project/no."


async def test_an_agent_that_fails_by_a_missing_file_keeps_its_session() -> None:
    """An agent may pass the error on as its own, and the same code says that a session is lost."""
    missing: JSON = {"error": {"code": -32002, "message": "There is no file /project/no."}}
    gone: JSON = {"error": {"code": -32002, "message": "Resource not found: 1"}}
    turns = [[{"read": "/project/no"}, AWAIT, missing], [{"say": "Next."}], [gone]]
    async with scene(turns=turns) as (_, peers, chat):
        failed = await chat.ask("Go").settled()
        assert "There is no file /project/no." in failed.error["message"]
        assert (await chat.say("Go on")).text == "Next."
        await chat.ask("And now?").settled()
        await chat.ask("And then?").settled()
        first, second, third, *others = (one["sessionId"] for one in peers.asked("session/prompt"))
        assert first == second == third
        assert first not in others, "nobody has missed a file in the third turn"
        assert others


async def test_gemini_reads_a_missing_file_as_an_empty_one() -> None:
    gemini = {"agentInfo": {"name": "gemini-cli", "version": "1"}}
    steps = ({"read": "/project/no"}, AWAIT, {"say": "done"})
    async with scene(*steps, agent=gemini) as (_, peers, chat):
        await said(chat)
        assert contents(peers) == [""]


async def test_a_path_must_be_absolute() -> None:
    steps = ({"read": "a.py"}, {"write": "a.py", "content": "x"}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        text = await said(chat)
        assert text.count("-32602 The path 'a.py' isn't absolute.") == 2
        assert not editor.texts_asked


async def test_an_editor_that_returns_no_text_in_time_costs_an_error(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene({"read": FILE}, AWAIT, OUTCOMES) as (editor, _, chat):
        editor.returns_texts = False
        request = await chat.ask("Go").settled(within=READ_SECONDS + 5)
        text = request.text
        assert "didn't return the text of the file in 10 s" in text
        assert not editor.texts_open


# Writing.


async def test_a_read_of_some_lines_doesnt_count_as_one_of_the_others(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """The agent writes the others as it read them before, and would undo what the user typed."""
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    part: JSON = {"read": FILE, "line": 1, "limit": 1}
    steps = ({"read": FILE}, AWAIT, QUESTION, AWAIT, part, AWAIT, write, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.unsaved[FILE] = "one\ntwo\nmine\n"
        await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        assert editor.files.disk[FILE] == "1\ntwo\nmine\n"


async def test_lines_of_a_file_that_was_never_read_are_the_base_of_a_write(
    autojump_clock: trio.testing.MockClock,
) -> None:
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    part: JSON = {"read": FILE, "line": 1, "limit": 1}
    async with scene(part, AWAIT, QUESTION, AWAIT, write, AWAIT, OUTCOMES) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.unsaved[FILE] = TEXT + "mine\n"
        await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        assert editor.files.disk[FILE] == "1\ntwo\nthree\nmine\n"


async def writes_after_parts(disk: str, meant: str, *parts: JSON) -> tuple[str, str]:
    """Let an agent read all, read these parts of what the file is then, and write.

    Return what it says in the end, and the file.
    """
    reads = [step for part in parts for step in ({"read": FILE, **part}, AWAIT)]
    write: JSON = {"write": FILE, "content": meant}
    steps = ({"read": FILE}, AWAIT, QUESTION, AWAIT, *reads, write, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.disk[FILE] = disk
        last = await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        return last.text.rpartition("> ")[2], editor.files.disk[FILE]


@pytest.mark.parametrize(
    ("disk", "meant"),
    [
        (f"{TEXT}user\n", f"{TEXT}user\nY\n"),
        ("one\n2\nthree\n", TEXT),
        ("one\n2\nthree\n", "one\n22\nthree\n"),
        ("one\r\n2\r\nthree\r\n", "one\r\n22\r\nthree\r\n"),
    ],
)
async def test_a_read_of_the_lines_that_have_changed_counts(
    autojump_clock: trio.testing.MockClock, disk: str, meant: str
) -> None:
    assert await writes_after_parts(disk, meant, {"line": 2}) == ("answered", meant)


async def test_a_line_of_the_users_isnt_joined_to_the_agents_last_one(
    autojump_clock: trio.testing.MockClock,
) -> None:
    disk = f"{TEXT}mine\n"
    said, text = await writes_after_parts(disk, "one\ntwo\n3", {"line": 1, "limit": 1})
    assert (said, text) == (f"-32603 {CHANGED_MEANWHILE}", disk)


async def test_an_agent_that_has_seen_some_of_the_changed_lines_reads_the_file_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    disk, meant = "1\ntwo\n3\n", "one\ntwo\nthree, 3\n"
    first, others = {"line": 1, "limit": 1}, {"line": 2}
    said, text = await writes_after_parts(disk, meant, first)
    assert (said, text) == (f"-32603 {desk.READ_AGAIN}", disk)
    assert await writes_after_parts(disk, meant, first, others) == ("answered", meant)
    assert await writes_after_parts(disk, meant, first, {}) == ("answered", meant)


async def test_a_write_becomes_the_editors_own_edit() -> None:
    steps = ({"write": FILE, "content": "one\n2\nthree\n"}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        (call,) = request.calls
        assert call["toolName"] == "replace_string_in_file"
        assert call["parameters"] == {"filePath": FILE, "oldString": "two\n", "newString": "2\n"}
        last = await chat.carry_out(request)
        assert last.text == "answered"
        assert editor.files.disk[FILE] == "one\n2\nthree\n"


async def test_a_new_file_is_created() -> None:
    async with scene({"write": "/project/b", "content": "b\n"}, AWAIT, OUTCOMES) as (
        editor,
        _,
        chat,
    ):
        request = await chat.ask("Go").settled()
        (call,) = request.calls
        assert call["toolName"] == "create_file"
        assert call["parameters"] == {"filePath": "/project/b", "content": "b\n"}
        await chat.carry_out(request)
        assert editor.files.disk["/project/b"] == "b\n"


@pytest.mark.parametrize("text", ["b\r\nc\r\n", "b\nc\n"])
@pytest.mark.parametrize("eol", [None, "\n", "\r\n"])
async def test_a_new_file_has_the_agents_line_ends_unless_the_editor_sets_others(
    autojump_clock: trio.testing.MockClock, text: str, eol: str | None
) -> None:
    async with scene({"write": "/project/b", "content": text}, AWAIT, OUTCOMES) as (
        editor,
        _,
        chat,
    ):
        editor.files.eol = eol
        assert await said(chat) == "answered"
        lines = text.replace("\r\n", "\n")
        assert editor.files.disk["/project/b"] == (
            text if eol is None else lines.replace("\n", eol)
        )


async def test_an_equal_text_is_written_at_once() -> None:
    async with scene({"write": FILE, "content": TEXT}, AWAIT, OUTCOMES) as (_, __, chat):
        request = await chat.say("Go")
        assert not request.calls
        assert request.text == "answered"


async def test_an_equal_text_that_isnt_saved_isnt_written_yet(
    autojump_clock: trio.testing.MockClock,
) -> None:
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    async with scene(write, AWAIT, write, AWAIT, OUTCOMES) as (editor, peers, chat):
        editor.files.saves = False
        await said(chat)
        made, again = errors(peers)
        assert made == f"-32603 {desk.NOT_SAVED} It says: Done."
        assert again == f"-32603 {desk.NOT_SAVED}"
        assert editor.files.made == 1


async def test_an_equal_text_is_written_when_the_editor_saves_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene({"write": FILE, "content": "mine\n"}, AWAIT, OUTCOMES) as (editor, _, chat):
        editor.files.unsaved[FILE] = "mine\n"
        request = chat.ask("Go")
        await editor.reaches(lambda: len(editor.texts_asked) > 2)
        editor.files.disk[FILE] = editor.files.unsaved.pop(FILE)
        assert (await request.settled()).text == "answered"


async def test_two_files_are_edited_together_and_one_file_after_itself() -> None:
    steps = (
        {"write": FILE, "content": "1\ntwo\nthree\n"},
        {"write": FILE, "content": "1\n2\nthree\n"},
        {"write": "/project/b", "content": "b"},
        AWAIT,
        OUTCOMES,
    )
    async with scene(*steps) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        assert sorted(names(request)) == ["create_file", "replace_string_in_file"]
        await chat.carry_out(request)
        assert editor.files.disk == {FILE: "1\n2\nthree\n", "/project/b": "b"}


async def test_an_agent_reads_again_if_the_user_types_while_its_edit_is_made(
    autojump_clock: trio.testing.MockClock,
) -> None:
    steps = ({"write": FILE, "content": "1\ntwo\nthree\n"}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        editor.files.typed = "mine\n"
        assert (await said(chat)).startswith(f"-32603 {desk.NOT_CERTAIN}")
        assert editor.files.disk[FILE] == "1\ntwo\nthree\nmine\n"


async def test_an_agent_doesnt_repeat_an_edit_that_may_have_been_made(
    autojump_clock: trio.testing.MockClock,
) -> None:
    write: JSON = {"write": FILE, "content": "one\nX\ntwo\nthree\n"}
    reads: JSON = {"read": FILE}
    again: JSON = {"write": FILE, "content": "one\nX\n2\nthree\nmine\n"}
    steps = (reads, AWAIT, write, AWAIT, write, AWAIT, reads, AWAIT, again, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, peers, chat):
        editor.files.typed = "mine\n"
        await said(chat)
        first, second, third = errors(peers)
        assert first == third == f"-32603 {desk.NOT_CERTAIN} It says: Done."
        assert second == f"-32603 {desk.READ_AGAIN}"
        assert editor.files.disk[FILE] == "one\nX\n2\nthree\nmine\nmine\n"


async def test_an_agent_reads_again_if_the_chat_goes_on_without_the_end_of_its_edit(
    autojump_clock: trio.testing.MockClock,
) -> None:
    write: JSON = {"write": FILE, "content": "x"}
    turns = [[{"read": FILE}, AWAIT, write, AWAIT], [write, AWAIT]]
    reads = [{"read": FILE}, AWAIT, write, AWAIT, {"say": "Done."}]
    async with scene(turns=turns, otherwise=reads) as (editor, peers, chat):
        editor.patience = desk.SAVED_SECONDS + PATIENCE
        request = await chat.ask("Go").settled()
        chat.keep(request)
        chat.keep(await chat.ask("Something else").settled())
        first, second = errors(peers)
        assert first.startswith(f"-32603 {desk.NOT_MADE}")
        assert second == f"-32603 {desk.READ_AGAIN}"
        assert (await chat.carry_out(chat.ask("Go on"))).text == "Done."
        assert editor.files.disk[FILE] == "x"


async def test_a_file_that_is_gone_after_an_edit_wasnt_certain_is_created(
    autojump_clock: trio.testing.MockClock,
) -> None:
    write: JSON = {"write": FILE, "content": "x"}
    reads: JSON = {"read": FILE}
    async with scene(write, AWAIT, QUESTION, AWAIT, reads, AWAIT, write, AWAIT) as (
        editor,
        _,
        chat,
    ):
        editor.patience = desk.SAVED_SECONDS + PATIENCE
        editor.files.edits = False
        request = await chat.ask("Go").settled()
        chat.keep(request)
        (call,) = request.calls
        request = await chat.ask(tool_result(call, "Done.")).settled()
        chat.keep(request)
        editor.files.edits = True
        del editor.files.disk[FILE]
        await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        assert editor.files.disk[FILE] == "x"


async def test_one_file_is_edited_after_itself_also_by_another_spelling_of_its_path() -> None:
    steps = (
        {"read": FILE},
        AWAIT,
        {"write": FILE, "content": "1\ntwo\nthree\n"},
        {"write": "/project/.//a.py", "content": "1\n2\nthree\n"},
        AWAIT,
    )
    async with scene(*steps) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        assert len(request.calls) == 1
        await chat.carry_out(request)
        assert editor.files.disk == {FILE: "1\n2\nthree\n"}


QUESTION: JSON = {"ask": {"toolCallId": "c", "title": "Run"}}
"""A question, while which the user can type."""


async def test_a_file_has_the_editors_path_where_the_agent_follows_the_folders_link(
    tmp_path: Path,
) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    seen, followed = str(tmp_path / "link" / "a.py"), str(tmp_path / "target" / "a.py")
    beside = str(tmp_path / "targets.py")
    write: JSON = {"write": followed, "content": "x\n"}
    ask: JSON = {"kind": "edit", "locations": [{"path": followed}], **QUESTION["ask"]}
    steps = ({"read": followed}, AWAIT, write, AWAIT, {"ask": ask}, {"read": beside}, AWAIT)
    async with scene(*steps, OUTCOMES, folder=str(tmp_path / "link")) as (editor, _, chat):
        editor.files.disk.update({seen: "seen\n", beside: "beside"})
        assert await said(chat) == "<seen\n> answered allowed <beside>", "the user isn't asked"
        assert editor.files.disk[seen] == "x\n"


async def test_what_the_user_typed_since_stays() -> None:
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    async with scene({"read": FILE}, AWAIT, QUESTION, AWAIT, write, AWAIT) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.unsaved[FILE] = TEXT + "mine\n"
        await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        assert editor.files.disk[FILE] == "1\ntwo\nthree\nmine\n"


async def test_what_the_user_typed_in_the_same_place_is_kept_and_the_agent_is_told() -> None:
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    async with scene({"read": FILE}, AWAIT, QUESTION, AWAIT, write, AWAIT, OUTCOMES) as (
        editor,
        _,
        chat,
    ):
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.unsaved[FILE] = "one, mine\ntwo\nthree\n"
        last = await chat.say(tool_result(request.calls[0], "Approved"))
        assert not last.calls
        assert CHANGED_MEANWHILE in last.text
        assert editor.files.unsaved[FILE] == "one, mine\ntwo\nthree\n"


@pytest.mark.limit("agents.acp.edits.desk.SAVED_SECONDS")
@pytest.mark.limit("agents.acp.edits.desk.MOST_WORDS")
async def test_the_words_of_a_tool_are_bounded(autojump_clock: trio.testing.MockClock) -> None:
    async with scene({"write": FILE, "content": "x"}, AWAIT, OUTCOMES) as (editor, peers, chat):
        editor.patience = desk.SAVED_SECONDS + PATIENCE
        request = await chat.ask("Go").settled()
        chat.keep(request)
        await chat.say(tool_result(request.calls[0], "ÿ" * (desk.MOST_WORDS + 1)))
        (error,) = errors(peers)
        assert error.count("ÿ") == desk.MOST_WORDS


@pytest.mark.limit("agents.acp.edits.desk.MOST_OPEN")
async def test_too_many_requests_about_files_are_refused() -> None:
    more = [{"read": FILE} for _ in range(desk.MOST_OPEN + 1)]
    async with scene(*more, {"hang": True}) as (editor, peers, chat):
        editor.returns_texts = False
        request = chat.ask("Go")
        await quiet()
        assert errors(peers) == [f"-32603 {desk.TOO_MANY}"]
        editor.cancel(request)
        await request.settled()


@pytest.mark.limit("agents.acp.edits.known.MOST_REMEMBERED")
async def test_what_was_read_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the buffer itself is the base, as for an agent that writes without reading."""
    monkeypatch.setattr(known, "MOST_REMEMBERED", len(TEXT))
    write: JSON = {"write": FILE, "content": "1\ntwo\nthree\n"}
    reads = ({"read": FILE}, AWAIT, {"read": "/project/b"}, AWAIT)
    async with scene(*reads, QUESTION, AWAIT, write, AWAIT) as (editor, _, chat):
        editor.files.disk["/project/b"] = "b"
        request = await chat.ask("Go").settled()
        chat.keep(request)
        editor.files.unsaved[FILE] = TEXT + "mine\n"
        await chat.carry_out(chat.ask(tool_result(request.calls[0], "Approved")))
        assert editor.files.disk[FILE] == "1\ntwo\nthree\n"


async def test_an_edit_that_the_editor_doesnt_make_fails_with_its_words(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene({"write": FILE, "content": "x"}, AWAIT, OUTCOMES) as (editor, _, chat):
        editor.files.edits = False
        text = await said(chat)
        assert text.endswith(f"{desk.NOT_MADE} It says: Done.")


async def test_an_edit_that_isnt_saved_fails(autojump_clock: trio.testing.MockClock) -> None:
    async with scene({"write": FILE, "content": "x"}, AWAIT, OUTCOMES) as (editor, _, chat):
        editor.files.saves = False
        assert desk.NOT_SAVED in await said(chat)


async def test_several_replacements_at_once_do_where_nothing_else_is_offered() -> None:
    options = {"tools": [CREATE, REPLACE_MANY]}
    steps = ({"write": FILE, "content": "one\n2\nthree\n"}, AWAIT, OUTCOMES)
    async with scene(*steps, options=options) as (editor, _, chat):
        request = await chat.ask("Go").settled()
        assert names(request) == ["multi_replace_string_in_file"]
        await chat.carry_out(request)
        assert editor.files.disk[FILE] == "one\n2\nthree\n"


@pytest.mark.parametrize("permissions", ["read_only", "deny"])
async def test_no_file_is_written_where_the_settings_forbid_it(permissions: str) -> None:
    settings = {**EDITOR, "permissions": permissions}
    steps = ({"write": FILE, "content": "x"}, AWAIT, OUTCOMES)
    async with scene(*steps, settings=settings) as (_, __, chat):
        request = await chat.say("Go")
        assert not request.calls
        assert desk.NOT_ALLOWED in request.text


async def test_a_notebook_is_never_written_as_text() -> None:
    path = "/project/Analysis.IPYNB"
    async with scene({"write": path, "content": "{}"}, AWAIT, OUTCOMES) as (editor, _, chat):
        assert "edit_notebook_file" in await said(chat)
        assert not editor.files.made


async def test_a_turn_that_is_cancelled_answers_its_write_at_once() -> None:
    turns = [[{"say": "Hi."}], [{"write": FILE, "content": "x"}, AWAIT, OUTCOMES]]
    async with scene(turns=turns, otherwise=[{"say": "Next."}]) as (editor, peers, chat):
        await chat.say("Hi")
        await chat.ask("Go").settled()
        chat.take_back(1)
        assert (await chat.say("Something else")).text == "Next."
        assert errors(peers) == [f"-32800 {TURN_CANCELLED}"]
        assert editor.files.disk[FILE] == TEXT


async def test_a_turn_that_is_cancelled_answers_its_read_at_once() -> None:
    async with scene({"read": FILE}, AWAIT, {"hang": True}) as (editor, peers, chat):
        editor.returns_texts = False
        request = chat.ask("Go")
        await editor.reaches(lambda: bool(editor.texts_asked))
        editor.cancel(request)
        await request.settled()
        await quiet()
        assert errors(peers) == [f"-32800 {TURN_CANCELLED}"]
        assert not editor.texts_open


def errors(peers: PeerAgent) -> list[str]:
    """Return the errors that the agent got."""
    found = [one["error"] for one in peers.heard if "error" in one]
    return [f"{one['code']} {one['message']}" for one in found]


async def test_a_write_between_turns_is_refused(autojump_clock: trio.testing.MockClock) -> None:
    steps = ({"stop": "end_turn"}, {"sleep": 5}, {"write": FILE, "content": "x"}, AWAIT)
    async with scene(*steps) as (_, peers, chat):
        await chat.say("Go")
        await trio.sleep(10)
        assert errors(peers) == [f"-32603 {desk.NO_TURN}"]


async def test_a_read_that_is_taken_back_is_answered_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    steps = ({"read": FILE}, {"sleep": 0.1}, {"withdraw": True}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        editor.returns_texts = False
        assert await said(chat) == f"-32800 {desk.TAKEN_BACK}"


# Permission.

EDIT: JSON = {
    "toolCallId": "c1",
    "title": "Edit a.py",
    "kind": "edit",
    "content": [{"type": "diff", "path": FILE, "oldText": "one", "newText": "1"}],
}


async def test_an_edit_that_the_editor_makes_needs_no_question() -> None:
    """The agent must have written here before, or be known to do so."""
    writes = {"write": FILE, "content": TEXT}
    async with scene(writes, AWAIT, {"ask": EDIT}, AWAIT, OUTCOMES) as (_, __, chat):
        request = await chat.say("Go")
        assert not request.calls
        assert request.text.endswith("allowed")


async def test_an_edit_is_asked_about_where_a_link_may_lead_elsewhere() -> None:
    writes = {"write": FILE, "content": TEXT}
    path = "/project/link/../a.py"
    change = {"type": "diff", "path": path, "oldText": "one", "newText": "1"}
    async with scene(writes, AWAIT, {"ask": {**EDIT, "content": [change]}}, AWAIT) as (_, __, chat):
        assert (await chat.ask("Go").settled()).calls


async def test_a_known_agent_is_not_asked_about_its_first_edit_either() -> None:
    gemini = {"agentInfo": {"name": "gemini-cli", "version": "1"}}
    async with scene({"ask": EDIT}, AWAIT, OUTCOMES, agent=gemini) as (_, __, chat):
        assert (await chat.say("Go")).text.endswith("allowed")


@pytest.mark.parametrize("agent", [{}, {"agentInfo": {"name": "OpenCode", "version": "1"}}])
async def test_an_agent_that_may_write_the_disk_is_asked_about(agent: JSON) -> None:
    steps = [{"ask": EDIT}, AWAIT, OUTCOMES]
    if agent:  # it reports what it writes itself
        steps = [{"write": FILE, "content": "x"}, AWAIT, *steps]
    async with scene(*steps, agent=agent) as (_, __, chat):
        request = await chat.ask("Go").settled()
        assert names(request) == ["symposium-agent-action"]


@pytest.mark.parametrize(
    "call",
    [
        {**EDIT, "kind": "execute"},
        {**EDIT, "content": []},
        {**EDIT, "content": [{**EDIT["content"][0], "path": "a.py"}]},
        {**EDIT, "content": [{**EDIT["content"][0], "path": "/etc/passwd"}]},
        {**EDIT, "content": [{**EDIT["content"][0], "path": "/project/../etc/passwd"}]},
        {**EDIT, "locations": [{"path": "/elsewhere/b"}]},
    ],
)
async def test_all_else_is_asked(call: JSON) -> None:
    writes = {"write": FILE, "content": TEXT}
    async with scene(writes, AWAIT, {"ask": call}, AWAIT, OUTCOMES) as (_, __, chat):
        request = await chat.ask("Go").settled()
        assert names(request) == ["symposium-agent-action"]


async def test_read_only_refuses_an_edit_that_is_asked_for() -> None:
    settings = {**EDITOR, "permissions": "read_only"}
    async with scene({"ask": EDIT}, AWAIT, OUTCOMES, settings=settings) as (_, __, chat):
        assert "denied" in await said(chat)


# Whose edits they are.


@pytest.mark.parametrize(
    ("capabilities", "settings", "options"),
    [
        ((), EDITOR, EDITING),
        (("readTextFile",), {}, EDITING),
        (("readTextFile",), {"edits": "agent"}, EDITING),
        (("readTextFile",), EDITOR, ASKING),
        (("readTextFile",), EDITOR, {"tools": [CREATE, PERMISSION]}),
    ],
)
async def test_otherwise_the_agent_makes_its_edits(
    capabilities: tuple[str, ...], settings: JSON, options: JSON
) -> None:
    steps = ({"write": FILE, "content": "x"}, {"read": FILE}, {"ask": EDIT}, AWAIT, OUTCOMES)
    async with scene(*steps, capabilities=capabilities, options=options) as (editor, peers, chat):
        chat.settings = settings
        request = await chat.ask("Go").settled()
        assert "fs" not in initialized(peers)[0]
        assert names(request) == ["symposium-agent-action"]
        assert [one.split()[0] for one in errors(peers)] == ["-32601", "-32601"]
        assert not editor.texts_asked


async def test_a_change_of_the_setting_goes_on_in_another_process() -> None:
    script: JSON = {"turns": [], "agent": {"agentCapabilities": {"loadSession": True}}}
    async with scene(otherwise=[{"memory": True}], **script) as (_, peers, chat):
        await chat.say("One")
        chat.settings = {"edits": "agent"}
        request = await chat.say("Two")
        told = [one.get("fs") for one in initialized(peers)]
        assert told == [{"readTextFile": True, "writeTextFile": True}, None]
        assert "One" in request.text
        chat.settings = EDITOR
        request = await chat.say("Three")
        assert len(initialized(peers)) in (2, 3)
        assert "One" in request.text


@pytest.mark.parametrize(
    "capabilities", [{"loadSession": True}, {"sessionCapabilities": {"resume": {}}}]
)
async def test_ask_mode_and_back_keeps_the_agents_memory(capabilities: JSON) -> None:
    """In Ask mode the editor offers no tools that edit, so another process has the session."""
    script: JSON = {"turns": [], "agent": {"agentCapabilities": capabilities}}
    writes = [{"memory": True}, {"write": FILE, "content": "x"}, AWAIT, OUTCOMES]
    async with scene(otherwise=writes, **script) as (editor, peers, chat):
        await said(chat)
        assert editor.files.disk[FILE] == "x"
        editor.files.disk[FILE] = TEXT
        chat.options = ASKING
        request = await chat.say("Only a question")
        assert request.text.startswith("Go / Only a question-32601 ")
        assert editor.files.disk[FILE] == TEXT
        chat.options = EDITING
        request = await chat.ask("Go").settled()
        assert request.text.startswith("Go / Only a question / Go")
        await chat.carry_out(request)
        assert editor.files.disk[FILE] == "x"
        told = [one.get("fs") is not None for one in initialized(peers)]
        assert told[:2] == [True, False]


async def test_sessions_that_were_opened_in_advance_are_of_both_kinds() -> None:
    capable: JSON = {"agent": {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}}
    writes = [{"write": FILE, "content": "x"}, AWAIT, OUTCOMES]
    async with scene(turns=[], otherwise=writes, **capable) as (editor, peers, chat):
        for number, settings in enumerate((EDITOR, {"edits": "agent"}) * 2):
            editor.files.disk[FILE] = TEXT
            other = Chat(editor, options=EDITING, settings=settings)
            other.history = [{"role": "user", "content": [{"type": "text", "value": f"{number}"}]}]
            text = (await other.carry_out(other.ask("Go"))).text
            by_editor = settings == EDITOR
            assert ("answered" in text) is by_editor
            assert (editor.files.disk[FILE] == "x") is by_editor
        opened = [one for one in peers.heard if one.get("method") == "session/new"]
        assert len(initialized(peers)) == 2
        assert len(opened) == 6, "four that were used, and a spare of each kind"
        assert chat.history == []


# Which changes are told.

DONE: JSON = {"sessionUpdate": "tool_call", **EDIT, "status": "completed"}


async def test_a_change_that_the_editor_makes_is_not_shown_again_in_that_turn() -> None:
    told = {**DONE, "rawOutput": {"newContent": "1\ntwo\nthree\n"}}
    edits = [{"write": FILE, "content": "1\ntwo\nthree\n"}, AWAIT, {"update": told}]
    turns = [edits, [{"update": {**DONE, "toolCallId": "c2"}}]]
    async with scene(turns=turns) as (_, __, chat):
        assert await said(chat) == "✔ Edit a.py"
        text = await said(chat)
        assert "+1" in text
        assert text.endswith("\n\n📝 Changed by the agent: `a.py`")


@pytest.mark.limit("agents.acp.edits.desk.MOST_EDITED")
async def test_only_so_many_files_of_a_turn_are_remembered_as_edited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desk, "MOST_EDITED", 1)
    other = {"content": [{**EDIT["content"][0], "path": "/project/b"}], "toolCallId": "c2"}
    writes = (
        {"write": FILE, "content": "x"},
        AWAIT,
        {"write": "/project/b", "content": "x"},
        AWAIT,
    )
    told = ({"update": DONE}, {"update": {**DONE, **other}})
    async with scene(*writes, *told) as (_, __, chat):
        assert (await said(chat)).endswith("📝 Changed by the agent: `b`")
