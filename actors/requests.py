"""Answers the editor's requests beside the chats: logins, lists of sessions, counters, decisions.

If something must be waited for, the request gets a task.
"""

from __future__ import annotations

import secrets
from typing import Protocol

import attrs
import trio
from msgspec.structs import replace

from agents.base import no_account, no_sessions
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.errors import Failure
from bridge.models import AgentChoice
from bridge.wire import AgentSessionsResult, Empty, InspectResult, ListedSession, RequestId

from .editor_face import EditorFace, Result
from .inspection.inspector import Inspector
from .inspection.statistics import AgentCounts, statistics, tell_measured
from .messages import AccountAsked, EditorAsked, InspectAsked, SessionsAsked, StatsAsked
from .session import OpenSessions


class Accounts(Protocol):
    """Logs in to agents and out of them, and lists their sessions; all raise `AgentError`."""

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        """Have an agent log in by a method of its own."""
        ...

    async def log_out(self, choice: AgentChoice) -> None:
        """Log out of an agent."""
        ...

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        """Return the sessions that an agent keeps."""
        ...


class NoAccounts:
    """No agent has a login, and none has sessions."""

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        """Refuse."""
        raise no_account("This agent")

    async def log_out(self, choice: AgentChoice) -> None:
        """Refuse."""
        raise no_account("This agent")

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        """Refuse."""
        raise no_sessions("This agent")


@attrs.define(eq=False, repr=False)
class EditorRequests:
    """The requests of one editor. `sessions` counts the open ones, `counts` what agents hold."""

    editor: EditorFace
    nursery: trio.Nursery
    sessions: OpenSessions
    accounts: Accounts = attrs.field(factory=NoAccounts)
    counts: AgentCounts = attrs.field(factory=AgentCounts)
    _open: dict[RequestId, trio.CancelScope] = attrs.field(
        factory=dict["RequestId", trio.CancelScope], init=False
    )
    """Those that have a task. They end with it, whatever becomes of it."""

    def begin(self, asked: EditorAsked, chats: Chats, inspector: Inspector) -> None:
        """Answer a request, or begin the task that does."""
        match asked:
            case StatsAsked(request=request):
                self._tell_counters(request, chats)
            case InspectAsked(request=request, page=page):
                self._tell_decisions(request, inspector.result(), page=page)
            case AccountAsked() | SessionsAsked():
                scope = self._open[asked.request] = trio.CancelScope()
                name = f"account of request {asked.request}"
                self.nursery.start_soon(self._run, asked, scope, name=name)

    def _tell_counters(self, request: RequestId, chats: Chats) -> None:
        stats = statistics(chats.tally, len(chats), self.sessions.count, self.counts)
        measure, tell = self.counts.measure, self.editor.answer
        if measure is None or not stats.processes:
            tell(request, stats)
        else:
            self.nursery.start_soon(tell_measured, tell, request, stats, measure)

    def _tell_decisions(self, request: RequestId, result: InspectResult, *, page: bool) -> None:
        if page:
            from .inspection.page import page_with  # few people ever look

            blank = page_with(InspectResult([]), secrets.token_urlsafe(16))
            result = replace(result, page=blank)
        self.editor.answer(request, result)

    def cancel(self, request: RequestId) -> None:
        """Give a request up, if a task answers it."""
        scope = self._open.get(request)
        if scope is not None:
            scope.cancel()

    def leave(self) -> None:
        """Give all of them up."""
        for scope in self._open.values():
            scope.cancel()

    async def _run(self, asked: AccountAsked | SessionsAsked, scope: trio.CancelScope) -> None:
        answer: Result | Failure = Failure("Unavailable", "That was cancelled.")
        try:
            with scope:
                answer = await self._answer(asked)
        except Exception as error:
            answer = failure_of(error, f"request={asked.request}")
        del self._open[asked.request]
        self.editor.answer(asked.request, answer)

    async def _answer(self, asked: AccountAsked | SessionsAsked) -> Result:
        if isinstance(asked, SessionsAsked):
            return AgentSessionsResult(await self.accounts.sessions_of(asked.agent))
        if asked.method_id is None:
            await self.accounts.log_out(asked.agent)
        else:
            await self.accounts.log_in(asked.agent, asked.method_id)
        return Empty()
