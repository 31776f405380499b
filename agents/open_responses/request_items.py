"""The items of a request's `input`, as types. What isn't set is left out, and never null."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Json(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """Base of everything here; the names are those of the wire already."""


class InputText(Json, tag="input_text"):
    """Text."""

    text: str


class InputImage(Json, tag="input_image"):
    """An image, as a data URL."""

    image_url: str


class InputFile(Json, tag="input_file"):
    """A file, as a data URL: what the schema calls base64, OpenAI refuses without its type."""

    filename: str
    file_data: str


Content: TypeAlias = InputText | InputImage | InputFile


class OutputText(Json, tag="output_text"):
    """What the assistant said."""

    text: str


class Refusal(Json, tag="refusal"):
    """What it said instead of what it was asked for."""

    refusal: str


Spoken: TypeAlias = OutputText | Refusal
Author: TypeAlias = Literal["user", "assistant", "system", "developer"]


class MessageItem(Json, tag="message"):
    """A message. Text alone goes as a string, which every server takes."""

    role: Author
    content: str | tuple[Content, ...] | tuple[Spoken, ...]
    phase: str | None = None


class BesideItem(MessageItem, tag="message"):
    """What belongs to a result and can't be in one, as a message; the user hasn't spoken."""


class CallItem(Json, tag="function_call"):
    """A tool call that the model made."""

    call_id: str
    name: str
    arguments: str


class ResultItem(Json, tag="function_call_output"):
    """What came of a tool call."""

    call_id: str
    output: str | tuple[Content, ...]


class ReasoningItem(Json, tag="reasoning"):
    """What the model thought, as far as it can be given back."""

    summary: tuple[Any, ...]
    content: Any = None
    encrypted_content: str | None = None


class CompactionItem(Json, tag="compaction"):
    """What the server made of all that was said before it."""

    encrypted_content: str


Item: TypeAlias = MessageItem | CallItem | ResultItem | ReasoningItem | CompactionItem
