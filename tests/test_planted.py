"""Who looks after the tests is looked after here: a fault that proves nothing is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from .planted import Fault, Ground

GROUND = Ground("tests", "tests", copied=("bridge", "tests/bridge"))
HERE = "test_planted"
ONCE = "a word of this file"
TESTS = "tests/bridge/test_value.py"


def test_a_fault_in_the_words_of_its_module_fits() -> None:
    GROUND.fits(Fault("it fits", HERE, f'ONCE = "{ONCE}"', "ONCE = 1", (TESTS,)))


@pytest.mark.parametrize(
    ("source", "instead"),
    [("ONCE" + " = 2", "ONCE = 1"), ("ONCE", "TWICE"), (f'ONCE = "{ONCE}"', "ONCE = ")],
    ids=["in words that aren't there", "in words that are there twice", "that can't be read"],
)
def test_any_other_fault_does_not(source: str, instead: str) -> None:
    with pytest.raises((AssertionError, SyntaxError)):
        GROUND.fits(Fault("it doesn't fit", HERE, source, instead, (TESTS,)))


def test_a_fault_whose_tests_are_not_there_does_not_fit() -> None:
    moved = Fault("nobody looks", HERE, f'ONCE = "{ONCE}"', "ONCE = 1", ("tests/test_moved.py",))
    with pytest.raises(AssertionError):
        GROUND.fits(moved)


UNSEEN = Fault("nobody sees it", HERE, f'ONCE = "{ONCE}"', "ONCE = 1", (TESTS,))
BROKEN = Fault("nothing can be run", "conftest", "import os\n", "import oss\n", (TESTS,))


@pytest.mark.slow
@pytest.mark.parametrize("fault", [UNSEEN, BROKEN], ids=lambda fault: fault.name)
def test_a_fault_with_which_no_test_fails_or_none_runs_proves_nothing(
    fault: Fault, tmp_path: Path
) -> None:
    GROUND.fits(fault)
    GROUND.passes_without([fault], tmp_path / "without")
    with pytest.raises(AssertionError):
        GROUND.notices(fault, tmp_path / "with")
