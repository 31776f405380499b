"""Traces HTTP with an endpoint: requests, statuses and bodies, but no header and no key.

Each is a line of JSON. A request is `{"method", "path", "body"}`. An answer begins with `{"status",
"contentType"}`; its events follow unchanged, or its body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import attrs
import msgspec

from agents.trace import Direction, Tap
from bridge.redact import map_strings

from .errors import hidden

UNREADABLE = "[nested too deeply to be recorded]"
SHOWN_DATA = 1000
"""Most characters of a `data:` address that are recorded."""
_DATA = re.compile(r"(data:[^,]{0,200};base64,)(.*)", re.DOTALL)


@attrs.define
class WireRecord:
    """Tells a tap what goes over one endpoint's wire, without the `secrets` of the request."""

    tap: Tap | None
    """None: nothing is recorded."""
    secrets: Sequence[str] = ()

    def request(self, method: str, url: str, body: bytes | None) -> None:
        """Record a request."""
        record: dict[str, Any] = {"method": method, "path": urlsplit(url).path}
        self._tell("out", lambda: record if body is None else {**record, "body": _read(body)})

    def answer(self, status: int, content_type: str) -> None:
        """Record the beginning of an answer."""
        self._tell("in", lambda: {"status": status, "contentType": content_type})

    def body(self, body: bytes) -> None:
        """Record an event's data, or a body that is no stream of them."""
        if body:
            self._tell("in", lambda: _read(body))

    def failure(self, message: str) -> None:
        """Record why there is no answer, or why it broke off."""
        self._tell("in", lambda: {"failure": message})

    def _tell(self, direction: Direction, make: Callable[[], Any]) -> None:
        if self.tap is None:
            return

        def clean(text: str) -> str:
            return hidden(_shortened(text), self.secrets)

        try:
            line = msgspec.json.encode(map_strings(make(), clean))
        except RecursionError:
            line = msgspec.json.encode(UNREADABLE)
        self.tap(direction, line)


def _read(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode(errors="replace")


def _shortened(text: str) -> str:
    """Return a text, of a file in it only how long it is."""
    data = _DATA.fullmatch(text) if text.startswith("data:") else None
    if data is None or len(data[2]) <= SHOWN_DATA:
        return text
    return f"{data[1]}[{len(data[2])} characters]"
