"""Measure from the process's start to its first answer, relative to the unavoidable imports."""

from __future__ import annotations

import subprocess
import sys
import time

from .editor import chat_line, message
from .harness import ROOT, VSCODELM, Result, environment, running

LIMIT = 1.3
_IMPORTS = "import trio, msgspec, attrs"


def measure(runs: int = 40) -> list[Result]:
    """Measure both in turn, and take the fastest of each: other work can only make them slower."""
    _answer()  # from here on everything is compiled, and in the page cache
    _imports()
    times = [(_answer(), _imports(), _imports_alone()) for _ in range(runs)]
    answer, imports, alone = (1000 * min(column) for column in zip(*times, strict=True))
    note = (
        f"{answer:.0f} ms against {imports:.0f} ms; "
        f"{alone:.0f} ms to the end of the imports, before the interpreter leaves"
    )
    return [Result("start", answer / imports, LIMIT, "x", note)]


def _answer() -> float:
    """Return the seconds until Eliza's first line."""
    request = chat_line(1, [message("user", "Hello")])
    began = time.perf_counter()
    with running([VSCODELM]) as child:
        child.write(request)
        child.read()
        return time.perf_counter() - began


def _imports() -> float:
    """Return the seconds of the whole command that the limit names."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _IMPORTS],
        stdin=subprocess.DEVNULL,
        env=environment(),
        cwd=ROOT,
        check=True,
    )
    return time.perf_counter() - began


def _imports_alone() -> float:
    """Return the seconds until the imports are done: what an answer can be compared with."""
    began = time.perf_counter()
    with running([sys.executable, "-c", f"{_IMPORTS}; print(flush=True)"]) as child:
        child.read()
        return time.perf_counter() - began
