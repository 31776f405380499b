"""Find the chat of an editor's tool call if an agent mixes up the tools of its chats. Pure.

Each session has an MCP server of its own. Some agents keep servers per folder or per process. Then
the model of one chat is offered the tools of all, and a call may reach the server of another chat.
The protocol doesn't name the session of a call. Two facts decide:

- The agent announces its calls: it names the server in the session that the call is of.
- A session without a turn makes no calls, except late ones after a cancel.

A call that comes while both chats have a turn is unsure until it is announced.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import attrs
from msgspec.structs import replace

from agents.acp.schema.content import ToolCall, ToolCallUpdate
from agents.mcp.names import SERVER_PREFIX
from agents.mcp.offer import Offer
from bridge.value import Value

from .identity import spellings
from .state import CallRecord

MOST_ANNOUNCED = 100
"""Calls of the editor's tools that are under way in a session; the oldest is forgotten."""
_ELSEWHERE = "This tool belongs to another chat, so nothing was done. "


class ServedCall(Value):
    """A call that has come to a server: the editor's name of the tool, and the input."""

    name: str
    arguments: dict[str, Any]


@attrs.define
class Announced:
    """The calls of the editor's tools that an agent says are under way in a session."""

    _calls: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)

    def learn(self, news: ToolCall | ToolCallUpdate) -> bool:
        """Take news of a call in; return whether it names a tool of any session's server."""
        call_id = news.tool_call_id
        record = self._calls.get(call_id)
        is_known = record is not None
        record = record or CallRecord(call_id)
        # A title may tell the outcome later, and the rest may be large.
        title = None if is_known else news.title
        record.learn(replace(news, title=title, content=None, locations=None, raw_output=None))
        if record.is_over:
            self._calls.pop(call_id, None)
            return False
        if not is_known and not any(SERVER_PREFIX in words for words in _words(record)):
            return False
        self._calls[call_id] = record
        if len(self._calls) > MOST_ANNOUNCED:
            del self._calls[next(iter(self._calls))]
        return True

    def take(self, offer: Offer, call: ServedCall) -> bool:
        """Return whether this call of that server's tool was announced; each is taken once."""
        for record in self._calls.values():
            if not record.is_closed and _is_of(record, offer, call):
                record.is_closed = True
                return True
        return False

    def clear(self) -> None:
        """Forget all: another turn begins."""
        self._calls.clear()


class SharingSession(Protocol):
    """A session of the agent's process."""

    @property
    def tools(self) -> Offer | None:
        """The tools that it got."""
        ...

    @property
    def has_turn(self) -> bool:
        """Whether a turn of it runs."""
        ...

    @property
    def was_just_cancelled(self) -> bool:
        """Whether its newest turn was cancelled a moment ago: agents call late then."""
        ...

    @property
    def announced(self) -> Announced:
        """The tool that the agent's announcement names."""
        ...


class Sure(enum.Enum):
    """The result for a call that belongs to this chat."""

    OWN = enum.auto()
    """It is of the chat whose server it came to."""
    UNKNOWN = enum.auto()
    """Another chat may have made it as well."""


class Stray(Value):
    """A call that its chat didn't make. `server` is that of the chat which did, if that is known.

    It is evidence that sessions share tools, unless it may be late.
    """

    server: str
    is_evidence: bool

    @property
    def words(self) -> str:
        """The message for the model."""
        if not self.server:
            return _ELSEWHERE + "Use a tool of your own chat's MCP server, or try again."
        return f"{_ELSEWHERE}Use the same tool of the MCP server {self.server} instead."


Verdict: TypeAlias = Sure | Stray


def judge(
    call: ServedCall, offer: Offer, own: SharingSession | None, others: Sequence[SharingSession]
) -> Verdict:
    """Return the chat of a call that reached the server of `own`, which offers `offer`.

    `own` is None before its session is open.
    """
    for chat in others:
        if chat.announced.take(offer, call):
            return _stray(chat, is_evidence=True)
    if own is not None and own.announced.take(offer, call):
        return Sure.OWN
    asking = [chat for chat in others if chat.has_turn or chat.was_just_cancelled]
    if not asking:
        return Sure.OWN
    if own is not None and own.has_turn:
        return Sure.UNKNOWN
    may_be_late = own is not None and own.was_just_cancelled
    is_evidence = not may_be_late and any(chat.has_turn for chat in asking)
    return _stray(asking[0] if len(asking) == 1 else None, is_evidence=is_evidence)


def _stray(chat: SharingSession | None, *, is_evidence: bool) -> Stray:
    offer = None if chat is None else chat.tools
    return Stray("" if offer is None else offer.server, is_evidence)


def _words(record: CallRecord) -> tuple[str, ...]:
    return record.name, record.meta_name, record.title, record.wrapper[0]


def _is_of(record: CallRecord, offer: Offer, call: ServedCall) -> bool:
    """Return whether an announcement is of this call; its input may still be missing."""
    aliases = [alias for alias, tool in offer.catalogue.tools.items() if tool.name == call.name]
    named = any(
        not spellings(offer.server, alias).isdisjoint(_words(record)[:3])
        or record.wrapper == (offer.server, alias)
        for alias in aliases
    )
    return named and (not record.arguments or record.arguments == call.arguments)
