"""Print with `vscodelm replay` a trace that is made here."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from bridge import methods
from vscodelm.replay.explain import explain
from vscodelm.replay.recording import read_recording

from .markdown import block

_encode = msgspec.json.Encoder().encode

_BREAD = "Eight hours. What flour have you got?"
_RYE_STOPPED = "Then you need a sourdough, which takes"
_SPELT = "Then let it rest for an hour."


def trace() -> Iterator[bytes]:
    """Yield its lines: an answer, one that is stopped and doesn't come back, one after an edit."""
    begun = ["How long does bread take?", _BREAD]
    yield from _turn(1, begun[:1], _BREAD)
    yield from _turn(2, [*begun, "Rye."], _RYE_STOPPED, stopped=True)
    # The host leaves the answer out that it stopped.
    yield _request(3, [*_said(*begun, "Rye."), *_said("No, spelt.")])
    yield from _answer(3, _SPELT)
    yield from _turn(4, [*begun, "Wheat."], "Then bake it today.")


def _said(*texts: str) -> list[dict[str, object]]:
    """Return messages in which user and assistant take turns."""
    return [
        {"role": role, "content": [{"type": "text", "value": text}]}
        for text, role in zip(texts, ["user", "assistant"] * len(texts), strict=False)
    ]


def _turn(request: int, texts: list[str], answer: str, *, stopped: bool = False) -> Iterator[bytes]:
    yield _request(request, _said(*texts))
    yield from _answer(request, answer, stopped=stopped)


def _request(request: int, messages: list[dict[str, object]]) -> bytes:
    params = {"modelId": "claude", "messages": messages}
    return _line("in", {"id": request, "method": methods.CHAT, "params": params})


def _answer(request: int, answer: str, *, stopped: bool = False) -> Iterator[bytes]:
    part = {"requestId": request, "part": {"type": "text", "value": answer}}
    yield _line("out", {"method": methods.RESPONSE_PART, "params": part})
    if stopped:
        yield _line("in", {"method": methods.CANCEL, "params": {"requestId": request}})
    yield _line("out", {"id": request, "result": {}})


def _line(direction: str, message: dict[str, object]) -> bytes:
    return _encode({"direction": direction, "message": {"jsonrpc": "2.0", **message}})


def example() -> str:
    """Return what is told of the trace."""
    return block("text", "\n".join(explain(read_recording(trace())).lines))
