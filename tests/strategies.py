"""Hypothesis strategies: parts, messages, conversations, and how things were cut into pieces.

Words come from a tiny alphabet on purpose: what is drawn twice is often equal, and mistaking one
thing for another needs equal things.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st

from bridge.errors import Failure
from bridge.history.events import Ask, Cancel, Emit, Fail, Finish, Input
from bridge.history.exchange import Ending, Exchange, Extends
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.wire import (
    DataPart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)

Cuttable = TypeVar("Cuttable", str, bytes)


def user(text: str) -> Message:
    return Message.of("user", [TextPart(text)])


def assistant(text: str) -> Message:
    return Message.of("assistant", [TextPart(text)])


def chunkings(whole: Cuttable) -> st.SearchStrategy[list[Cuttable]]:
    """Ways to cut a text, or bytes, into pieces; some are empty."""

    def cut(at: list[int]) -> list[Cuttable]:
        return [whole[i:j] for i, j in zip([0, *at], [*at, len(whole)], strict=True)]

    return st.lists(st.integers(0, len(whole)), max_size=12).map(sorted).map(cut)


words = st.text("ab", min_size=1, max_size=2)
ids = st.sampled_from(["c1", "c2", "c3"])

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
json_objects = st.dictionaries(words, json_values, max_size=3)

text_parts = st.builds(TextPart, st.just("") | words)
call_parts = st.builds(ToolCallPart, ids, words, json_objects)
result_parts = st.builds(ToolResultPart, ids, json_values)
image_parts = st.builds(DataPart, st.just("image/png"), st.binary(max_size=2))
telling_parts: st.SearchStrategy[Part] = text_parts | call_parts | result_parts | image_parts
"""Parts that take part in matching."""

silent_parts: st.SearchStrategy[Part] = (
    st.builds(ThinkingPart, words)
    | st.builds(DataPart, st.just("usage"), st.binary(max_size=2))
    | st.just(UnknownPart("hologram", b'{"type":"hologram"}'))
)
"""Parts that come and go with the host's mood."""

parts: st.SearchStrategy[Part] = telling_parts | silent_parts
part_lists = st.lists(parts, max_size=5)
roles: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "system"])
messages = st.builds(Message.of, roles, part_lists)

questions = words.map(user)
answers = words.map(assistant)

odd_messages: st.SearchStrategy[Message] = st.sampled_from(
    [
        user("<environment_info>\nLinux\n</environment_info>"),
        user("<workspace_info>\nsrc/\n</workspace_info>"),
        user("<conversation-summary>\nThey said a.\n</conversation-summary>"),
        user("<context>\nMonday\n</context>\n<userRequest>\na\n</userRequest>\n"),
        assistant("see [a](src/a.py) "),
        assistant("see a"),
        Message.of("user", [TextPart("a"), DataPart("image/png", b"1")]),
        Message.of("user", [TextPart("a\n[an image]")]),
        Message.of("assistant", [TextPart("a"), ToolCallPart("c1", "t", {})]),
        Message.of("assistant", [ToolCallPart("c1", "t", {}), ToolCallPart("c2", "t", {})]),
        Message.of("user", [ToolResultPart("c1"), ToolResultPart("c2")]),
        Message.of("user", [ToolResultPart("c1")]),
        Message.of("user", [ToolResultPart("c2")]),
    ]
)
"""Messages as hosts make them, or make them anew: each plays a part in one of `history.rules`."""

any_messages = questions | answers | odd_messages | messages
exchanges = st.builds(
    Exchange,
    st.lists(any_messages, max_size=2).map(tuple),
    st.none() | answers | odd_messages.filter(lambda message: message.role == "assistant"),
    st.sampled_from(Ending),
)
"""Exchanges in any combination, sensible or not."""


@st.composite
def conversations(draw: st.DrawFn, *, min_size: int = 0, max_size: int = 6) -> tuple[Message, ...]:
    """A chat as an editor holds it: mostly by turns, sometimes two questions in a row."""
    return tuple(draw(st.lists(questions | answers, min_size=min_size, max_size=max_size)))


def _finish(history: History) -> Input:
    return Finish(history.turn)


def _cancel(history: History) -> Input:
    assert history.request is not None
    return Cancel(history.request)


def _fail(history: History) -> Input:
    return Fail(history.turn, Failure("AgentFailed", "it fell over"))


endings: st.SearchStrategy[Callable[[History], Input]] = st.sampled_from([_finish, _cancel, _fail])


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A history that a faithful editor brought about, in any state but closed."""
    history = History()
    for request in range(draw(st.integers(0, 3))):
        known = tuple(history.shown)
        incoming = (*known, *draw(st.lists(questions, min_size=1, max_size=2)))
        history.apply(Ask(request, incoming, Extends(len(known))))
        history.apply(Emit(history.turn, draw(st.lists(text_parts, max_size=3))))
        is_last_and_open = draw(st.booleans())
        if is_last_and_open:
            break
        history.apply(draw(endings)(history))
    return history
