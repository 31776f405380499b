"""List the surprises that a client of ACP must tolerate, with the tests that show it.

A test names its points by the mark `checklist`; they are read from its source, so that a page can
be made without running anything.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .markdown import table

TESTS = Path(__file__).resolve().parents[2] / "tests"

_SECTIONS: Mapping[str, Mapping[int, str]] = {
    "Process": {
        1: "A process leads its own group and ends in steps: end of input, SIGTERM, SIGKILL.",
        2: "The end of the input may end nothing, and a grandchild may hold the pipes open.",
        3: "Stderr is always drained, kept within bounds, and shown after a failure.",
        4: "An exit at any time fails all open requests, with its status; the next starts anew.",
        5: "A start may take a minute, a turn any time.",
        6: "An agent inherits the whole environment; its folder is absolute; there is no shell.",
        7: "There is one writer. A broken pipe ends the process, and not the client.",
    },
    "Framing": {
        8: "Lines that are no message are skipped. Batches, blank lines and CRLF are accepted.",
        9: "A line may have many megabytes, also in many pieces. There is a limit.",
        10: "Ids are numbers, strings or null. Unexpected responses are ignored.",
        11: "Unknown requests are refused at once; unknown notifications are ignored.",
    },
    "Setting up": {
        12: "Updates that come before the answer to `session/new` are kept, within bounds.",
        13: "Commands and titles are announced at any time.",
        14: "Only version 1 is accepted. An agent needn't describe itself.",
        15: "A login is done once, when the agent demands it. In a terminal, the user logs in.",
        16: "A login in a terminal is offered. An agent may demand a login and name no method.",
        17: "A lost session is recognised under each of its codes.",
        18: "Messages that `session/load` repeats are not shown.",
        19: "Resume, else load, else a new session; never two loads of one session.",
        20: "Options, else modes, else the former models; flat or in groups.",
    },
    "A turn": {
        21: "Updates after the answer to a prompt belong to it, or begin the next.",
        22: "All messages with one id are one tool call, in any order. None stays open.",
        23: "Halves of characters are joined, and unknown values are never fatal.",
        24: "After a cancel any answer counts as cancelled. Its text is kept.",
        25: "The next prompt waits for the cancelled one. A stuck agent is ended.",
        26: "A session has one prompt at a time. A usage of zero means unknown.",
        27: "Only the changes of a plan are shown. Diffs are bounded; new files have no old text.",
        28: "Another message is another paragraph, also without ids.",
    },
    "Permissions": {
        29: "An option is chosen by its kind, never by its place; a denial never approves.",
        30: "A denial is `reject_once`; `cancelled` only in a cancelled turn, or without a choice.",
        31: "An approval is `allow_once`; for good only if the user knows. Users decide on modes.",
        32: "Several questions may come at once. Each is answered, also after a cancel.",
        33: "An agent that doesn't ask is no error.",
        34: "A question may have only an id. Its text is cleaned and bounded.",
    },
}
POINTS: Mapping[int, str] = {
    point: text for section in _SECTIONS.values() for point, text in section.items()
}


def checklist() -> str:
    """Return the points, each with its tests; raises `KeyError` for a mark without a point."""
    found = marked_tests()
    rows = [
        [str(point), section, text, "<br>".join(f"`{name}`" for name in found.pop(point, ()))]
        for section, points in _SECTIONS.items()
        for point, text in points.items()
    ]
    if found:
        raise KeyError(f"no such points: {sorted(found)}")
    return table(["", "about", "what is tolerated", "tests"], rows)


def marked_tests(root: Path = TESTS) -> dict[int, list[str]]:
    """Return, for each point, the tests that name it, as `file::test`."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("test_*.py")):
        for test, points in _marked(ast.parse(path.read_bytes())):
            for point in points:
                found[point].append(f"{path.relative_to(root).as_posix()}::{test}")
    return found


def _marked(module: ast.Module) -> Iterator[tuple[str, Sequence[int]]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if (
                    isinstance(decorator, ast.Call)
                    and ast.unparse(decorator.func) == "pytest.mark.checklist"
                ):
                    yield node.name, [ast.literal_eval(point) for point in decorator.args]
