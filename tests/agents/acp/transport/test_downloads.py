"""Fetches by launchers that behave as scripted, and by a real one that is a shell script."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio
import trio.testing
from trio.testing import MockClock, wait_all_tasks_blocked

from agents.acp.launch.cache import Growth
from agents.acp.launch.package import LaunchedPackage
from agents.acp.transport import downloads as module
from agents.acp.transport.base import Exit
from agents.acp.transport.downloads import Downloads
from agents.base import AgentError
from bridge.wire import EnvVariable, McpServerSpec, ProgressParams

SPEC = McpServerSpec("g", "npx", ("-y", "@google/gemini-cli@0.61.0", "--acp"))


@attrs.define(eq=False)
class Launcher:
    """A launcher in this process: it writes each second, or only lets its cache grow, and ends."""

    seconds: float
    exit_: Exit = attrs.field(factory=lambda: Exit(0))
    writes: bool = True
    grows: bool = False
    started: list[McpServerSpec] = attrs.field(factory=list[McpServerSpec], init=False)
    running: int = attrs.field(default=0, init=False)
    size: int = attrs.field(default=0, init=False)

    @asynccontextmanager
    async def launch(
        self,
        spec: McpServerSpec,
        known: Mapping[str, str],
        *,
        hear: Callable[[bytes], None],
    ) -> AsyncGenerator[Running]:
        self.started.append(spec)
        self.running += 1
        try:
            async with trio.open_nursery() as nursery:
                running = Running(self, hear)
                nursery.start_soon(running.run)
                yield running
                nursery.cancel_scope.cancel()
        finally:
            self.running -= 1

    async def look(self, package: LaunchedPackage, environment: Mapping[str, str]) -> Growth:
        await trio.lowlevel.checkpoint()
        self.size += 1_000_000 if self.grows else 0
        return Growth(self.size)


@attrs.define(eq=False)
class Running:
    launcher: Launcher
    hear: Callable[[bytes], None]
    over: trio.Event = attrs.field(factory=trio.Event, init=False)

    @property
    def source(self) -> trio.abc.ReceiveStream:
        send, receive = trio.testing.memory_stream_one_way_pair()
        send.close()
        return receive

    async def run(self) -> None:
        began = trio.current_time()
        while trio.current_time() - began < self.launcher.seconds:
            await trio.sleep(0.5)
            if self.launcher.writes:
                self.hear(b"npm http fetch GET 200\n")
        self.over.set()

    async def ended(self) -> None:
        await self.over.wait()

    async def exit(self) -> Exit:
        await trio.lowlevel.checkpoint()
        return self.launcher.exit_


@attrs.define(eq=False)
class Bench:
    """Downloads by a launcher, and what is told of them."""

    launcher: Launcher
    downloads: Downloads = attrs.field(init=False)
    told: list[ProgressParams] = attrs.field(factory=list[ProgressParams], init=False)
    has: bool = False

    def __attrs_post_init__(self) -> None:
        launcher = self.launcher
        self.downloads = Downloads(launch=launcher.launch, look=launcher.look, has=self.is_there)

    async def is_there(self, package: LaunchedPackage, environment: Mapping[str, str]) -> bool:
        await trio.lowlevel.checkpoint()
        return self.has

    async def prepare(self, spec: McpServerSpec = SPEC) -> str:
        """Return what went wrong."""
        with self.downloads.activities.told_to(self.told.append):
            try:
                await self.downloads.prepare(spec, {})
            except AgentError as error:
                return error.failure.message
            return ""


async def test_a_package_is_fetched_once_and_told_meanwhile(autojump_clock: MockClock) -> None:
    bench = Bench(Launcher(200.0))
    assert await bench.prepare() == ""
    assert trio.current_time() >= 200, "longer than an agent may take to start"
    (started,) = bench.launcher.started
    assert started.args[-3:] == ("--", "node", "--version"), "nothing of it is run"
    assert bench.told[0].title == "Fetching Gemini CLI 0.61.0"
    assert bench.told[0].message == "1 s"
    assert bench.told[-1].is_over
    assert await bench.prepare() == ""
    assert len(bench.launcher.started) == 1


async def test_what_is_there_is_not_fetched() -> None:
    bench = Bench(Launcher(1.0), has=True)
    assert await bench.prepare() == ""
    assert await bench.prepare(McpServerSpec("n", "node", ("x.js",))) == ""
    assert (bench.launcher.started, bench.told) == ([], [])


@pytest.mark.skipif(sys.platform == "win32", reason="its programs have other names")
async def test_a_program_that_is_here_is_no_package_of_its_name(tmp_path: Path) -> None:
    """`npx opencode` runs it; the package of that name is somebody else's."""
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    for folder in (tmp_path / "bin", tmp_path / "project" / "node_modules" / ".bin"):
        folder.mkdir(parents=True)
        (folder / "opencode").touch(0o755)

    async def fetches(command: str, path: str, cwd: Path) -> bool:
        bench = Bench(Launcher(0.0))
        arguments = ("-y", *command.split())
        variables = (EnvVariable("PATH", path),)
        assert await bench.prepare(McpServerSpec("o", "npx", arguments, variables, str(cwd))) == ""
        return bool(bench.launcher.started)

    on_path, nowhere = str(tmp_path / "bin"), str(tmp_path / "nowhere")
    assert not await fetches("opencode acp", on_path, tmp_path)
    assert not await fetches("opencode acp", nowhere, inner)
    assert await fetches("opencode acp", nowhere, tmp_path)
    assert await fetches("opencode@1 acp", on_path, tmp_path)
    assert await fetches("@us/opencode acp", on_path, tmp_path)


async def test_a_silent_launcher_goes_on_while_its_cache_grows(autojump_clock: MockClock) -> None:
    bench = Bench(Launcher(300.0, writes=False, grows=True))
    assert await bench.prepare() == ""
    assert any(one.message.endswith(" MB, 200 s") for one in bench.told)


@pytest.mark.limit("agents.acp.transport.downloads.STALL_SECONDS")
async def test_a_fetch_that_stalls_is_ended_and_said(autojump_clock: MockClock) -> None:
    bench = Bench(Launcher(9_999.0, writes=False))
    assert "nothing came for 120 seconds" in await bench.prepare()
    assert 120 <= trio.current_time() < 130
    assert bench.launcher.running == 0


async def test_a_failure_is_told_and_the_next_request_tries_again(
    autojump_clock: MockClock,
) -> None:
    bench = Bench(Launcher(1.0, Exit(1, "npm error code ENOTFOUND")))
    for _ in range(2):
        assert "the registry can't be reached" in await bench.prepare()
    assert len(bench.launcher.started) == 2


async def test_chats_that_need_it_at_once_share_a_fetch_and_its_failure(
    autojump_clock: MockClock,
) -> None:
    for exit_, words in ((Exit(0), ""), (Exit(1, "npm error code E404"), "no such package")):
        bench, said = Bench(Launcher(5.0, exit_)), list[str]()

        async def chat(bench: Bench = bench, said: list[str] = said) -> None:
            said.append(await bench.prepare())

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(chat)
        assert len(bench.launcher.started) == 1
        assert all(words in one and bool(one) is bool(words) for one in said), said


async def test_the_cancel_button_ends_it_for_all_who_wait(autojump_clock: MockClock) -> None:
    bench, said = Bench(Launcher(500.0)), list[str]()

    async def chat() -> None:
        said.append(await bench.prepare())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(chat)
        nursery.start_soon(chat)
        await trio.sleep(3)
        bench.downloads.activities.cancel(bench.told[0].token)
    assert (
        said
        == ["Fetching Gemini CLI 0.61.0 was cancelled. Send the message again to continue it."] * 2
    )
    assert bench.launcher.running == 0


async def test_a_chat_that_leaves_lets_another_go_on(autojump_clock: MockClock) -> None:
    bench, said, leaving = Bench(Launcher(10.0)), list[str](), trio.CancelScope()

    async def chat() -> None:
        said.append(await bench.prepare())

    async def leave() -> None:
        with leaving:
            await bench.prepare()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        await wait_all_tasks_blocked()
        nursery.start_soon(chat)
        await trio.sleep(2)
        leaving.cancel()
    assert said == [""]
    assert len(bench.launcher.started) == 2, "it goes on with what has come"
    assert bench.launcher.running == 0


async def test_who_asked_first_may_leave_and_no_process_is_left(
    autojump_clock: MockClock,
) -> None:
    bench = Bench(Launcher(10.0))
    with trio.move_on_after(3):
        await bench.prepare()
    assert bench.launcher.running == 0
    assert await bench.prepare() == "", "the next one goes on with it"


@pytest.mark.skipif(sys.platform == "win32", reason="the launcher is a shell script")
async def test_a_real_launcher_is_run_and_its_last_words_count(tmp_path: Path) -> None:
    npx = tmp_path / "npx"
    npx.write_text("#!/bin/sh\necho fetching >&2\necho npm error code ETARGET >&2\nexit 1\n")
    npx.chmod(0o755)
    home = EnvVariable("npm_config_cache", str(tmp_path))
    spec = McpServerSpec("p", str(npx), ("-y", "parrot@1.0.0"), (home,))
    downloads = Downloads()
    with trio.fail_after(30), pytest.raises(AgentError, match="no such version") as raised:
        await downloads.prepare(spec, {})
    assert raised.value.failure.message.startswith("parrot 1.0.0 can't be fetched")
    npx.write_text("#!/bin/sh\nexit 0\n")
    with trio.fail_after(30):
        await downloads.prepare(spec, {})
    missing = McpServerSpec("p", str(tmp_path / "uvx"), ("parrot@1.0.0",))
    with trio.fail_after(30), pytest.raises(AgentError, match="was not found"):
        await downloads.prepare(missing, {})
    assert module.LOOK_EVERY <= 1, "or a short fetch isn't shown"
