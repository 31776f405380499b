"""Files that a model makes, as data for the host: each kind of MIME type in its own way.

An image must be one of the types that hosts show, whatever it calls itself; text becomes UTF-8;
JSON is JSON; the rest is bytes.
"""

from __future__ import annotations

import msgspec

from agents.events import Attach
from bridge.jsonrpc import REFUSED

HOST_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
"""The types that VS Code takes as images."""
UNKNOWN_TYPE = "application/octet-stream"

_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "image/x-ms-bmp": "image/bmp",
}
_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)


def attachment(mime_type: str, data: bytes) -> Attach:
    """Return data of a type for the host."""
    kind, charset = _parse(mime_type)
    if kind.startswith("image/"):
        return Attach(_image_type(kind, data), data)
    if kind == "application/json" or kind.endswith("+json"):
        return Attach(kind, _json(data))
    if kind.startswith("text/"):
        return Attach(kind, _utf_8(data, charset))
    return Attach(kind, data)


def _parse(mime_type: str) -> tuple[str, str]:
    """Return the type as it is usually written, and its charset."""
    kind, *parameters = (part.strip() for part in mime_type.lower().split(";"))
    charset = "utf-8"
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            charset = value.strip().strip("\"'")
    return _ALIASES.get(kind, kind) or UNKNOWN_TYPE, charset


def _image_type(kind: str, data: bytes) -> str:
    """Return what an image is by its first bytes, as names are wrong, or no more than `image/*`."""
    for mark, found in _MARKS:
        if data.startswith(mark):
            return found
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if kind in HOST_IMAGES or kind == "image/*":
        return UNKNOWN_TYPE  # it isn't what it says, and no host could show it
    return kind  # such as SVG: a file as any


def _json(data: bytes) -> bytes:
    try:
        return msgspec.json.format(data, indent=-1)
    except REFUSED:
        return data


def _utf_8(data: bytes, charset: str) -> bytes:
    try:
        return data.decode(charset).encode()
    except (LookupError, ValueError):
        return data.decode(errors="replace").encode()
