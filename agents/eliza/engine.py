"""Eliza's engine: it takes a text and finds the script's answer.

Rules: nothing in this file waits, and chance comes in from outside. Its memory (how often each rule
was used, and the memories) follows from the texts, in order. The cost of a text is bounded: of a
long one only the beginning is heard, and a clause has its longest length.
"""

from __future__ import annotations

import string
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from bridge.value import Value

from .script import (
    AFTER_OBJECT,
    KEYWORDS,
    MEMORY,
    NEXT,
    NO_KEYWORD,
    REFLECTIONS,
    SUBSTITUTIONS,
    SYNONYMS,
    VERBS,
    DecompositionRule,
    Keyword,
)

# No worry is longer than this, and a pasted file must not block the event loop.
HEARD_CHARACTERS = 50_000
CLAUSE_WORDS = 100
# The most that is quoted of a text, and how many memories are kept.
QUOTED_CHARACTERS = 200
MEMORIES = 32

# Characters that are stripped from the ends of a word, and those that end a clause.
_EDGES = string.punctuation + "…“”«»—" + "\u2018\u2013"  # a single quotation mark, an en dash
_ENDS = frozenset(".,;:!?…()—")
_APOSTROPHE = "\u2019"  # as word processors write it


# Patterns, compiled once.


class _Slot(Value):
    """A place for one of `words`; numbered if a group of synonyms stands there."""

    words: frozenset[str]
    numbered: bool


class _Stretch(Value):
    """Neighbouring slots after a gap of at least `gap` words."""

    gap: int
    slots: tuple[_Slot, ...]

    def find(self, keys: Sequence[str], start: int) -> int | None:
        """Return where the slots fit first, at or after `start`."""
        for position in range(start, len(keys) - len(self.slots) + 1):
            if all(keys[position + i] in slot.words for i, slot in enumerate(self.slots)):
                return position
        return None


class Pattern(Value):
    """A pattern of the script. It never goes back: the first fit of a stretch is as good as any."""

    stretches: tuple[_Stretch, ...]
    tail: int

    @classmethod
    def of(cls, pattern: str) -> Pattern:
        """Return the pattern that is written `pattern`; it begins and ends with a gap."""
        first, *items = pattern.split()
        stretches: list[_Stretch] = []
        gap = _GAPS[first]
        slots: list[_Slot] = []
        for item in items:
            if item in _GAPS:
                stretches.append(_Stretch(gap, tuple(slots)))
                gap, slots = _GAPS[item], []
            elif item.startswith("@"):
                slots.append(_Slot(frozenset(SYNONYMS[item[1:]]), numbered=True))
            else:
                slots.append(_Slot(frozenset(item.split("|")), numbered=False))
        if slots:
            raise ValueError(f"a pattern ends with a gap, this one doesn't: {pattern!r}")
        return cls(tuple(stretches), gap)

    def match(self, keys: Sequence[str]) -> list[slice] | None:
        """Return what stands in each gap and group, None if the pattern doesn't fit."""
        found: list[slice] = []
        done = 0
        for stretch in self.stretches:
            at = stretch.find(keys, done + stretch.gap)
            if at is None:
                return None
            found.append(slice(done, at))
            found += [
                slice(at + i, at + i + 1) for i, slot in enumerate(stretch.slots) if slot.numbered
            ]
            done = at + len(stretch.slots)
        if len(keys) - done < self.tail:
            return None
        found.append(slice(done, None))
        return found


_GAPS = {"*": 0, "+": 1}
_PATTERNS = {
    rule.pattern: Pattern.of(rule.pattern)
    for rule in (*(rule for keyword in KEYWORDS for rule in keyword.rules), MEMORY, NO_KEYWORD)
}
_BY_WORD = {word: keyword for keyword in KEYWORDS for word in keyword.words}
_KNOWN_RANKS = {word: keyword.rank for word, keyword in _BY_WORD.items()} | {
    word: max((_BY_WORD[part].rank for part in becomes.split() if part in _BY_WORD), default=-1)
    for word, becomes in SUBSTITUTIONS.items()
}


# Words.


def clauses(text: str) -> Iterator[list[str]]:
    """Yield the clauses of a text, as words without the punctuation round them; none is empty."""
    for line in text[:HEARD_CHARACTERS].replace(_APOSTROPHE, "'").splitlines():
        clause: list[str] = []
        for raw in line.split():
            word = raw.strip(_EDGES)
            if word and word.lower() != "but":
                clause.append(word)
                tail = raw[len(raw.rstrip(_EDGES)) :]
                if _ENDS.isdisjoint(tail) and len(clause) < CLAUSE_WORDS:
                    continue
            if clause:
                yield clause
                clause = []
        if clause:
            yield clause


def reflect(words: Sequence[str]) -> list[str]:
    """Return the words as the other one would say them, as many as there were."""
    keys = [word.lower() for word in words]
    seen: list[str] = []
    for i, (word, key) in enumerate(zip(words, keys, strict=True)):
        before = keys[i - 1] if i else ""
        after = keys[i + 1] if i + 1 < len(keys) else ""
        if (before, key) in VERBS:
            seen.append(VERBS[before, key])
        elif key == "you":
            seen.append("me" if not after or after in AFTER_OBJECT else "I")
        else:
            seen.append(REFLECTIONS.get(key, word))
    return seen


def quote(words: Sequence[str]) -> str:
    """Return words of the user's as Eliza says them, cut where they are too long to be quoted."""
    text = " ".join(reflect(words))
    if len(text) <= QUOTED_CHARACTERS:
        return text
    return text[:QUOTED_CHARACTERS].rsplit(" ", 1)[0] + " ..."


def _rank(clause: Sequence[str]) -> int:
    return max(_KNOWN_RANKS.get(word.lower(), -1) for word in clause)


def _substituted(clause: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in clause:
        becomes = SUBSTITUTIONS.get(word.lower())
        words += [word] if becomes is None else becomes.split()
    return words


def _keywords(keys: Sequence[str]) -> list[Keyword]:
    """Return the keywords of a clause, the highest rank first, else as they appear."""
    names = dict.fromkeys(_BY_WORD[key].words[0] for key in keys if key in _BY_WORD)
    return sorted((_BY_WORD[name] for name in names), key=lambda keyword: -keyword.rank)


class Eliza:
    """One conversation. `choose(n)` picks one of n replies; without it, they take turns."""

    def __init__(self, choose: Callable[[int], int] | None = None) -> None:
        self._choose = choose
        self._next: dict[tuple[str, str], int] = {}
        """Each rule's next reply, by keyword and pattern."""
        self._memories: deque[str] = deque(maxlen=MEMORIES)

    def hear(self, text: str) -> str:
        """Return the answer to a text, and remember what there is to remember."""
        nothing: list[str] = []
        words = _substituted(max(clauses(text), key=_rank, default=nothing))
        keys = [word.lower() for word in words]
        self._memorise(words, keys)
        for keyword in _keywords(keys):
            reply = self._answer(keyword, words, keys)
            if reply is not None:
                return reply
        if self._memories:
            return self._memories.popleft()
        return self._reply("none", NO_KEYWORD)

    def _memorise(self, words: Sequence[str], keys: Sequence[str]) -> None:
        found = _PATTERNS[MEMORY.pattern].match(keys)
        if found is not None:
            self._memories.append(_assembled(self._reply("memory", MEMORY), words, found))

    def _answer(self, keyword: Keyword, words: Sequence[str], keys: Sequence[str]) -> str | None:
        for rule in keyword.rules:
            found = _PATTERNS[rule.pattern].match(keys)
            if found is None:
                continue
            reply = self._reply(keyword.words[0], rule)
            if reply == NEXT:
                return None
            if reply.startswith("="):
                return self._answer(_BY_WORD[reply[1:]], words, keys)
            return _assembled(reply, words, found)
        return None

    def _reply(self, keyword: str, rule: DecompositionRule) -> str:
        key = (keyword, rule.pattern)
        turn = self._next.get(key, 0)
        self._next[key] = (turn + 1) % len(rule.replies)
        return rule.replies[turn if self._choose is None else self._choose(len(rule.replies))]


def _assembled(reply: str, words: Sequence[str], found: Sequence[slice]) -> str:
    return reply.format("", *(quote(words[part]) for part in found))
