"""Faults that are planted: do the tests of a module notice what they are there for?

Each fault is a piece of a module's source and what stands there instead. It goes into a copy of the
project, in which the tests of the module must then fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

ROOT = Path(__file__).parents[1]
PATIENCE = 300.0
"""Seconds for the tests of one fault; those of all faults of a folder have ten times as long."""


@attrs.frozen
class Fault:
    """What goes wrong, where, and how. `tests` see it; without any, those of its module."""

    name: str
    module: str
    source: str
    instead: str
    tests: tuple[str, ...] = ()


@attrs.frozen
class Ground:
    """Where faults are planted: modules of `package`, and what of the project goes into the copy.

    `tests` is the folder of tests that their subject's path names. `tested_by` names those of
    modules that are tested by more than their own file.
    """

    home: ClassVar[Path] = ROOT
    """The folder that the names of tests begin in."""

    package: str
    tests: str
    copied: tuple[str, ...]
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = attrs.field(factory=dict[str, str])
    tested_by: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict[str, "tuple[str, ...]"])

    def file(self, fault: Fault) -> Path:
        """Return where in the project, or in a copy of it, a fault is planted."""
        return Path(self.package, f"{fault.module}.py")

    def fits(self, fault: Fault) -> None:
        """Fail unless a fault is in the words that its module has now, and its tests are there."""
        assert self._source(fault).count(fault.source) == 1
        tests = [test.partition("::")[0] for test in self._tests(fault)]
        assert [test for test in tests if not (self.home / test).exists()] == []
        if self.file(fault).suffix == ".py":
            compile(self._faulty(fault), fault.module, "exec")

    def passes_without(self, faults: Iterable[Fault], copy: Path) -> None:
        """Fail unless the tests pass in a copy without a fault."""
        run = self._run(copy, sorted({test for fault in faults for test in self._tests(fault)}))
        assert run.returncode == pytest.ExitCode.OK, run.stdout

    def notices(self, fault: Fault, copy: Path) -> None:
        """Fail unless a test fails in a copy with the fault."""
        run = self._run(copy, self._tests(fault), fault)
        # Not only "it failed": tests that can't even be collected exit differently.
        assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout

    def _source(self, fault: Fault) -> str:
        return (ROOT / self.file(fault)).read_text(encoding="utf-8")

    def _faulty(self, fault: Fault) -> str:
        return self._source(fault).replace(fault.source, fault.instead)

    def _tests(self, fault: Fault) -> list[str]:
        names = fault.tests or self.tested_by.get(fault.module, (fault.module,))
        return [self._test(name) for name in names]

    def _test(self, name: str) -> str:
        if name.startswith("tests/"):
            return name
        folder, _, subject = name.rpartition("/")
        return Path(self.tests, folder, f"test_{subject}.py").as_posix()

    def _run(
        self, copy: Path, tests: Iterable[str], fault: Fault | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run tests of the copy, which stands before the real one on the path."""
        for folder in self.copied:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", copy)
        for file in (ROOT / "tests").glob("*.py"):
            shutil.copy(file, copy / "tests")
        if fault is not None:
            (copy / self.file(fault)).write_text(self._faulty(fault), encoding="utf-8")
        options = ["-x", "-q", "-p", "no:cacheprovider", *self.options]
        return subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *options, *tests],
            cwd=copy,
            env={
                **os.environ,
                "PYTHONPATH": str(copy),
                "HYPOTHESIS_PROFILE": "faults",
                **self.environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE if fault is not None else 10 * PATIENCE,
            check=False,
        )
