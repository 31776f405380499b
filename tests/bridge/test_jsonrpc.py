"""JSON-RPC by the line: any chunking, every error code, the exact bytes of what is sent."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, SupportsIndex

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from bridge.errors import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError
from bridge.jsonrpc import (
    MAX_LINE,
    InvalidLine,
    LineSplitter,
    RpcNotification,
    RpcRequest,
    RpcResponse,
    TooLong,
    decode_at,
    decode_params,
    error_line,
    notification_line,
    notification_lines,
    parse_line,
    repair_surrogates,
    request_line,
    result_line,
)
from bridge.wire import DataPart, Empty, ResponsePartParams, TextPart
from tests.strategies import chunkings

LIMIT = 5


def lines_of(chunks: list[bytes], limit: int = MAX_LINE) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.finish()


# Cutting bytes into lines.

streams = st.lists(
    st.sampled_from([b"", b" ", b"\r", b"{}", b"a", b"12345", b"123456", b"1234567890ab"])
).map(b"\n".join)


@given(st.data())
def test_any_chunking_gives_the_lines_of_the_whole(data: st.DataObject) -> None:
    stream = data.draw(streams)
    whole = lines_of([stream], LIMIT)
    assert lines_of(data.draw(chunkings(stream)), LIMIT) == whole
    assert lines_of([bytes([byte]) for byte in stream], LIMIT) == whole


@given(streams)
def test_lines_are_those_of_a_naive_split(stream: bytes) -> None:
    expected = [
        TooLong(len(line)) if len(line) > LIMIT else line
        for line in stream.split(b"\n")
        if line.strip()
    ]
    assert lines_of([stream], LIMIT) == expected


@pytest.mark.limit("bridge.jsonrpc.MAX_LINE")
def test_a_line_that_is_too_long_is_skipped_and_the_connection_lives_on() -> None:
    splitter = LineSplitter(LIMIT)
    assert splitter.feed(b"123") == []
    assert splitter.feed(b"456") == []
    assert splitter.feed(b"789\n12345\n") == [TooLong(9), b"12345"]
    assert splitter.feed(b"123456\nab\n") == [TooLong(6), b"ab"]


def test_blank_lines_are_left_out_and_an_unended_last_line_is_kept() -> None:
    assert lines_of([b"\n\r\n  \n{}\r\n\n[]"]) == [b"{}\r", b"[]"]


class Piece(bytes):
    """Bytes that refuse to be added up, which is how a buffer becomes quadratic."""

    def __add__(self, other: object, /) -> bytes:
        raise AssertionError("bytes are added up piece by piece")

    __radd__ = __add__

    def split(self, sep: Any = None, maxsplit: SupportsIndex = -1) -> list[bytes]:
        return [Piece(piece) for piece in super().split(sep, maxsplit)]


def bytes_touched(work: Callable[[], object]) -> Counter[str]:
    """Count what methods of bytes are called by `work`, each as often as its bytes are long."""
    touched: Counter[str] = Counter()

    def watch(_frame: object, event: str, called: Any) -> None:
        owner = getattr(called, "__self__", None) if event == "c_call" else None
        if isinstance(owner, bytes | bytearray):
            touched[called.__name__] += max(len(owner), 1)

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return touched


@pytest.mark.parametrize(
    ("piece", "count"), [(b"x", 100_000), (b"x" * 65_536, 320)], ids=["1 byte", "64 KiB"]
)
def test_a_line_in_many_pieces_costs_one_pass(piece: bytes, count: int) -> None:
    splitter = LineSplitter()
    found: list[bytes | TooLong] = []

    def feed() -> None:
        for _ in range(count):
            splitter.feed(Piece(piece))
        found.extend(splitter.feed(b"\n"))

    touched = bytes_touched(feed)
    size = len(piece) * count
    assert found == [piece * count]
    assert touched.pop("join") == 1, "joined once, when it ends"
    # Each byte is looked at when its chunk is split (which `Piece` does by a second call), and
    # when the line is checked for being blank.
    assert touched.total() <= 3 * size + 10


# From a line to a message.


def refusal(line: bytes) -> tuple[int, int | str | None]:
    with pytest.raises(InvalidLine) as refused:
        parse_line(line)
    assert str(refused.value) == refused.value.error.message
    return refused.value.error.code, refused.value.request


def test_a_request_a_notification_and_a_reply_are_told_apart() -> None:
    call = parse_line(b'{"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"a": 1}}\r')
    assert isinstance(call, RpcRequest)
    assert (call.id, call.method, bytes(call.params or b"")) == (7, "m", b'{"a": 1}')
    assert parse_line(b'{"jsonrpc":"2.0","id":"x","method":"m"}') == RpcRequest("x", "m", UNSET)
    assert parse_line(b'{"jsonrpc":"2.0","method":"m"}') == RpcNotification("m", UNSET)
    assert parse_line(b'{"jsonrpc":"2.0","id":1,"result":null}') == RpcResponse(
        1, Raw(b"null"), UNSET
    )
    assert parse_line(b'{"jsonrpc":"2.0","id":null,"error":{}}') == RpcResponse(
        None, UNSET, Raw(b"{}")
    )


def test_unknown_fields_of_the_envelope_are_ignored() -> None:
    assert parse_line(b'{"jsonrpc":"2.0","method":"m","trace":[1]}') == RpcNotification("m", UNSET)


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"{",
        b'{"jsonrpc":"2.0"} {}',
        b'{"jsonrpc":"2.0","method":"m","params":{"a":yes}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"m"}',
        b'{"jsonrpc":"2.0","method":"\xff"}',
        b'{"jsonrpc":"2.0","method":"m","params":{"text":"\xc3"}}',
    ],
)
def test_what_is_not_json_in_utf8_is_a_parse_error_without_an_id(line: bytes) -> None:
    """Also where the bad bytes stand in what stays raw."""
    assert refusal(line) == (PARSE_ERROR, None)


@pytest.mark.parametrize("line", [b"[]", b' [{"jsonrpc":"2.0","id":1,"method":"m"}]'])
def test_a_batch_is_an_invalid_request_and_says_so(line: bytes) -> None:
    assert refusal(line) == (INVALID_REQUEST, None)
    with pytest.raises(InvalidLine, match="batch"):
        parse_line(line)


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"1", None),
        (b'"m"', None),
        (b"{}", None),
        (b'{"jsonrpc":"2.0","id":4}', 4),
        (b'{"jsonrpc":"2.0","id":4,"method":5}', 4),
        (b'{"jsonrpc":"1.0","id":"a","method":"m"}', "a"),
        (b'{"jsonrpc":2.0,"id":"a","method":"m"}', "a"),
        (b'{"id":"a","method":"m"}', "a"),
        (b'{"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":5}', None),
    ],
)
def test_a_broken_envelope_is_refused_under_its_id_where_that_is_known(
    line: bytes, request_id: int | str | None
) -> None:
    assert refusal(line) == (INVALID_REQUEST, request_id)


@given(st.binary(max_size=40))
def test_no_line_whatever_breaks_the_parser(line: bytes) -> None:
    try:
        parse_line(line)
    except InvalidLine as refused:
        assert refused.error.code in {PARSE_ERROR, INVALID_REQUEST}  # noqa: PT017  either is fine


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_a_line_nested_too_deeply_is_a_parse_error(depth: int) -> None:
    """msgspec raises RecursionError there, which is none of its own errors."""
    nested = b"[" * depth + b"]" * depth
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + nested + b"}"
    assert refusal(line) == (PARSE_ERROR, None)


# Halves of surrogate pairs.


def test_single_surrogates_become_the_replacement_character_and_pairs_survive() -> None:
    line = rb'{"jsonrpc":"2.0","method":"m","params":["\ud83d","\uDE00x","\ud83d\ude00","\\ud83d"]}'
    notice = parse_line(line)
    assert isinstance(notice, RpcNotification)
    texts = decode_params(msgspec.json.Decoder(list[str]), notice.params)
    assert texts == ["\ufffd", "\ufffdx", "😀", r"\ud83d"]


utf16_units = st.sampled_from([0x61, 0x5C, 0x22, 0xD83D, 0xD800, 0xDE00, 0xDFFF, 0xFFFD, 0x2028])


@given(st.lists(utf16_units))
def test_what_javascript_writes_is_read_as_utf16_with_replacement(units: list[int]) -> None:
    """JSON.stringify escapes halves and leaves pairs; other peers escape whatever isn't ASCII."""
    text = b"".join(unit.to_bytes(2, "little") for unit in units)
    expected = text.decode("utf-16-le", "replace")
    escaped = json.dumps(text.decode("utf-16-le", "surrogatepass")).encode()
    assert msgspec.json.decode(repair_surrogates(escaped)) == expected


# Parameters.

point = msgspec.json.Decoder(dict[str, list[int]])


def test_parameters_may_be_absent_where_nothing_is_required() -> None:
    assert decode_params(point, UNSET) == {}
    assert decode_params(point, Raw(b'{"a":[1]}')) == {"a": [1]}


@pytest.mark.parametrize(
    ("raw", "path", "where"),
    [
        (b'{"a":[1,"b"]}', "$", "`$[...][1]`"),
        (b'{"a":[1,"b"]}', "$.messages[3]", "`$.messages[3][...][1]`"),
        (b"[]", "$", "`$`"),
        (b"[]", "$.messages[3]", "`$.messages[3]`"),
        (b'{"a"', "$.x", "`$.x`"),
    ],
)
def test_bad_parameters_are_refused_with_the_whole_path(raw: bytes, path: str, where: str) -> None:
    with pytest.raises(RpcError) as refused:
        decode_at(point.decode, raw, path)
    assert refused.value.code == INVALID_PARAMS
    assert refused.value.message.startswith("Invalid params: ")
    assert refused.value.message.endswith(f" - at {where}")


def test_parameters_that_are_no_utf8_are_no_json() -> None:
    """What was read in one pass with its line wasn't looked through before."""
    with pytest.raises(RpcError) as refused:
        decode_at(point.decode, b'{"\xff":[1]}', "$.messages[3]")
    assert refused.value.code == PARSE_ERROR
    assert refused.value.message.startswith("Parse error: ")
    assert refused.value.message.endswith(" - at `$.messages[3]`")


def test_parameters_nested_too_deeply_are_refused() -> None:
    decoder = msgspec.json.Decoder[Any](Any)
    with pytest.raises(RpcError) as refused:
        decode_at(decoder.decode, b"[" * 200_000 + b"]" * 200_000, "$.x")
    assert refused.value.code == INVALID_PARAMS


def test_parameters_by_position_are_refused() -> None:
    call = parse_line(b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}')
    assert isinstance(call, RpcRequest)
    with pytest.raises(RpcError, match=r"Expected `object`, got `array` - at `\$`") as refused:
        decode_params(point, call.params)
    assert refused.value.code == INVALID_PARAMS


# What is sent, byte for byte.


def test_a_request_is_one_line() -> None:
    expected = b'{"jsonrpc":"2.0","id":7,"method":"lm/stats","params":{}}\n'
    assert request_line(7, "lm/stats", Empty()) == expected


def test_a_result_is_one_line() -> None:
    assert result_line(1, Empty()) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    assert result_line("a\n", {"count": 2}) == (
        rb'{"jsonrpc":"2.0","id":"a\n","result":{"count":2}}' + b"\n"
    )


def test_an_error_has_data_only_where_there_is_some_and_a_null_id_where_none_is_known() -> None:
    assert error_line(None, RpcError(-32700, "é")) == (
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"é"}}\n'.encode()
    )
    assert error_line("a", RpcError(-32000, "no", {"kind": "Blocked"})) == (
        b'{"jsonrpc":"2.0","id":"a","error":'
        b'{"code":-32000,"message":"no","data":{"kind":"Blocked"}}}\n'
    )


def test_a_notification_is_one_line_and_several_are_several() -> None:
    params = [
        ResponsePartParams(7, TextPart("a\nb")),
        ResponsePartParams("8", DataPart("x", b"\0")),
    ]
    expected = [
        rb'{"jsonrpc":"2.0","method":"m","params":{"requestId":7,"part":{"type":"text","value":"a\nb"}}}',
        b'{"jsonrpc":"2.0","method":"m","params":{"requestId":"8","part":'
        b'{"type":"data","mimeType":"x","data":"AA=="}}}',
    ]
    assert [notification_line("m", one) for one in params] == [one + b"\n" for one in expected]
    assert notification_lines("m", params) == b"\n".join(expected) + b"\n"
    assert notification_lines("m", []) == b""
