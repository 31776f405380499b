"""A compressed body becomes plain in small steps, and never more than is read."""

from __future__ import annotations

import gzip
import zlib

import pytest

from agents.open_responses.http.inflation import STEP_BYTES, NotInflatable, inflater


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", b"hello"),
        ("identity", b"hello"),
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("identity, X-Gzip", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
    ],
)
def test_a_compressed_body_is_made_plain(encoding: str, body: bytes) -> None:
    inflate = inflater(encoding)
    pieces = [piece for at in range(len(body)) for piece in inflate(body[at : at + 1])]
    assert b"".join(pieces) == b"hello"


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
def test_a_body_that_can_not_be_made_plain(encoding: str) -> None:
    with pytest.raises(NotInflatable):
        list(inflater(encoding)(b"hello"))


@pytest.mark.limit("agents.open_responses.http.inflation.STEP_BYTES")
def test_no_step_makes_more_than_the_limit() -> None:
    for length in (STEP_BYTES, STEP_BYTES + 1, 20 * STEP_BYTES):
        pieces = list(inflater("gzip")(gzip.compress(b"x" * length)))
        assert len(pieces) == -(-length // STEP_BYTES)
        assert max(map(len, pieces)) == STEP_BYTES
        assert b"".join(pieces) == b"x" * length


@pytest.mark.limit("agents.open_responses.http.inflation.MOST_INFLATED_BYTES")
def test_what_swells_to_more_than_the_limit_is_not_made() -> None:
    body = gzip.compress(b"x" * 1000)
    assert b"".join(inflater("gzip", 1000)(body)) == b"x" * 1000
    with pytest.raises(NotInflatable, match="more than 999 bytes"):
        list(inflater("gzip", 999)(body))
