"""Estimate the tokens of a text: each piece has a price, and the prices are added up.

A piece that o200k_base has as a token costs one. The price of any other follows from its length.
Each three neighbouring characters correct it: those of common words lower the price, rare ones
raise it. These prices were fitted to o200k_base (docs/explanation/tokens.md); a long word is priced
step by step. All numbers are whole, so that the extension's counts are equal.
"""

from __future__ import annotations

import base64
import re
from array import array
from collections.abc import Iterator

from bridge.work import Work

from .pieces import PAIRED, PIECE
from .table import LENGTHS, WEIGHTS
from .whole import is_whole

UNIT = 64
"""The parts into which a token is divided for adding."""
KNOWN_PRICES = 32_768
"""So many prices are kept; then all are forgotten, which costs less than to know the oldest."""
LONGEST_KNOWN = 32
LONGEST_TOKEN = 128
"""The characters of the longest token of o200k_base, a run of blanks."""
LONG_WORD = 20
"""A longer word is several ones without blanks between, a key, or a run of one letter."""
STEP = 10
"""So many characters of a long word are priced at a time."""
RUN = 4
"""So many times the same letter of ASCII are a token, some 8 and some 2; others are each."""

_STEP_CHARACTERS = 1_600 * STEP
"""Characters of a long text that are priced before others have their turn."""
_LONGEST_PIECE = 32 * _STEP_CHARACTERS
"""A longer run, such as of one mark, is cut in steps: the search for its end is a single one."""
_AHEAD = 4
"""So many characters after a piece can decide where it ends."""

_LEAST = 2 * UNIT
"""The price of what is no single token."""
_START, _NEXT, _END = 1, 2, 3
_BLOCK = 7


def _paired_blocks() -> bytes:
    blocks = bytearray(0x110000 >> _BLOCK)
    for paired in PAIRED.split():
        first, last = (int(code, 16) >> _BLOCK for code in paired.split("-"))
        blocks[first : last + 1] = b"\1" * (last + 1 - first)
    return bytes(blocks)


_IS_PAIRED = _paired_blocks()
"""Whether the characters of a block are priced alone and in twos."""
_LENGTHS = tuple(map(int, LENGTHS.split()))
_WEIGHTS = tuple(array("b", base64.b64decode(WEIGHTS)))
_LONGEST = len(_LENGTHS) - 1
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def estimate_text(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return _tokens(sum(map(_price_of, PIECE.findall(_joined(text)))))


def estimating(text: str) -> Work[int]:
    """Do the work of `estimate_text` in steps."""
    if len(text) <= _STEP_CHARACTERS:
        return estimate_text(text)
    price = 0
    for pieces in _pieces((yield from _joining(text))):
        for piece in pieces:
            if len(piece) > _STEP_CHARACTERS:
                price += yield from _pricing(piece)
            else:
                price += _price_of(piece)
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
        end = start + _LONGEST_PIECE
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
        is_cut = edge < len(text) and window < _LONGEST_PIECE
        while is_cut and pieces and end > edge - _AHEAD:  # it may go on, or be another
            end -= len(pieces.pop())
        if pieces:
            yield pieces
            start, window = end, _STEP_CHARACTERS
        else:
            window *= 2


def slots(piece: str) -> list[int]:
    """Return where the table has the weights of a piece.

    The place of some characters is a hash of them, of factors so small that Python adds quickly.
    """
    found: list[int] = []
    first, second = _START, _NEXT
    for code in [*map(ord, piece), _END]:
        if _IS_PAIRED[code >> _BLOCK]:
            found += [second * 6101 + code * 4447 >> 3 & 0xFFFF, code * 4447 >> 3 & 0xFFFF]
        else:
            found.append(first * 7919 + second * 6101 + code * 4447 >> 3 & 0xFFFF)
        first, second = second, code
    return found


def steps(piece: str) -> list[str]:
    """Return the parts of a piece that are priced one by one: a long word has several."""
    if len(piece) <= LONG_WORD or not (_has_blanks_beside(piece) and _ends_with_letter(piece)):
        return [piece]
    return _cut(piece, STEP)


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _has_blanks_beside(piece: str) -> bool:
    """Whether a piece is in a script that sets blanks between words."""
    return max(piece) < "\u0800"


def _ends_with_letter(piece: str) -> bool:
    last = piece[-1]
    return last >= "\u00aa" or (last.isascii() and last.isalpha())


def _price(piece: str) -> int:
    size = len(piece)
    if size <= LONGEST_TOKEN and is_whole(piece):
        return UNIT
    cut = steps(piece)
    if len(cut) > 1:
        return max(sum(map(_price_of_step, cut)), _LEAST)
    return max(_whole(piece, *_weigh(piece, (_START, _NEXT))), _LEAST)


def _pricing(piece: str) -> Work[int]:
    """Return the price of a piece of any length, in steps."""
    cut = _cut(piece, _STEP_CHARACTERS)
    is_word = _ends_with_letter(piece)
    for part in cut:
        is_word = is_word and _has_blanks_beside(part)
        yield
    price, last = 0, (_START, _NEXT)
    for part in cut:
        if is_word:
            price += sum(map(_price_of_step, _cut(part, STEP)))
        else:
            more, last = _weigh(part, last)
            price += more
        yield
    return price if is_word else _whole(piece, price, last)


def _price_of_step(step: str) -> int:
    if step == step[0] * len(step):
        return UNIT * len(step) // (RUN if step.isascii() else 1)
    return _whole(step, *_weigh(step, (_START, _NEXT)))


def _weigh(piece: str, last: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """Return the sum of the weights over `slots`, at half the time, and the two last characters."""
    price = 0
    first, second = last
    for code in map(ord, piece):
        if _IS_PAIRED[code >> _BLOCK]:
            price += _WEIGHTS[second * 6101 + code * 4447 >> 3 & 0xFFFF]
            price += _WEIGHTS[code * 4447 >> 3 & 0xFFFF]
        else:
            price += _WEIGHTS[first * 7919 + second * 6101 + code * 4447 >> 3 & 0xFFFF]
        first, second = second, code
    return price, (first, second)


def _whole(piece: str, price: int, last: tuple[int, int]) -> int:
    """Return the price of a whole piece: with its length and its end, and within its bounds."""
    size = len(piece)
    first, second = last
    price += _LENGTHS[min(size, _LONGEST)]
    price += _WEIGHTS[first * 7919 + second * 6101 + _END * 4447 >> 3 & 0xFFFF]
    least = UNIT * -(-size // LONGEST_TOKEN)
    most = UNIT * size * (1 if piece.isascii() else 4)  # as many as it can have bytes
    return min(max(price, least), most)


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
