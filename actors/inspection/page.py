"""The page that draws the events of `lm/inspect`, in a file of its own or in an editor.

It is `page.html`, beside this module: styles, scripts and pictures are in it, and its policy
allows nothing else. Texts of the chat are data: they are written as JSON in which no `<` stands,
and the script makes text nodes of them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from bridge.wire import InspectResult

_encode = msgspec.json.Encoder().encode
NONCE, DATA = "{{nonce}}", "{{data}}"
"""The places in the page for a word that nobody can guess, and for the events."""
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def page_with(result: InspectResult, nonce: str) -> str:
    """Return the page; only scripts and styles with the `nonce` count in it."""
    before, after = _template().replace(NONCE, nonce).split(DATA)
    return before + as_data(result) + after


def as_data(result: InspectResult) -> str:
    """Return the events as JSON that can stand in a page: nothing in it ends a script."""
    json = _encode(result).decode()
    for character, escape in _ESCAPES.items():
        json = json.replace(character, escape)
    return json


@cache
def _template() -> str:
    return Path(__file__).with_name("page.html").read_text(encoding="utf-8")
