"""Convert a user's attachments to content blocks of the kinds that an agent accepts.

An attachment that the agent can't accept is named in a note, so that it can tell the user.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from agents.acp.schema.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    KnownContent,
    ResourceContents,
    ResourceLink,
)
from agents.acp.schema.initialize import PromptCapabilities
from agents.acp.text.markdown import fenced, one_line, size
from agents.tool_result import is_bookkeeping
from bridge.value import Value
from bridge.wire import DataPart

Atom: TypeAlias = str | KnownContent
"""Text, which may be joined with other text, or a block of its own."""

_TEXTS = re.compile(r"text/|application/(?:.*\+)?(?:json|xml|yaml|toml|javascript)$")


def data_atom(part: DataPart, capabilities: PromptCapabilities) -> Atom | None:
    """Return data in a form that the agent accepts, None if the data isn't meant for it."""
    mime = part.mime_type
    kind = mime.partition("/")[0]
    if is_bookkeeping(mime):
        return None
    if kind == "image" and capabilities.image:
        return ImageContent(part.data, mime)
    if kind == "audio" and capabilities.audio:
        return AudioContent(part.data, mime)
    text = _text(part) if _TEXTS.match(mime) else None
    if text is not None and not capabilities.embedded_context:
        return f"[attached: {one_line(mime, 80)}]\n{fenced(text)}"
    if kind in ("image", "audio") or not capabilities.embedded_context:
        name = {"image": "an image", "audio": "a sound"}.get(kind, "a file")
        fact = f"{one_line(mime, 80)}, {size(len(part.data))}"
        return f"[Here is {name} ({fact}), which can't be shown to you: you don't take this kind.]"
    digest = hashlib.blake2b(part.data, digest_size=6).hexdigest()
    uri = f"attachment:///{digest}"
    if text is not None:
        return EmbeddedResource(ResourceContents(uri, text=text, mime_type=mime))
    return EmbeddedResource(ResourceContents(uri, blob=part.data, mime_type=mime))


def _text(part: DataPart) -> str | None:
    try:
        return part.data.decode()
    except UnicodeDecodeError:
        return None


_OPENING = re.compile(
    r'^<attachment((?:\s+\w+=(?:"(?:[^"\\\n]|\\.)*"|[^\s"<>]+))*)\s*>', re.MULTILINE
)
_CLOSING = "</attachment>"
_ATTRIBUTE = re.compile(r'(?<!\w)(\w+)=("(?:[^"\\\n]|\\.)*"|[^\s"<>]+)')


class Attachment(Value):
    """An `<attachment>` of a message, and where it is."""

    start: int
    end: int
    attributes: dict[str, str]
    contents: str


def attachments(text: str, start: int, end: int) -> Iterator[Attachment]:
    """Return the attachments in a stretch of a message's text."""
    while (opening := _OPENING.search(text, start, end)) is not None:
        closing = text.find(_CLOSING, opening.end(), end)
        if closing < 0:
            return
        attributes = {name: _unquoted(value) for name, value in _ATTRIBUTE.findall(opening[1])}
        start = closing + len(_CLOSING)
        contents = text[opening.end() : closing].strip("\n")
        yield Attachment(opening.start(), start, attributes, contents)


def file_block(attachment: Attachment, capabilities: PromptCapabilities) -> KnownContent | None:
    """Return the block for an attached file; None if only its text describes it.

    Its contents are embedded where the agent takes that. A link goes to an agent that doesn't only
    if there are no contents: they may be a selection, or not saved yet.
    """
    attributes, contents = attachment.attributes, attachment.contents
    uri = _file_uri(attributes.get("filePath", ""))
    if uri is None or attributes.keys() - {"id", "filePath"}:
        return None
    if not contents.strip():
        return ResourceLink(uri, attributes.get("id") or uri.rpartition("/")[2] or uri)
    if capabilities.embedded_context:
        return EmbeddedResource(ResourceContents(uri, text=contents))
    return None


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        return value[1:-1]  # a Windows path by a host that doesn't write its attributes as JSON


_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]+:")


def _file_uri(path: str) -> str | None:
    """Return the address of a path that says where the file is, without a folder to start from."""
    if _DRIVE.match(path):
        path = path.replace("\\", "/")
        return f"file:///{path[:2]}{quote(path[2:])}"
    if path.startswith("/"):
        return f"file://{quote(path)}"
    return path if _SCHEME.match(path) else None
