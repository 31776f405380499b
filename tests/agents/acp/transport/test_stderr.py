"""The last words of a process."""

from __future__ import annotations

import pytest

from agents.acp.transport.stderr import Tail


def tail_of(*chunks: bytes, kept: int = 1000) -> Tail:
    tail = Tail(kept)
    for chunk in chunks:
        tail.feed(chunk)
    return tail


def test_what_was_written_is_shown() -> None:
    assert tail_of(b"one\ntw", b"o\n").text() == "one\ntwo"


def test_only_the_last_lines_are_shown() -> None:
    assert tail_of(b"1\n2\n3\n").text(lines=2) == "2\n3"
    assert tail_of(b"a long line").text(characters=4) == "line"


@pytest.mark.limit("agents.acp.transport.stderr.KEPT_BYTES")
@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_what_is_kept_is_bounded(size: int) -> None:
    """Point 3: a bounded ring, however much an agent writes, in whatever pieces."""
    tail = Tail(kept=100)
    for number in range(0, 10_000, size):
        tail.feed(bytes(ord("a") + i % 26 for i in range(number, number + size)))
        assert len(tail.text(characters=10_000)) <= 100
    assert len(tail.text(characters=10_000)) == 100


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"50%\r100%\r\n", "50%\n100%"),
        (b"\x00bell\x07 and \x9b8-bit\x7f", "bell and \ufffd8-bit"),
        (b"tab\there", "tab\there"),
        (b"\n\n  \nspaced\n\n", "spaced"),
        (b"not \xff UTF-8", "not \ufffd UTF-8"),
        ("Grüße".encode(), "Grüße"),
        (b"", ""),
    ],
)
def test_control_characters_are_stripped(written: bytes, shown: str) -> None:
    """Point 3: an agent writes in colours, and a message of ours must not."""
    assert tail_of(written).text() == shown
