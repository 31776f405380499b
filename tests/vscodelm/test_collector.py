"""When Python's garbage collector passes over everything."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Generator

import pytest

from vscodelm import collector


class Ring:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def restored() -> Generator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    gc.enable()


def old_garbage() -> weakref.ref[Ring]:
    """Return garbage that has outlived the passes over what is young."""
    ring = Ring()
    found = weakref.ref(ring)
    gc.collect(1)
    del ring
    return found


def test_a_full_pass_is_made_when_it_is_due_and_not_before() -> None:
    collector.hold_back()
    gc.collect()
    garbage = old_garbage()
    collector.collect_if_due()
    assert garbage() is not None
    for _ in range(10):
        gc.collect(1)
    collector.collect_if_due()
    assert garbage() is None


def test_much_work_makes_no_full_pass() -> None:
    """Three hundred thousand objects are those of an answer with 16,000 tool calls."""
    full = 0

    def count(phase: str, info: dict[str, int]) -> None:
        nonlocal full
        full += phase == "start" and info["generation"] == 2

    collector.hold_back()
    gc.collect()
    gc.callbacks.append(count)
    try:
        kept = [list[int]() for _ in range(300_000)]
    finally:
        gc.callbacks.remove(count)
    assert len(kept) == 300_000
    assert full == 0


def test_what_was_loaded_before_is_out_of_all_passes() -> None:
    before = gc.get_freeze_count()
    collector.hold_back()
    assert gc.get_freeze_count() > before + 1_000


def test_what_is_loaded_during_a_pause_is_out_of_the_pass_that_follows() -> None:
    with collector.paused():
        loaded = [Ring() for _ in range(5_000)]
        assert not gc.isenabled()
    assert gc.isenabled()
    looked_at = {id(found) for found in gc.get_objects()}
    assert not [ring for ring in loaded if id(ring) in looked_at]


def test_the_program_that_an_editor_starts_holds_it_back() -> None:
    code = (
        "import gc, sys, vscodelm.serve as s\n"
        "s.serve(s.ServeOptions())\n"
        "print(gc.get_freeze_count() > 0, gc.get_threshold()[2], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"", capture_output=True, timeout=60, check=True
    )
    assert done.stderr.split() == [b"True", b"%d" % collector.FULL_PASS_AFTER]
