"""Do the tests of the bridge notice what they are there for? Faults are planted, one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from .bridge.faults import FAULTS
from .planted import Fault, Ground

GROUND = Ground(
    "bridge",
    "tests/bridge",
    copied=("bridge", "tests/bridge"),
    options=("-o", "xfail_strict=false"),
    tested_by={"align": ("align", "rules")},
)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_still_fits_the_source(fault: Fault) -> None:
    GROUND.fits(fault)


@pytest.mark.faults
def test_without_a_fault_the_copy_passes(tmp_path: Path) -> None:
    GROUND.passes_without(FAULTS, tmp_path)


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_noticed_by_the_tests_of_its_module(
    fault: Fault, tmp_path: Path
) -> None:
    GROUND.notices(fault, tmp_path)
