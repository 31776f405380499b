"""Names and ids, so that every server takes them."""

from __future__ import annotations

import hashlib
import re

NO_ID = "call_none"
"""Stands for an id that is empty."""

_MAX = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def fitting_id(call_id: str) -> str:
    """Return an id of at most 64 characters: the same for the same, another for another."""
    if len(call_id) <= _MAX:
        return call_id or NO_ID
    return f"{call_id[: _MAX - 17]}_{_digest(call_id)}"


def fitting_name(name: str) -> str:
    """Return a name of a tool with none but the characters that are allowed, at most 64 of them."""
    if _NAME.fullmatch(name):
        return name
    return f"{_NO_NAME.sub('_', name)[: _MAX - 17]}_{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()
