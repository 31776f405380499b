"""An endpoint's list of models: OpenAI's shape, with the fields that others add. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from agents.loading import fields_of
from bridge.jsonrpc import REFUSED
from bridge.models import ListedModel

_OTHER_TYPES = ("embedding", "image", "audio", "rerank", "moderation", "tts", "transcription")
_INPUT = (
    "context_length",
    "context_window",
    "max_model_len",
    "max_context_length",
    "max_input_tokens",
)
_OUTPUT = ("max_output_tokens", "max_completion_tokens", "max_tokens")
_TOOL_WORDS = frozenset({"tools", "tool-use", "tool_use", "function_calling", "tool_calling"})
_IMAGE_WORDS = frozenset({"image", "vision", "image_input"})


def read_models(body: bytes) -> tuple[ListedModel, ...] | None:
    """Return the models of a list, None if it is none. Models that make no text are left out."""
    try:
        value: Any = msgspec.json.decode(body)
    except REFUSED:
        return None
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        value = fields.get("data", fields.get("models"))
    if not isinstance(value, list):
        return None
    found = {model.id: model for model in _models(cast("list[Any]", value))}
    return tuple(found.values())


def _models(entries: list[Any]) -> Iterator[ListedModel]:
    for entry in entries:
        match entry:
            case {"id": str(model_id)} if model_id and not _is_other(entry):
                yield _model(model_id, cast("dict[str, Any]", entry))
            case _:
                pass


def _is_other(entry: Any) -> bool:
    kind = entry.get("type")
    return isinstance(kind, str) and kind.startswith(_OTHER_TYPES)


def _model(model_id: str, entry: dict[str, Any]) -> ListedModel:
    provider = fields_of(entry.get("top_provider"))
    words = _words(entry)
    name = entry.get("name")
    return ListedModel(
        model_id,
        name if isinstance(name, str) and name else None,
        _number(entry, _INPUT),
        _number({**provider, **entry}, _OUTPUT),
        None if words is None else bool(words & _TOOL_WORDS),
        None if words is None else bool(words & _IMAGE_WORDS),
    )


def _words(entry: dict[str, Any]) -> set[str] | None:
    """Return every word for what a model can do, None if nothing is said of that."""
    lists = [
        entry.get("supported_parameters"),
        entry.get("tags"),
        entry.get("capabilities"),
        entry.get("input_modalities"),
        fields_of(entry.get("architecture")).get("input_modalities"),
    ]
    said = [cast("list[Any]", one) for one in lists if isinstance(one, list)]
    flags = fields_of(entry.get("capabilities"))
    words = {word for one in said for word in one if isinstance(word, str)}
    words |= {word for word, is_so in flags.items() if is_so is True}
    return words if said or flags else None


def _number(entry: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
