"""Measure the speed of counting tokens, in Python and in TypeScript.

A chat asks for the tokens of thousands of texts, most of them short. The texts are modules and
documentation of Python's library. Each repetition in Python is a process of its own, which begins
with no price known. Its time is compared with that of cutting the same texts, too, which no count
can do without: the ratio says the same on any machine. In TypeScript the first time is measured
apart, with the compiling and the unpacking in it. A piece of a million letters is the first text of
a process, each time of another one.
"""

from __future__ import annotations

import json
import pydoc_data.topics
import random
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tooling.node import NoNode, find_node

from .harness import PATIENCE_SECONDS, ROOT, Result, environment

LEAST = {"python": 8.0, "typescript": 40.0, "typescript cold": 10.0}
"""Megabytes a second."""
MOST_OF_CUTTING = 3.0
MOST_OF_LETTERS = 50.0
"""Milliseconds for a piece of a million letters."""
LETTERS = {
    "latin": (0x61, 0x7A),
    "cyrillic": (0x430, 0x44F),
    "thai": (0xE01, 0xE2E),
    "chinese": (0x4E00, 0x9FA5),
    "rare chinese": (0x20000, 0x2A6D6),
}
"""The first and the last letter of a range of letters; the last script has two halves to each."""
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
    pairs = [python_seconds(measured) for _ in range(repetitions)]
    spent = min(ours for ours, _ in pairs)
    results = [
        _speed("python", spent / megabytes),
        Result(
            "tokens of cutting",
            median(ours / cutting for ours, cutting in pairs),
            MOST_OF_CUTTING,
            "x",
            f"{1000 * min(cutting for _, cutting in pairs) / megabytes:.0f} ms a MB there",
        ),
    ]
    found = node_seconds(measured, repetitions)
    if found is not None:
        warm, cold = found
        results += [
            _speed("typescript", warm / megabytes),
            _speed("typescript cold", cold / megabytes),
        ]
        results += [_long_piece(script, repetitions) for script in LETTERS]
    return results


def long_piece(script: str) -> str:
    """Return a piece of a million letters of a script, in no order."""
    first, last = LETTERS[script]
    letters = [chr(code) for code in range(first, last + 1)]
    return "".join(random.Random(1).choices(letters, k=1_000_000))


def _long_piece(script: str, repetitions: int) -> Result:
    piece = [long_piece(script)]
    found = [node_seconds(piece, 0) for _ in range(repetitions)]
    spent = [1000 * cold for _, cold in filter(None, found)]
    note = f"a million in a piece, cold; the worst {max(spent):.0f} ms"
    return Result(f"tokens {script} letters", median(spent), MOST_OF_LETTERS, "ms", note)


def _speed(language: str, seconds: float) -> Result:
    least = LEAST[language]
    note = f"{1 / seconds:.1f} MB/s; limit {least:g} MB/s"
    return Result(f"tokens {language}", 1000 * seconds, 1000 / least, "ms a MB", note)


def python_seconds(measured: Sequence[str]) -> tuple[float, float]:
    """Return the CPU time of counting them, with no price known yet, and that of cutting them."""
    program = (
        "import json, sys, time\n"
        "from bridge.tokens.pieces import PIECE\n"
        "from bridge.tokens.text import estimate_text\n"
        "texts = json.load(sys.stdin)\n"
        "began = time.process_time()\n"
        "for text in texts: estimate_text(text)\n"
        "counted = time.process_time()\n"
        "for text in texts: PIECE.findall(text)\n"
        "print(counted - began, time.process_time() - counted)\n"
    )
    ours, cutting = map(float, _run([sys.executable, "-c", program], measured).split())
    return ours, cutting


def node_seconds(measured: Sequence[str], repetitions: int) -> tuple[float, float] | None:
    """Return CPU times in Node, of the fastest counting and of the first one; None without Node."""
    try:
        program, _ = find_node()
    except NoNode:
        return None
    options = ["--experimental-strip-types", "--no-warnings"]
    command = [str(program), *options, str(COUNTER), ESTIMATOR.as_uri(), str(repetitions)]
    least, first = map(float, _run(command, measured).split())
    return least, first


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
