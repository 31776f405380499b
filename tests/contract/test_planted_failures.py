"""Failures planted in what several chats share: only the chats that meet one notice it.

A run has chats with two agents of one kind, and one with Eliza. In the k-th run the k-th call into
`agents` raises, of those that are made by a task which serves several chats. It ends when a run has
fewer such calls. Calls of the boundary itself don't count: nothing is behind it. Nor do those of
the breather and the activities, which know no agent: they let others have their turn, or show. The
system calls `Offered.told_to` as it begins, when there is no chat yet.
"""

from __future__ import annotations

import dis
import gc
import inspect
import logging
import sys
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import pytest
import trio

import agents
from actors.system import ModelLister
from agents.acp.processes.pool import ProcessPool
from agents.acp.transport.base import Link
from agents.directory import open_directory
from agents.offered import Offered
from agents.open_responses.models.refresh import keep_listing
from bridge.models import Catalogue, parse_catalogue
from bridge.wire import McpServerSpec
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.editor import ELIZA, Chat, Request, connected_to
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import responses_server

if TYPE_CHECKING:
    from types import FrameType

JSON = dict[str, Any]

HERE = str(Path(agents.__file__).parent)
NOT_COUNTED = tuple(
    f"{HERE}/{name}.py" for name in ("activities", "boundary", "breather", "guarded", "base")
)
_TOLD_TO = inspect.unwrap(Offered.told_to).__code__
OF_ONE_CHAT = ("session of conversation", "turn at ")
"""How the tasks are called that serve a single one."""
FEW = 7
"""About how many of the calls fail in the short form, spread over all of them."""


class Planted(RuntimeError):
    """The failure."""


@attrs.define(eq=False)
class Fuse:
    """Raises in the k-th call."""

    k: int
    calls: int = 0
    where: str = ""

    def __call__(self, frame: FrameType, event: str, _arg: object) -> None:
        """Be told of a call of a function."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(HERE):
            return
        if (
            code is _TOLD_TO
            or code.co_filename in NOT_COUNTED
            or not _begins(frame)
            or not _is_shared()
        ):
            return
        if frame.f_back is not None and frame.f_back.f_code.co_name == "guarded":
            return  # it isn't called by the task, but is the task
        self.calls += 1
        if self.calls == self.k:
            self.where = code.co_qualname
            raise Planted(self.where)


def _begins(frame: FrameType) -> bool:
    """Return whether a function begins, and is no coroutine that goes on."""
    code = frame.f_code.co_code
    at = max(frame.f_lasti, 0)
    return dis.opname[code[at]] != "RESUME" or code[at + 1] & 3 == 0


def _is_shared() -> bool:
    """Return whether this task serves several chats."""
    try:
        task: trio.lowlevel.Task | None = trio.lowlevel.current_task()
    except RuntimeError:
        return False
    while task is not None:
        if task.name.startswith(OF_ONE_CHAT):
            return False
        task = task.parent_nursery.parent_task if task.parent_nursery else None
    return True


@contextmanager
def planted(fuse: Fuse) -> Generator[None]:
    """Have the failure happen in the block."""
    before = sys.getprofile()
    sys.setprofile(fuse)
    try:
        yield
    finally:
        sys.setprofile(before)


# The kinds of agent.


@attrs.frozen
class Stage:
    """Two agents of one kind, and what they answer to anything."""

    definitions: tuple[JSON, JSON]
    answer: str
    catalogue: Catalogue = attrs.field(factory=Catalogue)
    list_models: ModelLister | None = None


Kind: TypeAlias = Callable[[pytest.MonkeyPatch], AbstractAsyncContextManager[Stage]]


@asynccontextmanager
async def eliza(_: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    definition: JSON = {"eliza": {"deterministic": True}}
    yield Stage((definition, definition), "")


@asynccontextmanager
async def acp(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    close: JSON = {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}
    peers = PeerAgent({"agent": close, "otherwise": [{"say": "It is "}, {"say": "done."}]})

    def connect(_: ProcessPool, __: McpServerSpec) -> AbstractAsyncContextManager[Link]:
        return peers.connect()

    monkeypatch.setattr(ProcessPool, "_connect", connect)
    one, other = ({"acp": {"name": name, "command": name}} for name in ("one", "other"))
    yield Stage((one, other), "It is done.")


@asynccontextmanager
async def endpoint(_: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    async with responses_server(lambda _context: [Text("It is done.")]) as server:
        one, other = (
            {"open_responses": {"baseUrl": server.base_url, "model": name, "retries": 0}}
            for name in ("one", "other")
        )
        yield Stage((one, other), "It is done.")


@asynccontextmanager
async def listing(_: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    models: list[JSON] = [{"id": "m"}]
    async with responses_server(lambda _context: [Text("It is done.")], models=models) as server:
        toml = "".join(
            f'[[endpoints]]\nid = "{name}"\n'
            f'open_responses = {{ baseUrl = "{server.base_url}/{name}" }}\n'
            for name in ("one", "other")
        )
        yield Stage((ELIZA, ELIZA), "", parse_catalogue(toml), keep_listing)


# A run.


async def run(kind: Kind, fuse: Fuse, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        kind(monkeypatch) as stage,
        open_directory() as directory,
    ):
        with trio.fail_after(20), planted(fuse):
            async with connected_to(
                directory.agent_for, catalogue=stage.catalogue, list_models=stage.list_models
            ) as editor:
                one, other = stage.definitions
                chats = [Chat(editor, agent=agent) for agent in (one, one, other, ELIZA)]
                requests = [chat.ask("Hello") for chat in chats]
                for chat, request in zip(chats, requests, strict=True):
                    await request.settled()
                    if "result" in (request.reply or {}):
                        chat.keep(request)
                failed = [request for request in requests if "error" in (request.reply or {})]
                assert are_together(failed, requests), fuse.where
                for request in requests:
                    answer = stage.answer if request is not requests[-1] else ""
                    assert is_fine(request, answer, failed), (fuse.where, request)
                listing = editor.request("lm/provideLanguageModelChatInformation", {"silent": True})
                await listing.settled()
                assert "result" in (listing.reply or {}) or is_fine(listing, "", [listing])
                sys.setprofile(None)
                for chat in chats:
                    answer = await chat.say("And now?")
                    assert answer.result == {}
                    assert answer.text


def are_together(failed: list[Request], requests: list[Request]) -> bool:
    """Return whether those that failed share something."""
    return len(failed) <= 1 or failed == requests[:2]


def is_fine(request: Request, answer: str, failed: list[Request]) -> bool:
    """Return whether a request failed in words, or else has its whole answer."""
    if request in failed:
        return bool(request.error["data"]["kind"]) and "lanted" not in request.error["message"]
    return request.text == answer if answer else bool(request.text)


KINDS: tuple[Kind, ...] = (eliza, acp, endpoint, listing)


def plays(kind: Kind, fuse: Fuse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run it in a loop of its own; what waits in vain for long, waits no time."""
    clock = trio.testing.MockClock(autojump_threshold=0) if kind in (eliza, acp) else None
    with monkeypatch.context() as patch:
        play: Callable[[], Awaitable[None]] = lambda: run(kind, fuse, patch)  # noqa: E731
        patch.setattr(logging.getLogger("vscodelm"), "disabled", True)  # it keeps the tracebacks
        with warnings.catch_warnings():
            # a failure in the midst of closing something leaves it to the collector
            warnings.simplefilter("ignore", ResourceWarning)
            trio.run(play, clock=clock)
            gc.collect()


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_failures_in_what_chats_share_cost_the_others_nothing(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Fuse(0)
    plays(kind, whole, monkeypatch)
    assert whole.calls > 1
    for k in range(1, whole.calls + 1, 1 + whole.calls // FEW):
        plays(kind, Fuse(k), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_failure_in_what_chats_share_costs_the_others_anything(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k in count(1):
        fuse = Fuse(k)
        plays(kind, fuse, monkeypatch)
        if fuse.calls < k:
            break
