"""Keeps secrets out of traces."""

from __future__ import annotations

import re
from typing import Any, cast

HIDDEN = "[redacted]"

_SECRET_KEY = re.compile(
    r"api[-_]?key$|token$|secret|passw|authorization|credential|cookie", re.IGNORECASE
)
_ALL_VALUES = frozenset({"headers", "env"})
_ADDRESS_KEY = re.compile(r"ur[il]$", re.IGNORECASE)
_SECRETS_OF_ADDRESS = re.compile(r"(?<=://)[^/?#@\s]+(?=@)|(?<=\?)[^#\s]+")


def redact(value: Any) -> Any:
    """Return the JSON value with secrets replaced: values of environment variables and headers, and
    strings under keys that name a secret, and what addresses can have of one.
    """  # noqa: D205  one sentence
    if isinstance(value, list):
        return [redact(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {key: _redact_field(key, item) for key, item in fields.items()}


def is_secret(key: str) -> bool:
    """Return whether what stands under that key is a secret by its name."""
    return _SECRET_KEY.search(key) is not None


def _redact_field(key: str, value: Any) -> Any:
    if isinstance(value, str) and is_secret(key):
        return HIDDEN
    if isinstance(value, str) and _ADDRESS_KEY.search(key):
        return _SECRETS_OF_ADDRESS.sub(HIDDEN, value)
    if key in _ALL_VALUES and isinstance(value, list):
        return [_redact_variable(item) for item in cast("list[Any]", value)]
    if key in _ALL_VALUES and isinstance(value, dict):
        return dict.fromkeys(cast("dict[str, Any]", value), HIDDEN)
    return redact(value)


def _redact_variable(value: Any) -> Any:
    if isinstance(value, dict) and "value" in value:
        return {**cast("dict[str, Any]", value), "value": HIDDEN}
    return redact(value)
