"""Measure the speed of counting tokens, in Python and in TypeScript.

A chat asks for the tokens of thousands of texts, most of them short. The texts are modules and
documentation of Python's library. In Python each repetition is a process of its own, which begins
with no price known.
"""

from __future__ import annotations

import json
import pydoc_data.topics
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from tooling.node import NoNode, find_node

from .harness import PATIENCE_SECONDS, ROOT, Result, environment

LEAST = {"python": 5.0, "typescript": 20.0}
"""Megabytes a second."""
COUNTER = Path(__file__).parent / "tokens_counter.mjs"
ESTIMATOR = ROOT / "extension" / "src" / "tokens" / "text.ts"


def texts(modules: int = 80) -> list[str]:
    """Return texts of a few kilobytes, code and prose in turn."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:modules]
    code = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    prose = [text for _, text in sorted(pydoc_data.topics.topics.items())][:modules]
    return [text[:20_000] for pair in zip(code, prose, strict=False) for text in pair]


def measure(modules: int = 80, repetitions: int = 5) -> list[Result]:
    """Measure both; TypeScript only where there is a Node to run it."""
    measured = texts(modules)
    megabytes = sum(len(text.encode()) for text in measured) / 1e6
    seconds = {"python": min(python_seconds(measured) for _ in range(repetitions))}
    node = node_seconds(measured, repetitions)
    if node is not None:
        seconds["typescript"] = node
    return [
        Result(
            f"tokens-{language}",
            1000 * spent / megabytes,
            1000 / LEAST[language],
            "ms a MB",
            f"{megabytes / spent:.1f} MB/s; limit {LEAST[language]:g} MB/s",
        )
        for language, spent in seconds.items()
    ]


def python_seconds(measured: Sequence[str]) -> float:
    """Return the CPU time of counting them, in a process that knows no price yet."""
    program = (
        "import json, sys, time\n"
        "from bridge.tokens.text import estimate_text\n"
        "texts = json.load(sys.stdin)\n"
        "began = time.process_time()\n"
        "for text in texts: estimate_text(text)\n"
        "print(time.process_time() - began)\n"
    )
    return float(_run([sys.executable, "-c", program], measured))


def node_seconds(measured: Sequence[str], repetitions: int) -> float | None:
    """Return the least CPU time of counting them in Node; None without Node."""
    try:
        program, _ = find_node()
    except NoNode:
        return None
    options = ["--experimental-strip-types", "--no-warnings"]
    command = [str(program), *options, str(COUNTER), ESTIMATOR.as_uri(), str(repetitions)]
    return float(_run(command, measured))


def _run(command: Sequence[str], measured: Sequence[str]) -> str:
    done = subprocess.run(
        command,
        input=json.dumps(measured),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return done.stdout
