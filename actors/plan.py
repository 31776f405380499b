"""Plan the use of a delivery. Pure: the session actor carries the plan out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import assert_never

from msgspec.structs import replace

from agents.duplicates import DUPLICATES, EDIT_TOOLS, UNASKED_EDIT_TOOLS
from agents.events import (
    TURN_CANCELLED,
    Answer,
    AskPermission,
    CallTool,
    Decision,
    Elicit,
    ElicitAnswer,
    PermissionAnswer,
    Prompt,
    ToolAnswer,
)
from bridge.history.message import Message
from bridge.history.progress_rounds import is_progress_call, without_progress
from bridge.history.transcript import Transcript
from bridge.models import configuration_of
from bridge.routing.own_words import without_own_words
from bridge.routing.relate import told_before
from bridge.routing.request import RequestClass
from bridge.value import Value
from bridge.wire import (
    PERMISSION_TOOLS,
    PROGRESS_TOOL,
    Capabilities,
    ChatMessage,
    ChatOptions,
    Settings,
    TextPart,
    ToolResultPart,
    ToolSpec,
)
from bridge.work import Work

from .answers import is_interrupted
from .beginning import Head
from .denials import IN_CHAT, TO_PROGRAM, ClientWords, denied_by_answer
from .permissions import chosen_option, is_approval

AgentQuestion = CallTool | AskPermission

MOST_OPENING = 8
"""Messages of a chat that an agent is shown when its session is opened."""
OWN_TOOLS = frozenset({*PERMISSION_TOOLS, PROGRESS_TOOL})
"""Tools of the host's that only we call."""
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
    asks_by: str | None
    """The host's name of the tool through which permission is asked; None: it isn't offered."""
    capabilities: Capabilities
    model: str = ""
    marker: bytes | None = None
    """Our own mark in the host's history, to end the response with."""
    origin: Head | None = None
    """A session that knows exactly the messages before the new ones."""
    shows_progress: bool = False
    """Whether long responses end with a call of the progress tool (`actors.progress.pace`)."""
    is_chat: bool = False
    """Whether it is a turn of a chat that the host has a name for."""
    may_command: bool = False
    """Whether it may hold a command of the user's: not beside a chat, nor from a program."""
    notice: str = ""
    """A line that the user reads before the answer, once in a session."""
    answers: tuple[Message, ...] = ()
    """The answers on record, in order. They identify our own words in the transcript."""
    is_program: bool = False
    """Whether the client is a program: calls of the agent's own tools are parts of their own."""
    room: Callable[[], Awaitable[None]] | None = None
    """Waits for room for the parts of this response; None: for that of the whole connection."""

    @property
    def words(self) -> ClientWords:
        """The words for this kind of client."""
        return TO_PROGRAM if self.is_program else IN_CHAT

    @property
    def past(self) -> int:
        """The number of steps before the messages that a new session must answer."""
        return told_before(self.transcript.path, self.new_from)

    def before(self, known: int = 0) -> Work[tuple[ChatMessage, ...]]:
        """Return the earlier messages for a session that begins with this, without our own words.

        The first `known` steps of the path are left out. The work has a step for each message.
        """
        told = yield from self.transcript.telling(known, self.past)
        return without_progress((yield from without_own_words(told, self.answers)))

    def opening(self) -> Prompt:
        """Return the prompt to open a session with.

        It has the whole chat, while that is short, if there may be a command in it.
        """
        may_command = self.may_command and len(self.transcript.path) <= MOST_OPENING
        return self.prompt(self.transcript.messages(0) if may_command else ())

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
            configuration=configuration_of(self.options.model_configuration),
            system=self.transcript.system(),
            is_chat=self.is_chat,
            is_paced=self.shows_progress,
        )


class DeliveryPlan(Value):
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
    open_questions: Sequence[AgentQuestion] | None = None,
) -> DeliveryPlan:
    """Return what to do with a delivery.

    A `fresh` session gets the earlier messages as its transcript. `skipped` are messages of earlier
    deliveries, which were aborted before the agent saw them. `open_questions` are what the agent's
    open turn waits for, None if no turn is open.
    """
    if fresh:
        return DeliveryPlan(prompt=_worded(delivery.transcript.messages(delivery.past)))
    new = delivery.transcript.messages(delivery.new_from)
    if delivery.withdrawn and delivery.settings.rewind == "auto":
        return DeliveryPlan(rewind=True)
    messages = (*skipped, *new)
    if open_questions is None:
        return DeliveryPlan(prompt=_worded(messages))
    results = {
        part.tool_call_id: part
        for message in messages
        for part in message.content
        if isinstance(part, ToolResultPart)
    }
    others = _without_results(messages, {question.call_id for question in open_questions})
    prompt = without_progress(others)
    words = delivery.words
    answers = tuple(_answer(question, results, words) for question in open_questions)
    denied = any(
        isinstance(answer, PermissionAnswer) and answer.decision is not Decision.ALLOWED
        for answer in answers
    )
    forgotten = not _mentions(delivery.transcript, {q.call_id for q in open_questions})
    stopped = any(
        question.call_id in results and is_interrupted(results[question.call_id].result)
        for question in open_questions
    )
    if delivery.withdrawn or forgotten or ((denied or stopped) and prompt):
        called = {question.call_id for question in open_questions if isinstance(question, CallTool)}
        dropped = tuple(call_id for call_id in results if call_id in called)
        return DeliveryPlan(abandon=True, prompt=prompt, dropped=dropped)
    return DeliveryPlan(answers=answers, prompt=prompt)


GO_ON = ChatMessage(
    "user", (TextPart("The editor stopped you by mistake, not the user. Go on where you stopped."),)
)
"""The prompt for a turn that was lost, though its user waits for the rest."""


def _worded(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return messages to prompt with: rounds of the progress tool alone ask to go on."""
    said = without_progress(messages)
    return said or ((GO_ON,) if messages else ())


def waits_for_user(questions: Iterable[AgentQuestion]) -> bool:
    """Return whether somebody may still answer a question; a progress call is answered at once."""
    return any(not is_progress_call(question.call_id) for question in questions)


def _mentions(transcript: Transcript, call_ids: Collection[str]) -> bool:
    """Return whether the history still has one of the calls, or a result of one."""
    return any(
        any(call.call_id in call_ids for call in message.calls)
        or any(result in call_ids for result in message.results)
        for message in reversed(transcript.path)
    )


def _answer(
    question: AgentQuestion, results: dict[str, ToolResultPart], words: ClientWords
) -> Answer:
    part = results.get(question.call_id)
    match question:
        case AskPermission():
            if part is not None and is_approval(part):
                option = chosen_option(part)
                return PermissionAnswer(question.call_id, Decision.ALLOWED, option=option)
            why = denied_by_answer(part, words)
            return PermissionAnswer(question.call_id, Decision.DENIED, why)
        case CallTool():
            if part is None:
                return ToolAnswer(question.call_id, NO_RESULT, is_error=True)
            return ToolAnswer(question.call_id, part.result, part.is_error)
        case _:
            assert_never(question)


def abandoned(question: AgentQuestion | Elicit) -> Answer:
    """Return the answer to a question of a turn that was cancelled."""
    match question:
        case AskPermission(call_id=call_id):
            return PermissionAnswer(call_id, Decision.ABANDONED)
        case CallTool(call_id=call_id):
            return ToolAnswer(call_id, TURN_CANCELLED, is_error=True)
        case Elicit(call_id=call_id):
            return ElicitAnswer(call_id, "cancel")
        case _:
            assert_never(question)


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


def offered_tools(
    options: ChatOptions, settings: Settings, *, to_agent: bool
) -> tuple[ToolSpec, ...]:
    """Return the host's tools that `settings.tools` lets through; some are ours.

    `to_agent`: they are for an agent that has tools of its own, not for a bare model. If the
    settings forbid it to change files, it gets no tool that does so unasked.
    """
    chosen = settings.tools
    left_out = OWN_TOOLS
    if to_agent and chosen.duplicates == "leave_out":
        needed = frozenset[str]() if settings.edits == "agent" else EDIT_TOOLS
        left_out |= DUPLICATES - needed - {*chosen.include}
    if to_agent and settings.permissions in ("read_only", "deny"):
        left_out |= UNASKED_EDIT_TOOLS
    return tuple(
        tool for tool in options.tools if tool.name not in left_out and chosen.allows(tool.name)
    )


def settings_for(settings: Settings, request_class: RequestClass) -> Settings:
    """Return the settings with the context that a request needs.

    A host's request beside a chat has only its own words, and nothing that a user typed. So an
    agent that gets only the user's words would get an empty prompt.
    """
    if settings.context is None and request_class.is_one_shot:
        return replace(settings, context="full")
    return settings
