"""Processes that are killed at random points: what is in the store stays true."""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vscodelm.store.folder import StoreFolder

from .chatting import Witness, lead
from .damages import connect

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork server"),
]
KILLS = 200
PATIENCE = 60.0


def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.vscodelm.store.chatting", "vscodelm.store.opening"])
    return context


def test_after_200_kills_nothing_is_found_that_is_not_so(tmp_path: Path) -> None:
    processes, chance, witness = _processes(), random.Random(1), Witness()
    log = tmp_path / "log"
    log.touch()
    heard = 0
    for seed in range(KILLS):
        # two at once, of which one goes on while the other dies
        pair = [
            processes.Process(target=lead, args=(str(tmp_path), str(log), 2 * seed + one, 10_000))
            for one in range(2)
        ]
        for one in pair:
            one.start()
        _wait_for(log, heard)
        for one in chance.sample(pair, 2):
            time.sleep(chance.uniform(0, 0.08))
            one.kill()
        for one in pair:
            one.join(PATIENCE)
            assert one.exitcode == -9, "it was killed, and had not failed before"
        content = log.read_text()
        witness.hear_all(content[heard:].splitlines())
        heard = len(content)
        with connect(StoreFolder(tmp_path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
    assert min(witness.found, witness.cut_short) > KILLS / 2, "or it shows nothing"
    assert not StoreFolder(tmp_path).aside.exists()


def test_two_processes_that_leave_in_good_order_agree(tmp_path: Path) -> None:
    processes, witness = _processes(), Witness()
    log = tmp_path / "log"
    pair = [
        processes.Process(target=lead, args=(str(tmp_path), str(log), one, 400)) for one in range(2)
    ]
    for one in pair:
        one.start()
    for one in pair:
        one.join(PATIENCE)
        assert one.exitcode == 0
    witness.hear_all(log.read_text().splitlines())
    assert witness.found > 20, "or it shows nothing"
    assert witness.lost > 5, "or they were never in each other's way"


def _wait_for(log: Path, size: int) -> None:
    """Wait until a process has begun to write."""
    until = time.monotonic() + PATIENCE
    while log.stat().st_size <= size:
        assert time.monotonic() < until
        time.sleep(0.001)
