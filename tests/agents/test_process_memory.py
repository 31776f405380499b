"""What groups of processes hold, read from the system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from agents import process_memory
from agents.process_memory import (
    MEASURING_SECONDS,
    Held,
    held_by,
    row_of_stat,
    rows_of_ps,
    summed,
)

if TYPE_CHECKING:
    from trio.testing import MockClock

STAT = b"7 (a (odd) name) S 1 42 42 0 -1 4194304 1 0 0 0 3 4 0 0 20 0 5 0 9 3300000 1000 18446744\n"


def test_a_process_in_proc_has_a_group_and_pages_of_memory() -> None:
    assert row_of_stat(STAT, 4096) == (42, 4_096_000)


def test_a_process_that_has_ended_holds_nothing() -> None:
    assert row_of_stat(STAT.replace(b") S", b") Z"), 4096) is None
    assert list(rows_of_ps(b"  42   0 Z+\n  43  10 S\n")) == [(43, 10_240)]


def test_the_members_of_a_group_are_added_up_and_others_left_out() -> None:
    rows = [(42, 100), (7, 1), (42, 20), (43, 3)]
    assert summed(rows, {42, 43, 44}) == {42: Held(2, 120), 43: Held(1, 3)}


@pytest.mark.skipif(sys.platform == "win32", reason="it has no groups")
async def test_a_group_is_measured_with_its_children() -> None:
    begin = "import subprocess as s; child = s.Popen(['sleep', '60'])"
    program = f"{begin}; print(1, flush=True); child.wait()"
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        with trio.fail_after(30):
            await process.stdout.receive_some()
        held = (await held_by([process.pid, 1 << 30]))[process.pid]
    finally:
        os.killpg(process.pid, 9)
        await process.wait()
    assert held.processes == 2
    assert 1_000_000 < held.memory_bytes < 1_000_000_000


async def test_where_nothing_can_be_read_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await held_by([]) == {}
    with monkeypatch.context() as on_windows:
        on_windows.setattr(sys, "platform", "win32")
        assert await held_by([os.getpgrp()]) == {}
    monkeypatch.setattr(sys, "platform", "other")
    monkeypatch.setenv("PATH", "")
    assert await held_by([os.getpgrp()]) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="it has no ps")
async def test_other_systems_are_asked_by_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    held = (await held_by([os.getpgrp()]))[os.getpgrp()]
    assert held.processes >= 1
    assert held.memory_bytes > 1_000_000


_PS = """#!{python}
import sys
values = {{"pgid": "42", "rss": "10", "stat": "S+"}}
columns = []
for option, value in zip(sys.argv[1:], sys.argv[2:]):
    if option == "-o":
        names, _, header = value.partition("=")
        columns += [(name, name.upper()) for name in names.split(",")]
        columns[-1] = (columns[-1][0], header)
headers = [header for _, header in columns if header]
print(*headers, sep=" ", end="\\n" if headers else "")
print(*(values[name] for name, _ in columns))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no ps")
async def test_a_ps_whose_headers_go_to_the_end_of_an_option_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POSIX has it so, and macOS does it; the ps of Linux takes several in one option."""
    (tmp_path / "ps").write_text(_PS.format(python=sys.executable))
    (tmp_path / "ps").chmod(0o755)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(process_memory, "MEASURING_SECONDS", 60.0)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await held_by([42]) == {42: Held(1, 10_240)}


@pytest.mark.limit("agents.process_memory.MEASURING_SECONDS")
async def test_a_system_that_takes_too_long_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async def never(*_args: object, **_options: object) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(process_memory.trio, "run_process", never)
    monkeypatch.setattr(process_memory.trio.to_thread, "run_sync", never)
    before = trio.current_time()
    assert await held_by([os.getpgrp()]) == {}
    assert trio.current_time() - before == pytest.approx(MEASURING_SECONDS)
