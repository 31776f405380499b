"""Do the tests of the bridge notice what they are there for? Faults are planted, one at a time.

Each of `tests.bridge.faults` goes into a copy of the project, in which the module's own tests must
then fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tooling.pure import ROOT

from .bridge.faults import FAULTS, Fault


def source_of(fault: Fault) -> str:
    return (ROOT / "bridge" / f"{fault.module}.py").read_text()


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_still_fits_the_source(fault: Fault) -> None:
    """One that doesn't proves nothing: say it in the words that the module has now."""
    assert source_of(fault).count(fault.source) == 1
    compile(source_of(fault).replace(fault.source, fault.instead), fault.module, "exec")


def copy_project(to: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "bridge", to / "bridge", ignore=ignore)
    shutil.copytree(ROOT / "tests" / "bridge", to / "tests" / "bridge", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", to)
    for file in (ROOT / "tests").glob("*.py"):
        shutil.copy(file, to / "tests")


TESTED_BY = {"align": ("align", "rules")}
"""Modules whose tests are more than their own file."""


def run_tests(project: Path, *modules: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of modules of the copy, which stands before the real one on the path."""
    tests = [test for module in modules for test in TESTED_BY.get(module, (module,))]
    files = [f"tests/bridge/test_{test}.py" for test in tests]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-o", "xfail_strict=false"]
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, *files],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "HYPOTHESIS_PROFILE": "faults"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_without_a_fault_the_copy_passes(tmp_path: Path) -> None:
    copy_project(tmp_path)
    run = run_tests(tmp_path, *sorted({fault.module for fault in FAULTS}))
    assert run.returncode == pytest.ExitCode.OK, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_noticed_by_the_tests_of_its_module(
    fault: Fault, tmp_path: Path
) -> None:
    copy_project(tmp_path)
    faulty = source_of(fault).replace(fault.source, fault.instead)
    (tmp_path / "bridge" / f"{fault.module}.py").write_text(faulty)
    run = run_tests(tmp_path, fault.module)
    # Not only "it failed": tests that can't even be collected exit differently.
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
