"""What a session is to do with a delivery. Pure: the session actor carries the plan out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

import attrs

from agents.events import (
    Answer,
    AskPermission,
    CallTool,
    Decision,
    PermissionAnswer,
    ToolAnswer,
)
from bridge.transcript import Transcript
from bridge.wire import (
    PERMISSION_TOOL,
    Capabilities,
    ChatMessage,
    ChatOptions,
    Settings,
    ToolResultPart,
    ToolSpec,
)

Question = CallTool | AskPermission

NO_RESULT = "No result was recorded for this call. Verify the current state before trying again."


@attrs.frozen
class Delivery:
    """One request, as a session gets it: the whole transcript, and from where it is new."""

    turn: int
    transcript: Transcript
    new_from: int
    withdrawn: bool
    options: ChatOptions
    settings: Settings
    tools: tuple[ToolSpec, ...]
    """The host's tools that the agent is offered."""
    can_ask: bool
    """Whether the host offers the tool through which permission is asked."""
    capabilities: Capabilities


@attrs.frozen
class Plan:
    """Answers to hand over first, then messages to prompt with.

    `rewind`: the session remembers what was withdrawn and must be replaced first. `abandon`: the
    user moved on, so the open turn is to be cancelled before the prompt.
    """

    rewind: bool = False
    abandon: bool = False
    answers: tuple[Answer, ...] = ()
    prompt: tuple[ChatMessage, ...] = ()


def plan(delivery: Delivery, known: int | None, open_questions: Sequence[Question] | None) -> Plan:
    """Return what to do, for a session that was given the first `known` steps of the path.

    `known` is None for a fresh session, which is given what comes before as its transcript.
    `open_questions` are what the agent's open turn waits for, None if no turn is open.
    """
    start = delivery.new_from
    if known is not None:
        path = delivery.transcript.path
        if known < len(path) and path[known].role == "assistant":
            known += 1  # the answer to what it was given came back
        if delivery.withdrawn and known > start and delivery.settings.rewind == "auto":
            return Plan(rewind=True)
        if not delivery.withdrawn:
            start = min(known, start)  # a turn that was aborted before the agent saw it
    messages = delivery.transcript.messages(start)
    if open_questions is None:
        return Plan(prompt=messages)
    results = {
        part.tool_call_id: part
        for message in messages
        for part in message.content
        if isinstance(part, ToolResultPart)
    }
    prompt = _without_results(messages, {question.call_id for question in open_questions})
    answers = tuple(_answer(question, results) for question in open_questions)
    denied = any(
        isinstance(answer, PermissionAnswer) and answer.decision is not Decision.ALLOWED
        for answer in answers
    )
    if delivery.withdrawn or (denied and prompt):
        return Plan(abandon=True, prompt=prompt)
    return Plan(answers=answers, prompt=prompt)


def _answer(question: Question, results: dict[str, ToolResultPart]) -> Answer:
    part = results.get(question.call_id)
    match question:
        case AskPermission():
            allowed = part is not None and is_approval(part)
            return PermissionAnswer(
                question.call_id, Decision.ALLOWED if allowed else Decision.DENIED
            )
        case CallTool():
            if part is None:
                return ToolAnswer(question.call_id, NO_RESULT, is_error=True)
            return ToolAnswer(question.call_id, part.result, part.is_error)


_APPROVALS = frozenset({"approved", "allow_once", "allow_always"})


def is_approval(part: ToolResultPart) -> bool:
    """Return whether a result of the permission tool approves.

    Only the word does: hosts answer a skipped or stopped call with an ordinary result, too.
    """
    return not part.is_error and result_text(part.result).strip().lower() in _APPROVALS


def result_text(result: Any) -> str:
    """Return the text of a tool result: a string, or the text parts of VS Code's list of parts."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        value = cast("dict[str, Any]", result).get("value")
        return value if isinstance(value, str) else ""
    if isinstance(result, list):
        return "".join(result_text(part) for part in cast("list[Any]", result))
    return ""


def _without_results(
    messages: Sequence[ChatMessage], answered: Collection[str]
) -> tuple[ChatMessage, ...]:
    kept: list[ChatMessage] = []
    for message in messages:
        content = tuple(
            part
            for part in message.content
            if not (isinstance(part, ToolResultPart) and part.tool_call_id in answered)
        )
        if content:
            kept.append(ChatMessage(message.role, content, message.name))
    return tuple(kept)


def offered_tools(options: ChatOptions, settings: Settings) -> tuple[ToolSpec, ...]:
    """Return the host's tools that `settings.tools` lets through; the permission tool is ours."""
    chosen = settings.tools
    return tuple(
        tool
        for tool in options.tools
        if tool.name != PERMISSION_TOOL
        and any(fnmatchcase(tool.name, glob) for glob in chosen.include)
        and not any(fnmatchcase(tool.name, glob) for glob in chosen.exclude)
    )


_HARMLESS = frozenset({"read", "search", "think"})


def decide(ask: AskPermission, settings: Settings, *, can_ask: bool) -> Decision | None:
    """Return the decision that `settings.permissions` makes; None: the user decides."""
    match settings.permissions:
        case "ask":
            return None if can_ask else Decision.DENIED
        case "read_only":
            return Decision.ALLOWED if ask.kind in _HARMLESS else Decision.DENIED
        case "allow":
            return Decision.ALLOWED
        case "deny":
            return Decision.DENIED
