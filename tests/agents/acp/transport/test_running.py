from __future__ import annotations

import signal
import sys

import pytest
import trio

from agents.acp.transport.running import kill_all
from agents.acp.transport.subprocess import open_process
from bridge.wire import McpServerSpec
from tests.fakes.groups import group_is_gone

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(1000)"])
time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups of processes")
async def test_all_that_runs_is_killed_with_its_children_and_what_has_ended_is_no_fault() -> None:
    spec = McpServerSpec("agent", sys.executable, ("-c", STUBBORN))
    with trio.fail_after(30):
        async with open_process(McpServerSpec("agent", sys.executable, ("-c", ""))) as ended:
            await ended.ended()
            async with open_process(spec) as first, open_process(spec) as second:
                for child in (first, second):
                    assert await child.source.receive_some() == b"\n"
                kill_all()
                for child in (first, second):
                    assert await child.process.wait() == -signal.SIGKILL
            assert group_is_gone(first.pid)
            assert group_is_gone(second.pid)


async def test_what_has_ended_is_not_signalled_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    signalled: list[int] = []

    def signal_group(pid: int, _number: int) -> None:
        signalled.append(pid)

    with trio.fail_after(30):
        async with open_process(McpServerSpec("agent", sys.executable, ("-c", ""))) as child:
            await child.ended()
    if sys.platform != "win32":
        monkeypatch.setattr("os.killpg", signal_group)
        kill_all()
    assert child.pid not in signalled
