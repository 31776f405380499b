"""A real agent that stays at work for one check after the other.

An agent takes up to fifteen seconds to start, so its checks share it, each in a chat of its own. It
works in a thread, because each asynchronous test would have an event loop of its own. A check that
fails leaves nothing to the next one, which has another home, `vscodelm` and agent.

    def test_the_agent_answers(stage: Stage) -> None:
        async def check(site: Site) -> None:
            assert "I hear you." in (await site.chat().say("Hello")).text

        stage.run(check)
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

import attrs
import trio

from tests.fakes.editor import Chat

from .bench import Bench
from .lifetimes import Lifetime, World, world_of
from .model_server import ModelTurn
from .real_agent import RealAgent

PATIENCE = 180.0
"""Seconds that a check waits for anything."""
LONGEST = 400.0
"""Seconds that a whole check may take."""
_TROUBLE = re.compile(r"^.*\blevel=(?:WARNING|ERROR|CRITICAL)\b.*$|^Traceback.*$", re.MULTILINE)


@attrs.define(eq=False)
class Diary:
    """What `vscodelm` has logged while the checks of an agent were carried out."""

    logs: list[str] = attrs.field(factory=list[str])
    expected: list[str] = attrs.field(factory=list[str])
    """Patterns of lines that checks provoke on purpose."""

    @property
    def trouble(self) -> list[str]:
        """What is worth a warning and wasn't provoked."""
        found = [line for log in self.logs for line in _TROUBLE.findall(log)]
        return [line for line in found if not any(re.search(one, line) for one in self.expected)]


@attrs.define(eq=False)
class Site:
    """What a check finds: an agent at work, and a `vscodelm` that it may restart."""

    world: World
    diary: Diary
    _lifetime: Lifetime | None = attrs.field(default=None, init=False)
    _open: AsyncExitStack = attrs.field(factory=AsyncExitStack, init=False)

    @property
    def agent(self) -> RealAgent:
        """Its recipe."""
        return self.world.agent

    @property
    def lifetime(self) -> Lifetime:
        """The running `vscodelm`."""
        assert self._lifetime is not None
        return self._lifetime

    @property
    def bench(self) -> Bench:
        """What the running `vscodelm` has on both sides."""
        return self.lifetime.bench

    def chat(self, **settings: Any) -> Chat:
        """Open a chat window with the agent."""
        return self.bench.chat(**settings)

    def newest(self, scenario: str) -> ModelTurn:
        """Return the newest request that a scenario answered."""
        return self.world.server.turns(scenario)[-1]

    async def start(self) -> None:
        """Start `vscodelm`."""
        self._lifetime = await self._open.enter_async_context(self.world.lifetime())
        self.bench.editor.patience = PATIENCE

    async def stop(self) -> None:
        """End `vscodelm` as an editor does, and its agent with it."""
        lifetime, self._lifetime = self._lifetime, None
        try:
            await self._open.aclose()
        finally:
            if lifetime is not None:
                self.diary.logs.append(lifetime.process.stderr.decode(errors="replace"))

    async def restart(self, *chats: Chat, forgets: bool = False) -> None:
        """Restart `vscodelm` for these chats. An agent that forgets loses all that it has kept."""
        await self.stop()
        if forgets:
            shutil.rmtree(self.world.home)
            self.world.home.mkdir()
            self.agent.settings(self.world.home, self.world.server.url)
        await self.start()
        for chat in chats:
            chat.editor = self.bench.editor


Check: TypeAlias = Callable[[Site], Awaitable[None]]
_Checks: TypeAlias = SimpleQueue[tuple[Check, Future[None]] | None]
"""Each with what becomes of it; None is the end."""


@attrs.define(eq=False)
class _Show:
    """A thread in which an agent works, until a check fails or there are no more."""

    agent: RealAgent
    folder: Path
    diary: Diary
    _checks: _Checks = attrs.field(factory=SimpleQueue[Any])
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _token: trio.lowlevel.TrioToken | None = None
    _thread: threading.Thread | None = None
    _error: BaseException | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def perform(self, check: Check) -> None:
        """Carry a check out, and raise what it raises."""
        done: Future[None] = Future()
        self._checks.put((check, done))
        waited = 0
        while True:
            try:
                return done.result(timeout=1)
            except TimeoutError:
                if done.done():
                    raise
            waited += 1
            if waited > LONGEST and self._token is not None:
                trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
            if not self._is_alive and not done.done():
                raise self._error or AssertionError(f"the check took over {LONGEST:.0f} seconds")

    def close(self) -> None:
        """End the agent, and raise what goes wrong with it."""
        self._checks.put(None)
        if self._thread is not None:
            self._thread.join(LONGEST)
        assert not self._is_alive
        if self._error is not None:
            raise self._error

    @property
    def _is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:
            self._error = error

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            async with world_of(self.agent, self.folder) as world:
                site = Site(world, self.diary)
                await site.start()
                try:
                    while (next_ := await self._next()) is not None:
                        check, done = next_
                        try:
                            await check(site)
                        except Exception as error:
                            done.set_exception(error)
                            break
                        done.set_result(None)
                finally:
                    await site.stop()

    async def _next(self) -> tuple[Check, Future[None]] | None:
        return await trio.to_thread.run_sync(self._checks.get, abandon_on_cancel=True)


@attrs.define(eq=False)
class Stage:
    """Where the checks of an agent are carried out, one after the other."""

    agent: RealAgent
    folder: Callable[[], Path]
    """Makes a folder for a home."""
    diary: Diary = attrs.field(factory=Diary, init=False)
    _show: _Show | None = attrs.field(default=None, init=False)

    def run(self, check: Check) -> None:
        """Carry a check out; where it fails, the next one finds another agent."""
        if self._show is None:
            self._show = _Show(self.agent, self.folder(), self.diary)
            self._show.start()
        try:
            self._show.perform(check)
        except BaseException:
            show, self._show = self._show, None
            try:
                show.close()
            except BaseException as error:
                print(f"... and in the end: {error!r}")  # noqa: T201  for who reads the failure
            raise

    def close(self) -> None:
        """End what is still at work."""
        if self._show is not None:
            self._show.close()
