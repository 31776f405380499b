"""Sessions that an agent has already: they are resumed, loaded or forked.

Any capability that an agent advertises may fail, and the agent may have forgotten the session. So
each way is tried in turn. If none works, that is logged and is no error: the caller can always open
a new session and send it the history.

Some agents load any session, and one that they have forgotten is empty. So a load without a replay
has failed. So has a resume without one, if the agent has replayed a resumed session before. A
method that an agent turns out not to have is remembered, and not tried again. The same goes for a
way in which the agent ignores the server with the editor's tools.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias, assert_never

import attrs
import trio

from agents.acp.schema.errors import Error
from agents.acp.schema.initialize import AgentCapabilities
from agents.acp.schema.methods import (
    FORK_SESSION,
    LIST_SESSIONS,
    LOAD_SESSION,
    RESUME_SESSION,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    Method,
    SessionInfo,
)
from agents.base import AgentError
from agents.origin import ForkOf, Resumed
from bridge.errors import METHOD_NOT_FOUND, Failure

from .errors import words_of
from .handles import SessionHandle
from .learned import AgentFacts, Fact
from .reopened import CONNECTING_SECONDS, ToldAgain, connects_first, lesson, loses_tools
from .session_channel import SessionChannel
from .session_open import SESSION_SECONDS, InUse, Opening, Openings
from .session_params import SessionParams

MOST_PAGES = 20
"""Pages of a list of sessions."""

log = logging.getLogger("vscodelm.acp")

Way: TypeAlias = Method[LoadSessionRequest, LoadSessionResponse]
ShownSession: TypeAlias = SessionChannel | str
"""A session, or the reason why it can't be opened."""
_Answer: TypeAlias = SessionChannel | Error | Failure | InUse | None
_MISSING = {RESUME_SESSION.name: Fact.RESUME_MISSING, FORK_SESSION.name: Fact.FORK_MISSING}
"""The fact about an agent that answers that there is no such method."""


def can_find(able: AgentCapabilities, facts: AgentFacts) -> bool:
    """Return whether there is any way to a session that the agent has."""
    return bool(list(_ways(able, facts))) or _can_fork(able, facts)


def _can_fork(able: AgentCapabilities, facts: AgentFacts) -> bool:
    return able.session_capabilities.fork is not None and not facts.has(Fact.FORK_MISSING)


def _ways(able: AgentCapabilities, facts: AgentFacts) -> Iterator[Way]:
    """Return the methods that open a session again; the first one needn't replay it."""
    if able.session_capabilities.resume is not None and not facts.has(Fact.RESUME_MISSING):
        yield RESUME_SESSION
    if able.load_session:
        yield LOAD_SESSION


@attrs.define(eq=False, repr=False)
class ExistingSessions:
    """Finds the sessions that the agent of one process has."""

    openings: Openings
    able: AgentCapabilities
    facts: AgentFacts

    async def find(self, params: SessionParams, origin: Resumed | ForkOf) -> SessionChannel | None:
        """Return a session that knows what `origin` says, None if there is no way to it here.

        The session closes its parameters. Without a session they are closed here. Raises
        `AgentError` if the agent demands a login that fails.
        """
        found: SessionChannel | None = None
        session_id = SessionHandle.read(origin.handle).session_id
        try:
            match origin:
                case ForkOf():
                    found = await self._fork(session_id, params)
                case Resumed():
                    found = await self._resume(session_id, params)
                case _:
                    assert_never(origin)
            return found
        finally:
            if found is None:
                params.close()

    async def _fork(self, session_id: str, params: SessionParams) -> SessionChannel | None:
        way = FORK_SESSION.name
        if not (_can_fork(self.able, self.facts) and self._is_of_use(way, session_id, params)):
            return None
        begin = partial(self.openings.fork, session_id, params)
        return await self._have(way, session_id, params, begin)

    async def _resume(self, session_id: str, params: SessionParams) -> SessionChannel | None:
        for way in _ways(self.able, self.facts):
            if self.openings.connection.subscribers.has(session_id):
                # Another chat has it, or opens it: two of them would disturb each other.
                log.info("session=%s not reopened by %s: it is in use", session_id, way.name)
                return None
            if not self._is_of_use(way.name, session_id, params):
                continue
            found = await self._have(
                way.name, session_id, params, partial(self._load, way, session_id, params)
            )
            if found is None:
                continue
            reopened = found.reopened
            if way is RESUME_SESSION and reopened is not None and reopened.has_replayed_prompts:
                self.facts.learn(Fact.RESUME_REPLAYS)
            return found
        return None

    def _load(
        self, way: Way, session_id: str, params: SessionParams, replay: ToldAgain | None = None
    ) -> Opening:
        must_replay = way is LOAD_SESSION or self.facts.has(Fact.RESUME_REPLAYS)
        return self.openings.load(
            way,
            session_id,
            params,
            must_replay=must_replay,
            is_open=self._is_open(session_id),
            replay=replay,
        )

    @property
    def can_show(self) -> bool:
        """Whether there is a way to a session that the user names."""
        return any(_ways(self.able, self.facts))

    async def show(self, params: SessionParams, session_id: str, replay: ToldAgain) -> ShownSession:
        """Return a session that the user names, or else why it can't be opened; `can_show` is true.

        `replay` gets what was said in it. An agent that can load a session isn't asked to resume
        it: only a replay proves that the session exists. As with `find`, the session closes its
        parameters. Raises `AgentError` if the agent demands a login that fails.
        """
        *_, way = _ways(self.able, self.facts)
        begin = partial(self._load, way, session_id, params, replay)
        shown: SessionChannel | None = None
        try:
            answer = await self.openings.authentication.ask(lambda: _end(begin()))
            if isinstance(answer, SessionChannel) and answer.lost is None:
                shown = answer
            return shown or self._reason(way.name, answer)
        finally:
            if shown is None:
                params.close()

    def _is_open(self, session_id: str) -> bool:
        """Return whether the process still has a session that no chat has any more."""
        can_close = self.able.session_capabilities.close is not None
        return not can_close and self.openings.connection.subscribers.may_be_left(session_id)

    def _is_of_use(self, way: str, session_id: str, params: SessionParams) -> bool:
        """Return whether a session that is opened this way keeps its tools."""
        is_open = way != FORK_SESSION.name and self._is_open(session_id)
        if params.tools is None or not loses_tools(self.facts, way, is_open=is_open):
            return True
        log.info("session=%s not reopened by %s: it would have no tools", session_id, way)
        return False

    async def _have(
        self, way: str, session_id: str, params: SessionParams, begin: Callable[[], Opening]
    ) -> SessionChannel | None:
        match await self.openings.authentication.ask(lambda: _end(begin())):
            case SessionChannel(lost=None) as channel if await self._keeps_tools(channel, params):
                return channel
            case SessionChannel(lost=None):
                log.info("session=%s not reopened by %s: it has no tools", session_id, way)
                return None
            case Error(code=code) as error if code == METHOD_NOT_FOUND and way in _MISSING:
                reason = self._reason(way, error)
                log.info(
                    "session=%s not reopened by %s, nor will another: %s", session_id, way, reason
                )
                return None
            case answer:
                reason = self._reason(way, answer)
        log.warning("session=%s not reopened by %s: %s", session_id, way, reason)
        return None

    def _reason(self, way: str, answer: _Answer) -> str:
        """Return why a session wasn't had, and learn from it."""
        match answer:
            case SessionChannel(lost=Failure() as failure) | (Failure() as failure):
                return failure.message
            case InUse():
                return "it is in use"
            case Error() as error:
                if error.code == METHOD_NOT_FOUND and way in _MISSING:
                    self.facts.learn(_MISSING[way])
                return f"{error.code} {words_of(error)}"
            case _:
                self.openings.retire()
                return f"no answer in {SESSION_SECONDS:.0f} seconds"

    async def _keeps_tools(self, channel: SessionChannel, params: SessionParams) -> bool:
        """Return whether a session has its tools, as far as is known; close one that hasn't."""
        reopened, has_tools = channel.reopened, False
        if reopened is None or not connects_first(reopened, self.facts, is_first=params.is_first):
            return True
        try:
            has_tools = await channel.has_tools(CONNECTING_SECONDS)
        finally:
            if not has_tools:
                self.openings.end(channel)
        if not has_tools and channel.lost is None:
            self.facts.learn(lesson(reopened, self.facts))
        return has_tools

    @property
    def can_list(self) -> bool:
        """Whether the agent lists its sessions."""
        return self.able.session_capabilities.list is not None

    async def list(self, cwd: str | None = None) -> tuple[SessionInfo, ...] | None:
        """Return the sessions that the agent keeps, of a folder if one is given.

        None if it can't list them; raises `AgentError`.
        """
        if not self.can_list:
            return None
        found: list[SessionInfo] = []
        request = ListSessionsRequest(cwd)
        until = trio.current_time() + SESSION_SECONDS
        for _ in range(MOST_PAGES):
            if trio.current_time() >= until:  # a slow agent; its newest are among the first
                break
            page = await self.openings.authentication.ask(lambda asked=request: self._page(asked))
            if isinstance(page, Error):
                raise AgentError(self.openings.authentication.failure_of(page))
            found += page.sessions
            if page.next_cursor in (None, "", request.cursor):
                break
            request = ListSessionsRequest(cwd, page.next_cursor)
        return tuple(found)

    async def _page(self, request: ListSessionsRequest) -> ListSessionsResponse | Error:
        with trio.move_on_after(SESSION_SECONDS):
            return await self.openings.connection.request(LIST_SESSIONS, request)
        name = self.openings.connection.name
        message = f"{name} didn't list its sessions within {SESSION_SECONDS:.0f} seconds."
        raise AgentError(Failure("Unavailable", message))


async def _end(opening: Opening) -> _Answer:
    """Wait for an opening, and drop one that comes to nothing."""
    answer = None
    try:
        answer = await opening.wait()
        return answer
    finally:
        if not isinstance(answer, SessionChannel):
            opening.drop()
