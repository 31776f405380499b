"""How much JSON of a peer is read: counted before it is decoded, because that takes the memory.

A few kilobytes, compressed, can hold many millions of empty objects. Pure.
"""

from __future__ import annotations

import re

MOST_TOKENS = 1_000_000
"""Values of one JSON text: an answer with 16,000 tool calls has 200,000."""


def has_too_many_tokens(text: bytes, most: int = MOST_TOKENS) -> bool:
    """Tell whether JSON may have more values than that; what stands in strings counts, too.

    Each value is the first, or follows a comma, or is the first in a bracket that opens.
    """
    if len(text) <= most:
        return False  # each takes a byte
    return sum(text.count(sign) for sign in (b",", b"{", b"[")) >= most


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def has_too_many_values(text: bytes, most: int) -> bool:
    """Tell whether JSON has more values than that, or about as many; strings may hold any text."""
    return has_too_many_tokens(text, most) and has_too_many_tokens(_STRING.sub(b'""', text), most)
