"""Merge an agent's messages about a tool call into one state.

Real agents announce a call twice. They send updates and permission requests for calls that they
never announced. So there is one operation: `learn`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, cast

import attrs

from agents.acp.schema.content import (
    Content,
    Diff,
    TextContent,
    ToolCall,
    ToolCallContent,
    ToolCallLocation,
    ToolCallUpdate,
)
from agents.nesting import json_in

from .output import CallOutput

_OVER = frozenset({"completed", "failed", "cancelled"})
"""The last one is of version 2 of the protocol."""
COMMANDS = ("command", "cmd")
"""Keys of a command line."""
WRAPPED = frozenset({"server", "tool", "arguments"})
"""The keys of codex's wrapper around the input of an MCP tool."""
WRAPPED_ALONE = "mcpInput"
"""The only key of Kilo's, in its questions."""

WRAPPED_TYPED = frozenset({"data", "kind"})
"""The keys of OpenHands' wrapper around the input of an MCP tool."""


@attrs.define
class CallRecord:
    """A tool call; what was never said is empty."""

    call_id: str
    title: str = ""
    first_title: str = ""
    """The first title: later titles describe the subject, or the end, of the call."""
    name: str = ""
    meta_name: str = ""
    """The field in `_meta` that some agents send instead of the name."""
    wrapper: tuple[str, str] = ("", "")
    """The server and the tool that one agent puts around the input, kept when the input changes."""
    kind: str = "other"
    status: str = "pending"
    content: tuple[ToolCallContent, ...] = ()
    is_content_final: bool = True
    """Whether the content came with the end of the call, rather than with its announcement."""
    locations: tuple[ToolCallLocation, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    files: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The texts of the files that it changed, by their paths, where they could be read."""
    is_being_written: bool = False
    """Whether the model still writes the input, which comes as text."""
    is_input_written: bool = False
    """Whether the input came as text."""
    vague_line: str = ""
    """The text shown at the start of a call of which only a title was known."""
    output: CallOutput = attrs.field(factory=CallOutput)
    """The output of its command, if the agent sends it outside the protocol."""
    is_started: bool = False
    """Whether the user was shown that it began."""
    is_closed: bool = False
    """Whether the user was shown how it ended."""
    is_announced: bool = False
    """Whether the agent has announced it. Of some calls it only asks, and never tells."""
    is_denied: bool = False
    """Whether the last question about it was denied."""
    is_explained: bool = False
    """Whether the user was shown why it was denied."""
    said_before: int = 0
    """Number of text pieces that the agent had sent at the last update of this call."""

    def learn(self, news: ToolCall | ToolCallUpdate) -> None:
        """Merge an update; None means unchanged, a list replaces the former one.

        An empty title or input says nothing either: agents that don't know it yet send one. Nor
        does a title that is the input, as JSON.
        """
        if not _repeats(news.title, news.raw_input):
            self.title = news.title or self.title
            self.first_title = self.first_title or self.title
        self.name = news.name or self.name
        self.meta_name = _meta_name(news.meta, news.raw_input) or self.meta_name
        self.kind = news.kind or self.kind
        self.status = news.status or self.status
        if news.locations is not None:
            self.locations = news.locations
        if news.raw_input is not None and not (self.raw_input and news.raw_input == {}):
            self.raw_input = news.raw_input
            self.wrapper = _wrapper(news.raw_input) or self.wrapper
            self.is_input_written = False
        if news.content is not None:
            self._take(news.content)
        if news.raw_output is not None:
            self.raw_output = news.raw_output

    def _take(self, content: tuple[ToolCallContent, ...]) -> None:
        """Take over a call's output, or its input, which one agent streams in that field."""
        self.content = content
        self.is_content_final = self.is_over
        self.is_being_written = False
        if self.is_over or (self.raw_input and not self.is_input_written):
            return
        match content:
            case (Content(content=TextContent(text=text)),) if text.strip()[:1] in ("", "{"):
                given = _object_in(text)
                self.content = ()
                self.raw_input = given or self.raw_input
                self.is_being_written = given is None
                self.is_input_written = True
            case _:
                pass

    def let_go(self) -> None:
        """Drop the content that was shown at the end of the call: it may be megabytes."""
        self.content, self.files = (), {}
        self.raw_input = self.raw_output = None
        self.output = CallOutput()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status in _OVER

    @property
    def has_failed(self) -> bool:
        """Whether it has ended without success."""
        return self.is_over and self.status != "completed"

    @property
    def is_known(self) -> bool:
        """Whether there is anything to tell about it."""
        return bool(self.title or self.name or self.is_over) or not self.is_bare

    @property
    def is_blind(self) -> bool:
        """Whether nothing but its title is known."""
        return not (self.raw_input or self.content or self.locations)

    @property
    def is_bare(self) -> bool:
        """Whether it only waits, and nothing but its title is known: more is about to come."""
        if self.is_being_written and not self.is_over:
            return not self.locations
        if self.status != "pending" or self.content:
            return False
        if self.kind == "execute":  # one agent knows the folder before the command
            return not any(self.arguments.get(key) for key in COMMANDS)
        return not (self.raw_input or self.locations)

    @property
    def diffs(self) -> list[Diff]:
        """Its changes of files."""
        return [part for part in self.content if isinstance(part, Diff)]

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as an object; out of an agent's wrapper, if it is in one."""
        given = self.raw_input
        if not isinstance(given, dict):
            return {}
        arguments = cast("dict[str, Any]", given)
        is_codex = arguments.keys() <= WRAPPED
        is_typed = arguments.keys() == WRAPPED_TYPED
        if is_typed and str(arguments["kind"]).endswith("Action"):
            data = arguments["data"]
            return cast("dict[str, Any]", data) if isinstance(data, dict) else arguments
        inner = arguments.get("arguments" if is_codex else WRAPPED_ALONE)
        if isinstance(inner, dict) and (is_codex or len(arguments) == 1):
            return cast("dict[str, Any]", inner)
        return arguments


def command_in(arguments: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the key of the command line among a tool's arguments, and the line.

    The key is None where there is none. A list of words is written as a shell would be given it.
    """
    for key in COMMANDS:
        match arguments.get(key):
            case [_, *_] as words:
                return key, shlex.join(str(word) for word in cast("list[Any]", words))
            case str(line) if line:
                return key, line
            case _:
                pass
    return None, ""


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the object that a text is in JSON, None if it isn't, or not yet."""
    found = json_in(text)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _wrapper(given: Any) -> tuple[str, str] | None:
    match given:
        case {"server": str(server), "tool": str(tool), **rest} if rest.keys() == {"arguments"}:
            return server, tool
        case _:
            return None


def _repeats(title: str | None, given: Any) -> bool:
    """Return whether a title is the tool's arguments as JSON."""
    if not title or not given or title[0] not in "{[":
        return False
    return bool(json_in(title) == given)


def _meta_name(meta: dict[str, Any] | None, given: Any) -> str:
    match meta:
        case {"claudeCode": {"toolName": str(name)}} | {"toolName": str(name)}:
            return name
        case {"is_mcp_tool_call": True}:  # codex: its wrapper names the tool
            return ".".join(("mcp", *wrapper)) if (wrapper := _wrapper(given)) else ""
        case _:
            return ""
