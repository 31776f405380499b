"""What each real agent is told to do for a transcript: every kind of call that agents make.

A tour is a list of what the user says, each with lines for the model of `tests.real.scenario`.
Agents have other words for the same tools, so each has its own: `Hands` says which. What an agent
doesn't have is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from tests.agents.acp.reader import EDITORS_TOOL

JSON = dict[str, Any]
Use = tuple[str, JSON]

NOTES = "notes.txt"
PROGRAM = "sum.py"
FILES = {
    NOTES: "Buy milk.\nCall Ada.\n",
    PROGRAM: "def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n",
}
"""What is in the agent's folder when a tour begins."""
DENIED = "Do what I will deny."

_LISTS = (
    (("Read the notes", "in_progress"), ("Mend `add`", "pending")),
    (("Read the notes", "completed"), ("Mend `add`", "completed")),
)
_OPENHANDS_STATES = {"pending": "todo", "in_progress": "in_progress", "completed": "done"}


@attrs.frozen
class Hands:
    """How an agent's model calls what it has: from a path in its folder, or a command, a call."""

    run: Callable[[str], Use] | None = None
    read: Callable[[str], Use] | None = None
    write: Callable[[str, str], Use] | None = None
    edit: Callable[[str, str, str], Use] | None = None
    search: Callable[[str, str], Use] | None = None
    keep_list: Callable[[Sequence[tuple[str, str]]], Use] | None = None
    more: Sequence[Use] = ()
    """Calls that only this agent's model can make."""


def tour(hands: Hands, folder: str) -> list[str]:
    """Return what the user says, in order; the agent works in `folder`."""
    said: list[str] = []

    def say(words: str, *uses: Use) -> None:
        lines = [f"USE {_named(name)} {json.dumps(given)}" for name, given in uses]
        said.append("\n".join([words, "\nTHEN\n".join(lines)]))

    def at(name: str) -> str:
        return f"{folder}/{name}"

    if hands.run is not None:
        commands = (f"cat {NOTES} && ls {folder}", "cat missing.txt", "true")
        say("Run three commands.", *map(hands.run, commands))
    if hands.read is not None:
        say("Read two files.", hands.read(at(NOTES)), hands.read(at("missing.txt")))
    if hands.search is not None:
        say("Search twice.", hands.search("Ada", folder), hands.search("Zoltan", folder))
    if hands.write is not None and hands.read is not None and hands.edit is not None:
        say(
            "Write a file and mend another.",
            hands.write(at("made.txt"), "one\ntwo\n"),
            hands.read(at(PROGRAM)),
            hands.edit(at(PROGRAM), "a - b", "a + b"),
        )
    if hands.keep_list is not None:
        say("Keep a list.", *map(hands.keep_list, _LISTS))
    for use in hands.more:
        say(f"Use {use[0]}.", use)
    say("Use the editor's tool.", (EDITORS_TOOL, {"filePaths": [at(PROGRAM)]}))
    if hands.run is not None:
        say(DENIED, hands.run(f"touch {at('denied.txt')}"))
    return said


def _named(name: str) -> str:
    return name if name == EDITORS_TOOL else f"={name}"


def _entries(steps: Sequence[tuple[str, str]], **more: Any) -> list[JSON]:
    return [
        {"content": content, "status": status, "priority": "medium", "id": str(number)} | more
        for number, (content, status) in enumerate(steps, 1)
    ]


HANDS: Mapping[str, Hands] = {
    "claude": Hands(
        run=lambda command: ("Bash", {"command": command, "description": "Look around"}),
        read=lambda path: ("Read", {"file_path": path}),
        write=lambda path, text: ("Write", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "Edit",
            {"file_path": path, "old_string": old, "new_string": new},
        ),
    ),
    "codex": Hands(
        run=lambda command: (
            "exec_command",
            {
                "cmd": command,
                "sandbox_permissions": "require_escalated",
                "justification": "May I look around?",
            },
        ),
        more=[
            ("create_goal", {"objective": "Mend `add`"}),
            ("update_goal", {"status": "complete"}),
        ],
    ),
    "opencode": Hands(
        run=lambda command: ("bash", {"command": command}),
        read=lambda path: ("read", {"filePath": path}),
        write=lambda path, text: ("write", {"filePath": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"filePath": path, "oldString": old, "newString": new},
        ),
        search=lambda words, folder: ("grep", {"pattern": words, "path": folder}),
        keep_list=lambda steps: ("todowrite", {"todos": _entries(steps)}),
    ),
    "fast-agent": Hands(run=lambda command: ("shell", {"command": command})),
    "gemini": Hands(
        run=lambda command: (
            "run_shell_command",
            {"command": command, "description": "Look around"},
        ),
        read=lambda path: ("read_file", {"file_path": path}),
        write=lambda path, text: ("write_file", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "replace",
            {
                "file_path": path,
                "instruction": "Mend it",
                "old_string": old,
                "new_string": new,
            },
        ),
        search=lambda words, folder: ("grep_search", {"pattern": words, "dir_path": folder}),
        more=[("update_topic", {"strategic_intent": "Mend `add`", "title": "Mending"})],
    ),
    "copilot": Hands(
        run=lambda command: ("bash", {"command": command, "description": "Look around"}),
        read=lambda path: ("view", {"path": path}),
        write=lambda path, text: ("create", {"path": path, "file_text": text}),
        edit=lambda path, old, new: ("edit", {"path": path, "old_str": old, "new_str": new}),
        search=lambda words, folder: ("grep", {"pattern": words, "paths": folder}),
        more=[
            (
                "sql",
                {
                    "description": "Keep a list",
                    "query": "INSERT INTO todos (id, title, status) "
                    "VALUES ('a', 'Read the notes', 'pending'), ('b', 'Mend add', 'done')",
                },
            ),
            ("sql", {"description": "Look at the list", "query": "SELECT * FROM todos"}),
        ],
    ),
    "qwen": Hands(
        run=lambda command: (
            "run_shell_command",
            {"command": command, "description": "Look around", "is_background": False},
        ),
        read=lambda path: ("read_file", {"file_path": path}),
        write=lambda path, text: ("write_file", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"file_path": path, "old_string": old, "new_string": new},
        ),
        search=lambda words, folder: ("grep_search", {"pattern": words, "path": folder}),
    ),
    "kimi": Hands(
        run=lambda command: ("Shell", {"command": command}),
        read=lambda path: ("ReadFile", {"path": path}),
        write=lambda path, text: ("WriteFile", {"path": path, "content": text}),
        edit=lambda path, old, new: (
            "StrReplaceFile",
            {"path": path, "edit": {"old": old, "new": new}},
        ),
        keep_list=lambda steps: (
            "SetTodoList",
            {
                "todos": [
                    {"title": words, "status": "done" if status == "completed" else status}
                    for words, status in steps
                ]
            },
        ),
    ),
    "kilo": Hands(
        run=lambda command: ("bash", {"command": command, "description": "Look around"}),
        read=lambda path: ("read", {"filePath": path}),
        write=lambda path, text: ("write", {"filePath": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"filePath": path, "oldString": old, "newString": new},
        ),
        # It would download a program to search with.
        keep_list=lambda steps: ("todowrite", {"todos": _entries(steps)}),
    ),
    "vibe": Hands(
        run=lambda command: ("bash", {"command": command}),
        read=lambda path: ("read_file", {"path": path}),
        write=lambda path, text: ("write_file", {"path": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"file_path": path, "old_string": old, "new_string": new},
        ),
        keep_list=lambda steps: ("todo", {"action": "write", "todos": _entries(steps)}),
    ),
    "hermes": Hands(
        run=lambda command: ("terminal", {"command": command}),
        read=lambda path: ("read_file", {"path": path}),
        write=lambda path, text: ("write_file", {"path": path, "content": text}),
        edit=lambda path, old, new: (
            "patch",
            {"mode": "replace", "path": path, "old_string": old, "new_string": new},
        ),
        search=lambda words, folder: ("search_files", {"pattern": words, "path": folder}),
        keep_list=lambda steps: ("todo", {"todos": _entries(steps)}),
    ),
    "openhands": Hands(
        run=lambda command: ("terminal", {"command": command}),
        read=lambda path: ("file_editor", {"command": "view", "path": path}),
        write=lambda path, text: (
            "file_editor",
            {"command": "create", "path": path, "file_text": text},
        ),
        edit=lambda path, old, new: (
            "file_editor",
            {"command": "str_replace", "path": path, "old_str": old, "new_str": new},
        ),
        keep_list=lambda steps: (
            "task_tracker",
            {
                "command": "plan",
                "task_list": [
                    {"title": words, "status": _OPENHANDS_STATES[status]} for words, status in steps
                ],
            },
        ),
    ),
    "code-puppy": Hands(
        run=lambda command: ("shell", {"command": command}),
        read=lambda path: ("read_file", {"file_path": path}),
        write=lambda path, text: ("create_file", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "replace_in_file",
            {"file_path": path, "replacements": [{"old_str": old, "new_str": new}]},
        ),
        search=lambda words, folder: ("grep", {"search_string": words, "directory": folder}),
    ),
}
