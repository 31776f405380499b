"""Sessions that an agent has already: they are resumed, loaded or forked.

What an agent says that it can may fail all the same, and it may have forgotten the session. So each
way is tried in turn, and where none leads to it, that is logged and isn't an error: the caller can
always open a new session and tell it what was said.

Some agents load any session, and one that they have forgotten is empty. A load tells again what was
said, so one that tells nothing again has failed. So has a resume by an agent that has told it again
before. A method that an agent turns out not to have is remembered, and not asked for again.

An agent may tell again what was said in a session: all do when they load it, some when they resume
it, and it may begin before the answer and run on past it. The record of that is ours, so it is
dropped, up to a moment of silence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

import attrs
import trio

from agents.base import AgentError
from agents.origin import ForkOf, Resumed
from bridge.errors import Failure

from .authentication import Authentication
from .choices import Choices
from .connection import Connection
from .dialogue import Dialogue
from .failures import words_of
from .faults import METHOD_NOT_FOUND, Error
from .handles import SessionHandle
from .learned import AgentFacts, Fact
from .methods import (
    FORK_SESSION,
    LIST_SESSIONS,
    LOAD_SESSION,
    RESUME_SESSION,
    ForkSessionRequest,
    ForkSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    Method,
    SessionInfo,
)
from .openings import SESSION_SECONDS
from .outfit import Outfit
from .reopened import Reopened, loses_tools
from .setup import AgentCapabilities

MOST_PAGES = 20
"""Pages of a list of sessions."""

log = logging.getLogger("vscodelm.acp")

Way: TypeAlias = Method[LoadSessionRequest, LoadSessionResponse]
_IN_USE = Failure("AgentFailed", "it is in use")
_EMPTY = Failure("AgentFailed", "nothing of what was said in it was told again")
_NO_ID = Failure("AgentFailed", "the agent gave no id")
_MISSING = {RESUME_SESSION.name: Fact.RESUME_MISSING, FORK_SESSION.name: Fact.FORK_MISSING}
"""What an agent has shown that answers so that there is no such method."""


def can_find(able: AgentCapabilities, facts: AgentFacts) -> bool:
    """Return whether a session which an agent has can be had again in any way."""
    return bool(list(_ways(able, facts))) or _can_fork(able, facts)


def _can_fork(able: AgentCapabilities, facts: AgentFacts) -> bool:
    return able.session_capabilities.fork is not None and not facts.has(Fact.FORK_MISSING)


def _ways(able: AgentCapabilities, facts: AgentFacts) -> Iterator[Way]:
    """Return how a session can be gone on with; the first one needn't tell it all again."""
    if able.session_capabilities.resume is not None and not facts.has(Fact.RESUME_MISSING):
        yield RESUME_SESSION
    if able.load_session:
        yield LOAD_SESSION


@attrs.define(eq=False)
class _Search:
    """A session that was asked for; whoever asked may have gone.

    It `must_replay` where the agent has forgotten it unless it tells again what was said.
    """

    must_replay: bool = False
    answer: Dialogue | Error | Failure | None = attrs.field(default=None, init=False)
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    is_wanted: bool = attrs.field(default=True, init=False)


@attrs.define(eq=False)
class ExistingSessions:
    """Finds them in one process. `retire` is called when it doesn't answer, `close` closes one."""

    connection: Connection
    able: AgentCapabilities
    facts: AgentFacts
    authentication: Authentication
    retire: Callable[[], None]
    close: Callable[[Dialogue], None]

    async def find(self, outfit: Outfit, origin: Resumed | ForkOf) -> Dialogue | None:
        """Return a session that knows what `origin` says, None where it can't be had here.

        Raises `AgentError` where that takes a login which can't be done.
        """
        found: Dialogue | None = None
        match origin:
            case ForkOf(handle=handle):
                session_id = SessionHandle.read(handle).session_id
                fork = FORK_SESSION.name
                if _can_fork(self.able, self.facts) and self._is_of_use(fork, session_id, outfit):
                    found = await self._have(
                        fork, session_id, outfit, lambda: self._fork(outfit.to_load(session_id))
                    )
            case Resumed(handle=handle):
                found = await self._resume(SessionHandle.read(handle).session_id, outfit)
            case _:
                assert_never(origin)
        if found is not None:
            found.tools = outfit.tools
            found.is_unproven = not found.has_told_again
        return found

    async def _resume(self, session_id: str, outfit: Outfit) -> Dialogue | None:
        for way in _ways(self.able, self.facts):
            if self.connection.is_attached(session_id):
                # Somebody has it, or it is still being opened: two of it would disturb each other.
                log.info("session=%s not had by %s: it is in use", session_id, way.name)
                return None
            if not self._is_of_use(way.name, session_id, outfit):
                continue

            def load(way: Way = way) -> _Search:
                return self._load(way, outfit.to_load(session_id))

            found = await self._have(way.name, session_id, outfit, load)
            if found is not None:
                if way is RESUME_SESSION and found.has_told_prompts_again:
                    self.facts.learn(Fact.RESUME_REPLAYS)
                return found
        return None

    def _is_of_use(self, way: str, session_id: str, outfit: Outfit) -> bool:
        """Return whether a session that is had so has the tools that it is had with."""
        if outfit.tools is None or not loses_tools(self.facts, way):
            return True
        log.info("session=%s not had by %s: it would have no tools", session_id, way)
        return False

    async def _have(
        self, way: str, session_id: str, outfit: Outfit, begin: Callable[[], _Search]
    ) -> Dialogue | None:
        match await self.authentication.ask(lambda: self._end(begin())):
            case Dialogue(lost=None) as dialogue:
                dialogue.reopened = Reopened(way, outfit.is_name_used)
                return dialogue
            case Dialogue(lost=Failure() as failure) | (Failure() as failure):
                reason = failure.message
            case Error(code=code) as error if code == METHOD_NOT_FOUND and way in _MISSING:
                self.facts.learn(_MISSING[way])
                reason = f"{code} {words_of(error)}"
                log.info("session=%s not had by %s, nor will another: %s", session_id, way, reason)
                return None
            case Error() as error:
                reason = f"{error.code} {words_of(error)}"
            case _:
                reason = f"no answer in {SESSION_SECONDS:.0f} seconds"
                self.retire()
        log.warning("session=%s not had by %s: %s", session_id, way, reason)
        return None

    async def list(self, cwd: str | None = None) -> tuple[SessionInfo, ...] | None:
        """Return the sessions that the agent keeps, of a folder if one is given.

        None if it can't tell; raises `AgentError`.
        """
        if self.able.session_capabilities.list is None:
            return None
        found: list[SessionInfo] = []
        request = ListSessionsRequest(cwd)
        for _ in range(MOST_PAGES):
            page = await self.authentication.ask(lambda asked=request: self._page(asked))
            if isinstance(page, Error):
                raise AgentError(self.authentication.failure_of(page))
            found += page.sessions
            if page.next_cursor in (None, "", request.cursor):
                break
            request = ListSessionsRequest(cwd, page.next_cursor)
        return tuple(found)

    async def _page(self, request: ListSessionsRequest) -> ListSessionsResponse | Error:
        with trio.move_on_after(SESSION_SECONDS):
            return await self.connection.request(LIST_SESSIONS, request)
        name = self.connection.name
        message = f"{name} didn't list its sessions within {SESSION_SECONDS:.0f} seconds."
        raise AgentError(Failure("Unavailable", message))

    def _load(self, way: Way, request: LoadSessionRequest) -> _Search:
        """Ask for a session in that way; what is told again comes before the answer already."""
        must_replay = way is LOAD_SESSION or self.facts.has(Fact.RESUME_REPLAYS)
        search = _Search(must_replay=must_replay)
        dialogue = Dialogue(self.connection, request.session_id, Choices())
        dialogue.begin_replay()
        if not self.connection.attach(request.session_id, dialogue):
            self._take(search, _IN_USE)
            return search

        def take(answer: LoadSessionResponse | Error | Failure) -> None:
            if isinstance(answer, LoadSessionResponse):
                dialogue.choices = Choices.of(answer)
                self._take(search, dialogue)
            else:
                self.connection.detach(request.session_id)
                self._take(search, answer)

        self.connection.call(way, request, take)
        return search

    def _fork(self, request: ForkSessionRequest) -> _Search:
        search = _Search()

        def take(answer: ForkSessionResponse | Error | Failure) -> None:
            if not isinstance(answer, ForkSessionResponse):
                self._take(search, answer)
                return
            if not answer.session_id:
                self._take(search, _NO_ID)
                return
            dialogue = Dialogue(self.connection, answer.session_id, Choices.of(answer))
            dialogue.begin_replay()
            if not self.connection.attach_new(answer.session_id, dialogue):
                self.retire()
                self._take(search, _IN_USE)
                return
            self._take(search, dialogue)

        self.connection.open(FORK_SESSION, request, take)
        return search

    def _take(self, search: _Search, answer: Dialogue | Error | Failure) -> None:
        search.answer = answer
        search.answered.set()
        if isinstance(answer, Dialogue) and not search.is_wanted:
            self.close(answer)

    async def _end(self, search: _Search) -> Dialogue | Error | Failure | None:
        """Wait for what a search leads to: None if that takes too long."""
        is_over = False
        try:
            with trio.move_on_after(SESSION_SECONDS):
                await search.answered.wait()
            if isinstance(search.answer, Dialogue):
                if search.must_replay and not await search.answer.is_told_again():
                    return search.answer.lost or _EMPTY
                await search.answer.end_replay()
            is_over = search.answer is not None
            return search.answer
        finally:
            if not is_over:
                search.is_wanted = False
                if isinstance(search.answer, Dialogue):
                    self.close(search.answer)
