"""Test the wheel as it is installed: `make test-wheel`, on every system and Python of the workflow.

The wheel is built and installed, with the tools of the tests, into an environment of its own. The
tests run in a folder that has no sources of vscodelm: a module that the wheel lacks is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("bridge", "actors", "agents", "vscodelm")
LEFT_OUT = ("tests/docs", "tests/tooling", "tests/extension", "tests/benchmarks")
"""Tests of other parts of the repository than the wheel."""
SOURCES = (
    "tests/test_layers.py",
    "tests/test_library.py",
    "tests/test_names.py",
    "tests/test_patterns.py",
    "tests/test_planted.py",
    "tests/test_planted_faults.py",
)
"""Tests that read the sources of vscodelm."""
FAST = "not slow and not agents and not faults and not long"
_UNUSED = shutil.ignore_patterns("node_modules", "dist", "output", "__pycache__")


def program_of(environment: Path, name: str) -> Path:
    """Return where an environment keeps a program, on this system."""
    is_windows = os.name == "nt"
    return environment / ("Scripts" if is_windows else "bin") / (name + ".exe" * is_windows)


def lay_out(root: Path, folder: Path) -> None:
    """Copy what the tests need of the repository, without the sources of vscodelm."""
    for name in ("tests", "docs", "tooling", "benchmarks", "extension", "newsfragments"):
        shutil.copytree(root / name, folder / name, ignore=_UNUSED)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"):
        shutil.copy(root / name, folder)


def build(root: Path, folder: Path) -> Path:
    """Build the wheel; return its file."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    _run([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(root)], root)
    (wheel,) = folder.glob("vscodelm-*.whl")
    return wheel


def main(arguments: Sequence[str]) -> int:
    """Test the wheel; the arguments are those of pytest. Return the exit status."""
    with tempfile.TemporaryDirectory(prefix="vscodelm-wheel-") as name:
        # Short, resolved names: sockets have short paths, and macOS links its temporary folder.
        folder = Path(name).resolve()
        wheel = build(ROOT, folder / "wheel")
        environment = folder / "env"
        _run([sys.executable, "-m", "venv", str(environment)], folder)
        python = str(program_of(environment, "python"))
        pip = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        _run([*pip, f"vscodelm[dev] @ {wheel.as_uri()}"], folder)
        place = folder / "repository"
        lay_out(ROOT, place)
        left_out = [f"--ignore={path}" for path in (*LEFT_OUT, *SOURCES)]
        tests = [python, "-m", "pytest", "-p", "no:cacheprovider", "-m", FAST, *left_out]
        path = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", os.defpath)])
        return subprocess.run(
            [*tests, *arguments], cwd=place, env={**os.environ, "PATH": path}, check=False
        ).returncode


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
