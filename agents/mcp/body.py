"""The body of an HTTP request to the MCP server, looked at before anything decodes it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agents.breather import Breather
from agents.json_limits import has_too_many_values

from .streams import MOST_VALUES

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGIReceiveEvent


class TooMuch(Exception):
    """A body has too many values."""

    def __init__(self) -> None:
        super().__init__(f"a message may have at most {MOST_VALUES:,} values")


async def examined(receive: ASGIReceiveCallable, most_bytes: int) -> ASGIReceiveCallable:
    """Return what gives the same events again, once the body is there; raises `TooMuch`.

    A body of more than `most_bytes` is passed on as it comes: the SDK refuses it.
    """
    events: deque[ASGIReceiveEvent] = deque()
    body = bytearray()
    while True:
        event = await receive()
        events.append(event)
        if event["type"] != "http.request":
            break
        body += event["body"]
        if len(body) > most_bytes or not event["more_body"]:
            break
    if len(body) <= most_bytes:
        counting = has_too_many_values(bytes(body), MOST_VALUES)
        if await Breather().do(counting):
            raise TooMuch

    async def again() -> ASGIReceiveEvent:
        return events.popleft() if events else await receive()

    return again
