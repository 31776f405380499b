"""Content blocks and tool calls, as the Agent Client Protocol writes them.

Optional fields there are optional here, and null means absent. Enumerations are open: they are
strings, and the values of today stand beside them. A value of an unknown kind becomes an
`Unknown...` (see `decode`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from bridge.wire import Wire

# Content of a message, from either side.


class TextContent(Wire, tag_field="type", tag="text"):
    """Text, as Markdown. Every agent takes it."""

    text: str


class ImageContent(Wire, tag_field="type", tag="image"):
    """An image; base64 on the wire. Needs `promptCapabilities.image`."""

    data: bytes
    mime_type: str
    uri: str | None = None


class AudioContent(Wire, tag_field="type", tag="audio"):
    """A sound; base64 on the wire. Needs `promptCapabilities.audio`."""

    data: bytes
    mime_type: str


class ResourceLink(Wire, tag_field="type", tag="resource_link"):
    """A resource that the agent can open itself. Every agent takes it."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class ResourceContents(Wire):
    """The protocol's TextResourceContents (`text`) or BlobResourceContents (`blob`)."""

    uri: str
    text: str | None = None
    blob: bytes | None = None
    mime_type: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.blob is None):
            raise ValueError("a resource has either `text` or `blob`")


class EmbeddedResource(Wire, tag_field="type", tag="resource"):
    """A resource with its contents. Needs `promptCapabilities.embeddedContext`."""

    resource: ResourceContents


class UnknownContent(Wire, tag_field="type", tag="?"):
    """Content of a kind (`kind`) that this version doesn't know; never sent."""

    kind: str
    raw: dict[str, Any]


KnownContent: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
)
ContentBlock: TypeAlias = KnownContent | UnknownContent

# Tool calls.


class Content(Wire, tag_field="type", tag="content"):
    """A content block that a tool gave."""

    content: ContentBlock


class Diff(Wire, tag_field="type", tag="diff"):
    """A change of a file; without `old_text` the file is new."""

    path: str
    new_text: str
    old_text: str | None = None


class Terminal(Wire, tag_field="type", tag="terminal"):
    """A terminal of the client's. We have none, so there is nothing to show."""

    terminal_id: str


class UnknownToolCallContent(Wire, tag_field="type", tag="?"):
    """A tool's content of a kind that this version doesn't know."""

    kind: str
    raw: dict[str, Any]


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCallLocation(Wire):
    """A place in a file, which the tool works on; lines count from 1."""

    path: str
    line: int | None = None


class ToolCallUpdate(Wire, tag_field="sessionUpdate", tag="tool_call_update"):
    """Changes of a tool call: None means unchanged, a tuple replaces the former one.

    `kind` is one of `agents.events.PermissionKind`, and `status` is pending, in_progress, completed
    or failed; a later version may have other words. `name` is the tool's programmatic name. An
    update may be the first message about a call.
    """

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[ToolCallContent, ...] | None = None
    locations: tuple[ToolCallLocation, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ToolCall(Wire, tag_field="sessionUpdate", tag="tool_call"):
    """A tool call as first announced; some agents announce one several times."""

    tool_call_id: str
    title: str
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[ToolCallContent, ...] | None = None
    locations: tuple[ToolCallLocation, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")
