"""Fill in what the pages take from the code, and check what they link to.

    python docs/generate.py            writes the pages that are out of date
    python docs/generate.py --check    only says which they are, and fails

A page asks for a piece by a pair of markers, and keeps its own words round them:

    <!-- generated: history.table -->
    <!-- end -->

`REGIONS` names the pieces. A marker that nobody serves, a piece that no page asks for and a link
that leads nowhere are errors.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A script's own folder is on the path, but what it generates from is next to it.
sys.path.insert(0, str(ROOT))

from docs.generator import (  # noqa: E402  # only now can it be found
    acp_schema,
    agent_host,
    checklist,
    command_line,
    configuration,
    continuity,
    errors,
    harnesses,
    limits,
    links,
    machine,
    paced_machine,
    real_agents,
    replays,
    routing,
    sessions,
    transcripts,
    turn_machine,
    wire,
)

REGIONS: Mapping[str, Callable[[], str]] = {
    "acp.agent-capabilities": acp_schema.agent_capabilities,
    "acp.agents": real_agents.agents,
    "acp.checklist": checklist.checklist,
    "acp.client-capabilities": acp_schema.client_capabilities,
    "acp.continuity": real_agents.continuity,
    "acp.methods": acp_schema.methods,
    "acp.revision": acp_schema.revision,
    "acp.surprises": real_agents.surprises,
    "acp.turn": turn_machine.transitions,
    "acp.turn-diagram": turn_machine.diagram,
    "acp.updates": acp_schema.updates,
    "chat.commands": command_line.chat_commands,
    "command-line": command_line.commands,
    "configuration.endpoints": configuration.endpoints,
    "configuration.models": configuration.models,
    "configuration.settings": configuration.settings,
    "continuity.endpoint": continuity.endpoint,
    "continuity.pictures": continuity.pictures,
    "errors.codes": errors.codes,
    "errors.examples": errors.examples,
    "errors.fixes": errors.fixes,
    "errors.kinds": errors.kinds,
    "harnesses": harnesses.features,
    "history.agent-host": agent_host.rules,
    "history.diagram": machine.diagram,
    "history.endings": machine.endings,
    "history.inputs": machine.inputs,
    "history.steps": machine.steps,
    "history.table": machine.transitions,
    "limits": limits.limits_table,
    "paced.diagram": paced_machine.diagram,
    "replay.example": replays.example,
    "routing.classes": routing.classes,
    "routing.reasons": routing.reasons,
    "routing.rules": routing.rules,
    "sessions.diagram": sessions.diagram,
    "sessions.inputs": sessions.inputs,
    "sessions.states": sessions.states,
    "sessions.table": sessions.transitions,
    "transcripts": transcripts.transcripts,
    "wire.methods": wire.methods,
    "wire.parts": wire.parts,
    "wire.types": wire.structs,
}

_REGION = re.compile(
    r"<!-- generated: (?P<name>\S+) -->\n(?:(?!.*<!-- generated: ).*\n)*?<!-- end -->\n"
)
_MARKER = re.compile(r"^<!-- (?:generated: \S+|end) -->$", re.MULTILINE)
DIFF_LINES = 12


class PageError(Exception):
    """A page asks for something that isn't there."""


def pages(root: Path = ROOT) -> list[Path]:
    """Return every page: those beside the README, and all of docs/."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def names(text: str) -> list[str]:
    """Return the pieces that a page asks for; raises `PageError` on a marker without its other."""
    found = [region["name"] for region in _REGION.finditer(text)]
    if len(_MARKER.findall(text)) != 2 * len(found):
        raise PageError("a marker stands alone")
    return found


def fill(text: str, regions: Mapping[str, Callable[[], str]] = REGIONS) -> str:
    """Return the page with its pieces as they are now; raises `PageError`."""
    unknown = [name for name in names(text) if name not in regions]
    if unknown:
        raise PageError(f"nothing generates {', '.join(unknown)}")

    def piece(region: re.Match[str]) -> str:
        name = region["name"]
        return f"<!-- generated: {name} -->\n\n{regions[name]().strip()}\n\n<!-- end -->\n"

    return _REGION.sub(piece, text)


def summary(page: str, old: str, new: str) -> str:
    """Return the first lines of the difference."""
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), page, page, lineterm="", n=0)
    lines = list(diff)
    more = len(lines) - DIFF_LINES
    return "\n".join([*lines[:DIFF_LINES], *([f"... and {more} more lines"] if more > 0 else [])])


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate or check; return the exit status."""
    parser = argparse.ArgumentParser(description="Generate the pages that come from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args(arguments).check
    faults: list[str] = []
    asked: set[str] = set()
    for path in pages():
        page = path.relative_to(ROOT).as_posix()
        old = path.read_text(encoding="utf-8")
        try:
            asked.update(names(old))
            new = fill(old)
        except PageError as error:
            faults.append(f"{page}: {error}")
            continue
        if new != old and check:
            faults.append(
                f"{page} is out of date; `make docs` writes it.\n{summary(page, old, new)}"
            )
        elif new != old:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"wrote {page}")
    faults += [f"no page asks for {name}" for name in sorted(REGIONS.keys() - asked)]
    faults += links.broken(pages(), ROOT)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
