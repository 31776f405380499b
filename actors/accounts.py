"""Logins, logouts and lists of sessions that the editor asks for: a task each, beside the chats."""

from __future__ import annotations

from typing import Protocol

import attrs
import trio

from agents.base import no_account, no_sessions
from agents.boundary import failure_of
from bridge.errors import Failure
from bridge.models import AgentChoice
from bridge.wire import AgentSessionsResult, Empty, ListedSession, RequestId

from .editor_face import EditorFace, Result
from .messages import AccountAsked, SessionsAsked


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
class AccountRequests:
    """The requests that are open. They end with their tasks, whatever becomes of these."""

    editor: EditorFace
    accounts: Accounts
    tasks: trio.Nursery
    _open: dict[RequestId, trio.CancelScope] = attrs.field(
        factory=dict["RequestId", trio.CancelScope], init=False
    )

    def begin(self, asked: AccountAsked | SessionsAsked) -> None:
        """Take a request in; it is answered when it is done."""
        scope = self._open[asked.request] = trio.CancelScope()
        self.tasks.start_soon(self._run, asked, scope, name=f"account of request {asked.request}")

    def cancel(self, request: RequestId) -> None:
        """Give a request up, if it is one of these."""
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
