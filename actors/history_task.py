"""The task of the History Actor, for an editor on stdio and for the HTTP server."""

from __future__ import annotations

from typing import TypeAlias

import trio

from .conversation import Conversations
from .editor_face import EditorFace
from .history import AgentFactory, HistoryActor
from .inspection.statistics import AgentCounts
from .memory import NoMemory, SessionMemory
from .messages import ActorMessage, FromSession
from .outbox import Outbox
from .requests import Accounts, EditorRequests, NoAccounts

Inbox: TypeAlias = tuple[
    trio.MemorySendChannel[ActorMessage], trio.MemoryReceiveChannel[ActorMessage]
]
"""Both ends of the channel to the History Actor."""


def open_inbox() -> Inbox:
    """Return both ends of an inbox."""
    # size 0: a sender waits until the History Actor has taken its message
    return trio.open_memory_channel[ActorMessage](0)


def start_history(
    nursery: trio.Nursery,
    inbox: Inbox,
    editor: EditorFace,
    outbox: Outbox,
    agent_for: AgentFactory,
    *,
    counts: AgentCounts | None = None,
    memory: SessionMemory | None = None,
    accounts: Accounts | None = None,
) -> None:
    """Start the History Actor of an editor. The caller keeps the sending end of the inbox."""
    send, receive = inbox
    nursery.start_soon(
        run_history,
        receive,
        send.clone(),
        editor,
        outbox,
        agent_for,
        counts or AgentCounts(),
        memory or NoMemory(),
        accounts or NoAccounts(),
    )


async def run_history(
    inbox: trio.MemoryReceiveChannel[ActorMessage],
    from_sessions: trio.MemorySendChannel[FromSession],
    editor: EditorFace,
    outbox: Outbox,
    agent_for: AgentFactory,
    counts: AgentCounts,
    memory: SessionMemory,
    accounts: Accounts,
) -> None:
    """Decide until the editor has left and every session has ended; then close the outbox."""
    async with trio.open_nursery() as sessions:
        conversations = Conversations(sessions, from_sessions, outbox, memory)
        requests = EditorRequests(editor, sessions, conversations.sessions, accounts, counts)
        actor = HistoryActor(editor, agent_for, conversations, requests)
        async with inbox:
            async for message in inbox:
                actor.hear(message)
    outbox.close()
