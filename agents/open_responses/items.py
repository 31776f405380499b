"""The items of a request's `input`, as types. Unset fields are left out, and never null."""

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


InputContent: TypeAlias = InputText | InputImage | InputFile


class OutputText(Json, tag="output_text"):
    """The assistant's text."""

    text: str


class Refusal(Json, tag="refusal"):
    """Its refusal in place of an answer."""

    refusal: str


Spoken: TypeAlias = OutputText | Refusal
Author: TypeAlias = Literal["user", "assistant", "system", "developer"]


class MessageItem(Json, tag="message"):
    """A message. Text alone goes as a string, which every server takes."""

    role: Author
    content: str | tuple[InputContent, ...] | tuple[Spoken, ...]
    phase: str | None = None


class BesideItem(MessageItem, tag="message"):
    """Content of a result that a result can't hold, as a message; it isn't the user's."""


class CallItem(Json, tag="function_call"):
    """A tool call that the model made."""

    call_id: str
    name: str
    arguments: str


class ResultItem(Json, tag="function_call_output"):
    """The result of a tool call."""

    call_id: str
    output: str | tuple[InputContent, ...]


class ReasoningItem(Json, tag="reasoning"):
    """The model's reasoning, as far as it can be sent back."""

    summary: tuple[Any, ...]
    content: Any = None
    encrypted_content: str | None = None


class CompactionItem(Json, tag="compaction"):
    """The server's summary of all items before it."""

    encrypted_content: str


class ApprovalRequestItem(Json, tag="mcp_approval_request"):
    """The server's question whether it may call a remote tool."""

    id: str
    server_label: str
    name: str
    arguments: str


class ApprovalItem(Json, tag="mcp_approval_response"):
    """The answer to such a question."""

    approval_request_id: str
    approve: bool
    reason: str | None = None


Item: TypeAlias = (
    MessageItem
    | CallItem
    | ResultItem
    | ReasoningItem
    | CompactionItem
    | ApprovalRequestItem
    | ApprovalItem
)
