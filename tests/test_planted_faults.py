"""Do the tests of the bridge notice what they are there for? Faults are planted, one at a time.

Each is a piece of a module's source and what stands there instead. It goes into a copy of the
project, in which the module's own tests must then fail. Those that the first implementation of this
idea had are among them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from tooling.pure import ROOT


@attrs.frozen
class Fault:
    """What goes wrong, and how."""

    name: str
    module: str
    source: str
    instead: str

    def __str__(self) -> str:
        return f"{self.module}: {self.name}"


FAULTS = [
    Fault(
        "parts of an older turn are taken",
        "history",
        "return Kind.EMIT if event.turn == self.turn else Kind.STALE",
        "return Kind.EMIT",
    ),
    Fault(
        "the end of an older turn ends this one",
        "history",
        "return Kind.FINISH if event.turn == self.turn else Kind.STALE",
        "return Kind.FINISH",
    ),
    Fault(
        "the failure of an older turn fails this one",
        "history",
        "return Kind.FAIL if event.turn == self.turn else Kind.STALE",
        "return Kind.FAIL",
    ),
    Fault(
        "whatever is cancelled, the open request is",
        "history",
        "return Kind.CANCEL if event.request == self.request else Kind.STALE",
        "return Kind.CANCEL",
    ),
    Fault(
        "an open request is overwritten",
        "history",
        "_cell(_STREAMING, Step.ABORT, Step.CANCELLED, Step.COMMIT, Step.DELIVER)",
        "_cell(_STREAMING, Step.ABORT, Step.COMMIT, Step.DELIVER)",
    ),
    Fault(
        "a turn that is superseded goes on",
        "history",
        "_cell(_STREAMING, Step.ABORT, Step.CANCELLED, Step.WITHDRAW, Step.DELIVER)",
        "_cell(_STREAMING, Step.CANCELLED, Step.WITHDRAW, Step.DELIVER)",
    ),
    Fault(
        "what is withdrawn is committed",
        "history",
        "                self.provisional = None\n",
        "                self.committed_path[:] = self.shown\n"
        "                self.provisional = None\n",
    ),
    Fault(
        "a failed turn leaves its request open",
        "history",
        "Kind.FAIL: _cell(_IDLE, Step.FAILED)",
        "Kind.FAIL: _cell(_IDLE)",
    ),
    Fault(
        "a request stays open after it was settled",
        "history",
        "        self.request = None\n",
        "",
    ),
    Fault("an answer begins with the one before", "history", "        self._parts = []\n", ""),
    Fault("turns are not counted", "history", "self.turn += 1", "self.turn = 1"),
    Fault(
        "the end of a conversation leaves its request open",
        "history",
        "Kind.CLOSE: _cell(_CLOSED, Step.ABORT, Step.CANCELLED)",
        "Kind.CLOSE: _cell(_CLOSED, Step.ABORT)",
    ),
    Fault(
        "a closed history swallows a request",
        "history",
        "Kind.EXTENDS: _cell(_CLOSED, Step.REFUSE)",
        "Kind.EXTENDS: _cell(_CLOSED)",
    ),
    Fault("text is not coalesced", "message", '"".join(texts)', '"|".join(texts)'),
    Fault(
        "numbers are compared as Python writes them",
        "message",
        "_encode(_without_integral_floats(value))",
        "_encode(value)",
    ),
    Fault(
        "an empty history is a prefix of everything",
        "diff",
        "return Supersedes(base) if 0 < base < len(incoming) else None",
        "return Supersedes(base)",
    ),
    Fault(
        "a second window takes the first one's turn over",
        "diff",
        "return Supersedes(base) if base or settled else None",
        "return Supersedes(base)",
    ),
    Fault(
        "any answer may be left out",
        "diff",
        "if history.provisional.ending is not Ending.COMPLETE and (base or settled):",
        "if base or settled:",
    ),
    Fault(
        "what is committed is not compared",
        "diff",
        "if list(incoming[:base]) != history.committed_path:",
        "if len(incoming) < base:",
    ),
    Fault(
        "a match that is no longer wins",
        "router",
        "for point in reversed(points):",
        "for point in points:",
    ),
    Fault(
        "agents share their conversations",
        "router",
        "tree = self._trees.get(agent)",
        "tree = next(iter(self._trees.values()), None)",
    ),
    Fault(
        "results go to whoever made a call of that name",
        "router",
        "if key is None or self._entries[key].agent != agent:",
        "if key is None:",
    ),
    Fault(
        "calls of a conversation that ended are still waited for",
        "router",
        "        self._forget_calls(key)\n        entry = self._entries.pop(key)\n",
        "        entry = self._entries.pop(key)\n",
    ),
    Fault(
        "what is joined is not counted",
        "router",
        "(self.joined if isinstance(outcome, Joins) else self.opened)",
        "self.opened",
    ),
    Fault(
        "points without a mark are kept",
        "tree",
        "node.parent.children.pop(node.digest, None)",
        "pass",
    ),
    Fault(
        "a key is found where it no longer is",
        "tree",
        "        for node, mark in former:\n            node.discard(mark, key)\n",
        "",
    ),
    Fault(
        "the least recent comes first",
        "tree",
        "return reversed(self.marks.get(mark, {}))",
        "return iter(self.marks.get(mark, {}))",
    ),
    Fault(
        "a long line is joined anew with every piece",
        "jsonrpc",
        "self._chunks.append(piece)",
        'self._chunks[:] = [b"".join([*self._chunks, piece])]',
    ),
    Fault(
        "after a line that was too long every line is",
        "jsonrpc",
        "self._size, self._chunks = 0, []",
        "self._chunks = []",
    ),
    Fault("pairs of surrogates are torn apart", "jsonrpc", 'm["half"]', 'm["half"] or m["pair"]'),
    Fault("bytes that are no UTF-8 go on", "jsonrpc", "if not line.isascii():", "if False:"),
    Fault("a request may have no id", "jsonrpc", "    if id_ is None:\n", "    if False:\n"),
    Fault(
        "paths begin at the piece that was decoded",
        "jsonrpc",
        "at `{path}{found['rest']}`",
        "at `${found['rest']}`",
    ),
    Fault(
        "every message is decoded every time",
        "transcript",
        "                self._by_raw[key] = message\n",
        "",
    ),
]


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


def run_tests(project: Path, *modules: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of modules of the copy, which stands before the real one on the path."""
    files = [f"tests/bridge/test_{module}.py" for module in modules]
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
