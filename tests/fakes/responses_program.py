"""An Open Responses server as a program, for tests that aren't written in Python.

    python -m tests.fakes.responses_program LOG [KEY]

Its line is its address. It keeps every request, and that an answer was hung up on. With KEY it
refuses who doesn't bring that key.

What it says is picked by what the user said last:

    what do you remember?   everything that the user said
    slow                    a beginning, and no end
    quota                   that there is none left
    look                    how many images it was shown
    use NAME {...}          a line of its own: that function is called; several lines call at once
    anything else           a few words

After calls it says what came of them. An editor puts the user's words among many of its own: then
those between `<userRequest>` and its end count, and messages without are not the user's.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import trio

from .program import kept_in, ready_until_the_input_ends
from .responses_events import JSON, Call, Output, Text
from .responses_server import Context, Plan, responses_server

_USE = re.compile(r"^use (\w+) (\{.*\})$", re.MULTILINE)
_REQUEST = re.compile(r"<userRequest>\s*(.*?)\s*</userRequest>", re.DOTALL)
_IMAGE = re.compile(r"<input_\w+>")
_NO_QUOTA: JSON = {
    "error": {
        "type": "invalid_request_error",
        "code": "insufficient_quota",
        "message": "You exceeded your current quota.",
        "param": None,
    }
}


def said(context: Context) -> list[str]:
    """Return the user's own words, a text for each message."""
    plain = (_IMAGE.sub("", text) for text in context.users)
    texts = ((_REQUEST.findall(text), text) for text in plain)
    return [
        "\n".join(requests) if requests else text
        for requests, text in texts
        if requests or not text.lstrip().startswith("<")
    ]


def answer(context: Context) -> Sequence[Output] | Plan:
    """Return what is said to all that."""
    if context.results:
        return [Text(" and ".join(context.results))]
    words = said(context)
    newest = words[-1] if words else ""
    uses = [Call(use[1], json.loads(use[2])) for use in _USE.finditer(newest)]
    if uses:
        return [Text("Let me see. "), *uses]
    match newest:
        case "what do you remember?":
            return [Text(" / ".join(words))]
        case "slow":
            return Plan(outputs=[Text("once upon a time ")], ending="hang")
        case "quota":
            body = json.dumps(_NO_QUOTA).encode()
            return Plan(status=429, body=body, content_type="application/json")
        case "look":
            return [Text(f"I see images: {json.dumps(context.items).count('input_image')}.")]
        case _:
            return [Text("Yes, indeed.")]


async def main(log: Path, key: str | None = None) -> None:
    """Serve until the input ends."""
    with kept_in(log) as keep:
        async with responses_server(answer, key=key, keep=keep) as server:
            await ready_until_the_input_ends(server.base_url)


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]), *sys.argv[2:])
