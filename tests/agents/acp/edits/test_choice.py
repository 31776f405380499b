from __future__ import annotations

import pytest

from agents.acp.calls.state import CallRecord
from agents.acp.edits.choice import call_for, can_edit, edits_by_editor, paths_of
from agents.acp.edits.text_edit import NewFile, Replacement
from agents.acp.quirks import KnownAgent
from agents.acp.schema.content import Diff, ToolCallLocation
from bridge.wire import EditsBy

TOOLS = {"create_file", "replace_string_in_file", "read_file"}
REPLACEMENT = Replacement("a", "b", "b")


@pytest.mark.parametrize(
    ("setting", "is_default", "expected"),
    [
        (None, True, True),
        (None, False, False),
        ("editor", False, True),
        ("agent", True, False),
    ],
)
def test_the_setting_decides_or_else_what_is_known_of_the_agent(
    setting: EditsBy | None, is_default: bool, expected: bool
) -> None:
    known = KnownAgent("x", edits_by_editor=is_default)
    assert edits_by_editor(setting, known, reads_texts=True, tools=TOOLS) is expected


def test_an_editor_must_return_texts_and_offer_its_edit_tools() -> None:
    known = KnownAgent("x", edits_by_editor=True)
    assert not edits_by_editor("editor", known, reads_texts=False, tools=TOOLS)
    assert not edits_by_editor("editor", known, reads_texts=True, tools={"create_file"})
    assert not edits_by_editor("editor", known, reads_texts=True, tools=())


def test_the_tools_of_the_agent_host_and_of_some_names_of_models_wont_do() -> None:
    known = KnownAgent("x", edits_by_editor=True)
    for tools in ({"edit", "create"}, {"apply_patch", "create_file"}, {"insert_edit_into_file"}):
        assert not edits_by_editor("editor", known, reads_texts=True, tools=tools)


def test_the_tools_must_create_a_file_and_replace_a_text() -> None:
    assert can_edit(TOOLS)
    assert can_edit({"create_file", "multi_replace_string_in_file"})
    assert not can_edit({"replace_string_in_file"})
    assert not can_edit({"create_file", "insert_edit_into_file"})


def test_an_edit_is_a_call_of_what_is_offered() -> None:
    assert call_for(NewFile("x"), "/f", TOOLS) == (
        "create_file",
        {"filePath": "/f", "content": "x"},
    )
    arguments = {"filePath": "/f", "oldString": "a", "newString": "b"}
    assert call_for(REPLACEMENT, "/f", TOOLS) == ("replace_string_in_file", arguments)
    name, given = call_for(REPLACEMENT, "/f", {"multi_replace_string_in_file"})
    assert name == "multi_replace_string_in_file"
    assert [{**arguments, "explanation": given["explanation"]}] == given["replacements"]


def test_a_call_names_files_by_its_changes_and_its_places() -> None:
    call = CallRecord("c")
    assert not paths_of(call)
    call.content = (Diff("/a", "", None),)
    call.locations = (ToolCallLocation("/b", 3),)
    assert paths_of(call) == {"/a", "/b"}
