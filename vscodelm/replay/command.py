"""`vscodelm replay`: read the files, and print the text of `vscodelm.replay.explain`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agents.acp.launch.completed import completed

from .explain import Explanation, explain
from .labels import LabelError, Labels, read_labels
from .recording import RecordingError, read_recording

LABELS = "labels.json"
"""The file with labels, in the folder of the recording."""


class ReplayError(Exception):
    """A file can't be read, or isn't what it should be; the message says which and why."""


def explain_file(file: Path, labels: Path | None = None) -> Explanation:
    """Return what was decided about a recording; raises `ReplayError`.

    Without `labels`, those beside it count, if they know the file.
    """
    expected = _labels(file, labels)
    with _about(file), file.open("rb") as lines:
        return explain(read_recording(lines), expected, completed)


def draw_file(file: Path, page: Path) -> int:
    """Write the page that draws a recording; return its number of events. Raises `ReplayError`."""
    # here, because an explanation needs neither
    from actors.inspection.page import page_with

    from .picture import picture

    with _about(file), file.open("rb") as lines:
        result = picture(read_recording(lines), completed)
    with _about(page), open(page, "w", encoding="utf-8", opener=_for_owner) as written:
        written.write(page_with(result, secrets.token_urlsafe(16)))
    return len(result.events)


@contextmanager
def _about(path: Path) -> Generator[None]:
    """Raise what is wrong with a file as a `ReplayError`."""
    try:
        yield
    except (RecordingError, LabelError) as error:
        raise ReplayError(f"{path}: {error}") from None
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror}") from None


def _for_owner(path: str, flags: int) -> int:
    """Open a file that only its owner can read: it holds what was said in a chat."""
    return os.open(path, flags, 0o600)


def _labels(file: Path, named: Path | None) -> Labels | None:
    path = named or file.parent / LABELS
    if named is None and not path.is_file():
        return None
    with _about(path):
        labels = read_labels(path.read_bytes(), file.name)
    if labels is None and named is not None:
        raise ReplayError(f"{path}: it has no labels for {file.name}")
    return labels
