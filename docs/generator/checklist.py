"""What a client of ACP must bear, point by point, and the tests that show it.

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
        3: "Stderr is always drained, kept within bounds, and shown where something failed.",
        4: "An exit at any time fails all who wait, with its status; the next request starts anew.",
        5: "A start may take a minute, a turn any time.",
        6: "The whole environment is inherited, the folder is absolute, no shell is between.",
        7: "One writer; a broken pipe is the end of the process, not of us.",
    },
    "Framing": {
        8: "Lines that are no message are skipped; batches, blank lines and CRLF are taken.",
        9: "A line may be many megabytes, and costs no more for coming in pieces; there is a cap.",
        10: "Ids are numbers, strings or null; answers that nobody waits for are ignored.",
        11: "Requests that we don't serve are refused at once, unknown notifications ignored.",
    },
    "Setting up": {
        12: "Updates that come before the answer to `session/new` are kept, within bounds.",
        13: "Commands and titles are announced at any time.",
        14: "Only version 1; an agent needn't say anything of itself.",
        15: "A login is done when it is asked for, once; one in a terminal is the user's.",
        16: "A login in a terminal is offered, and an agent may want one and name no way to do it.",
        17: "A session that is lost is recognised under each of its codes.",
        18: "What `session/load` repeats is not shown.",
        19: "Resume, else load, else a new session; never two loads of one session.",
        20: "Options, else modes, else the models of old; flat or in groups.",
    },
    "A turn": {
        21: "What comes after the answer to a prompt belongs to it, or begins the next.",
        22: "A tool call is whatever is said of its id, in any order; none stays open.",
        23: "Halves of characters are joined, and what is unknown is never fatal.",
        24: "After a cancel any answer is a cancel; text is kept all the same.",
        25: "The next prompt waits for the cancelled one; an agent that is stuck is ended.",
        26: "One prompt at a time in a session; zero usage is unknown.",
        27: "Of a plan only what changed is shown; diffs have bounds, new files come from nowhere.",
        28: "Another message is another paragraph, also where ids are missing.",
    },
    "Permissions": {
        29: "An option is chosen by its kind, never by its place; a denial never approves.",
        30: "A denial is `reject_once`; `cancelled` only where the turn is, or nothing else fits.",
        31: "An approval is `allow_once`; for good only if the user knows. A mode is the user's.",
        32: "Several questions at once; each is answered, also after a cancel.",
        33: "An agent that doesn't ask is no error.",
        34: "A question may name nothing but an id; what it shows is cleaned and bounded.",
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
    return table(["", "about", "what is borne", "tests"], rows)


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
