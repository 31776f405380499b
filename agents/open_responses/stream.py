"""From the events of one response to what an agent says.

One machine for one HTTP answer:

    splitter, machine = SseSplitter(), StreamMachine(outward=call_ids.outward)
    async for chunk in body:
        for name, data in splitter.feed(chunk):
            batch = machine.feed(data, name)
    for name, data in splitter.finish():
        batch = machine.feed(data, name)
    batch = machine.finish()
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, TypeAlias

from agents.events import Batch

from .outcome import Outcome

Annotations: TypeAlias = Literal["inline", "end", "none"]


class StreamMachine:
    """Says what a response says, each thing once; the last event is one `Stop` or `Break`.

    `outward` names a call toward the editor (`CallIds.outward`). `previous_response_id` is the one
    that was sent: unless the server's first snapshot echoes it, the machine is over (`unchained`)
    before anything is emitted, without a last event. `tools` are the names of the tools that were
    offered; None: not known. `server` names it to the user.

    Before the first part nothing is lost by asking again: a `Break` from `feed` or `finish` is to
    be held back where `outcome` allows a retry.
    """

    def __init__(
        self,
        *,
        outward: Callable[[str], str],
        annotations: Annotations = "inline",
        previous_response_id: str | None = None,
        tools: Collection[str] | None = None,
        server: str = "The server",
    ) -> None:
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said: what is fed now is ignored."""
        raise NotImplementedError

    @property
    def outcome(self) -> Outcome:
        """What is known of the response by now."""
        raise NotImplementedError

    def feed(self, data: bytes, name: bytes = b"") -> Batch:
        """Take the data of one event; `name` counts where the data has no type of its own."""
        raise NotImplementedError

    def finish(self) -> Batch:
        """Take the end of the body. Without a terminal event before it, it is a failure."""
        raise NotImplementedError
