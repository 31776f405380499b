"""`python -m benchmarks [NAME...]`: measure what we hold; the status is 1 if a limit isn't held."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import attrs
import msgspec

from . import (
    acp_burst,
    acp_sessions,
    history,
    http,
    http_memory,
    idle,
    memory,
    open_responses,
    open_responses_client,
    parts,
    routing,
    stalls,
    start,
    store,
    tokens,
    tools,
)
from .harness import Result
from .pace import pace, pace_of_large_data

BENCHMARKS: dict[str, Callable[[], list[Result]]] = {
    "start": start.measure,
    "stalls": stalls.measure,
    "parts": parts.measure,
    "history": history.measure,
    "routing": routing.measure,
    "memory": memory.measure,
    "store": store.measure,
    "tools": tools.measure,
    "acp": acp_burst.measure,
    "acp-sessions": acp_sessions.measure,
    "idle": idle.measure,
    "open-responses": open_responses.measure,
    "open-responses-client": open_responses_client.measure,
    "tokens": tokens.measure,
    "http": http.measure,
    "http-memory": http_memory.measure,
}
FULL: dict[str, Callable[[], list[Result]]] = {"http-memory": http_memory.measure_fully}
"""The long forms of benchmarks that are shorter otherwise."""

PACES: dict[Callable[[], list[Result]], Callable[[], float]] = {
    stalls.measure: pace_of_large_data,
}
"""Measures of the present speed, for benchmarks that `pace` doesn't fit."""


def main(arguments: list[str] | None = None) -> int:
    """Run what is named, or everything; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    parser.add_argument("--full", action="store_true", help=f"the long form of {', '.join(FULL)}")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there is {', '.join(BENCHMARKS)}")
    known = {**BENCHMARKS, **FULL} if options.full else BENCHMARKS
    results = tell(known[name] for name in options.names or known)
    if options.json:
        options.json.write_bytes(as_json(results))
    return 0 if all(result.held for result in results) else 1


def tell(benchmarks: Iterable[Callable[[], list[Result]]]) -> list[Result]:
    """Print each result as soon as it is there, and return them all."""
    print(f"{'name':<17}{'measured':>10}{'limit':>8}  {'unit':<13}{'verdict':<10}note", flush=True)
    results: list[Result] = []
    for measure in benchmarks:
        for result in measured(measure):
            results.append(result)
            print(row(result), flush=True)
    return results


def measured(measure: Callable[[], list[Result]]) -> list[Result]:
    """Measure, and once more if a limit isn't held: other work on the machine only adds to it."""
    first = _at_this_pace(measure)
    if all(result.held for result in first):
        return first
    pairs = zip(first, _at_this_pace(measure), strict=True)
    better = (min(pair, key=lambda result: result.measured / result.limit) for pair in pairs)
    return [attrs.evolve(result, note=f"{result.note}; measured twice") for result in better]


def _at_this_pace(measure: Callable[[], list[Result]]) -> list[Result]:
    present = PACES.get(measure, pace)
    before = present()
    results = measure()
    slowness = (before + present()) / 2
    return [eased(result, slowness) for result in results]


def eased(result: Result, slowness: float) -> Result:
    """Return a result with the limit that a machine so much slower has; others are no times."""
    if slowness <= 1 or result.unit.split()[0] not in ("us", "ms"):
        return result
    note = f"; limit {result.limit:g} on a machine {slowness:.2f} x as quick as this one is now"
    limit = round(result.limit * slowness, 2)
    return attrs.evolve(result, limit=limit, note=result.note + note)


def row(result: Result) -> str:
    """Return a line of the table."""
    verdict = "held" if result.held else "NOT HELD"
    return (
        f"{result.name:<17}{result.measured:>10.3g}{result.limit:>8g}  "
        f"{result.unit:<13}{verdict:<10}{result.note}"
    )


def as_json(results: list[Result]) -> bytes:
    """Return the results as a JSON array."""
    objects = [{**attrs.asdict(result), "held": result.held} for result in results]
    return msgspec.json.format(msgspec.json.encode(objects)) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
