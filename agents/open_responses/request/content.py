"""Converts the content of a message or a tool's result: text, images, files.

Bookkeeping of the host's and thoughts stay here. An image must have a type that models take. Other
data goes as text if it is text, else as a file.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from agents.open_responses.items import InputContent, InputFile, InputImage, InputText
from agents.tool_result import is_bookkeeping, pieces
from bridge.wire import DataPart, Part, TextPart

ElsewhereImages: TypeAlias = Literal["placeholder", "skip", "error"]

_MODEL_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The types that models take as images."""

_TEXTS = re.compile(
    r"text/|application/(?:.*\+)?(?:json|xml|yaml|toml|javascript)$|image/svg\+xml$"
)
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")
_EXTENSIONS = {"application/pdf": "pdf", "audio/mpeg": "mp3", "application/zip": "zip"}


class ConversionError(ValueError):
    """A message can't be said to this endpoint, and the options say that this is an error."""


def contents(parts: Iterable[Part]) -> Iterator[InputContent]:
    """Return what a user's message holds, in its order; calls and results are no content."""
    for part in parts:
        match part:
            case TextPart(value=value):
                yield InputText(value)
            case DataPart(mime_type=mime, data=data):
                yield from _data(mime, data)
            case _:
                pass


def without_images(parts: Sequence[Part], images: ElsewhereImages) -> str:
    """Return what another message holds, as text, with a word or none for what isn't."""
    texts: list[str] = []
    for part in contents(parts):
        match part:
            case InputText(text=text):
                texts.append(text)
            case _ if images == "error":
                kind = "an image" if isinstance(part, InputImage) else "a file"
                raise ConversionError(f"{kind} stands in a message that isn't the user's")
            case _ if images == "skip":
                pass
            case InputImage(image_url=url):
                texts.append(f"[image: {url.partition(';')[0].removeprefix('data:')}]")
            case InputFile(filename=name):
                texts.append(f"[file: {name}]")
            case _:
                assert_never(part)
    return "".join(texts)


def result_contents(result: Any, *, is_error: bool = False) -> tuple[InputContent, ...]:
    """Return what a tool's result holds (`agents.tool_result`).

    A failed call gets a note, because items have no field for it.
    """
    found = joined(_result(result))
    return joined((InputText("The tool failed: "), *found)) if is_error else found


def joined(parts: Iterable[InputContent]) -> tuple[InputContent, ...]:
    """Return the parts, with text that stands together in one piece, and no empty one."""
    whole: list[InputContent] = []
    for part in parts:
        match part:
            case InputText(text=""):
                pass
            case InputText(text=text) if whole and isinstance(before := whole[-1], InputText):
                whole[-1] = InputText(before.text + text)
            case _:
                whole.append(part)
    return tuple(whole)


def simplest(parts: tuple[InputContent, ...]) -> str | tuple[InputContent, ...]:
    """Return a string where there is only text."""
    match parts:
        case ():
            return ""
        case (InputText(text=text),):
            return text
        case _:
            return parts


def _result(result: Any) -> Iterator[InputContent]:
    for piece in pieces(result):
        if isinstance(piece, str):
            yield InputText(piece)
        else:
            yield from _data(piece.mime_type, piece.data)


def _data(mime: str, data: bytes) -> Iterator[InputContent]:
    kind = "image/jpeg" if mime == "image/jpg" else mime.partition(";")[0].strip().lower()
    if is_bookkeeping(mime):
        return
    text = _text(data) if _TEXTS.match(kind) else None
    if text is not None:
        yield InputText(text)
    elif kind in _MODEL_IMAGES:
        yield InputImage(_data_url(kind, data))
    elif kind.startswith("image/"):
        yield InputText(f"[an image of the type {kind}, which can't be shown to you]")
    elif _MIME.fullmatch(kind):
        extension = _EXTENSIONS.get(kind, "bin")
        yield InputFile(f"attachment.{extension}", _data_url(kind, data))
    # content without a type is for its host alone


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{b64encode(data).decode()}"
