"""Updates that an agent sends in a session, by `session/update`."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from bridge.wire import Cost, Wire

from .content import ContentBlock, ToolCall, ToolCallUpdate
from .options import SessionConfigOption
from .plans import PlanEntry
from .unstable import PlanRemoved, PlanUpdate, SubagentUpdate


class UserMessageChunk(Wire, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A piece of the user's words: a replay, or an echo."""

    content: ContentBlock
    message_id: str | None = None


class AgentMessageChunk(Wire, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A piece of the answer. Text of any kind of chunk passes through a `TextJoiner`."""

    content: ContentBlock
    message_id: str | None = None


class AgentThoughtChunk(Wire, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A piece of the agent's reasoning."""

    content: ContentBlock
    message_id: str | None = None


class Plan(Wire, tag_field="sessionUpdate", tag="plan"):
    """The whole plan, in place of the former one."""

    entries: tuple[PlanEntry, ...] = ()


class AvailableCommandInput(Wire):
    """The input that a command expects."""

    hint: str


class AvailableCommand(Wire):
    """A slash command of the agent's."""

    name: str
    description: str
    input: AvailableCommandInput | None = None


class AvailableCommandsUpdate(Wire, tag_field="sessionUpdate", tag="available_commands_update"):
    """All the commands, in place of the former ones."""

    available_commands: tuple[AvailableCommand, ...] = ()


class CurrentModeUpdate(Wire, tag_field="sessionUpdate", tag="current_mode_update"):
    """The session has changed its mode."""

    current_mode_id: str


class ConfigOptionUpdate(Wire, tag_field="sessionUpdate", tag="config_option_update"):
    """All the options, in place of the former ones."""

    config_options: tuple[SessionConfigOption, ...] = ()


class SessionInfoUpdate(Wire, tag_field="sessionUpdate", tag="session_info_update"):
    """The session's title, or the time of its last change."""

    title: str | None = None
    updated_at: str | None = None


class UsageUpdate(Wire, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens of the context: used ones, and how many there is room for."""

    used: int
    size: int
    cost: Cost | None = None


class Notice(Wire, tag_field="sessionUpdate", tag="notice"):
    """Something for the user that is no part of the history; severity info, warning, error."""

    severity: str
    title: str
    description: str | None = None


class CompactionUpdate(Wire, tag_field="sessionUpdate", tag="compaction_update"):
    """The agent shortens its memory; status in_progress, completed, failed or cancelled."""

    compaction_id: str
    status: str
    summary: tuple[ContentBlock, ...] | None = None
    error: str | None = None


class CompactionSummaryChunk(Wire, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """A piece of the summary that replaces compacted messages."""

    compaction_id: str
    content: ContentBlock


class UnknownUpdate(Wire, tag_field="sessionUpdate", tag="?"):
    """An update of a kind (`kind`) that this version doesn't know."""

    kind: str
    raw: dict[str, Any]


MessageChunk: TypeAlias = UserMessageChunk | AgentMessageChunk | AgentThoughtChunk
SessionUpdate: TypeAlias = (
    MessageChunk
    | ToolCall
    | ToolCallUpdate
    | Plan
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | PlanUpdate
    | PlanRemoved
    | SubagentUpdate
    | UnknownUpdate
)


def is_of_a_turn(update: SessionUpdate) -> bool:
    """Return whether an update is part of the conversation, and no fact about the session."""
    match update:
        case (
            UserMessageChunk()
            | AgentMessageChunk()
            | AgentThoughtChunk()
            | ToolCall()
            | ToolCallUpdate()
            | CompactionUpdate()
            | CompactionSummaryChunk()
        ):
            return True
        case (
            Plan()
            | AvailableCommandsUpdate()
            | CurrentModeUpdate()
            | ConfigOptionUpdate()
            | SessionInfoUpdate()
            | UsageUpdate()
            | Notice()
            | PlanUpdate()
            | PlanRemoved()
            | SubagentUpdate()
            | UnknownUpdate()
        ):
            return False
        case _:
            assert_never(update)


class SessionNotification(Wire):
    """One update of one session."""

    session_id: str
    update: SessionUpdate
