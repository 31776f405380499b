from __future__ import annotations

import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from agents.base import AgentError
from agents.events import TURN_CANCELLED, ToolAnswer
from agents.guarded import GuardedTasks
from agents.mcp import session_tools as toolbox_module
from agents.mcp import tool_servers as toolboxes_module
from agents.mcp.call_broker import CLOSED, NO_TURN
from agents.mcp.offer import NOBODY, ToolsOwner
from agents.mcp.session_tools import (
    IGNORED_SECONDS,
    LEARNING_SECONDS,
    LISTING_SECONDS,
    PROGRESS_SECONDS,
    HttpAccess,
    StdioAccess,
    Toolbox,
    load_now,
)
from agents.mcp.tool_servers import Toolboxes
from agents.mcp.tools import JSON, ToolCatalogue
from bridge.wire import ToolSpec

from .client import Client

TOOLS = (ToolSpec("read_file"),)


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Keep threads away from the mock clock."""
    load_now("server")
    load_now("http")


@asynccontextmanager
async def making() -> AsyncGenerator[Toolboxes]:
    numbers = count()
    with trio.fail_after(3600):
        async with trio.open_nursery() as nursery:
            made = Toolboxes(nursery, lambda: f"call-{next(numbers)}")
            await made.prepare()
            yield made
            nursery.cancel_scope.cancel()


async def test_the_toolboxes_of_an_agent_share_what_it_was_seen_to_do() -> None:
    async with making() as made:
        one, other = made.make(TOOLS), made.make(TOOLS)
        assert one.habit is other.habit is made.habits.calls


@asynccontextmanager
async def toolbox() -> AsyncGenerator[Toolbox]:
    async with making() as made:
        yield made.make(TOOLS)


def complains(box: Toolbox) -> bool:
    """Return whether the user is to know that the agent ignores the tools."""
    return box.is_ignored(trio.current_time()) and box.may_complain()


async def no_report(_number: int) -> None:
    await trio.lowlevel.checkpoint()


async def call(box: Toolbox, told: list[ToolAnswer], **arguments: Any) -> None:
    told.append(await box.call("read_file", arguments, no_report))


async def test_a_call_waits_for_its_result(autojump_clock: object) -> None:
    told: list[ToolAnswer] = []
    woken = 0

    def wake() -> None:
        nonlocal woken
        woken += 1

    async with toolbox() as box, trio.open_nursery() as nursery:
        box.subscribe(wake)
        box.calls.begin(trio.current_time())
        nursery.start_soon(call, box, told)
        await wait_all_tasks_blocked()
        assert woken == 1
        await trio.sleep_until(box.calls.due)
        (event,) = box.calls.emit(trio.current_time())
        assert (event.name, event.parameters, box.calls.out) == ("read_file", {}, 1)
        await wait_all_tasks_blocked()
        assert told == []
        box.answer(ToolAnswer(event.call_id, "text", is_error=True))
        await wait_all_tasks_blocked()
        assert [(one.result, one.is_error) for one in told] == [("text", True)]


class LinkedFolder(ToolsOwner):
    def spelled(self, path: str) -> str:
        return path.replace("/target/", "/link/")


@pytest.mark.parametrize(
    ("owner", "path"), [(LinkedFolder(), "/link/a.py"), (NOBODY, "/target/a.py")]
)
async def test_a_call_has_the_editors_paths(
    owner: ToolsOwner, path: str, autojump_clock: object
) -> None:
    async with making() as made, trio.open_nursery() as nursery:
        box = made.make(TOOLS, owner=owner)
        box.calls.begin(trio.current_time())
        nursery.start_soon(partial(call, box, [], path="/target/a.py"))
        await wait_all_tasks_blocked()
        await trio.sleep_until(box.calls.due)
        (event,) = box.calls.emit(trio.current_time())
        assert event.parameters == {"path": path}
        nursery.cancel_scope.cancel()


async def test_a_call_that_is_cancelled_is_taken_back(autojump_clock: object) -> None:
    async with toolbox() as box:
        box.calls.begin(trio.current_time())
        with trio.move_on_after(1):
            await box.call("read_file", {}, no_report)
        assert box.calls.emit(trio.current_time()) == ()
        assert box.calls.due == float("inf")


@pytest.mark.limit("agents.mcp.session_tools.PROGRESS_SECONDS")
async def test_a_call_that_takes_long_reports_until_it_is_answered(
    autojump_clock: object,
) -> None:
    reported: list[tuple[int, float]] = []

    async def report(number: int) -> None:
        await trio.lowlevel.checkpoint()
        reported.append((number, trio.current_time() - began))

    async with toolbox() as box, trio.open_nursery() as nursery:
        box.calls.begin(trio.current_time())
        began = trio.current_time()
        arguments: JSON = {}
        nursery.start_soon(box.call, "read_file", arguments, report)
        await trio.sleep(2.5 * PROGRESS_SECONDS)
        assert reported == [(1, PROGRESS_SECONDS), (2, 2 * PROGRESS_SECONDS)]
        box.cancel()
        await trio.sleep(5 * PROGRESS_SECONDS)
        assert len(reported) == 2


async def test_calls_end_with_the_turn_and_with_the_session(autojump_clock: object) -> None:
    told: list[ToolAnswer] = []
    async with toolbox() as box, trio.open_nursery() as nursery:
        await call(box, told)
        box.calls.begin(trio.current_time())
        nursery.start_soon(call, box, told)
        await wait_all_tasks_blocked()
        box.cancel()
        await wait_all_tasks_blocked()
        box.calls.begin(trio.current_time())
        nursery.start_soon(call, box, told)
        await wait_all_tasks_blocked()
        box.close()
        await wait_all_tasks_blocked()
        assert [one.result for one in told] == [NO_TURN, TURN_CANCELLED, CLOSED]


@pytest.mark.limit("agents.mcp.session_tools.IGNORED_SECONDS")
async def test_an_agent_that_never_comes_is_told_of_once(autojump_clock: object) -> None:
    async with making() as made:
        one, other = made.make(TOOLS), made.make(TOOLS)
        assert not complains(one)
        one.calls.begin(trio.current_time())
        assert not complains(one), "it may be on its way"
        await trio.sleep(IGNORED_SECONDS)
        one.calls.begin(trio.current_time())
        assert complains(one)
        assert not complains(one)
        other.calls.begin(trio.current_time())
        await trio.sleep(IGNORED_SECONDS)
        assert not complains(other), "the user knows of this agent"


async def test_an_agent_that_was_given_nothing_ignores_nothing(autojump_clock: object) -> None:
    async with making() as made:
        without_server, without_tools = made.make(TOOLS), made.make(TOOLS)
        without_server.access = None
        await without_tools.offer(())
        for box in (without_server, without_tools):
            box.calls.begin(trio.current_time())
            await trio.sleep(IGNORED_SECONDS)
            assert not complains(box)
        await without_tools.offer(TOOLS)
        assert complains(without_tools), "and nothing before has used up the notice"


async def test_an_agent_that_has_connected_ignores_nothing(autojump_clock: object) -> None:
    """It may list the tools only when its model looks for some."""
    async with toolbox() as box, trio.open_nursery() as nursery:
        theirs, ours = memory_stream_pair()
        nursery.start_soon(box.serve, ours)
        await Client(theirs).introduce()
        box.calls.begin(trio.current_time())
        await trio.sleep(IGNORED_SECONDS)
        assert not box.was_asked
        assert not complains(box)
        await theirs.aclose()


async def test_an_agent_that_has_come_is_not_complained_of(autojump_clock: object) -> None:
    async with toolbox() as box, trio.open_nursery() as nursery:
        theirs, ours = memory_stream_pair()
        nursery.start_soon(box.serve, ours)
        client = Client(theirs)
        await client.introduce()
        assert not box.was_asked
        await client.ask("tools/list")
        assert box.was_asked
        box.calls.begin(trio.current_time())
        await trio.sleep(IGNORED_SECONDS)
        assert not complains(box)
        await theirs.aclose()


async def test_tools_are_announced_only_where_they_are_others(autojump_clock: object) -> None:
    async with toolbox() as box, trio.open_nursery() as nursery:
        await box.offer((ToolSpec("early"), ToolSpec("late")))
        theirs, ours = memory_stream_pair()
        nursery.start_soon(box.serve, ours)
        client = Client(theirs)
        await client.introduce()
        tools = (await client.ask("tools/list"))["tools"]
        assert [tool["name"] for tool in tools] == ["early", "late"]
        await box.offer((ToolSpec("early"), ToolSpec("late")))
        await box.offer((ToolSpec("late"), ToolSpec("early")))
        await wait_all_tasks_blocked()
        await client.ask("ping")
        assert client.unexpected == []
        await box.offer((ToolSpec("early", "said otherwise"), ToolSpec("late")))
        await client.hear("notifications/tools/list_changed")
        tools = (await client.ask("tools/list"))["tools"]
        assert tools[0]["description"] == "said otherwise"
        await theirs.aclose()


async def test_what_it_was_opened_with_is_taken_back_where_the_first_turn_has_no_tools() -> None:
    box = Toolbox("s", ToolCatalogue.of((ToolSpec("edit"),), "s"), lambda: "c")
    await box.offer(())
    assert not box.catalogue.tools


async def test_each_session_has_a_name_and_a_token_of_its_own(autojump_clock: object) -> None:
    async with making() as made:
        boxes = [made.make(TOOLS) for _ in range(50)]
        assert len({box.server for box in boxes}) == 50
        assert len({str(box.access) for box in boxes}) == 50
        assert all(isinstance(box.access, StdioAccess) for box in boxes)


async def test_each_opening_is_given_a_token_of_its_own(autojump_clock: object) -> None:
    async with making() as made:
        box = made.make(TOOLS)
        first = box.access
        assert box.present() == first
        second = box.present()
        assert isinstance(first, StdioAccess)
        assert isinstance(second, StdioAccess)
        assert second.environment != first.environment
        assert box.access == second


async def test_a_server_to_which_somebody_came_has_another_name_in_the_next_opening() -> None:
    """An agent that keeps connections by their names would keep one that has ended."""
    async with making() as made:
        box = made.make(TOOLS)
        first = box.server
        mcp = await box.mcp()
        for has_come in (False, False, True):
            assert box.server == first
            box.present()
            mcp.has_come = has_come
        box.present()
        assert box.server != first
        assert not mcp.has_come
        assert len(box.server) == len(first)
        again = made.make(TOOLS, first)
        assert again.server == first, "it was given up"
        box.close()
        assert made.make(TOOLS, box.server).server == box.server


async def test_who_came_to_an_opening_that_failed_does_not_count(autojump_clock: object) -> None:
    async with making() as made:
        box = made.make(TOOLS)
        box.present()
        mcp = await box.mcp()
        mcp.asked.set()
        mcp.has_come = True
        box.present()
        assert not box.was_asked
        box.calls.begin(trio.current_time())
        await trio.sleep(IGNORED_SECONDS)
        assert complains(box)


async def test_a_name_is_not_given_twice_while_it_is_used(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    suffixes = iter(["aa", "aa", "bb", "aa"])

    def token_hex(_size: int) -> str:
        return next(suffixes)

    monkeypatch.setattr(toolboxes_module.secrets, "token_hex", token_hex)
    async with trio.open_nursery() as nursery:
        made = Toolboxes(nursery, lambda: "")
        make = made._make  # pyright: ignore[reportPrivateUsage]  # without a listener
        first, second = make(TOOLS, "", NOBODY), make(TOOLS, "", NOBODY)
        assert (first.server, second.server) == ("vscaa", "vscbb")


async def test_a_name_that_was_given_up_twice_is_not_taken_from_another_server() -> None:
    async with making() as made:
        box = made.make(TOOLS)
        box.close()
        again = made.make(TOOLS, box.server)
        assert again.server == box.server
        box.close()
        assert made.make(TOOLS, box.server).server != again.server


async def test_over_http_it_listens_as_long_as_the_session_lives() -> None:
    async with making() as made:
        box = await made.make_web(TOOLS)
        assert isinstance(box.access, HttpAccess)
        port = int(box.access.url.split("/")[2].split(":")[1])
        await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
        box.close()
        with trio.fail_after(30):
            while True:
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                except OSError:
                    break


async def test_where_nothing_can_listen_the_agent_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @asynccontextmanager
    async def refuse(*_: object) -> AsyncGenerator[None]:
        raise OSError("no room")
        yield

    monkeypatch.setattr(toolboxes_module, "open_listener", refuse)
    monkeypatch.setattr(sys.modules["agents.mcp.http"], "open_web", refuse)
    async with trio.open_nursery() as nursery:
        made = Toolboxes(nursery, lambda: "")
        with pytest.raises(AgentError, match="nothing can listen here: no room"):
            await made.prepare()
        with pytest.raises(AgentError, match="nothing can listen here: no room"):
            await made.make_web(TOOLS)


def test_loading_what_agents_need_does_not_load_what_takes_long() -> None:
    import subprocess

    code = "import agents.acp.agent, sys; print('mcp' in sys.modules, 'hypercorn' in sys.modules)"
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, check=True, capture_output=True, text=True, timeout=60).stdout
    assert told.split() == ["False", "False"]


@pytest.mark.limit("agents.mcp.session_tools.LEARNING_SECONDS")
async def test_an_agent_is_waited_for_until_it_has_asked_what_there_is(
    autojump_clock: object,
) -> None:
    async with toolbox() as box, trio.open_nursery() as nursery:
        begun = trio.current_time()

        async def ask() -> None:
            await trio.sleep(3)
            (await box.mcp()).asked.set()

        nursery.start_soon(ask)
        await box.learned()
        assert trio.current_time() == pytest.approx(begun + 3 + LEARNING_SECONDS)
        await box.learned()
        assert trio.current_time() == pytest.approx(begun + 3 + LEARNING_SECONDS)


async def test_an_agent_that_has_asked_already_is_not_waited_for(autojump_clock: object) -> None:
    async with toolbox() as box:
        (await box.mcp()).asked.set()
        begun = trio.current_time()
        await box.learned()
        assert trio.current_time() == begun


@pytest.mark.limit("agents.mcp.session_tools.LISTING_SECONDS")
async def test_an_agent_that_never_asks_is_waited_for_once(autojump_clock: object) -> None:
    async with toolbox() as box:
        begun = trio.current_time()
        await box.learned()
        await box.learned()
        assert trio.current_time() == pytest.approx(begun + LISTING_SECONDS)


async def test_a_door_that_breaks_is_followed_by_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    breaks = trio.Event()

    async def break_down(*_: object) -> None:
        await breaks.wait()
        raise OSError("it can't be listened at any more")

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            made = Toolboxes(GuardedTasks(nursery), lambda: "")
            with monkeypatch.context() as broken:
                broken.setattr(trio, "serve_listeners", break_down)
                await made.prepare()
            first = made.make(TOOLS)
            breaks.set()
            await trio.testing.wait_all_tasks_blocked()
            await made.prepare()
            second = made.make(TOOLS)
            assert isinstance(first.access, StdioAccess)
            assert isinstance(second.access, StdioAccess)
            assert first.access.arguments != second.access.arguments
            nursery.cancel_scope.cancel()


def test_two_threads_never_import_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that import each other fail then, in one of the two."""
    both = threading.Barrier(2)
    met: list[str] = []

    def importing(module: str) -> None:
        try:
            both.wait(timeout=0.2)
        except threading.BrokenBarrierError:
            return  # it is alone
        met.append(module)

    monkeypatch.setattr(toolbox_module, "import_module", importing)
    monkeypatch.setattr(toolbox_module, "_loaded", set[str]())
    threads = [threading.Thread(target=load_now, args=(name,)) for name in ("server", "http")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert met == []
