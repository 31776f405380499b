"""The estimate of a text: what holds of any text, and what is kept of old ones."""

from __future__ import annotations

import base64
import random
import re
import string
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.tokens import text as tokens_text
from bridge.tokens.pieces import PAIRED, PIECE, SPELT
from bridge.tokens.table import WEIGHTS
from bridge.tokens.text import SAMPLE, SAMPLES, UNIT, estimate_text, estimating, several, slots
from bridge.tokens.whole import is_whole, parts
from bridge.work import done
from tooling import exact_tokens

STEP = 10
any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" ", 1),
        ("a", 1),
        ("\n", 1),
        ("hello", 1),
        ("hello world", 2),
        ("1234567890", 4),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("def f(x):\n    return x + 1\n", 11),
    ],
)
def test_plain_texts_have_the_tokens_that_the_tokenizer_says(text: str, tokens: int) -> None:
    assert estimate_text(text) == tokens


@given(any_text)
def test_a_text_has_a_token_and_no_more_than_its_bytes(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert bool(text) <= estimate_text(text) <= 4 * len(whole)
    if text.isascii():
        assert estimate_text(text) <= len(text)


@given(any_text)
def test_a_text_has_at_least_a_token_for_each_piece(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert estimate_text(text) >= len(PIECE.findall(whole))


WORDS = "thequickbrownfoxjumpsoverthelazydogandrunsawayfromthehoundsthatfollow"


@pytest.mark.parametrize(
    ("text", "most_off"),
    [
        ("a" * 1000, 0.01),
        ("x" * 1000, 0.01),
        ("e" * 1000, 0.01),
        ("z" * 1000, 0.35),
        ("é" * 1000, 0.01),
        ("ä" * 1000, 0.01),
        ("д" * 1000, 0.01),
        ("=" * 1000, 0.1),
        (WORDS * 10, 0.12),
        (WORDS.upper() * 10, 0.12),
        ("rindfleischetikettierungsüberwachungsaufgabe" * 10, 0.1),
        ("превысокомногорассмотрительствующий" * 10, 0.05),
        ("".join(random.Random(1).choices(string.ascii_lowercase, k=1000)), 0.05),
        ("".join(random.Random(1).choices(string.ascii_uppercase, k=1000)), 0.05),
        ("".join(random.Random(1).choices("acgt", k=1000)), 0.1),
        ("".join(random.Random(1).choices(string.hexdigits.lower(), k=1000)), 0.05),
        (base64.b64encode(random.Random(1).randbytes(750)).decode(), 0.05),
    ],
)
def test_a_word_without_an_end_is_not_far_off(text: str, most_off: float) -> None:
    """Keys, names run together, and runs of one letter: no dictionary has them."""
    exact = exact_tokens.count(text)
    assert abs(estimate_text(text) - exact) <= most_off * exact


@given(any_text.filter(bool))
def test_what_is_one_token_costs_one_and_any_other_piece_at_least_two(text: str) -> None:
    for piece in PIECE.findall(text):
        price = tokens_text._price(piece)  # pyright: ignore[reportPrivateUsage]  # of one piece
        assert price == UNIT if is_whole(piece) else price >= 2 * UNIT


@pytest.mark.parametrize("piece", ["'response", "'iterate"])
def test_a_mark_and_a_word_that_is_a_token_are_two(piece: str) -> None:
    assert not is_whole(piece)
    assert len(parts(piece)) > 2
    assert estimate_text(piece) == exact_tokens.count(piece) == 2


@pytest.mark.parametrize(
    ("piece", "tokens"),
    [(",CAAC", 3), (",CAAA", 3), (",CA", 2), (";AAAA", 2), (",CAACé", 4), ("_INURL", 2)],
)
def test_a_mark_before_capitals_goes_with_none_of_them_or_with_several(
    piece: str, tokens: int
) -> None:
    assert estimate_text(piece) == tokens
    assert exact_tokens.count(piece) == tokens


@pytest.mark.parametrize("letter", ["q", "é", "你", "=", "😀", "\ud800"])
def test_a_long_piece_costs_as_much_as_its_samples(letter: str) -> None:
    at_once = several(letter * SAMPLES * SAMPLE)
    price = tokens_text._price(letter * 3 * SAMPLES * SAMPLE)  # pyright: ignore[reportPrivateUsage]
    assert price == pytest.approx(3 * at_once, rel=0.1)


@given(st.integers(1, 3 * SAMPLES * SAMPLE), st.sampled_from(["ab", "a😀", "你", "\ud83d"]))
@example(107, "你")  # the filter takes the next one for a token
def test_the_price_of_a_long_piece_grows_with_it(size: int, unit: str) -> None:
    """Where samples begin to be taken, the price makes no leap."""
    price = tokens_text._price  # pyright: ignore[reportPrivateUsage]  # of one piece
    for piece in filter(None, (unit * size, (unit * size)[1:])):
        longer = piece + unit
        assert price(longer) >= 0.8 * price(piece)
        assert price(longer) <= 1.2 * price(piece) + 8 * UNIT


@given(any_text, any_text)
def test_lines_have_the_tokens_that_they_have_alone(text: str, more: str) -> None:
    both = estimate_text(f"{text}x\nx{more}")
    assert abs(both - estimate_text(f"{text}x") - estimate_text(f"x{more}") - 1) <= 1  # rounding


def test_a_character_in_halves_is_the_character() -> None:
    assert estimate_text("\ud83d\ude00" * 20) == estimate_text("😀" * 20)


def test_half_a_character_is_a_character_of_its_own() -> None:
    assert estimate_text("\ude00\ud83d") >= 1


def hidden(run: str) -> int:
    """Return the price of tokens that the longest parts hide, as the page of tokens tells it."""
    count, size = len(apart(run)), len(run)
    if (
        count <= 4
        or not re.fullmatch(r"(?s:.)[a-zA-Z]+(?:'[a-zA-Z]+)?", run, re.ASCII)
        or not run.isascii()
    ):
        return 0
    return 13 * max(0, min(count - 4, 3 * count - size, size - count))


@pytest.mark.parametrize(
    ("letters", "most_off"),
    [
        (string.ascii_lowercase, 0.05),
        (string.ascii_uppercase, 0.05),
        ("acdefghiklmnpqrstvwy", 0.06),
        ("acgt", 0.1),
        ("ACGT", 0.1),
    ],
)
@pytest.mark.parametrize("size", [16, 32, 100, 1000, 5000])
def test_letters_of_no_word_are_not_far_off(letters: str, most_off: float, size: int) -> None:
    chance = random.Random(size)
    texts = ["".join(chance.choices(letters, k=size)) for _ in range(max(4, 4000 // size))]
    exact = sum(map(exact_tokens.count, texts))
    assert abs(sum(map(estimate_text, texts)) / exact - 1) <= most_off


@given(any_text.filter(bool))
@example("漢字 and words")
@example("xkqzvjwpf")
@example("(xkqzvjwpfhg")
@example("qqxkqzvjwpfhg's")
@example("QXKQZVJWPFHG漢")
@example("[}=)(;#=~]*<")
@example("internationalisierungsmassnahmen")
@example("ᎦᏓ漢字xᎦ ܟܠ字")
@example("ສະບາຍດີ")
@example("/AAB")
@example("/AAQXKQZVJWPFHG")
def test_a_price_is_a_token_for_each_part_and_the_sum_over_its_slots(text: str) -> None:
    """The loop that adds prices is written apart from what the table was fitted with."""
    weights = tokens_text._WEIGHTS  # pyright: ignore[reportPrivateUsage]  # as they are unpacked
    for piece in PIECE.findall(text.encode("utf-16", "replace").decode("utf-16")):
        tokens = sum(weights[slot] for slot in slots(piece))
        for way, characters in groupby(piece, way_of):
            run = "".join(characters)
            if way == "spelt":
                tokens += UNIT * len(run.encode())
            elif way == "apart":
                tokens += UNIT * len(apart(run)) + hidden(run)
        assert several(piece) == tokens


def apart(run: str) -> list[str]:
    """Return the parts of a run. A mark before two capitals is one of its own, never `/A`."""
    found = parts(run)
    is_alone = len(found[0]) == 2 and re.match(r"[!-/:-@\[-`{-~][A-Z][A-Z]", run) is not None
    return [run[0], *parts(run[1:])] if is_alone else found


def way_of(character: str) -> str:
    """Return how a character is priced."""
    for way, ranges in (("paired", PAIRED), ("spelt", SPELT)):
        for one in ranges.split():
            first, last = (int(code, 16) for code in one.split("-"))
            if first <= ord(character) <= last:
                return way
    return "apart"


@pytest.mark.parametrize(
    "text",
    ["ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ", "ᐃᓄᓕᒫᑦ ᐊᓂᖅᑎᕆᔪᑦ", "ܟܠ ܒܪܢܫܐ ܒܪܝܠܗ ܚܐܪܐ", "ꊿꂷꃅꄿꐨꐥ", "𞤋𞤲𞥆𞤢𞤥𞤢 𞤢𞤣𞤫"],
    ids=["Cherokee", "Inuktitut", "Assyrian", "Yi", "Fulah"],
)
def test_scripts_that_are_spelt_are_not_far_off(text: str) -> None:
    assert estimate_text(text) == pytest.approx(exact_tokens.count(text), rel=0.1)


def test_characters_that_are_priced_in_twos_or_spelt_are_whole_blocks_of_their_own() -> None:
    """The extension looks blocks of 128 up; characters of one range are spelt in as many bytes."""
    blocks: list[int] = []
    for one in [*PAIRED.split(), *SPELT.split()]:
        first, last = (int(code, 16) for code in one.split("-"))
        assert first % 128 == (last + 1) % 128 == 0
        blocks += range(first // 128, (last + 1) // 128)
    assert len(set(blocks)) == len(blocks)
    for first, _, last in (one.partition("-") for one in SPELT.split()):
        assert len(chr(int(first, 16)).encode()) == len(chr(int(last, 16)).encode())


def test_the_table_is_small() -> None:
    assert len(WEIGHTS) < 96 * 1024


def test_prices_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_text, "KNOWN_PRICES", 3)
    prices = tokens_text._Prices()  # pyright: ignore[reportPrivateUsage]  # what it keeps
    for piece in ("ab", "cd", "ef", "gh"):
        assert prices[piece] == prices[piece] >= UNIT
        assert len(prices) <= 3
    assert "gh" in prices


def test_the_price_of_a_long_piece_is_not_kept() -> None:
    prices = tokens_text._Prices()  # pyright: ignore[reportPrivateUsage]  # what it keeps
    assert prices["=" * 1000] >= 8 * UNIT
    assert not prices


@pytest.mark.parametrize("piece", ["7", "42", "a", "\n", " word", "internationalisation"])
def test_what_is_taken_apart_into_tokens_has_no_weights(piece: str) -> None:
    assert slots(piece) == []


# Long texts are priced in steps.

runs = st.builds(
    str.__mul__,
    st.sampled_from(["a", "aB", "я", "漢", "1", "[", "\n", " ", "'s"]),
    st.integers(1, 90),
)


@given(st.lists(st.one_of(runs, any_text), max_size=8).map("".join), st.integers(2, 5))
def test_where_the_steps_end_makes_no_difference(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_text, "_STEP_CHARACTERS", size * STEP)
        assert done(estimating(text)) == estimate_text(text)


@pytest.mark.limit("bridge.tokens.text._STEP_CHARACTERS")
@pytest.mark.parametrize(
    "text",
    ["a" * 1000, "ab яя " * 200, "漢字" * 500, "[{" * 500, " " * 1000, "1" * 1000, "ð" * 900],
    ids=["letter", "words", "Chinese", "marks", "blanks", "digits", "foreign"],
)
def test_a_long_text_is_priced_in_steps_and_as_at_once(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(tokens_text, "_STEP_CHARACTERS", 5 * STEP)
    cut = len(list(estimating(text)))
    assert cut >= min(len(text) / (5 * STEP), len(PIECE.findall(text)))
    assert done(estimating(text)) == estimate_text(text)


@pytest.mark.limit("bridge.tokens.text.LONGEST_PIECE")
@pytest.mark.parametrize("over", [0, 1])
def test_a_run_that_is_very_long_is_cut(monkeypatch: pytest.MonkeyPatch, over: int) -> None:
    monkeypatch.setattr(tokens_text, "_STEP_CHARACTERS", STEP)
    monkeypatch.setattr(tokens_text, "LONGEST_PIECE", 8 * STEP)
    pieces = list(tokens_text._pieces("=" * (8 * STEP + over)))  # pyright: ignore[reportPrivateUsage]
    assert pieces == [["=" * 8 * STEP], *[["="]] * over]


@given(st.lists(st.one_of(runs, any_text), max_size=8).map("".join), st.integers(1, 3))
@example("x" * 38 + "'s", 2)
@example("x" * 39 + "'s", 2)
@example("=" * 39 + "\n\n", 2)
@example(" " * 40 + " x", 2)
def test_a_piece_ends_where_it_would_if_the_text_ended_after_the_longest(
    text: str, doublings: int
) -> None:
    longest = STEP << doublings
    expected: list[str] = []
    at = 0
    while at < len(text):
        expected += PIECE.findall(text, at, at + longest)[:1]
        at += len(expected[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_text, "_STEP_CHARACTERS", STEP)
        patch.setattr(tokens_text, "LONGEST_PIECE", longest)
        cut = tokens_text._pieces(text)  # pyright: ignore[reportPrivateUsage]
        assert [piece for some in cut for piece in some] == expected


def test_a_text_is_cut_alike_at_once_and_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_text, "_STEP_CHARACTERS", STEP)
    monkeypatch.setattr(tokens_text, "LONGEST_PIECE", 2 * STEP)
    text = "internationalisation" * 5
    assert len(list(estimating(text))) >= 5
    assert estimate_text(text) == done(estimating(text))


@given(st.text(st.sampled_from("\ud83d\ude00a ")), st.integers(2, 5))
def test_halves_of_a_character_are_joined_wherever_a_step_ends(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_text, "_STEP_CHARACTERS", 0)
        patch.setattr(tokens_text, "LONGEST_PIECE", size)
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        assert done(tokens_text._joining(text)) == joined  # pyright: ignore[reportPrivateUsage]
