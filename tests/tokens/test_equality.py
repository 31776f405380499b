"""Python's estimator against the extension's, on texts that nobody chose."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.tokens.text import LONGEST_PIECE, SAMPLE, SAMPLES, estimate_text, estimating
from bridge.work import done

from .kinds import KINDS, ROOT

ESTIMATOR = ROOT / "extension" / "src" / "tokens" / "text.ts"
COUNTER = Path(__file__).parent / "counter.mjs"


def _repeated(run: tuple[str, int]) -> str:
    return run[0] * run[1]


characters = st.characters(exclude_categories=())  # halves of characters, too
texts = st.lists(
    st.one_of(
        st.text(characters, max_size=20),
        st.text("aAzZ éÉ'sSlLrReE019\t\n\r /._-\u00a0\u3000你好のא", max_size=30),
        st.from_regex(r"[\w\s]{1,30}"),
        st.tuples(characters, st.integers(1, 80)).map(_repeated),
        st.tuples(st.text("aé你😀\ud83d", min_size=1, max_size=4), st.integers(200, 900)).map(
            _repeated
        ),
    ),
    max_size=6,
).map("".join)


ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "aábcčdďeéěfghiíjklmnňoópqrřsštťuúůvwxyýzž",
    "".join(map(chr, range(0x430, 0x450))),
    "".join(map(chr, range(0xE01, 0xE2F))),
    "".join(map(chr, range(0x3041, 0x3097))),
    "".join(map(chr, range(0x4E00, 0x9FA6))),
    "".join(map(chr, range(0x20000, 0x20800))),
    "".join(map(chr, range(0x1F300, 0x1F600))),
    "=-#*/[](){}<>|",
    " \t\u3000",
    "\n\r \t",
    "\ud83d\ude00",
    "a",
    "你",
    "😀",
)
"""Of each alphabet, one piece can be as long as one likes."""
ENDS = ("", "'s", "'", "x", " ", "\n", "\n/\n ", "7", "X", "=", "你", "😀", "\ud83d")


@st.composite
def long_pieces(draw: st.DrawFn, least: int, most: int) -> str:
    """A long row of letters of an alphabet, with something before it and after it."""
    size = draw(st.integers(least, most))
    letters = draw(st.sampled_from(ALPHABETS))
    row = random.Random(draw(st.integers(0, 9))).choices(letters, k=size)
    return draw(st.sampled_from(ENDS)) + "".join(row) + draw(st.sampled_from(ENDS))


class Counter:
    """The extension's estimator in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def count(self, texts: Iterable[str]) -> list[int]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        counts: list[int] = []
        for text in texts:
            self._process.stdin.write(json.dumps(text) + "\n")
            self._process.stdin.flush()
            counts.append(int(self._process.stdout.readline()))
        return counts


@pytest.fixture(scope="module")
def counter() -> Generator[Counter]:
    node = pytest.importorskip("tooling.node", reason="without our tools, nothing finds a node")
    try:
        program, _ = node.find_node()
    except node.NoNode as absent:
        pytest.skip(str(absent))
    command = [program, "--experimental-strip-types", "--no-warnings", COUNTER, ESTIMATOR.as_uri()]
    with subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Counter(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=10)


@pytest.mark.slow
@settings(max_examples=3000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts)
def test_any_text_has_the_same_tokens_in_both_languages(counter: Counter, text: str) -> None:
    assert counter.count([text]) == [estimate_text(text)]


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(long_pieces(SAMPLES * SAMPLE - 5, 4 * SAMPLES * SAMPLE))
def test_a_long_piece_has_the_same_tokens_in_both_languages(counter: Counter, text: str) -> None:
    assert counter.count([text]) == [estimate_text(text)]


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(*(long_pieces(size - 5, size + 5) for size in (LONGEST_PIECE, 1_000_000))))
def test_the_longest_pieces_have_the_same_tokens_in_both_languages(
    counter: Counter, text: str
) -> None:
    assert counter.count([text]) == [estimate_text(text)] == [done(estimating(text))]


@pytest.mark.slow
def test_every_character_has_the_same_tokens_in_both_languages(counter: Counter) -> None:
    rows = range(0, sys.maxunicode + 1, 64)
    texts = ["".join(chr(row + column) + "x " for column in range(64)) for row in rows]
    texts += ["".join(chr(row + column) for column in range(64)) for row in rows]
    texts += [chr(code) * size for code in range(0x400) for size in (26, 27, 64, 128)]
    assert counter.count(texts) == [estimate_text(text) for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_real_texts_have_the_same_tokens_in_both_languages(counter: Counter, kind: str) -> None:
    texts = KINDS[kind]()
    assert counter.count(texts) == [estimate_text(text) for text in texts]
