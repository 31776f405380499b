"""Makes a compressed body plain, step by step: a small body may hold a thousand times as much.

Servers and proxies compress though we ask them not to. Each step makes at most `STEP_BYTES`, so
that between the steps others have their turn. Pure.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

STEP_BYTES = 64 * 1024
"""The most that one step produces."""
MOST_INFLATED_BYTES = 256 * 1024 * 1024
"""The most that one compressed body may become in all."""

Inflater: TypeAlias = Callable[[bytes], Iterator[bytes]]


class NotInflatable(Exception):
    """A body isn't compressed as it says, in a way that we don't know, or into too much."""


def inflater(content_encoding: str, most: int = MOST_INFLATED_BYTES) -> Inflater:
    """Return what makes chunks plain, piece by piece; its pieces raise `NotInflatable`.

    All pieces of a chunk must be taken before the next chunk is given.
    """
    named = [one.strip().lower() for one in content_encoding.split(",")]
    encodings = [one for one in named if one not in ("", "identity")]
    if not encodings:
        return _as_it_is
    if encodings not in (["gzip"], ["x-gzip"], ["deflate"]):
        return _refusing(f"it is compressed as {content_encoding}")
    return _Inflation(most).steps


def _as_it_is(chunk: bytes) -> Iterator[bytes]:
    yield chunk


def _refusing(reason: str) -> Inflater:
    def refuse(chunk: bytes) -> Iterator[bytes]:
        del chunk
        raise NotInflatable(reason)

    return refuse


class _Inflation:
    def __init__(self, most: int) -> None:
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, as it begins
        self._most = most
        self._made = 0

    def steps(self, chunk: bytes) -> Iterator[bytes]:
        """Return the pieces that a chunk holds."""
        while chunk:
            try:
                piece = self._inflate.decompress(chunk, STEP_BYTES)
            except zlib.error as error:
                raise NotInflatable(str(error)) from None
            self._made += len(piece)
            if self._made > self._most:
                raise NotInflatable(f"it holds more than {self._most:,} bytes when it is inflated")
            if piece:
                yield piece
            chunk = self._inflate.unconsumed_tail
