"""What kind of request this is, and what the host says about whose it is.

The built-in agent of VS Code puts private keys into `modelOptions`; other callers and older hosts
don't. The texts that tell a class are the host's own prompts and change with its versions, so they
are asked last (docs/explanation/routing.md).
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from .message import Message
from .value import Value


class RequestClass(enum.Enum):
    """What a host wants with a request."""

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
    """What the host says about whose request this is. It ranks candidates and proves nothing.

    `conversation` survives a reload, but is shared by forks, sub-agents and summaries. `chat` is
    what the user sees as one: a fork is another, its sub-agents are of it; only some prompts name
    it. `run` is one value for all requests of an agent's run, unique in one extension host.
    """

    conversation: str | None = None
    run: str | None = None
    turn: int | None = None
    chat: str | None = None

    @classmethod
    def of(cls, model_options: dict[str, Any], lineage: Sequence[Message] = ()) -> Hints:
        """Return the hints in the private model options, and in the system messages.

        What isn't as expected is ignored.
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
        )

    def after(self, former: Hints) -> Hints:
        """Return these hints of the newest request, with what only an earlier one said."""
        return replace(
            self,
            conversation=self.conversation or former.conversation,
            chat=self.chat or former.chat,
        )


_SESSION_LOG = "VSCODE_TARGET_SESSION_LOG: "


def _session_log(message: Message) -> str | None:
    """Return the path of the chat's log, which the agent's prompt tells its tools."""
    _, found, rest = message.text.partition(_SESSION_LOG)
    return rest.partition("\n")[0] if found else None


_BUILT_IN = ("_otelTraceContext", "_capturingTokenCorrelationId")
"""Keys that only the built-in agent's requests have."""

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
) -> RequestClass:
    """Return the class of a request, by what the host says first and by its texts last.

    Sub-agents can't be told from here: they are known by the conversation that waits for them.
    """
    built_in = any(key in model_options for key in _BUILT_IN)
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
