"""Measure the search for a conversation: among many, in a long history, and for a first request.

Pure functions in this process, so that nothing but the search is measured: CPU time, the fastest of
many, since noise only adds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import msgspec
from msgspec import Raw

from bridge import methods
from bridge.history.events import Ask, Emit, Finish
from bridge.history.exchange import Extends
from bridge.history.machine import History
from bridge.history.transcript import Transcript, TranscriptReader
from bridge.routing.index import Index
from bridge.routing.outcome import Joins, Outcome, RoutedRequest
from bridge.routing.request import Hints, classify
from bridge.routing.router import route
from bridge.wire import ChatParams, TextPart

from .harness import Result

AGENT = b"an agent"
ROUNDS = 40
FEW, MANY, MESSAGES = 10, 1_000, 200
OLD_MESSAGES, OLD_SIZE = 250, 4_000
"""A megabyte of history, in messages as long as an agent's are."""
TOOLS, FIRST_SIZE = 40, 72_000
"""The first message of VS Code's built-in agent, as recorded."""


class _Messages(msgspec.Struct):
    messages: list[Raw]


class _Line(msgspec.Struct):
    params: _Messages


def measure() -> list[Result]:
    """Measure all three."""
    few, many = _among(FEW), _among(MANY)
    known, plain = _known_messages()
    first = _first_request()
    return [
        Result(
            "routing: many",
            many / few,
            2.0,
            "x",
            f"{many * 1e6:.0f} us among {MANY:,} against {few * 1e6:.0f} among {FEW}",
        ),
        Result(
            "routing: known",
            known / plain,
            3.0,
            "x",
            f"{known * 1e6:.0f} us for 1 MB against {plain * 1e6:.0f} into Raw alone",
        ),
        Result(
            "routing: first", first * 1e3, 1.0, "ms CPU", f"{FIRST_SIZE:,} bytes, {TOOLS} tools"
        ),
    ]


def _fastest(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def _message(role: str, text: str) -> bytes:
    return msgspec.json.encode({"role": role, "content": [{"type": "text", "value": text}]})


def _history(name: str, messages: int, size: int) -> list[bytes]:
    """Return a chat that ends with a question; all of them begin alike."""
    return [
        _message(
            "user" if number % 2 == 0 else "assistant",
            ("hello " if number < 2 else f"{name} says {number} ") + "and so on " * (size // 10),
        )
        for number in range(messages + 1)
    ]


def _place(index: Index, key: int, transcript: Transcript) -> None:
    history = History()
    history.apply(Ask(key, transcript.path, Extends(len(transcript.path) - 1)))
    history.apply(Emit(1, [TextPart(f"answer {key}")]))
    history.apply(Finish(1))
    index.place(key, AGENT, history)


def _among(conversations: int) -> float:
    """Return the seconds of a request among so many conversations."""
    index, reader = Index(), TranscriptReader()
    chats = [_history(f"chat {key}", MESSAGES, 50) for key in range(conversations)]
    for key, chat in enumerate(chats):
        _place(index, key, reader.read([Raw(one) for one in chat]))
    key = conversations // 2
    request = [
        Raw(one)
        for one in (*chats[key], _message("assistant", f"answer {key}"), _message("user", "and?"))
    ]

    def search() -> Outcome:
        return route(index, RoutedRequest(AGENT, reader.read(request).path))

    outcome = search()
    if not (isinstance(outcome, Joins) and outcome.conversation == key):
        raise RuntimeError(f"the request went astray: {outcome}")
    return _fastest(search)


def _chat_line(messages: list[bytes], **options: object) -> bytes:
    params = {"modelId": "m", "messages": [Raw(one) for one in messages], "options": options}
    head = {"jsonrpc": "2.0", "id": 1, "method": methods.CHAT, "params": params}
    return msgspec.json.encode(head)


def _read(line: bytes) -> ChatParams:
    chat = methods.read_chat(line)
    if chat is None:
        raise RuntimeError("the line isn't a chat request")
    return chat[1]


def _known_messages() -> tuple[float, float]:
    """Return the seconds of a request with 1 MB of known messages, and of decoding it into Raw."""
    index, reader = Index(), TranscriptReader()
    chat = _history("chat", OLD_MESSAGES, OLD_SIZE)
    _place(index, 1, reader.read([Raw(one) for one in chat]))
    line = _chat_line([*chat, _message("assistant", "answer 1"), _message("user", "and?")])

    def ours() -> Outcome:
        return route(index, RoutedRequest(AGENT, reader.read(_read(line).messages).path))

    decoder = msgspec.json.Decoder(_Line)
    if not isinstance(ours(), Joins):
        raise RuntimeError("a known message was taken for a new one")
    return _fastest(ours), _fastest(lambda: decoder.decode(line))


def _first_request() -> float:
    """Return the seconds from the line of a first request to its conversation."""
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(30)}}
    tools = [
        {"name": f"tool_{n}", "description": "x" * 300, "inputSchema": schema} for n in range(TOOLS)
    ]
    size = len(json.dumps(tools))
    messages = [_message("system", "s" * max(0, FIRST_SIZE - size)), _message("user", "hello")]
    line = _chat_line(messages, tools=tools, modelOptions={"_conversationId": "c"})

    def first() -> Outcome:
        params = _read(line)
        transcript, options = TranscriptReader().read(params.messages), params.options
        names = [tool.name for tool in options.tools]
        kind = classify(transcript.path, transcript.lineage, names, options.model_options)
        return route(
            Index(), RoutedRequest(AGENT, transcript.path, kind, Hints.of(options.model_options))
        )

    return _fastest(first)
