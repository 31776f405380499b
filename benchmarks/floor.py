"""The least that parts cost: trio and msgspec, and nothing of ours between them.

`python -m benchmarks.floor` reads numbers, one a line. It answers each with that many parts and a
result. It makes, encodes and writes the parts as the bridge does, in batches as large as Eliza's.
"""

from __future__ import annotations

import re
import sys
from itertools import cycle, islice

import msgspec
import trio

from agents.eliza.hooks import BATCH_WORDS
from agents.eliza.script import LONG_ANSWER


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    value: str


class _Params(msgspec.Struct, rename="camel"):
    request_id: int
    part: _Text


class _Notification(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: _Params


async def main() -> None:
    """Answer until the input ends."""
    encode_lines = msgspec.json.Encoder().encode_lines
    words = cycle(re.findall(r"\S+\s*", LONG_ANSWER))
    source = trio.lowlevel.FdStream(sys.stdin.fileno())
    sink = trio.lowlevel.FdStream(sys.stdout.fileno())
    async for line in source:
        for done in range(0, left := int(line), BATCH_WORDS):
            batch = islice(words, min(BATCH_WORDS, left - done))
            await sink.send_all(
                encode_lines(
                    [_Notification("lm/responsePart", _Params(1, _Text(word))) for word in batch]
                )
            )
        await sink.send_all(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')


if __name__ == "__main__":
    trio.run(main)
