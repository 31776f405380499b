"""The splitter: what the standard says of lines and fields, however the bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.stream.sse import Frame, SseOverflow, SseSplitter


def split(*chunks: bytes, limit: int = 1_000_000) -> list[Frame]:
    splitter = SseSplitter(limit)
    frames = [frame for chunk in chunks for frame in splitter.feed(chunk)]
    return frames + splitter.finish()


def bytewise(body: bytes) -> list[bytes]:
    return [body[i : i + 1] for i in range(len(body))]


@pytest.mark.parametrize(
    ("body", "frames"),
    [
        (b"data: a\n\n", [(b"", b"a")]),
        (b"data:a\n\n", [(b"", b"a")]),
        (b"data:  a \n\n", [(b"", b" a ")]),
        (b"event: e\ndata: a\n\n", [(b"e", b"a")]),
        (b"event:e\ndata:a\n\n", [(b"e", b"a")]),
        (b"data: a\nevent: e\n\n", [(b"e", b"a")]),
        (b"data: a\ndata: b\ndata\n\n", [(b"", b"a\nb\n")]),
        (b"event: e\ndata: a\ndata: b\n\n", [(b"e", b"a\nb")]),
        (b"data\n\n", [(b"", b"")]),
        (b"id: 7\nretry: 10\ndata: a\nwhatever: x\ndataset: y\n\n", [(b"", b"a")]),
        (b"no field\nat all\n\ndata: a\n\n", [(b"", b"no field\nat all"), (b"", b"a")]),
        (b'[{"error": 1}]', [(b"", b'[{"error": 1}]')]),
        (b": x\n[1,\n2]\n\n", [(b"", b"[1,\n2]")]),
        (b'id: 7\n{"error": 1}\n\n', [(b"", b'{"error": 1}')]),
        (b'event: e\n{\n"error": 1\n}', [(b"e", b'{\n"error": 1\n}')]),
        (b"event: Error\nno, 401\nand no\n\n", [(b"Error", b"no, 401\nand no")]),
        (b"event: error\nda", []),
        (b"event: e\nno field\n\n: x\nno field\n\n", []),
        (b'error: {\n"a": 1\n}\n\n', [(b"error", b'{\n"a": 1\n}')]),
        (b'error: {"a": 1}\nid: 7\n\n', [(b"error", b'{"a": 1}')]),
        (b"data: a\nno field\n\n", [(b"", b"a")]),
        (b"id: 7\n\nretry\n\n: x\n\nda", []),
        (b": a comment\n\ndata: a\n\n", [(b"", b"a")]),
        (b": a comment\ndata: a\n: another\n\n", [(b"", b"a")]),
        (b"event: ping\n\ndata: a\n\n", [(b"", b"a")]),
        (b"\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [(b"", b"a"), (b"", b"b")]),
        (b"data: a\n\ndata: [DONE]\n\n", [(b"", b"a"), (b"", b"[DONE]")]),
        (b"data: a\n\ndata: b\n", [(b"", b"a"), (b"", b"b")]),
        (b"data: a\n\ndata: b", [(b"", b"a"), (b"", b"b")]),
        (b"data: \xef\xbb\xbf\n\n", [(b"", b"\xef\xbb\xbf")]),
        (b"data: \xff\xfe\n\n", [(b"", b"\xff\xfe")]),
        ("data: a\u2028b\x85c\x0bd\n\n".encode(), [(b"", "a\u2028b\x85c\x0bd".encode())]),
        (b"", []),
        (b"\xef\xbb", []),
    ],
)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
def test_events_are_what_the_standard_says(
    body: bytes, frames: list[Frame], line_end: bytes, mark: bytes
) -> None:
    body = mark + body.replace(b"\n", line_end)
    assert split(body) == frames
    assert split(*bytewise(body)) == frames


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (b"data: a\n\n", 9),
        (b"data: a\r\r", 9),
        (b"data: a\r\n\r\n", 10),  # the CR is enough, as an LF after it changes nothing
    ],
)
def test_an_event_is_there_as_soon_as_its_blank_line_is(body: bytes, length: int) -> None:
    splitter = SseSplitter()
    assert [len(splitter.feed(byte)) for byte in bytewise(body)].index(1) == length - 1


@pytest.mark.limit("agents.open_responses.stream.sse.MAX_EVENT_BYTES")
def test_an_event_that_is_too_long_is_an_error_however_it_comes() -> None:
    for body in (b"data: " + b"x" * 100, b"data: " + b"x" * 100 + b"\n\ndata: a\n\n"):
        for chunks in ([body], bytewise(body)):
            with pytest.raises(SseOverflow, match="longer than 50 bytes"):
                split(*chunks, limit=50)


def test_many_events_in_a_chunk_are_not_one_long_event() -> None:
    assert len(split(b"data: 0123456789\n\n" * 100, limit=20)) == 100


lines = st.sampled_from(
    [b"", b"data: x", b"data:y", b"data", b": c", b"event: e", b"id: 1", b"data: \xc3\xa4", b"junk"]
)


@given(
    st.lists(lines, max_size=12),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(0, 120), max_size=12),
    st.booleans(),
)
def test_how_the_bytes_are_cut_changes_nothing(
    body_lines: list[bytes], line_end: bytes, cuts: list[int], has_mark: bool
) -> None:
    body = b"\xef\xbb\xbf" * has_mark + line_end.join(body_lines)
    edges = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert split(*pieces) == split(body) == split(*bytewise(body)) == split(body, b"", b"")


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=3), max_size=5))
def test_what_was_written_as_json_is_read_as_json(values: list[dict[str, str]]) -> None:
    body = b"".join(b"data: " + json.dumps(value).encode() + b"\r\n\r\n" for value in values)
    assert [json.loads(data) for _, data in split(body)] == values


def test_a_long_event_in_small_chunks_is_not_searched_again_and_again() -> None:
    """How often a byte is looked at is counted, as no test looks at a clock."""
    looked_at = 0

    class Counted(bytes):
        def __contains__(self, other: object) -> bool:
            nonlocal looked_at
            looked_at += len(self)
            return super().__contains__(other)  # pyright: ignore[reportArgumentType]  # as given

    splitter = SseSplitter()
    splitter.feed(b"data: ")
    for _ in range(1000):
        assert splitter.feed(Counted(b"x" * 100)) == []
    assert looked_at <= 3 * 100_000
    assert splitter.feed(b"\n\n") == [(b"", b"x" * 100_000)]
