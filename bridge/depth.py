"""Count in its text how deeply JSON is nested: on our own wire, and in definitions. Pure.

A value that can be decoded may still be too deep for later recursion: comparing, encoding,
converting.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate

DEEPEST_JSON = 200
"""The most levels of nested lists and objects."""
TOO_DEEP = f"lists and objects are nested more than {DEEPEST_JSON} deep"

# A text that doesn't end goes on to the end of all, so that no byte is looked at twice.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+', re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""A bracket as a signed byte: one level deeper, or one less deep."""
_OTHERS = bytes(set(range(256)) - set(b"[{]}"))


def is_too_deep(json: bytes, most: int = DEEPEST_JSON) -> bool:
    """Return whether lists and objects are nested more than `most` deep in a JSON text."""
    json = bytes(json)  # `msgspec.Raw` is said to be bytes, and has none of their methods
    if json.count(b"[") + json.count(b"{") <= most:
        return False
    # No loop of our own: a text of a megabyte can be nothing but brackets.
    steps = array("b", _TEXT.sub(b"", json).translate(_STEPS, _OTHERS))
    return max(accumulate(steps), default=0) > most
