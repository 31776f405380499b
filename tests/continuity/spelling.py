"""Facts as letters, for agents that are told nothing but texts.

A letter is of Unicode's private use, so nobody says it by chance, and it can't be cut in two.
"""

from __future__ import annotations

import re

import msgspec

from tests.host.facts import Json, facts_of, without_facts

_encode = msgspec.json.Encoder().encode
_FIRST = 0xF0000
_LETTERS = re.compile("[\U000f0000-\U000ffffd]")
_END_OF_WORDS = re.compile(
    r"\n</(?:userRequest|user_query|prompt|system_notification)>\n?\Z"
    r"|\n\n<system_reminder>.*\Z",
    re.DOTALL,
)


def spelled(*facts: int) -> str:
    """Return the letters of facts."""
    return "".join(chr(_FIRST + fact) for fact in facts)


def read(text: str) -> list[int]:
    """Return the facts in a text, in order."""
    return [ord(letter) - _FIRST for letter in _LETTERS.findall(text)]


def read_all(told: object) -> list[int]:
    """Return the facts in whatever an agent is told, in order."""
    return read(_encode(told).decode())


def spelled_out(message: Json) -> Json:
    """Return a message with its facts as letters; an answer has them already, where it was said."""
    content = without_facts(message["content"])
    facts = facts_of([{"content": [p for p in message["content"] if p["type"] == "fact"]}])
    if message["role"] == "user" and facts:
        last = max(at for at, part in enumerate(content) if part["type"] == "text")
        said = content[last] | {"value": _with(content[last]["value"], spelled(*facts))}
        content = [*content[:last], said, *content[last + 1 :]]
    return message | {"content": [_result(part) for part in content]}


def _with(text: str, letters: str) -> str:
    end = _END_OF_WORDS.search(text)
    at = end.start() if end else len(text)
    return text[:at] + letters + text[at:]


def _result(part: Json) -> Json:
    if part["type"] != "tool_result":
        return part
    facts = facts_of([{"content": [part]}])
    texts = without_facts(part["result"])
    return part | {"result": [*texts, {"type": "text", "value": spelled(*facts)}]}
