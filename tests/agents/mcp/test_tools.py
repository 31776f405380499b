from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw

from agents.mcp.tools import ToolCatalogue, with_paths
from bridge.wire import ToolSpec


def spec(name: str, schema: Any = UNSET, description: str = "") -> ToolSpec:
    raw = UNSET if schema is UNSET else Raw(json.dumps(schema).encode())
    return ToolSpec(name, description, raw)


def schema_of(schema: Any) -> Any:
    (tool,) = ToolCatalogue.of([spec("tool", schema)], "vsc1").tools.values()
    return tool.schema


RICH = {
    "type": "object",
    "title": "Arguments",
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "properties": {
        "path": {"type": "string", "default": None, "enum": ["a", None]},
        "any": True,
        "nested": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"x": {"const": 1.5}},
}


def test_a_schema_stays_as_it_is() -> None:
    assert schema_of(RICH) == RICH


@pytest.mark.parametrize("schema", [UNSET, None, True, []])
def test_a_tool_without_a_schema_takes_no_particular_arguments(schema: Any) -> None:
    assert schema_of(schema) == {"type": "object", "properties": {}}


def test_arguments_are_an_object_even_where_the_schema_does_not_say_so() -> None:
    assert schema_of({"anyOf": [{}]}) == {"anyOf": [{}], "type": "object"}
    assert schema_of({"type": ["object", "null"]}) == {"type": "object"}


def test_a_malformed_keyword_does_not_cost_all_tools() -> None:
    bad = {"type": "object", "properties": {"a": 1}, "required": [1], "$schema": 7, "x": 1}
    assert schema_of(bad) == {"type": "object", "x": 1}
    assert schema_of({"properties": None, "required": None}) == {"type": "object"}


def test_tools_that_are_known_to_change_nothing_say_so() -> None:
    tools = ToolCatalogue.of([spec("read_file"), spec("github_repo"), spec("run_x")], "vsc1").tools
    assert tools["read_file"].annotations == {"readOnlyHint": True, "openWorldHint": False}
    assert tools["github_repo"].annotations == {"readOnlyHint": True, "openWorldHint": True}
    assert tools["run_x"].annotations == {}


def test_a_tool_is_found_by_the_name_that_the_agent_has_for_it() -> None:
    tools = ToolCatalogue.of([spec("a.b", description="does")], "vsc1").tools
    ((alias, tool),) = tools.items()
    assert (tool.alias, tool.name, tool.description) == (alias, "a.b", "does")
    assert "." not in alias


def test_of_two_tools_of_one_name_the_first_is_offered() -> None:
    (tool,) = ToolCatalogue.of([spec("a", RICH, "1"), spec("a", True, "2")], "vsc1").tools.values()
    assert (tool.description, tool.schema) == ("1", RICH)


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ([spec("b"), spec("a", RICH, "d")], True),
        ([spec("a", dict(reversed(RICH.items())), "d"), spec("b")], True),
        ([spec("a", RICH, "d")], False),
        ([spec("a", RICH, "other"), spec("b")], False),
        ([spec("a", {**RICH, "required": []}, "d"), spec("b")], False),
        ([spec("a", RICH, "d"), spec("c")], False),
    ],
)
def test_a_change_is_told_by_names_descriptions_and_schemas(
    other: list[ToolSpec], is_same: bool
) -> None:
    catalogue = ToolCatalogue.of([spec("a", RICH, "d"), spec("b")], "vsc1")
    assert (ToolCatalogue.of(other, "vsc1") == catalogue) is is_same


def test_paths_in_arguments_are_spelled_as_the_editor_does() -> None:
    given = {
        "filePath": "/a/1",
        "filePaths": ["/a/2", 2],
        "path": None,
        "newString": "/a/3",
        "replacements": [{"filePath": "/a/4", "oldString": "/a/5"}],
    }
    assert with_paths(given, lambda path: path.replace("/a/", "/b/")) == {
        "filePath": "/b/1",
        "filePaths": ["/b/2", 2],
        "path": None,
        "newString": "/a/3",
        "replacements": [{"filePath": "/b/4", "oldString": "/a/5"}],
    }
