"""The tools for a session's agent: the editor's tools, in MCP's words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs
import msgspec

from agents.duplicates import EDIT_TOOLS
from agents.loading import input_schema_of
from bridge.wire import ToolSpec

from .names import aliases

JSON: TypeAlias = dict[str, Any]

READ_ONLY = frozenset(
    {
        "copilot_getNotebookSummary",
        "file_search",
        "get_changed_files",
        "get_errors",
        "get_search_view_results",
        "get_task_output",
        "get_terminal_output",
        "get_vscode_api",
        "github_repo",
        "github_text_search",
        "grep_search",
        "list_dir",
        "read_file",
        "read_notebook_cell_output",
        "semantic_search",
        "terminal_last_command",
        "terminal_selection",
        "test_search",
        "testFailure",
        "view_image",
        "vscode_listCodeUsages",
        "vscode_searchExtensions_internal",
    }
)
"""Tools of VS Code's own that change nothing.

Two agents call such tools side by side and all others one by one, so saying it is worth a table. It
grants nothing: whether the user is asked, the editor decides."""
EDITS = EDIT_TOOLS | {"insert_edit_into_file", "edit_notebook_file"}
"""Tools of VS Code's own that change files."""
_PATHS = frozenset({"dirPath", "filePath", "filePaths", "path"})
"""Arguments of VS Code's own tools that are paths."""
_OPEN_WORLD = frozenset({"github_repo", "github_text_search", "vscode_searchExtensions_internal"})


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool under the agent's name for it."""

    alias: str
    name: str
    description: str
    schema: JSON
    annotations: JSON


@attrs.frozen
class ToolCatalogue:
    """The tools of one request; equal ones offer the same, in whatever order."""

    tools: Mapping[str, OfferedTool]
    """By alias."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], server: str) -> ToolCatalogue:
        """Return what a server of that name offers; of two tools of one name, the first."""
        first = {spec.name: spec for spec in reversed(specs)}
        names = aliases((spec.name for spec in specs), server)
        offered = (
            OfferedTool(
                alias,
                name,
                first[name].description,
                _schema(first[name]),
                _annotations(name),
            )
            for name, alias in names.items()
        )
        return cls({tool.alias: tool for tool in offered})


def edited_paths(arguments: Any) -> Sequence[str]:
    """Return the files that a call of such a tool is to change, each once."""
    if not isinstance(arguments, dict):
        return ()
    given = cast("JSON", arguments)
    several = given.get("replacements")
    places = [given, *(cast("list[Any]", several) if isinstance(several, list) else ())]
    paths = (cast("JSON", one).get("filePath") for one in places if isinstance(one, dict))
    return list(dict.fromkeys(path for path in paths if isinstance(path, str)))


def with_paths(arguments: JSON, spelled: Callable[[str], str]) -> JSON:
    """Return the arguments of a call with each path as the editor spells it."""
    return {key: _with_paths(key, value, spelled) for key, value in arguments.items()}


def _with_paths(key: str, value: Any, spelled: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return spelled(value) if key in _PATHS else value
    if isinstance(value, list):
        return [_with_paths(key, one, spelled) for one in cast("list[Any]", value)]
    return with_paths(cast("JSON", value), spelled) if isinstance(value, dict) else value


def _schema(spec: ToolSpec) -> JSON:
    """Return the schema of the arguments, which is an object's in MCP; that is said where it isn't.

    A keyword with an impossible value, such as null, says nothing. But the SDK would refuse to list
    any tool because of it.
    """
    schema = input_schema_of(spec)
    if schema is None:
        return {"type": "object", "properties": {}}
    kept = {key: value for key, value in schema.items() if key not in _SHAPES}
    for key, is_good in _SHAPES.items():
        if is_good(schema.get(key)):
            kept[key] = schema[key]
    return {**kept, "type": "object"}


def _is_properties(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(schema, dict | bool) for schema in cast("JSON", value).values()
    )


def _is_required(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(name, str) for name in cast("list[Any]", value)
    )


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "properties": _is_properties,
    "required": _is_required,
    "$schema": lambda value: isinstance(value, str),
}


def _annotations(name: str) -> JSON:
    if name not in READ_ONLY:
        return {}
    return {"readOnlyHint": True, "openWorldHint": name in _OPEN_WORLD}
