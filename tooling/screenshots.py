"""Puts what the tests in a real editor have seen into the docs: `make screenshots`.

    python -m tooling.screenshots

The tests leave a picture of each step in `extension/e2e/output`, a folder for each file of tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent
OUTPUT = _ROOT / "extension/e2e/output"
IMAGES = _ROOT / "docs/how-to/images"

PICTURES = {
    "agent-asks.png": "person/permission.png",
    "choices.png": "choices/efforts-and-models.png",
    "continued-session.png": "sessions/continued.png",
    "eliza.png": "person/a-chat-of-three-turns-with-eliza.png",
    "form.png": "forms/form.png",
    "keep-or-undo.png": "edits/keep-or-undo.png",
    "agent-changes.png": "edits/comparison.png",
    "install.png": "untouched/install.png",
    "knowledge-file.png": "inspection-page/light.png",
    "knowledge.png": "inspection/a-new-request-comes-by-itself-and-the-choice-stays.png",
    "real-agent.png": "real-agent/permission.png",
    "secret.png": "endpoint/secret.png",
    "set-up-the-chat.png": "untouched/set-up.png",
    "two-chats.png": "person/two-chats-are-answered-at-once-each-its-own.png",
}
"""The pictures of the docs, each with where it comes from."""


def missing(output: Path) -> list[str]:
    """Return the pictures that aren't there."""
    return [source for source in PICTURES.values() if not (output / source).exists()]


def refresh(output: Path, images: Path) -> None:
    """Copy every picture to its place."""
    for name, source in PICTURES.items():
        shutil.copyfile(output / source, images / name)


def main() -> int:
    """Refresh the docs' pictures; return the exit status."""
    lacking = missing(OUTPUT)
    if lacking:
        lines = "\n  ".join(lacking)
        sys.stderr.write(
            f"These pictures aren't there; `make test-vscode` takes them:\n  {lines}\n"
        )
        return 1
    refresh(OUTPUT, IMAGES)
    sys.stdout.write(f"{len(PICTURES)} pictures are as the tests have seen it: git diff --stat\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
