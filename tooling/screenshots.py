"""Puts what the tests in a real editor have seen into the docs: `make screenshots`.

    python -m tooling.screenshots

The tests leave a picture of each step in `extension/e2e/output`, a folder for each file of tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "extension/e2e/output"
DOCS = "docs/how-to/images"
LISTING = "extension/media/pictures"

PICTURES = {
    f"{DOCS}/add-agent.png": "untouched/add-agent.png",
    f"{DOCS}/agent-asks.png": "person/change.png",
    f"{DOCS}/doctor.png": "untouched/doctor.png",
    f"{DOCS}/done.png": "untouched/done.png",
    f"{DOCS}/eliza.png": "untouched/eliza.png",
    f"{DOCS}/form.png": "forms/form.png",
    f"{DOCS}/install.png": "untouched/install.png",
    f"{DOCS}/menu.png": "untouched/menu.png",
    f"{DOCS}/picker.png": "untouched/picker.png",
    f"{DOCS}/secret.png": "endpoint/secret.png",
    f"{DOCS}/set-up.png": "untouched/set-up.png",
    f"{LISTING}/add-agent.png": "untouched/add-agent.png",
    f"{LISTING}/agent-asks.png": "person/change.png",
    f"{LISTING}/doctor.png": "untouched/doctor.png",
    f"{LISTING}/eliza.png": "untouched/eliza.png",
    f"{LISTING}/set-up.png": "untouched/set-up.png",
    f"{DOCS}/choices.png": "choices/efforts-and-models.png",
    f"{DOCS}/continued-session.png": "sessions/continued.png",
    f"{DOCS}/keep-or-undo.png": "edits/keep-or-undo.png",
    f"{DOCS}/agent-changes.png": "edits/comparison.png",
    f"{DOCS}/knowledge-file.png": "inspection-page/light.png",
    f"{DOCS}/knowledge.png": "inspection/knowledge.png",
}
"""The pictures of the docs and of the extension, each with where it comes from."""


def missing(output: Path) -> list[str]:
    """Return the pictures that aren't there."""
    return [source for source in PICTURES.values() if not (output / source).exists()]


def refresh(output: Path, root: Path) -> None:
    """Copy every picture to its place."""
    for name, source in PICTURES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(output / source, root / name)


def main() -> int:
    """Refresh the docs' pictures; return the exit status."""
    lacking = missing(OUTPUT)
    if lacking:
        lines = "\n  ".join(lacking)
        sys.stderr.write(
            f"These pictures aren't there; `make test-vscode` takes them:\n  {lines}\n"
        )
        return 1
    refresh(OUTPUT, ROOT)
    sys.stdout.write(f"{len(PICTURES)} pictures are as the tests have seen it: git diff --stat\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
