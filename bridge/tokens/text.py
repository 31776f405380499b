"""Estimate the tokens of a text: each piece has a price, and the prices are added up.

A piece that o200k_base has as a token costs one. Any other is taken apart from the left, each time
by the longest beginning that is a token. That goes wrong if tokens are parts of characters, or if
words stand together without blanks. Characters of such scripts have prices instead, alone and in
twos. They were fitted to o200k_base (docs/explanation/tokens.md). Of some other scripts each byte
is a token. All numbers are whole, so that the extension's counts are equal.
"""

from __future__ import annotations

import base64
import re
import string
from array import array
from collections.abc import Iterator

from bridge.work import Work, done

from .pieces import PAIRED, PIECE, SPELT, inside_brackets
from .table import WEIGHTS
from .whole import ends, is_whole, parts

UNIT = 64
"""The parts into which a token is divided for adding."""
KNOWN_PRICES = 32_768
"""So many prices are kept; then all are forgotten, which costs less than to know the oldest."""
LONGEST_KNOWN = 128
LONGEST_TOKEN = 128
"""The characters of the longest token of o200k_base, a run of blanks."""
SAMPLES, SAMPLE = 8, 128
"""A longer piece than these together is a key, or writing without blanks: so much of it is priced,
and the rest is taken to be alike.
"""

_STEP_CHARACTERS = 16_000
"""Characters of a long text that are priced before others have their turn."""
LONGEST_PIECE = 32 * _STEP_CHARACTERS
"""A piece is cut after so many characters, as if the text ended there: the search for its end is a
single step.
"""
_AHEAD = 4
"""So many characters after a piece can decide where it ends."""

FEW_PARTS, LONG_PART, MISSED = 4, 3, 13
"""Letters of no word have many short parts, and the tokenizer finds more: it takes no longest ones.
If a piece has more than so many parts, and they are shorter on average, each more is that much.
"""

_ALONE = re.compile(f"[{re.escape(string.punctuation)}][A-Z]{{2}}")
"""A mark before capitals goes with none of them, unless it goes with several."""

_LEAST = 2 * UNIT
"""The price of what is no single token."""
_MARKS = frozenset(string.punctuation)
"""A word with one of them before it is seldom a token, and the word alone often is."""
_BEGIN = 2
"""It stands for the character before the first one of a piece."""

_WEIGHTS = tuple(array("b", base64.b64decode(WEIGHTS)))
_IN_PAIRS, _SPELT = inside_brackets(PAIRED), inside_brackets(SPELT)
_FIRST_PRICED = chr(int(SPELT.partition("-")[0], 16))
"""All characters before it are taken apart into tokens."""
_RUN = re.compile(f"([{_IN_PAIRS}]+)|([{_SPELT}]+)|([^{_IN_PAIRS}{_SPELT}]+)")
"""Characters that all are priced in twos, or are spelt, or neither."""
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def estimate_text(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    if len(text) > LONGEST_PIECE:
        return done(estimating(text))
    return _tokens(sum(map(_price_of, PIECE.findall(_joined(text)))))


def estimating(text: str) -> Work[int]:
    """Do the work of `estimate_text` in steps."""
    if len(text) <= _STEP_CHARACTERS:
        return estimate_text(text)
    price = 0
    for pieces in _pieces((yield from _joining(text))):
        price += sum(map(_price_of, pieces))
        yield
    return _tokens(price)


def _joined(text: str) -> str:
    """Put the halves of characters together: JavaScript can't tell them from the character."""
    if not text.isascii() and _SPLIT_PAIR.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _joining(text: str) -> Work[str]:
    """Do the work of `_joined` in steps."""
    if text.isascii():
        return text
    joined: list[str] = []
    start = 0
    while start < len(text):
        end = start + LONGEST_PIECE
        end += _SPLIT_PAIR.match(text, end - 1) is not None
        joined.append(_joined(text[start:end]))
        start = end
        yield
    return "".join(joined)


def _tokens(price: int) -> int:
    return (price + UNIT // 2) // UNIT


def _pieces(text: str) -> Iterator[list[str]]:
    """Cut a long text, some pieces at a time."""
    start, window = 0, _STEP_CHARACTERS
    while start < len(text):
        edge = start + window
        pieces = PIECE.findall(text, start, edge)
        end = min(edge, len(text))
        while edge < len(text) and pieces and end > edge - _AHEAD:  # it may go on, or be another
            end -= len(pieces.pop())
        if pieces:
            yield pieces
            start, window = end, _STEP_CHARACTERS
        elif window < LONGEST_PIECE:
            window *= 2
        else:
            piece = PIECE.findall(text, start, edge)[0]
            yield [piece]
            start, window = start + len(piece), _STEP_CHARACTERS


def slots(piece: str) -> list[int]:
    """Return where the table has the weights of a piece: those that are added to its tokens.

    The place is a hash of characters, of factors so small that Python adds quickly.
    """
    found: list[int] = []
    last = _BEGIN
    for paired, spelt, other in _RUN.findall(piece):
        for code in map(ord, paired):
            found += [code * 4447 >> 3 & 0xFFFF, last * 6101 + code * 4447 >> 3 & 0xFFFF]
            last = code
        if not paired:
            found += [ord(part) * 4447 >> 3 & 0xFFFF for part in parts(other) if _is_unknown(part)]
            last = ord((spelt or other)[-1])
    return found


def _is_unknown(part: str) -> bool:
    """Whether a part is a character that has no token of its own."""
    return len(part) == 1 and not part.isascii() and not is_whole(part)


def _price(piece: str) -> int:
    if len(piece) <= LONGEST_TOKEN and is_whole(piece):
        return UNIT
    if piece[0] in _MARKS and len(piece) <= LONGEST_TOKEN and is_whole(piece[1:]):
        return _LEAST
    return max(_LEAST, several(piece) if 2 * len(piece) <= SAMPLES * SAMPLE else _sampled(piece))


def _sampled(piece: str) -> int:
    """Return about the price of a long piece; its length is that of UTF-16, as in JavaScript."""
    encoded = piece.encode("utf-16-le", "surrogatepass")
    size = len(encoded) // 2
    if size <= SAMPLES * SAMPLE:
        return several(piece)
    price = 0
    for number in range(SAMPLES):
        start = number * (size - SAMPLE) // (SAMPLES - 1)
        sample = encoded[2 * start : 2 * (start + SAMPLE)]
        price += several(sample.decode("utf-16-le", "surrogatepass"))
    return price * size // (SAMPLES * SAMPLE)


def several(piece: str) -> int:
    """Return the price of a piece, as of several tokens: a token for each part, and all weights."""
    if max(piece) < _FIRST_PRICED:
        return _taken_apart(piece)
    price, last = 0, _BEGIN
    for paired, spelt, other in _RUN.findall(piece):
        if paired:
            for code in map(ord, paired):
                price += _WEIGHTS[code * 4447 >> 3 & 0xFFFF]
                price += _WEIGHTS[last * 6101 + code * 4447 >> 3 & 0xFFFF]
                last = code
        else:
            price += UNIT * len(spelt.encode()) if spelt else _taken_apart(other)
            last = ord((spelt or other)[-1])
    return price


def _taken_apart(run: str) -> int:
    found = ends(run)
    if found[0] == 2 and _ALONE.match(run):
        found = [1, *(end + 1 for end in ends(run[1:]))]
    if run.isascii():
        count = len(found)
        return UNIT * count + _missed(run, count) if count > FEW_PARTS else UNIT * count
    price, start = 0, 0
    for end in found:
        part, start = run[start:end], end
        price += UNIT
        if _is_unknown(part):
            price += _WEIGHTS[ord(part) * 4447 >> 3 & 0xFFFF]
    return price


def _missed(run: str, count: int) -> int:
    """Return the price of the tokens that longer parts hide in letters of no word."""
    if not run[1].isalpha():  # the first character may be a mark before a word
        return 0
    size = len(run)
    return MISSED * max(0, min(count - FEW_PARTS, LONG_PART * count - size, size - count))


class _Prices(dict[str, int]):
    """The prices that were asked for lately."""

    def __missing__(self, piece: str) -> int:
        price = _price(piece)
        if len(piece) <= LONGEST_KNOWN:
            if len(self) >= KNOWN_PRICES:
                self.clear()
            self[piece] = price
        return price


_price_of = _Prices().__getitem__
