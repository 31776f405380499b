"""Choose the side that makes an agent's edits: the editor, or the agent itself. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, assert_never

from agents.acp.calls.state import CallRecord
from agents.acp.quirks import KnownAgent
from agents.duplicates import CREATE_FILE, REPLACE_STRING, REPLACE_STRINGS
from bridge.wire import EditsBy

from .text_edit import NewFile, Replacement


def edits_by_editor(
    setting: EditsBy | None, known: KnownAgent, *, reads_texts: bool, tools: Iterable[str]
) -> bool:
    """Return whether the editor makes an agent's edits.

    `known` is the agent, as far as its command tells it. `reads_texts` says that the editor returns
    the texts of files, and `tools` are the names of those that it offers.
    """
    is_wanted = known.edits_by_editor if setting is None else setting == "editor"
    return is_wanted and reads_texts and can_edit({*tools})


def can_edit(tools: Collection[str]) -> bool:
    """Return whether these tools create a file, and replace a text in one.

    `insert_edit_into_file` won't do: a model guesses there where the text belongs.
    """
    return CREATE_FILE in tools and (REPLACE_STRING in tools or REPLACE_STRINGS in tools)


def paths_of(call: CallRecord) -> Collection[str]:
    """Return the files that a call is about, as far as it names them."""
    return {*(diff.path for diff in call.diffs), *(place.path for place in call.locations)}


def call_for(
    edit: NewFile | Replacement, path: str, tools: Collection[str]
) -> tuple[str, dict[str, Any]]:
    """Return the tool that makes an edit, and its arguments; one of them `can_edit`."""
    match edit:
        case NewFile(text=text):
            return CREATE_FILE, {"filePath": path, "content": text}
        case Replacement(old=old, new=new):
            replacement = {"filePath": path, "oldString": old, "newString": new}
        case _:
            assert_never(edit)
    if REPLACE_STRING in tools:
        return REPLACE_STRING, replacement
    words = "Write a file"
    replacements = [{**replacement, "explanation": words}]
    return REPLACE_STRINGS, {"explanation": words, "replacements": replacements}
