"""The scripted ACP agent in this process, over memory streams: for speed, and for the mock clock.

    agent = PeerAgent({"turns": [[{"say": "Hello "}, {"hang": True}]]})
    acp = AcpAgent(spec, ..., connect=agent.connect)

Each `connect` is a process of its own: `peers` has them in order, `heard` what all of them heard.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio
from trio.testing import MemoryReceiveStream, MemorySendStream, memory_stream_one_way_pair

from agents.acp.transport.base import Exit, Link

from .acp_program import ScriptedPeer

JSON = dict[str, Any]


@attrs.define(eq=False)
class PeerLink:
    """Our ends of the streams; it satisfies `agents.acp.transport.base.Link`."""

    source: MemoryReceiveStream
    sink: MemorySendStream
    status: int | None = None
    last_words: str = ""
    exit_seconds: float = 0.0
    pid: int | None = None
    has_ended: trio.Event = attrs.field(factory=trio.Event)

    async def ended(self) -> None:
        """Wait until the peer has ended."""
        await self.has_ended.wait()

    async def exit(self) -> Exit:
        """Return how it ended, which may take a moment to be known."""
        await trio.sleep(self.exit_seconds)
        return Exit(self.status, self.last_words)


class PeerAgent:
    """Scripted agents, started as often as somebody connects."""

    def __init__(self, script: JSON) -> None:
        self.script = script
        self.peers: list[ScriptedPeer] = []
        self.kept: dict[str, list[str]] = {}
        """What was said in every session, for whichever process is asked for it."""
        self.exit_seconds = 0.0
        """How long it takes to know how one of them ended."""
        self.running = 0

    @property
    def heard(self) -> list[JSON]:
        """Every message that any of them heard."""
        return [message for peer in self.peers for message in peer.heard]

    @property
    def faults(self) -> list[str]:
        """What they found wrong with their client."""
        return [fault for peer in self.peers for fault in peer.faults]

    def asked(self, method: str) -> list[JSON]:
        """Return the parameters of every message of that method."""
        return [message["params"] for message in self.heard if message.get("method") == method]

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Link, None]:
        """Start another one; on exit it is gone."""
        to_peer, from_client = memory_stream_one_way_pair()
        to_client, from_peer = memory_stream_one_way_pair()
        peer = ScriptedPeer(self.script, len(self.peers), self.kept)
        self.peers.append(peer)
        link = PeerLink(from_peer, to_peer, exit_seconds=self.exit_seconds)
        self.running += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_drive, peer, link, from_client, to_client)
                yield link
                nursery.cancel_scope.cancel()
        finally:
            self.running -= 1


async def _drive(
    peer: ScriptedPeer, link: PeerLink, source: MemoryReceiveStream, sink: MemorySendStream
) -> None:
    """Be the peer's process: the same loop as `acp_program.main`."""
    while True:
        now = trio.current_time()
        wakes = peer.advance(now)
        link.last_words += peer.noise.decode(errors="replace")
        peer.noise.clear()
        if peer.output:
            output = bytes(peer.output)
            peer.output.clear()
            await sink.send_all(output)
        if peer.silent:
            sink.close()
            peer.silent = False
        if peer.ends_with is not None:
            link.status = peer.ends_with
            break
        chunk = None
        with trio.move_on_at(trio.current_time() + 1e9 if wakes is None else wakes):
            chunk = await source.receive_some(65536)
        if chunk is not None:
            if not chunk:
                link.status = 0
                break
            peer.receive(bytes(chunk))
    link.has_ended.set()
    if peer.children:
        await trio.sleep_forever()  # they hold its pipes open
    sink.close()
    source.close()
