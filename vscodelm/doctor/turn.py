"""One turn with an agent of any kind, timed. Every permission is denied."""

from __future__ import annotations

import trio

from agents.base import AgentError, AgentSession
from agents.events import (
    AskPermission,
    Break,
    CallTool,
    Decision,
    Elicit,
    ElicitAnswer,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    StopReason,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.wire import ChatMessage, Settings, TextPart

from .findings import Finding, duration

CLOSING_SECONDS = 3.0
"""Seconds that an agent may take to end a cancelled turn."""
SHOWN_CHARACTERS = 400


def prompt_of(text: str) -> Prompt:
    """Return a prompt in which nothing is permitted."""
    message = ChatMessage("user", (TextPart(text),))
    return Prompt((message,), settings=Settings(permissions="deny"))


async def one_turn(session: AgentSession, text: str, seconds: float) -> Finding:
    """Run a turn and return what came of it."""
    began = trio.current_time()
    first: float | None = None
    said: list[str] = []
    last: Event | None = None
    try:
        with trio.move_on_after(seconds):
            async with session.run(prompt_of(text)) as turn:
                async for batch in turn:
                    for event in batch:
                        if isinstance(event, Say | Think) and first is None:
                            first = trio.current_time() - began
                        if isinstance(event, Say):
                            said.append(event.text)
                        _deny(session, event)
                        last = event
    except AgentError as error:
        return _failed(error.failure)
    whole = trio.current_time() - began
    match last:
        case Break(failure=failure):
            return _failed(failure)
        case Stop(reason=reason):
            facts = [("it said", _shown("".join(said)))]
            if first is not None:
                facts.insert(0, ("first text", f"after {duration(first)}"))
            ends_well = reason is StopReason.END_TURN
            summary = "the turn ended" if ends_well else f"the turn ended with {reason.value}"
            data = {"firstTextSeconds": first, "stopReason": reason.value}
            state = "ok" if ends_well else "note"
            return Finding("prompt", state, summary, whole, tuple(facts), data=data)
        case _:
            return Finding(
                "prompt",
                "failed",
                f"the turn didn't end within {seconds:g} seconds",
                facts=(("it said", _shown("".join(said))),),
                advice="Set a longer --timeout, or send a simpler message.",
            )


def _deny(session: AgentSession, event: Event) -> None:
    match event:
        case AskPermission(call_id=call_id):
            session.answer(PermissionAnswer(call_id, Decision.DENIED))
        case CallTool(call_id=call_id):
            session.answer(ToolAnswer(call_id, "Tools can't be used here.", is_error=True))
        case Elicit(call_id=call_id):
            session.answer(ElicitAnswer(call_id, "decline"))
        case _:
            pass


def _failed(failure: Failure) -> Finding:
    stderr = failure.stderr_tail or ""
    return Finding("prompt", "failed", failure.message, stderr=stderr, fixes=failure.fixes)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        return "nothing"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
