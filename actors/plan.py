"""What a session is to do with a delivery. Pure: the session actor carries the plan out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import assert_never

from msgspec.structs import replace

from agents.events import (
    Answer,
    AskPermission,
    CallTool,
    Decision,
    PermissionAnswer,
    Prompt,
    ToolAnswer,
)
from bridge.diff import told_before
from bridge.message import Message
from bridge.own_words import without_own_words
from bridge.request import RequestClass
from bridge.transcript import Transcript
from bridge.value import Value
from bridge.wire import (
    PERMISSION_TOOL,
    Allowed,
    Capabilities,
    ChatMessage,
    ChatOptions,
    Settings,
    ToolResultPart,
    ToolSpec,
)
from bridge.work import Work

from .answers import result_text
from .denials import denied_by_answer
from .head import Head

Question = CallTool | AskPermission

NO_RESULT = "No result was recorded for this call. Verify the current state before trying again."


class Delivery(Value):
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
    model: str = ""
    marker: bytes | None = None
    """Our own mark in the host's history, to end the response with."""
    origin: Head | None = None
    """A session that knows all that stands before what is new, and nothing else."""
    answers: tuple[Message, ...] = ()
    """Those of the record, in order: they tell what of the transcript we said ourselves."""

    @property
    def past(self) -> int:
        """How many steps there are before what a session must answer that begins with this."""
        return told_before(self.transcript.path, self.new_from)

    def before(self, known: int = 0) -> Work[tuple[ChatMessage, ...]]:
        """Return what a session is told that begins with this, without what we said ourselves.

        The first `known` steps of the path are left out. The work has a step for each message.
        """
        told = yield from self.transcript.telling(known, self.past)
        return (yield from without_own_words(told, self.answers))

    def prompt(
        self, messages: tuple[ChatMessage, ...] = (), transcript: tuple[ChatMessage, ...] = ()
    ) -> Prompt:
        """Return a prompt with these messages, as this request's settings want it."""
        return Prompt(
            messages=messages,
            transcript=transcript,
            tools=self.tools,
            tool_required=self.options.tool_mode in ("required", 2),
            model_options=self.options.model_options,
            settings=self.settings,
            system=self.transcript.system(),
        )


class Plan(Value):
    """Answers to hand over first, then messages to prompt with.

    `rewind`: the session remembers what was withdrawn and must be replaced first. `abandon`: the
    user moved on, so the open turn is to be cancelled before the prompt; then nobody gets the
    results in `dropped`, which holds the ids of their calls.
    """

    rewind: bool = False
    abandon: bool = False
    answers: tuple[Answer, ...] = ()
    prompt: tuple[ChatMessage, ...] = ()
    dropped: tuple[str, ...] = ()


def plan(
    delivery: Delivery,
    *,
    fresh: bool,
    skipped: tuple[ChatMessage, ...] = (),
    open_questions: Sequence[Question] | None = None,
) -> Plan:
    """Return what to do with a delivery.

    A `fresh` session is given what comes before as its transcript. `skipped` are messages of
    earlier deliveries, which were aborted before the agent saw them. `open_questions` are what the
    agent's open turn waits for, None if no turn is open.
    """
    if fresh:
        return Plan(prompt=delivery.transcript.messages(delivery.past))
    new = delivery.transcript.messages(delivery.new_from)
    if delivery.withdrawn and delivery.settings.rewind == "auto":
        return Plan(rewind=True)
    messages = (*skipped, *new)
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
    forgotten = not _mentions(delivery.transcript, {q.call_id for q in open_questions})
    if delivery.withdrawn or forgotten or (denied and prompt):
        called = {question.call_id for question in open_questions if isinstance(question, CallTool)}
        dropped = tuple(call_id for call_id in results if call_id in called)
        return Plan(abandon=True, prompt=prompt, dropped=dropped)
    return Plan(answers=answers, prompt=prompt)


def _mentions(transcript: Transcript, call_ids: Collection[str]) -> bool:
    """Return whether the history still has one of the calls, or a result of one."""
    return any(
        any(call.call_id in call_ids for call in message.calls)
        or any(result in call_ids for result in message.results)
        for message in reversed(transcript.path)
    )


def _answer(question: Question, results: dict[str, ToolResultPart]) -> Answer:
    part = results.get(question.call_id)
    match question:
        case AskPermission():
            if part is not None and is_approval(part):
                option = chosen_option(part)
                return PermissionAnswer(question.call_id, Decision.ALLOWED, option=option)
            return PermissionAnswer(question.call_id, Decision.DENIED, denied_by_answer(part))
        case CallTool():
            if part is None:
                return ToolAnswer(question.call_id, NO_RESULT, is_error=True)
            return ToolAnswer(question.call_id, part.result, part.is_error)
        case _:
            assert_never(question)


def abandoned(question: Question) -> Answer:
    """Return the answer to a question of a turn that was cancelled."""
    match question:
        case AskPermission(call_id=call_id):
            return PermissionAnswer(call_id, Decision.ABANDONED)
        case CallTool(call_id=call_id):
            return ToolAnswer(call_id, "The turn was cancelled.", is_error=True)
        case _:
            assert_never(question)


APPROVED_WITH = "Approved with option: "
"""Stands before the id of a lasting approval that the agent offers and the user chose."""
_APPROVALS = frozenset({"approved", "allow_once", "allow_always"})


def is_approval(part: ToolResultPart) -> bool:
    """Return whether a result of the permission tool approves.

    Only the word does: hosts answer a skipped or stopped call with an ordinary result, too.
    """
    text = result_text(part.result).strip()
    is_word = text.lower() in _APPROVALS or text.startswith(APPROVED_WITH)
    return not part.is_error and is_word


def chosen_option(part: ToolResultPart) -> str | None:
    """Return the id of the agent's own answer that an approval names."""
    text = result_text(part.result).strip()
    return text.removeprefix(APPROVED_WITH) if text.startswith(APPROVED_WITH) else None


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


def settings_for(settings: Settings, request_class: RequestClass) -> Settings:
    """Return the settings with the context that a request needs.

    What a host asks beside a chat is all in its own words, with nothing that a user typed: an agent
    that heard only what the user asked would hear nothing of it.
    """
    if settings.context is None and request_class.is_one_shot:
        return replace(settings, context="full")
    return settings


_HARMLESS = frozenset({"read", "search", "think"})
_ALWAYS_ASKED = frozenset({"switch_mode"})
"""What changes how the agent works from then on, such as from planning to doing."""


_NAMED_KINDS = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch"})
"""Kinds of action that a rule may allow: neither the unknown ones nor a change of mode."""


def is_allowed(ask: AskPermission, rules: Sequence[Allowed]) -> bool:
    """Return whether the user allows this without a question.

    What an agent offers only for good is none of this: its note must be read each time.
    """
    if ask.kind not in _NAMED_KINDS or ask.details.get("note"):
        return False
    action = ask.details.get("action")
    return any(
        rule.kind == ask.kind and (rule.action is None or rule.action == action) for rule in rules
    )


def decide(ask: AskPermission, settings: Settings, *, can_ask: bool) -> Decision | None:
    """Return the decision that `settings.permissions` makes; None: the user decides."""
    users = None if can_ask else Decision.DENIED
    match settings.permissions:
        case "ask":
            return users
        case "read_only":
            return Decision.ALLOWED if ask.kind in _HARMLESS else Decision.DENIED
        case "allow":
            return users if ask.kind in _ALWAYS_ASKED else Decision.ALLOWED
        case "deny":
            return Decision.DENIED
        case _:
            assert_never(settings.permissions)
