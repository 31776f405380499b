"""What is known of a tool call, from all that was said of it.

Real agents announce a call twice, send updates for calls they never announced, and ask permission
for one that nobody heard of. So there is one operation: `learn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs
import msgspec

from .content import ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate

_OVER = frozenset({"completed", "failed", "cancelled"})
"""The last one is of version 2 of the protocol."""
WRAPPED = frozenset({"server", "tool", "arguments"})
"""The keys of codex's wrapper around the input of an MCP tool."""


@attrs.define
class CallRecord:
    """A tool call; what was never said is empty."""

    call_id: str
    title: str = ""
    first_title: str = ""
    """How the call was announced: later titles tell what it is about, or how it ended."""
    name: str = ""
    meta_name: str = ""
    """What some agents say in `_meta` instead of the name."""
    wrapper: tuple[str, str] = ("", "")
    """The server and the tool that one agent puts around the input, whatever comes instead."""
    kind: str = "other"
    status: str = "pending"
    content: tuple[ToolCallContent, ...] = ()
    locations: tuple[ToolCallLocation, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    files: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The texts of the files that it changed, by their paths, where they could be read."""
    is_started: bool = False
    """Whether the user was shown that it began."""
    is_closed: bool = False
    """Whether the user was shown how it ended."""

    def learn(self, news: ToolCall | ToolCallUpdate) -> None:
        """Take over what is said; None says nothing, a list replaces the former one.

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
        if news.content is not None:
            self.content = news.content
        if news.locations is not None:
            self.locations = news.locations
        if news.raw_input is not None and not (self.raw_input and news.raw_input == {}):
            self.raw_input = news.raw_input
            self.wrapper = _wrapper(news.raw_input) or self.wrapper
        if news.raw_output is not None:
            self.raw_output = news.raw_output

    def let_go(self) -> None:
        """Forget what the user was shown when the call ended: it may be megabytes."""
        self.content, self.files = (), {}
        self.raw_input = self.raw_output = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status in _OVER

    @property
    def has_failed(self) -> bool:
        """Whether it has ended without doing what it should."""
        return self.is_over and self.status != "completed"

    @property
    def is_known(self) -> bool:
        """Whether there is anything to tell about it."""
        return bool(self.title or self.name or self.is_over) or not self.is_bare

    @property
    def is_bare(self) -> bool:
        """Whether it only waits, and nothing but its title is known: more is about to come."""
        return self.status == "pending" and not (self.raw_input or self.content or self.locations)

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as an object; out of codex's wrapper, if it is in that."""
        given = self.raw_input
        if not isinstance(given, dict):
            return {}
        arguments = cast("dict[str, Any]", given)
        inner = arguments.get("arguments")
        if isinstance(inner, dict) and arguments.keys() <= WRAPPED:
            return cast("dict[str, Any]", inner)
        return arguments


def _wrapper(given: Any) -> tuple[str, str] | None:
    match given:
        case {"server": str(server), "tool": str(tool), **rest} if rest.keys() == {"arguments"}:
            return server, tool
        case _:
            return None


def _repeats(title: str | None, given: Any) -> bool:
    """Return whether a title is what the tool is given, as JSON."""
    if not title or not given or title[0] not in "{[":
        return False
    try:
        return bool(msgspec.json.decode(title) == given)
    except msgspec.DecodeError:
        return False


def _meta_name(meta: dict[str, Any] | None, given: Any) -> str:
    match meta:
        case {"claudeCode": {"toolName": str(name)}} | {"toolName": str(name)}:
            return name
        case {"is_mcp_tool_call": True}:  # codex, whose wrapper says which tool that is
            return ".".join(("mcp", *wrapper)) if (wrapper := _wrapper(given)) else ""
        case _:
            return ""
