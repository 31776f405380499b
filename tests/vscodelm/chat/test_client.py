"""The other end of the wire, over memory streams, with a peer that does what the test says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
import trio
from msgspec import Raw
from trio.testing import memory_stream_one_way_pair, wait_all_tasks_blocked

from bridge import methods
from bridge.errors import RpcError
from bridge.wire import ChatParams, Empty, Part, ProgressParams, StatsParams, TextPart
from vscodelm.chat.client import Client, ResponseStream, ServerGone, open_connection

QUESTION = ChatParams("eliza", [Raw(b'{"role":"user","content":[{"type":"text","value":"Hi"}]}')])
HELLO = {"serverInfo": {"name": "peer", "version": "1"}}


@attrs.define(eq=False)
class Peer:
    """The server's end."""

    source: trio.abc.ReceiveStream
    sink: trio.abc.SendStream
    _buffer: bytearray = attrs.field(factory=bytearray, init=False)

    async def hear(self) -> dict[str, Any]:
        """Return the next line."""
        with trio.fail_after(5):
            while b"\n" not in self._buffer:
                chunk = await self.source.receive_some()
                assert chunk, "the client's output ended"
                self._buffer += chunk
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return json.loads(line)

    async def send(self, *lines: dict[str, Any]) -> None:
        """Send lines, all at once."""
        whole = [json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines]
        await self.sink.send_all(b"".join(whole))

    async def part(self, request: int, text: str) -> None:
        """Send a text of an answer."""
        part = {"type": "text", "value": text}
        await self.send(notice(methods.RESPONSE_PART, {"requestId": request, "part": part}))

    async def leave(self) -> None:
        """End the output."""
        await self.sink.aclose()


def notice(method: str, params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[Client, Peer]]:
    """Return a client after its handshake, and its peer, which leaves when the client does."""
    to_peer, peer_source = memory_stream_one_way_pair()
    peer_sink, from_peer = memory_stream_one_way_pair()
    peer = Peer(peer_source, peer_sink)

    async def greet() -> None:
        hello = await peer.hear()
        assert hello["method"] == methods.INITIALIZE
        await peer.send({"id": hello["id"], "result": HELLO})

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(greet)
            async with open_connection(from_peer, to_peer) as client:
                yield client, peer
                nursery.start_soon(_follow, peer)


async def _follow(peer: Peer) -> None:
    async for _ in peer.source:
        pass
    await peer.leave()


async def heard(answer: ResponseStream) -> list[Part]:
    return [part async for part in answer]


async def test_the_handshake_says_that_thinking_and_usage_can_be_shown() -> None:
    to_peer, peer_source = memory_stream_one_way_pair()
    peer_sink, from_peer = memory_stream_one_way_pair()
    peer = Peer(peer_source, peer_sink)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:

            async def connect() -> None:
                async with open_connection(from_peer, to_peer):
                    nursery.cancel_scope.cancel()

            nursery.start_soon(connect)
            hello = await peer.hear()
            assert hello["params"]["capabilities"] == {"thinking": True, "usage": True}
            await peer.send({"id": hello["id"], "result": HELLO})
            await peer.leave()


async def test_what_takes_long_is_asked_for_and_handed_on_where_it_is_shown() -> None:
    told: list[ProgressParams] = []
    to_peer, peer_source = memory_stream_one_way_pair()
    peer_sink, from_peer = memory_stream_one_way_pair()
    peer = Peer(peer_source, peer_sink)
    begun = {"token": 1, "title": "Fetching parrot", "message": "1 s", "isOver": False}

    async def serve() -> None:
        hello = await peer.hear()
        assert hello["params"]["capabilities"]["progress"] is True
        await peer.send(notice(methods.PROGRESS, begun), {"id": hello["id"], "result": HELLO})
        await peer.leave()

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            async with open_connection(from_peer, to_peer, tell=told.append):
                pass
    assert told == [ProgressParams(1, "Fetching parrot", "1 s")]


async def test_a_request_returns_its_own_result_whatever_comes_first() -> None:
    async with connected() as (client, peer), trio.open_nursery() as nursery:
        results: dict[str, Any] = {}

        async def ask(method: str) -> None:
            results[method] = await client.request(method, Empty(), dict[str, Any])

        nursery.start_soon(ask, "one")
        nursery.start_soon(ask, "two")
        for request in sorted([await peer.hear(), await peer.hear()], key=lambda r: -r["id"]):
            await peer.send({"id": request["id"], "result": {"of": request["method"]}})
        with trio.fail_after(5):
            await wait_all_tasks_blocked()
        assert results == {"one": {"of": "one"}, "two": {"of": "two"}}


async def test_a_request_raises_the_error_that_it_was_answered_with() -> None:
    async with connected() as (client, peer), trio.open_nursery() as nursery:

        async def refuse() -> None:
            request = await peer.hear()
            await peer.send({"id": request["id"], "error": {"code": -32601, "message": "No."}})

        nursery.start_soon(refuse)
        with pytest.raises(RpcError, match="No"):
            await client.request(methods.STATS, StatsParams(), Empty)


async def test_an_answer_streams_its_parts_and_ends_with_the_result() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        request = (await peer.hear())["id"]
        assert request == answer.id
        await peer.part(request, "Good")
        assert await anext(answer) == TextPart("Good")
        await peer.part(request, " day")
        await peer.send(
            notice(methods.RESPONSE_COMPLETE, {"requestId": request}), {"id": request, "result": {}}
        )
        assert await heard(answer) == [TextPart(" day")]


async def test_an_answer_that_fails_gives_its_parts_first_and_then_the_error() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        request = (await peer.hear())["id"]
        await peer.part(request, "Good")
        await peer.send({"id": request, "error": {"code": -32000, "message": "Gone."}})
        assert await anext(answer) == TextPart("Good")
        with pytest.raises(RpcError, match="Gone"):
            await anext(answer)


async def test_an_answer_that_nobody_reads_holds_up_the_server() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        request = (await peer.hear())["id"]
        replies: list[int] = []

        async def ask() -> None:
            replies.append(await client.request(methods.STATS, StatsParams(), int))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            stats = await peer.hear()
            await peer.part(request, "unread")
            await peer.send({"id": stats["id"], "result": 1}, {"id": request, "result": {}})
            with trio.fail_after(5):
                await wait_all_tasks_blocked()
            assert not replies
            assert await heard(answer) == [TextPart("unread")]
        assert replies == [1]


async def test_a_cancel_names_the_request_and_the_answer_still_ends_by_itself() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        request = (await peer.hear())["id"]
        client.cancel(answer.id)
        cancel = await peer.hear()
        assert (cancel["method"], cancel["params"]) == ("lm/cancel", {"requestId": request})
        await peer.part(request, "late")
        await peer.send({"id": request, "result": {}})
        assert await heard(answer) == [TextPart("late")]


async def test_an_answer_that_is_left_is_cancelled_and_what_still_comes_of_it_is_dropped() -> None:
    async with connected() as (client, peer):
        async with client.chat(QUESTION):
            request = (await peer.hear())["id"]
        assert (await peer.hear())["method"] == methods.CANCEL
        await peer.part(request, "late")
        await peer.send({"id": request, "result": {}})
        async with client.chat(QUESTION) as answer:
            request = (await peer.hear())["id"]
            await peer.part(request, "in time")
            assert await anext(answer) == TextPart("in time")
            await peer.send({"id": request, "result": {}})
            assert await heard(answer) == []


async def test_a_server_that_goes_fails_everything_that_is_open_and_all_that_comes() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        await peer.hear()
        await peer.leave()
        with pytest.raises(ServerGone, match="closed the connection"):
            await anext(answer)
        with pytest.raises(ServerGone):
            await client.request(methods.STATS, StatsParams(), Empty)


async def test_a_server_that_breaks_the_protocol_counts_as_gone() -> None:
    async with connected() as (client, peer), client.chat(QUESTION) as answer:
        await peer.hear()
        await peer.sink.send_all(b"Segmentation fault\n")
        with pytest.raises(ServerGone, match="don't understand"):
            await anext(answer)


async def test_a_refused_handshake_is_raised_as_it_is() -> None:
    to_peer, peer_source = memory_stream_one_way_pair()
    peer_sink, from_peer = memory_stream_one_way_pair()
    await peer_sink.aclose()
    with trio.fail_after(5), pytest.raises(ServerGone):
        async with open_connection(from_peer, to_peer):
            pytest.fail("it isn't open")
    assert b"lm/initialize" in await peer_source.receive_some()


async def test_a_server_that_does_not_leave_is_waited_for_no_longer_than_told(
    autojump_clock: trio.testing.MockClock,
) -> None:
    to_peer, peer_source = memory_stream_one_way_pair()
    peer_sink, from_peer = memory_stream_one_way_pair()
    peer = Peer(peer_source, peer_sink)
    async with trio.open_nursery() as nursery:

        async def greet() -> None:
            await peer.send({"id": (await peer.hear())["id"], "result": HELLO})

        nursery.start_soon(greet)
        async with open_connection(from_peer, to_peer, patience=60):
            began = trio.current_time()
    assert trio.current_time() == pytest.approx(began + 60)
    assert await peer_source.receive_some() == b"", "the server's input ended"
