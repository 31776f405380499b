"""Logins, logouts and lists of sessions over the wire, beside the chats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

from agents.base import AgentError
from bridge.errors import Failure
from bridge.fixes import LogIn
from bridge.models import AgentChoice
from bridge.wire import ListedSession
from tests.fakes.editor import Chat, connected_to, quiet
from tests.fakes.scripted_agent import ScriptedAgent

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tests.fakes.editor import FakeEditor

AGENT = {"acp": {"name": "x", "command": "x"}}
KEY = AgentChoice.of(AGENT).key
FIX = LogIn("Log in", "browser")


@attrs.define
class Doorkeeper:
    """Logs in whoever comes when the door is open."""

    heard: list[tuple[bytes, str | None]] = attrs.field(factory=list["tuple[bytes, str | None]"])
    opened: trio.Event = attrs.field(factory=trio.Event)
    error: Exception | None = None
    cancelled: int = 0

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        await self._hear(choice, method_id)

    async def log_out(self, choice: AgentChoice) -> None:
        await self._hear(choice, None)

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        await self._hear(choice, None)
        return [ListedSession("s1", "/x")]

    async def _hear(self, choice: AgentChoice, method_id: str | None) -> None:
        self.heard.append((choice.key, method_id))
        try:
            await self.opened.wait()
        except trio.Cancelled:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error


def at_work(keeper: Doorkeeper | None) -> AbstractAsyncContextManager[FakeEditor]:
    return connected_to(lambda choice: ScriptedAgent(), accounts=keeper)


async def test_a_login_and_a_logout_are_answered_when_they_are_done() -> None:
    keeper = Doorkeeper()
    async with at_work(keeper) as editor:
        params = {"modelId": "m", "agent": AGENT, "methodId": "browser"}
        login = editor.request("lm/logIn", params)
        await quiet()
        assert not login.is_settled
        assert (await Chat(editor).say("Hello")).text, "a chat doesn't wait for it"
        keeper.opened.set()
        assert (await login.settled()).result == {}
        assert await editor.call("lm/logOut", {"modelId": "m", "agent": AGENT}) == {}
    assert keeper.heard == [(KEY, "browser"), (KEY, None)]


async def test_a_login_that_fails_is_an_error_with_its_fixes() -> None:
    failure = Failure("NoPermissions", "Log in first.", fixes=(FIX,))
    keeper = Doorkeeper(error=AgentError(failure))
    keeper.opened.set()
    async with at_work(keeper) as editor:
        request = editor.request("lm/logOut", {"modelId": "m", "agent": AGENT})
        error = (await request.settled()).error
    assert error["message"] == "Log in first."
    assert error["data"]["fixes"] == [{"type": "login", "title": "Log in", "methodId": "browser"}]


async def test_an_error_that_nobody_expects_is_answered_and_chats_go_on() -> None:
    keeper = Doorkeeper(error=ValueError("odd"))
    keeper.opened.set()
    async with at_work(keeper) as editor:
        request = editor.request("lm/logOut", {"modelId": "m", "agent": AGENT})
        assert (await request.settled()).error["data"]["kind"] == "Internal"
        assert (await Chat(editor).say("Hello")).text


async def test_a_login_that_is_cancelled_is_given_up() -> None:
    keeper = Doorkeeper()
    async with at_work(keeper) as editor:
        params = {"modelId": "m", "agent": AGENT, "methodId": "browser"}
        request = editor.request("lm/logIn", params)
        await quiet()
        editor.cancel(request)
        assert (await request.settled()).error["data"]["kind"] == "Unavailable"
        assert keeper.cancelled == 1
        keeper.opened.set()
        assert await editor.call("lm/logIn", params) == {}


async def test_who_leaves_gives_logins_up() -> None:
    keeper = Doorkeeper()
    async with at_work(keeper) as editor:
        params = {"modelId": "m", "agent": AGENT, "methodId": "browser"}
        request = editor.request("lm/logIn", params)
        await quiet()
    assert keeper.cancelled == 1
    assert request.is_settled


async def test_a_list_of_sessions_is_answered_when_it_is_there() -> None:
    keeper = Doorkeeper()
    async with at_work(keeper) as editor:
        request = editor.request("lm/agentSessions", {"modelId": "m", "agent": AGENT})
        await quiet()
        assert not request.is_settled
        assert (await Chat(editor).say("Hello")).text, "a chat doesn't wait for it"
        keeper.opened.set()
        assert (await request.settled()).result == {"sessions": [{"sessionId": "s1", "cwd": "/x"}]}


async def test_a_list_of_sessions_that_is_cancelled_is_given_up() -> None:
    keeper = Doorkeeper()
    async with at_work(keeper) as editor:
        request = editor.request("lm/agentSessions", {"modelId": "m", "agent": AGENT})
        await quiet()
        editor.cancel(request)
        assert (await request.settled()).error["data"]["kind"] == "Unavailable"
        assert keeper.cancelled == 1


async def test_a_list_of_sessions_of_no_agent_is_an_error() -> None:
    async with at_work(Doorkeeper()) as editor:
        request = editor.request("lm/agentSessions", {"modelId": "m", "agent": {"acp": 1}})
        assert (await request.settled()).error["code"] == -32602


async def test_without_logins_each_is_refused() -> None:
    async with at_work(None) as editor:
        for method in ("lm/logIn", "lm/logOut", "lm/agentSessions"):
            params = {"modelId": "m", "agent": AGENT, "methodId": "browser"}
            error = (await editor.request(method, params).settled()).error
            assert error["data"]["kind"] == "NotFound"
