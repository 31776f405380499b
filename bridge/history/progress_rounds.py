"""Rounds of the progress tool, which only show a host what has been said so far.

VS Code's Agent Host shows an answer when it has ended, so a long one ends with a call of
`vscodelm-progress` now and then, and goes on with the result (`actors.progress.pace`). The host
keeps these rounds in its history. An agent never sees them: here they are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bridge.wire import ChatMessage, Part, TextPart, ToolCallPart, ToolResultPart

from .message import Message

CALL_PREFIX = "vscodelm_progress_"
"""The beginning of the ids of these calls: a result is known by its id alone."""


def is_progress_call(call_id: str) -> bool:
    """Return whether this is the id of a call of the progress tool that we made."""
    return call_id.startswith(CALL_PREFIX)


def without_progress(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages without the rounds, with what they cut in two put together again."""
    kept: list[ChatMessage] = []
    goes_on = False
    """Whether the newest message was cut by a round, so that an answer goes on with it."""
    for message in messages:
        content = tuple(part for part in message.content if not _is_progress(part))
        if goes_on and message.role == "assistant" and content and kept:
            kept[-1] = replace(kept[-1], content=_joined(kept[-1].content, content))
        elif content or not message.content:
            kept.append(replace(message, content=content))
            goes_on = False
        if len(content) < len(message.content):
            goes_on = bool(kept) and kept[-1].role == "assistant"
    return tuple(kept)


def has_begun(path: Sequence[Message]) -> bool:
    """Return whether a turn has said something already, and now goes on after a progress round."""
    for message in reversed(path):
        if message.role == "assistant":
            if not any(is_progress_call(call.call_id) for call in message.calls):
                return False
            if message.text.strip():
                return True
        elif not any(is_progress_call(result) for result in message.results):
            return False
    return False


def _is_progress(part: Part) -> bool:
    match part:
        case ToolCallPart(tool_call_id=call_id) | ToolResultPart(tool_call_id=call_id):
            return is_progress_call(call_id)
        case _:
            return False


def _joined(before: Sequence[Part], after: Sequence[Part]) -> tuple[Part, ...]:
    if isinstance(before[-1], TextPart) and isinstance(after[0], TextPart):
        return (*before[:-1], TextPart(before[-1].value + after[0].value), *after[1:])
    return (*before, *after)
