"""The files of an editor's user, and the editor's own tools that edit them.

They do what VS Code's do: they edit the open buffer, keep its line ends, need a text that is there
once, and return before the file is saved.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import attrs

from bridge.wire import PERMISSION_TOOL

JSON = dict[str, Any]
CREATE = {"name": "create_file", "description": "Create a file."}
REPLACE = {"name": "replace_string_in_file", "description": "Replace a text."}
REPLACE_MANY = {"name": "multi_replace_string_in_file", "description": "Replace texts."}

PERMISSION = {"name": PERMISSION_TOOL, "description": "Ask the user."}
EDITING: JSON = {"tools": [CREATE, REPLACE, PERMISSION]}


@attrs.define(eq=False)
class EditedFiles:
    """Files by their paths: what is on the disk, and the buffers that aren't saved."""

    disk: MutableMapping[str, str] = attrs.field(factory=dict[str, str])
    unsaved: dict[str, str] = attrs.field(factory=dict[str, str])
    saves: bool = True
    """Whether an edit is saved, as the editor's tools do."""
    edits: bool = True
    """Whether the tools make the edit that they report."""
    eol: str | None = None
    """The line ends of new files, as the user has set them; None: those of their texts."""
    typed: str = ""
    """The words that the user adds to a file while the tools edit it."""
    made: int = attrs.field(default=0, init=False)
    """How many edits the tools have made."""

    def read(self, path: str) -> JSON:
        """Return the result of `lm/readTextFile`."""
        if path in self.unsaved:
            return {"text": self.unsaved[path], "isDirty": True}
        return {"text": self.disk.get(path)}

    def carry_out(self, call: JSON) -> str:
        """Do what a call of an edit tool says; return the tool's words."""
        given = call["parameters"]
        match call["toolName"]:
            case "create_file":
                if self.read(given["filePath"])["text"]:
                    return "ERROR: the file is there and isn't empty"
                lines = given["content"].replace("\r\n", "\n")
                text = given["content"] if self.eol is None else lines.replace("\n", self.eol)
                self._put(given["filePath"], text)
            case "read_file":
                return self.read(given["filePath"])["text"] or "ERROR: there is no such file"
            case "replace_string_in_file":
                return self._replace(given)
            case "multi_replace_string_in_file":
                return " ".join(map(self._replace, given["replacements"]))
            case other:
                raise AssertionError(f"{other} edits nothing")
        return "Done."

    def _replace(self, given: JSON) -> str:
        text = self.read(given["filePath"])["text"] or ""
        ends = "\r\n" if "\r\n" in text else "\n"
        old, new = (given[key].replace("\n", ends) for key in ("oldString", "newString"))
        if text.count(old) != 1:
            return f"ERROR: the text is there {text.count(old)} times"
        self._put(given["filePath"], text.replace(old, new))
        return "Done."

    def _put(self, path: str, text: str) -> None:
        if not self.edits:
            return
        self.made += 1
        self.unsaved.pop(path, None)
        (self.disk if self.saves else self.unsaved)[path] = text + self.typed


class RealDisk(MutableMapping[str, str]):
    """The files of a real folder, by their absolute paths; a change makes the folders it needs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: str) -> str:
        try:
            return Path(path).read_bytes().decode()
        except FileNotFoundError:
            raise KeyError(path) from None

    def __setitem__(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode())

    def __delitem__(self, path: str) -> None:
        Path(path).unlink()

    def __iter__(self) -> Iterator[str]:
        return (str(one) for one in self._folder.rglob("*") if one.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)
