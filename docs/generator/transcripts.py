"""The golden transcripts of the tests, as a page."""

from __future__ import annotations

from pathlib import Path

from .markdown import block, sections

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"


def transcripts(folder: Path = GOLDEN) -> str:
    """Return every transcript: what its first lines say of it, then its lines."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        return "None are recorded yet."
    return sections(_transcript(file) for file in files)


def _transcript(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").splitlines()
    about: list[str] = []
    while lines and (not lines[0].strip() or lines[0].startswith("#")):
        about.append(lines.pop(0).lstrip("#").strip())
    title = file.stem.replace("_", " ").replace("-", " ")
    return sections(
        [f"## {title[:1].upper()}{title[1:]}", "\n".join(about), block("text", "\n".join(lines))]
    )
