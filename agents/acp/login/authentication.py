"""Log in to a running agent when it demands that: once, however many sessions need it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import attrs
import trio

from agents.acp.errors import is_auth_required, refused
from agents.acp.quirks import KnownAgent
from agents.acp.rpc.connection import Connection
from agents.acp.schema.errors import Error
from agents.acp.schema.initialize import AuthenticateRequest, AuthMethod, LogoutRequest
from agents.acp.schema.methods import AUTHENTICATE, LOGOUT, EmptyResponse
from agents.acp.text.markdown import title_of
from agents.base import AgentError
from bridge.errors import Failure
from bridge.wire import McpServerSpec

from .advice import can_authenticate, login_advice, login_fixes, method_to_try

LOGIN_SECONDS = 300.0
"""Seconds that a login or a logout may take: the agent may open a browser."""

T = TypeVar("T")


@attrs.define(eq=False, repr=False)
class Authentication:
    """The logins of one process. `retire` is called when only another process can serve.

    A login method may need a key in the process's `environment`.
    """

    spec: McpServerSpec
    environment: Mapping[str, str]
    connection: Connection
    methods: tuple[AuthMethod, ...]
    known: KnownAgent
    retire: Callable[[], None]
    _login: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _logins: int = attrs.field(default=0, init=False)

    async def log_in(self, error: Error) -> Failure | None:
        """Log in, as the agent demanded by `error`; return why that can't be done here.

        If several sessions demand it at once, it is done once.
        """
        before = self._logins
        async with self._login:
            if self._logins != before:
                return None
            method = method_to_try(self.methods, self.known, self.environment)
            if method is None:
                return self.failure_of(error)
            answer = await self._authenticate(method.id)
            return None if isinstance(answer, EmptyResponse) else self.failure_of(answer or error)

    async def log_in_by(self, method_id: str) -> None:
        """Log in by a method that the user has chosen; raises `AgentError`."""
        if not can_authenticate(self.methods, method_id):
            text = f"{self.spec.name} has no login method {title_of(method_id)!r} here."
            raise AgentError(Failure("NotFound", text))
        async with self._login:
            answer = await self._authenticate(method_id)
        self._settle(answer, "log in")

    async def log_out(self) -> None:
        """Log out of an agent that can; raises `AgentError`."""
        answer: EmptyResponse | Error | None = None
        with trio.move_on_after(LOGIN_SECONDS):
            answer = await self.connection.request(LOGOUT, LogoutRequest())
        self._settle(answer, "log out")

    def _settle(self, answer: EmptyResponse | Error | None, action: str) -> None:
        """Raise `AgentError` where an agent didn't do what it was asked to, or not in time."""
        match answer:
            case EmptyResponse():
                pass
            case Error():
                raise AgentError(self.failure_of(answer))
            case None:
                text = f"{self.spec.name} didn't {action} within {LOGIN_SECONDS:.0f} seconds."
                raise AgentError(Failure("Unavailable", text))

    async def _authenticate(self, method_id: str) -> EmptyResponse | Error | None:
        """Return what the agent says to it; where that is no success, nobody comes to it anew."""
        answer: EmptyResponse | Error | None = None
        with trio.move_on_after(LOGIN_SECONDS):
            answer = await self.connection.request(AUTHENTICATE, AuthenticateRequest(method_id))
        if isinstance(answer, EmptyResponse):
            self._logins += 1
        else:
            self.retire()
        return answer

    async def ask(self, ask: Callable[[], Awaitable[T | Error]]) -> T | Error:
        """Ask, and once more after a login if that is demanded; raises `AgentError` if it fails."""
        answer = await ask()
        if not (isinstance(answer, Error) and is_auth_required(answer)):
            return answer
        failure = await self.log_in(answer)
        if failure is not None:
            raise AgentError(failure)
        return await ask()

    def failure_of(self, error: Error) -> Failure:
        """Return the failure for an error that the agent answered a request with."""
        if is_auth_required(error):
            self.retire()  # after a login in a terminal, only another process knows of it
        advice = login_advice(self.spec, self.methods, self.known)
        fixes = login_fixes(self.spec, self.methods, self.known)
        return refused(self.spec.name, error, advice=advice, fixes=fixes)
