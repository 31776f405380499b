"""Classify a request, and read the host's hints about its conversation.

The built-in agent of VS Code puts private keys into `modelOptions`; other callers and older hosts
don't. The texts that tell a class are the host's own prompts and change with its versions, so they
are asked last (docs/explanation/routing.md).
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from bridge.history.message import Message
from bridge.value import Value
from bridge.wire import ChatOptions

from .agent_host import (
    INITIATOR,
    asks_for_summary,
    is_sub_agents,
    offers_progress,
    session_of,
)


class RequestClass(enum.Enum):
    """The purpose of a request."""

    MAIN = "main"
    """A turn of a chat; also what other extensions ask directly."""
    UTILITY = "utility"
    """A title, a commit message, a name: one answer, beside the chat."""
    COMPACTION = "compaction"
    """A summary of a chat that goes on without it."""
    INLINE = "inline"
    """An edit at the cursor: one answer, no history."""
    SUB_AGENT = "sub-agent"
    """A chat that a tool call of another chat leads."""

    @property
    def is_one_shot(self) -> bool:
        """Return whether no later request will build on this one."""
        return self in (RequestClass.UTILITY, RequestClass.COMPACTION, RequestClass.INLINE)


class Hints(Value):
    """The host's hints about the conversation of a request. They rank candidates and prove nothing.

    `conversation` survives a reload, but is shared by forks, sub-agents and summaries. `chat` names
    the chat that the user sees: a fork has another name, and sub-agents have their chat's. Only
    some prompts have it. `run` is one value for all requests of an agent's run, unique in one
    extension host. `session` is the Agent Host's name for a chat: it survives edits, summaries and
    restarts; a fork has another, sub-agents may have their parent's.
    """

    conversation: str | None = None
    run: str | None = None
    turn: int | None = None
    chat: str | None = None
    session: str | None = None

    @classmethod
    def of(
        cls,
        model_options: dict[str, Any],
        lineage: Sequence[Message] = (),
        initiator: str | None = None,
    ) -> Hints:
        """Return the hints in the private model options, and in the system messages.

        Unexpected values are ignored.
        """
        conversation = model_options.get("_conversationId")
        turn = model_options.get("_telemetryTurn")
        trace = model_options.get("_otelTraceContext")
        run = cast("dict[str, Any]", trace).get("traceId") if isinstance(trace, dict) else None
        return cls(
            conversation if isinstance(conversation, str) and conversation else None,
            run if isinstance(run, str) and run else None,
            turn if isinstance(turn, int) else None,
            next(filter(None, map(_session_log, lineage)), None),
            session_of(lineage) if initiator == INITIATOR else None,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The host's names for the chat that its conversations are found by."""
        return tuple(name for name in (self.session, self.conversation) if name is not None)

    def after(self, former: Hints) -> Hints:
        """Return these hints of the newest request, with what only an earlier one said.

        A chat that changed from one harness to the other has the names of the newer one only.
        """
        if self.session is not None:
            return self
        if self.conversation is not None and former.session is not None:
            return self
        return replace(
            self,
            conversation=self.conversation or former.conversation,
            chat=self.chat or former.chat,
            session=former.session,
        )


_SESSION_LOG = "VSCODE_TARGET_SESSION_LOG: "


def _session_log(message: Message) -> str | None:
    """Return the path of the chat's log, which the agent's prompt tells its tools."""
    _, found, rest = message.text.partition(_SESSION_LOG)
    return rest.partition("\n")[0] if found else None


_BUILT_IN = ("_otelTraceContext", "_capturingTokenCorrelationId")
"""Keys that only the built-in agent's requests have."""


class Harness(enum.Enum):
    """The part of VS Code that runs its agent, and so sends the requests of its chats."""

    LOCAL = "local"
    AGENT_HOST = "agentHost"
    OTHER = "other"
    """Another extension, another editor, or an old VS Code."""


class RequestSource(Value):
    """The source of a request: its harness, and whether that offers the progress tool."""

    harness: Harness = Harness.OTHER
    has_progress_tool: bool = False

    @classmethod
    def of(cls, options: ChatOptions) -> RequestSource:
        """Return where a request with these options comes from."""
        harness = Harness.LOCAL if _is_built_in(options.model_options) else Harness.OTHER
        if options.request_initiator == INITIATOR:
            harness = Harness.AGENT_HOST
        return cls(harness, offers_progress(options))


def _is_built_in(model_options: dict[str, Any]) -> bool:
    return any(key in model_options for key in _BUILT_IN)


_SUMMARY_SYSTEM = ("Your task is to create a comprehensive, detailed summary",)
_SUMMARY_PROMPTS = (
    "Summarize the conversation history so far",
    "The conversation has grown too large for the context window and must be compacted",
)
_UTILITY_SYSTEM = (
    "You are an expert in crafting ultra-compact titles",
    "You are an expert in crafting pithy titles",
    "You are an expert in writing short, catchy, and encouraging progress messages",
    "You are an AI programming assistant, helping a software developer to come with the best git",
    "You are an expert in crafting pithy branch names",
)
_MOST_INLINE_TOOLS = 3
"""An edit at the cursor is offered tools to edit with, and no others."""
_UTILITY_TOOLS = frozenset({"categorize_prompt", "manage_todo_list"})


def classify(
    path: Sequence[Message],
    lineage: Sequence[Message],
    tools: Sequence[str],
    model_options: dict[str, Any],
    initiator: str | None = None,
) -> RequestClass:
    """Return the class of a request, by what the host says first and by its texts last.

    Only the Agent Host's sub-agents can be told from here: others are known by the conversation
    that waits for them.
    """
    if initiator == INITIATOR:
        if asks_for_summary(path):
            return RequestClass.COMPACTION
        if is_sub_agents(lineage):
            return RequestClass.SUB_AGENT
    built_in = _is_built_in(model_options)
    hints = Hints.of(model_options)
    system = lineage[0].text.lstrip() if lineage else ""
    newest = path[-1].text.lstrip() if path else ""
    if system.startswith(_SUMMARY_SYSTEM):
        return RequestClass.COMPACTION
    if newest.startswith(_SUMMARY_PROMPTS) and (built_in or tools):
        return RequestClass.COMPACTION
    if built_in and hints.conversation is not None:
        return RequestClass.MAIN if hints.turn is not None else RequestClass.COMPACTION
    if not tools and (built_in or system.startswith(_UTILITY_SYSTEM)):
        return RequestClass.UTILITY
    if len(tools) == 1 and tools[0] in _UTILITY_TOOLS:
        return RequestClass.UTILITY
    fresh = all(message.role != "assistant" for message in path)
    if built_in and fresh and len(tools) <= _MOST_INLINE_TOOLS:
        return RequestClass.INLINE
    return RequestClass.MAIN
