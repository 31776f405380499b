"""Content that isn't text, as Markdown: images, sounds, resources."""

from __future__ import annotations

from base64 import b64encode
from typing import assert_never

from agents.acp.schema.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
)
from agents.acp.text.markdown import code, escape, excerpt, fenced, link, one_line, size

_SMALL_IMAGE = 4096
"""Bytes. The host sends the whole chat with each request, so only a small image is put into it."""
_SAFE_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_RESOURCE_LINES = 40


def content_view(content: ContentBlock) -> str:
    """Return the Markdown for a content block."""
    match content:
        case TextContent(text=text):
            return text
        case ImageContent(data=data, mime_type=mime, uri=uri):
            return _image(data, mime, uri)
        case AudioContent(data=data, mime_type=mime):
            return f"🔊 *Sound ({_facts(mime, len(data))})*"
        case ResourceLink():
            return _link(content)
        case EmbeddedResource(resource=resource):
            return _resource(resource)
        case UnknownContent(kind=kind):
            name = code(one_line(kind, 60) or "?")
            return f"*(The agent sent something of the kind {name}, which can't be shown here.)*"
        case _:
            assert_never(content)


def _image(data: bytes, mime: str, uri: str | None) -> str:
    # A remote image is linked and not shown: loading it would reveal the reader to its server.
    if uri:
        return f"🖼️ {link('Image', uri)}"
    if mime in _SAFE_IMAGES and 0 < len(data) <= _SMALL_IMAGE:
        return f"![Image](data:{mime};base64,{b64encode(data).decode()})"
    return f"🖼️ *Image ({_facts(mime, len(data))})*"


def _facts(mime: str, length: int) -> str:
    return f"{escape(one_line(mime, 60))}, {size(length)}"


def _link(content: ResourceLink) -> str:
    text = f"📎 {link(content.title or content.name, content.uri)}"
    if content.description:
        text += f": {escape(one_line(content.description, 200))}"
    return text


def _resource(resource: ResourceContents) -> str:
    name = resource.uri.rstrip("/").rpartition("/")[2] or resource.uri
    head = f"📎 {link(name, resource.uri)}"
    if resource.text is None:
        return f"{head} *({_facts(resource.mime_type or 'data', len(resource.blob or b''))})*"
    _, dot, extension = name.rpartition(".")
    return f"{head}\n\n{fenced(excerpt(resource.text, _RESOURCE_LINES), extension if dot else '')}"
