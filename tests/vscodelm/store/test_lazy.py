from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import platformdirs
import pytest
import trio

from actors.memory import Known
from agents.open_responses.checkpoints import Point
from tests.vscodelm.store.chats import SCOPE, chat, path
from vscodelm.places import state_folder
from vscodelm.store import lazy as memory_module
from vscodelm.store.lazy import open_memory


async def test_both_kinds_of_memory_outlive_the_process(tmp_path: Path) -> None:
    point = Point("resp_1", b"setup")
    with trio.fail_after(20):
        async with open_memory(tmp_path) as memory:
            assert await memory.begin(SCOPE, "s")
            memory.settle(SCOPE, "s", chat("a", 1), None)
            memory.release(SCOPE, "s")
            memory.keep(SCOPE, b"1", point)
            memory.keep(SCOPE, b"2", point)
            memory.forget(SCOPE, [b"2"])
        async with open_memory(tmp_path) as memory:
            assert await memory.find(SCOPE, path("a", 1)) == Known("s", 2)
            assert await memory.points(SCOPE, 10) == [(b"1", point)]


async def test_who_remembers_nothing_leaves_no_trace(tmp_path: Path) -> None:
    with trio.fail_after(5):
        async with open_memory(tmp_path / "state"):
            pass
    assert not (tmp_path / "state").exists()


def test_the_folder_is_the_named_one_or_the_environment_s_or_the_user_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VSCODELM_STATE_DIR", "here")
    assert state_folder(Path("there")) == Path("there")
    assert state_folder(None) == Path("here")
    monkeypatch.delenv("VSCODELM_STATE_DIR")
    assert state_folder(None) == platformdirs.user_state_path("vscodelm")


def test_an_editor_does_not_wait_for_the_store_to_load() -> None:
    assert not {one for one in _loaded() if one.startswith("vscodelm.store.")} - {
        "vscodelm.store.lazy"
    }


@pytest.mark.parametrize("late", ["sqlite3", "platformdirs", "json", "httpx", "asyncio"])
def test_an_editor_does_not_wait_for_a_library_that_its_first_chat_may_not_need(late: str) -> None:
    assert late not in _loaded()


@cache
def _loaded() -> frozenset[str]:
    """Return the modules that a server loads before it reads its options."""
    program = (
        "import sys\n"
        "before = {*sys.modules}\n"
        "import vscodelm.cli, vscodelm.serve\n"
        "print(*{*sys.modules} - before)"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, check=True, text=True, timeout=60)
    return frozenset(done.stdout.split())


async def test_a_store_that_can_t_even_be_loaded_costs_the_memory_and_no_chat(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def homeless(_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(memory_module, "state_folder", homeless)
    with trio.fail_after(20):
        async with open_memory(None) as memory:
            assert await memory.find(SCOPE, path("a", 1)) is None
            assert await memory.begin(SCOPE, "s")
            assert await memory.has(SCOPE, "s")
            memory.settle(SCOPE, "s", chat("a", 1), None)
            memory.release(SCOPE, "s")
            memory.keep(SCOPE, b"1", Point("resp_1", b"setup"))
            memory.forget(SCOPE, [b"1"])
            assert await memory.points(SCOPE, 10) == ()
    assert len([record for record in caplog.records if record.exc_info]) == 1


async def test_a_record_that_can_t_be_written_down_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def odd(_: object) -> None:
        raise RuntimeError("odd")

    with trio.fail_after(20):
        async with open_memory(tmp_path) as memory:
            with monkeypatch.context() as broken:
                broken.setattr("vscodelm.store.session_memory.Sketch.of", odd)
                memory.settle(SCOPE, "s", chat("a", 1), None)
                assert await memory.find(SCOPE, path("b", 1)) is None
            memory.settle(SCOPE, "t", chat("b", 1), None)
            memory.release(SCOPE, "t")
        async with open_memory(tmp_path) as memory:
            assert await memory.find(SCOPE, path("b", 1)) == Known("t", 2)
    assert len([record for record in caplog.records if record.exc_info]) == 1
