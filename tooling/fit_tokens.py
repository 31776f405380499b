"""Fit the table of the token estimator to texts and to the exact tokenizer.

    python -m tooling.fit_tokens TEXTS.jsonl [--onward]

Each line of TEXTS is `{"kind": ..., "share": ..., "text": ...}`; `share` is how much its kind
counts, however much text there is of it. Nothing of the texts gets into the table but how many
tokens their pieces have. Only pieces with characters that are priced in twos matter, since all
others are taken apart into tokens. Writes `bridge/tokens/table.py`; `tooling.token_table` then
takes that to the extension. `--onward` begins with the table that is there.

The fit is coordinate descent: one weight after the other is set to what is best while the others
stay, until nothing moves. The estimate never goes below two. So a piece of two tokens with a sum
below two is right already, and has no effect on the fit.
"""

# ruff: noqa: RUF001  # full-width marks are meant
from __future__ import annotations

import base64
import random
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from bridge.tokens import table as tokens_table
from bridge.tokens.pieces import PIECE
from bridge.tokens.text import UNIT, several, slots
from tooling import exact_tokens
from tooling.token_table import python_module

SLOTS = 1 << 16
DAMPING = 1.0
"""The strength that holds a weight at zero, in occurrences of its characters."""
EPOCHS = 10
LEAST = 2
"""Pieces of fewer tokens have no price."""
PER_SHARE = 1e6
"""Into how many tokens a share is scaled; what DAMPING is to be seen against."""
CHARACTER_SHARE = 0.25
CLAUSE_SHARE = 1.5
CLAUSES = 50_000
TOKENS_OF_CLAUSE = 6
WAYS = (1, 1, -1)


class Text(msgspec.Struct):
    """A text to fit to."""

    kind: str
    share: float
    text: str


def weighted_pieces(texts: Iterable[Text]) -> tuple[list[str], list[float], list[int]]:
    """Return each piece once, how much it counts, and how many tokens it has."""
    kinds: dict[tuple[str, float], Counter[str]] = {}
    for text in texts:
        kinds.setdefault((text.kind, text.share), Counter()).update(PIECE.findall(text.text))
    total: dict[str, float] = {}
    tokens: dict[str, int] = {}
    for (_, share), pieces in kinds.items():
        for piece in pieces:
            if piece not in tokens:
                tokens[piece] = exact_tokens.count(piece)
        scale = share * PER_SHARE / sum(tokens[piece] * n for piece, n in pieces.items())
        for piece, n in pieces.items():
            total[piece] = total.get(piece, 0.0) + n * scale
    for piece, weight in [*characters(), *clauses()]:
        tokens[piece] = exact_tokens.count(piece)
        total[piece] = total.get(piece, 0.0) + weight
    pieces = [piece for piece in total if tokens[piece] >= LEAST and slots(piece)]
    return pieces, [total[piece] for piece in pieces], [tokens[piece] for piece in pieces]


def vocabulary() -> Iterator[tuple[str, float]]:
    """Yield the entries that are one piece; the earlier one was learned, the more it counts."""
    for entry, rank in exact_tokens.vocabulary().items():
        try:
            piece = entry.decode()
        except UnicodeDecodeError:
            continue  # a part of a character
        if PIECE.fullmatch(piece):
            yield piece, 1 / (rank + 2000)


def characters() -> Iterator[tuple[str, float]]:
    """Yield what texts have seldom: each character alone, after a blank, and some twice."""
    symbols = [*range(0x2010, 0x2C00), *range(0x1F300, 0x1FB00)]
    pieces = [chr(code) for code in [*range(0xA1, 0xD800), *range(0xF900, 0xFFFE), *symbols]]
    pieces += [f" {piece}" for piece in pieces]
    for code in symbols:
        mark = chr(code)
        pieces += [
            mark * 2,
            mark * 3,
            f" {mark * 2}",
            f"{mark}\n",
            f" {mark}\n",
            f"{mark}\N{ZERO WIDTH JOINER}",
        ]
        pieces.append(f"{mark}\N{VARIATION SELECTOR-16}")
    whole = [piece for piece in pieces if PIECE.fullmatch(piece)]
    for piece in whole:
        yield piece, CHARACTER_SHARE * PER_SHARE / len(whole)


def clauses() -> Iterator[tuple[str, float]]:
    """Yield what nobody wrote: Chinese words one after the other, and Japanese ones with kana.

    Texts have few of all the neighbours that such words can have, since no blank parts them.
    """
    words = [
        (piece, weight)
        for piece, weight in vocabulary()
        if all(0x2E80 <= ord(character) < 0xA000 for character in piece)
    ]
    chance = random.Random(len(words))
    for kana, han in ((0.0, 1.0), (1.0, 0.3)):  # the weights of a word with, and without kana
        shares = [
            weight**0.6 * (kana if any(ord(character) < 0x3100 for character in piece) else han)
            for piece, weight in words
        ]
        for _ in range(CLAUSES):
            chosen = chance.choices(words, shares, k=chance.randint(1, 12))
            # Some backwards: what two characters cost that are no word, which no text says often.
            chosen = [piece[:: chance.choice(WAYS)] for piece, _ in chosen]
            head = chance.choice(["", "", "", "，", "。", " ", "「", "、"])
            clause = head + "".join(chosen)
            if PIECE.fullmatch(clause):
                yield clause, CLAUSE_SHARE * PER_SHARE / CLAUSES / TOKENS_OF_CLAUSE


class Fit:
    """The weights, and for each piece what they say of it so far."""

    def __init__(
        self, pieces: list[str], weights: list[float], tokens: list[int], table: list[float]
    ) -> None:
        self.weights = array("d", weights)
        self.tokens = array("d", tokens)
        self.sums = array("d", [0.0]) * len(pieces)
        self.table = table
        written = table_there()
        self.rows: list[array[int]] = [array("i") for _ in self.table]
        self.times: list[array[int]] = [array("i") for _ in self.table]
        for row, piece in enumerate(pieces):
            found = slots(piece)
            self.sums[row] = several(piece) / UNIT - sum(written[slot] for slot in found)
            for slot, times in Counter(found).items():
                self.rows[slot].append(row)
                self.times[slot].append(times)
        for slot, weight in enumerate(table):
            self._add(slot, weight)

    def epoch(self) -> float:
        """Set each weight once; return how much they moved."""
        moved = 0.0
        for slot in range(len(self.table) - 1, -1, -1):
            step = self._best(slot) - self.table[slot]
            if abs(step) > 1e-4:
                self.table[slot] += step
                self._add(slot, step)
                moved += abs(step)
        return moved

    def _best(self, slot: int) -> float:
        sums, tokens, weights = self.sums, self.tokens, self.weights
        pull = count = 0.0
        for row, times in zip(self.rows[slot], self.times[slot], strict=True):
            gap = tokens[row] - sums[row]
            if gap < 0 or tokens[row] > LEAST:
                pull += weights[row] * times * gap
                count += weights[row] * times * times
        best = (pull + self.table[slot] * count) / (count + DAMPING)
        return min(127 / UNIT, max(-127 / UNIT, best))

    def _add(self, slot: int, step: float) -> None:
        sums = self.sums
        for row, times in zip(self.rows[slot], self.times[slot], strict=True):
            sums[row] += step * times

    def round(self) -> list[int]:
        """Return the weights in whole units."""
        return [round(weight * UNIT) for weight in self.table]


def table_there() -> list[float]:
    """Return the table that was written last."""
    return [units / UNIT for units in array("b", base64.b64decode(tokens_table.WEIGHTS))]


def main(path: str, *options: str) -> None:
    """Fit, and write the table."""
    decode = msgspec.json.Decoder(Text).decode
    table = table_there() if "--onward" in options else [0.0] * SLOTS
    with Path(path).open("rb") as lines:
        fit = Fit(*weighted_pieces(map(decode, lines)), table)
    for epoch in range(EPOCHS):
        print(epoch, f"{fit.epoch():.1f}", flush=True)
        module = python_module(fit.round())  # after each, so that one may stop when little moves
        Path("bridge/tokens/table.py").write_text(module, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
