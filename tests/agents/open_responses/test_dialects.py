"""Dialects of servers, written after their sources: each says each thing once, mutated as well.

A stream's name has the server, the source that the stream follows, and what is odd about it. Each
is heard with an event dropped, doubled and moved, in any order, and cut.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.events import AskPermission, Attach, Break, Say, Stop, StopReason
from agents.open_responses.stream.hosted import is_image
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import agent_at, alone, failure_in
from .hearing import Heard, hear_bytes

FOLDER = Path(__file__).parent / "dialects"

OSLO = ("look", {"city": "Oslo"})
ROME = ("look", {"city": "Rome"})
NOTHING: tuple[str, dict[str, Any]] = ("look", {})


@attrs.frozen
class Told:
    """What a stream says; `words` are pieces of its texts, none of which is in another."""

    words: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    calls: tuple[tuple[str, Any], ...] = ()
    lines: tuple[str, ...] = ()
    """Lines of the server's tools."""
    images: int = 0
    approvals: tuple[str, ...] = ()
    tokens: int | None = None
    fault: str = ""
    """Words of the failure; "": it doesn't fail."""
    is_retried: bool = False
    reason: StopReason = StopReason.END_TURN


TOLD: dict[str, Told] = {
    "codex-proxy--cockpit-tools-issue-2328--response-done": Told(("Do", "ne."), tokens=35),
    "codex-proxy--cockpit-tools-issue-2328--response-done-without-status": Told(
        calls=(OSLO,), tokens=35
    ),
    "crane--pull-121--error-as-words": Told(fault="400 Bad Request: the prompt is too long"),
    "gemini--js-genai-issue-1973--bare-json-error": Told(fault="The model `gpt-9` does not exist"),
    "headroom--pull-3083--error-event-without-type": Told(fault="Your credit balance is too low"),
    "llama.cpp--pull-16109-server.cpp--error-field": Told(
        fault="the request exceeds the available context size, try increasing it"
    ),
    "openai--api-reference--code-interpreter-call": Told(
        ("It", " is four."), lines=("▶️ Code: `print(2+2)` ✔",), tokens=29
    ),
    "openai--api-reference--image-generation-call": Told(
        ("Here", " it is."), lines=("🖼️ Image: `a red cat` ✔",), images=1, tokens=29
    ),
    "openai--api-reference--mcp-approval-request": Told(
        lines=("🔧 List of tools: `git` ✔",), approvals=("git: push",), tokens=29
    ),
    "openai--api-reference--web-search-call": Told(
        ("It", " rains."), lines=("🌐 Web search: `weather in Oslo` ✔",), tokens=29
    ),
    "openai--openai-api-proxy-pull-33--bare-json-error-over-lines": Told(
        fault="Incorrect API key provided"
    ),
    "openai-realtime--api-reference--failed-with-status-details": Told(
        fault="Your input exceeds the context window of this model"
    ),
    "openai-realtime--api-reference--incomplete-with-status-details": Told(
        ("Once", "."), tokens=35, reason=StopReason.MAX_TOKENS
    ),
    "openrouter--airi-pull-2593--no-terminal-event": Told(("Good", " day."), ("Greet", " them.")),
    "openrouter--airi-pull-2593--no-terminal-event-after-a-call": Told(calls=(OSLO,)),
    "openrouter--typescript-sdk-outputwebsearchservertoolitem.ts--web-search": Told(
        ("It", " rains."), lines=("🌐 Web search: `weather in Oslo` ✔",), tokens=29
    ),
    "postman-echo--postman-issue-14077--plain-text-error-event": Told(
        fault="400 Bad Request: tools[0].name is too long"
    ),
    "sub2api--issue-1471--error-inside-of-an-event": Told(
        fault="stream_read_error", is_retried=True
    ),
    "vllm--langchain-pull-34242--arguments-null": Told(calls=(NOTHING,), tokens=29),
    "vllm--langchain-pull-34242--arguments-null-in-the-stream-alone": Told(
        calls=(NOTHING,), tokens=29
    ),
    "vllm--pull-54964--arguments-encoded-twice": Told(calls=(OSLO,), tokens=29),
    "vllm--pull-54964--arguments-encoded-twice-in-deltas": Told(calls=(OSLO,), tokens=29),
    "vllm-0.10-harmony--serving_responses.py--content-index-counts-deltas": Told(
        ("It", " is", " four", "."), ("Two", " and", " two"), tokens=29
    ),
    "vllm-0.11-harmony--serving_responses.py--added-with-the-id-of-the-item-before": Told(
        thoughts=("The user wants", " the weather."), calls=(OSLO, ROME), tokens=29
    ),
    "vllm-0.13-harmony--responses-serving.py--equal-calls": Told(calls=(OSLO, OSLO), tokens=29),
    "vllm-0.13-harmony--responses-serving.py--one-call": Told(
        thoughts=("The user wants", " the weather."), calls=(OSLO,), tokens=29
    ),
    "vllm-0.13-harmony--responses-serving.py--two-calls": Told(calls=(OSLO, ROME), tokens=29),
    "weave-router--pull-198--arguments-the-word-null": Told(calls=(NOTHING,), tokens=29),
}

WITHOUT_PLACES = "vllm-0.10-harmony--serving_responses.py--content-index-counts-deltas"
"""No key of it says what a delta is a part of. A delta after its whole text is a new text."""

each_dialect = pytest.mark.parametrize("name", sorted(TOLD))
each_with_places = pytest.mark.parametrize("name", sorted({*TOLD} - {WITHOUT_PLACES}))


def blocks(name: str) -> list[bytes]:
    """Return the events of a stream, as they are on the wire."""
    return [
        block + b"\n\n"
        for block in (FOLDER / f"{name}.sse").read_bytes().split(b"\n\n")
        if block.strip()
    ]


def hear(body: list[bytes]) -> Heard:
    heard = hear_bytes(body, tools={"look"})
    assert len(set(heard.call_ids)) == len(heard.call_ids)
    return heard


def faults() -> list[str]:
    return sorted(name for name, told in TOLD.items() if told.fault)


@pytest.mark.parametrize("name", faults())
async def test_the_words_of_an_error_reach_the_user_and_what_lasts_is_not_asked_again(
    name: str,
) -> None:
    told = TOLD[name]
    plan = Plan(body=(FOLDER / f"{name}.sse").read_bytes())
    async with responses_server() as server, agent_at(server, retries=1) as agent:
        server.plans += [plan, plan]
        failure = failure_in(await alone(agent))
        assert told.fault in failure.message
        assert "{" not in failure.message, "the words alone"
        assert len(server.bodies) == 1 + told.is_retried


def tally(calls: Any) -> Counter[str]:
    return Counter(json.dumps(call, sort_keys=True) for call in calls)


def lines_of(heard: Heard) -> tuple[str, ...]:
    """Return what we said, as lines."""
    ours = (event.text for event in heard.events if isinstance(event, Say) and event.by_us)
    return tuple(line for line in "".join(ours).split("\n\n") if line)


def images_of(heard: Heard) -> int:
    return sum(isinstance(event, Attach) and is_image(event) for event in heard.events)


def approvals_of(heard: Heard) -> tuple[str, ...]:
    return tuple(event.title for event in heard.events if isinstance(event, AskPermission))


def assert_all_said(heard: Heard, told: Told) -> None:
    assert lines_of(heard) == told.lines
    assert images_of(heard) == told.images
    assert approvals_of(heard) == told.approvals
    assert heard.text == "".join(told.words)
    assert heard.thought == "".join(told.thoughts)
    assert tally(heard.calls) == tally(told.calls)


def assert_at_most_once(heard: Heard, told: Told) -> None:
    """Nothing is said twice, or made up."""
    for said, pieces in ((heard.text, told.words), (heard.thought, told.thoughts)):
        for piece in pieces:
            assert said.count(piece) <= pieces.count(piece)
            said = said.replace(piece, "")
        assert not said.strip()
    assert not tally(heard.calls) - tally(told.calls)
    assert images_of(heard) <= told.images
    assert not Counter(approvals_of(heard)) - Counter(told.approvals)
    names = Counter(map(name_in, lines_of(heard))) - Counter(map(name_in, told.lines))
    assert not [name for name in names if not name.startswith("*(")]


def name_in(line: str) -> str:
    """Return the name of the tool that a line is about."""
    return line.partition(":")[0].removesuffix(" ✔")


CONTENT = ("arguments", "delta", "refusal", "text")
"""Fields that have what a model says."""
KEYS = ("call_id", "id", "item_id", "response_id")
FIXED = "lnu"
"""Letters that stay: those of `null`, and of escapes."""
NUMBER = re.compile(rb',"sequence_number":[0-9]+|"sequence_number":[0-9]+,')
MOVED = "".join(letter for letter in string.ascii_lowercase if letter not in FIXED)


@attrs.frozen
class Redrawn:
    """The ids and letters of a stream, drawn anew."""

    ids: Mapping[str, str]
    letters: Mapping[int, int]

    def said(self, value: Any) -> Any:
        """Return a text, or JSON, with other letters."""
        if isinstance(value, str):
            return value.translate(self.letters)
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {self.said(key): self.said(one) for key, one in items}
        if isinstance(value, list | tuple):
            return [self.said(one) for one in cast("list[Any]", value)]
        return value

    def value(self, value: Any, key: str = "") -> Any:
        """Return a value of an event, drawn anew."""
        if key in CONTENT:
            return self.said(value)
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {name: self.value(one, name) for name, one in items}
        if isinstance(value, list):
            return [self.value(one) for one in cast("list[Any]", value)]
        return self.ids.get(value, value) if key in KEYS else value

    def told(self, told: Told) -> Told:
        """Return what a stream says that is drawn anew."""
        calls = tuple((name, self.said(arguments)) for name, arguments in told.calls)
        words, thoughts = tuple(self.said(told.words)), tuple(self.said(told.thoughts))
        return attrs.evolve(told, words=words, thoughts=thoughts, calls=calls)

    def line(self, line: bytes) -> bytes:
        """Return a line of a stream, drawn anew where it has an event."""
        event = event_in(line)
        return line if event is None else b"data: " + json.dumps(self.value(event)).encode()


def event_in(line: bytes) -> Any:
    """Return the event of a line; None without one, or where it is cut."""
    try:
        return json.loads(line.removeprefix(b"data: ")) if line.startswith(b"data: {") else None
    except ValueError:
        return None


def ids_in(value: Any) -> Iterator[str]:
    """Yield the ids in a value."""
    if isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            if key in KEYS and isinstance(one, str):
                yield one
            yield from ids_in(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from ids_in(one)


def ids_of(name: str) -> list[str]:
    """Return the ids in a stream, each once."""
    lines = (FOLDER / f"{name}.sse").read_bytes().split(b"\n")
    return sorted({one for line in lines for one in ids_in(event_in(line))})


some_id = st.text(string.ascii_letters + string.digits + "_-:", min_size=1, max_size=20)


@each_dialect
@given(st.data())
def test_a_dialect_with_other_ids_words_and_chunks_says_the_same(
    name: str, data: st.DataObject
) -> None:
    old = ids_of(name)
    new = data.draw(st.lists(some_id, min_size=len(old), max_size=len(old), unique=True))
    order = "".join(data.draw(st.permutations(MOVED)))
    both = str.maketrans(MOVED + MOVED.upper(), order + order.upper())
    redrawn = Redrawn(dict(zip(old, new, strict=True)), both)
    told = redrawn.told(TOLD[name])
    lines = (FOLDER / f"{name}.sse").read_bytes().split(b"\n")
    body = b"\n".join(map(redrawn.line, lines))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=9)))
    chunks = [body[start:end] for start, end in pairwise([0, *cuts, len(body)])]
    heard = hear(chunks)
    assert_all_said(heard, told)
    assert (heard.usage or {}).get("total_tokens") == told.tokens
    assert isinstance(heard.end, Break) is bool(told.fault)
    events = [block + b"\n\n" for block in body.split(b"\n\n") if block.strip()]
    at = data.draw(st.integers(0, len(events) - 1))
    assert_all_said(hear([*events[: at + 1], *events[at:]]), told)
    assert_at_most_once(hear([*events[:at], *events[at + 1 :]]), told)


def test_each_dialect_has_its_server_and_its_source_in_its_name() -> None:
    for name in TOLD:
        server, source, *odd = name.split("--")
        assert server
        assert source
        assert odd
        assert "made-up" not in name


def test_each_dialect_is_told() -> None:
    assert {path.stem for path in FOLDER.glob("*.sse")} == set(TOLD)


@each_dialect
def test_a_dialect_says_what_it_means(name: str) -> None:
    told = TOLD[name]
    body = (FOLDER / f"{name}.sse").read_bytes()
    for chunks in ([body], [body[at : at + 1] for at in range(len(body))]):
        heard = hear(chunks)
        assert_all_said(heard, told)
        assert (heard.usage or {}).get("total_tokens") == told.tokens
        if told.fault:
            assert isinstance(heard.end, Break)
            assert told.fault in heard.end.failure.message
            assert heard.outcome.fault is not None
            assert heard.outcome.fault.is_retryable is told.is_retried
        else:
            assert heard.end == Stop(told.reason)
            assert heard.outcome.calls == () or heard.outcome.status == "completed"


@each_dialect
def test_a_dialect_without_one_event_says_nothing_twice(name: str) -> None:
    events = blocks(name)
    for at in range(len(events)):
        assert_at_most_once(hear(events[:at] + events[at + 1 :]), TOLD[name])


@each_dialect
def test_a_dialect_with_one_event_doubled_says_the_same(name: str) -> None:
    events = blocks(name)
    for at in range(len(events)):
        assert_all_said(hear(events[: at + 1] + events[at:]), TOLD[name])


@each_dialect
def test_a_dialect_without_numbers_and_with_one_event_doubled_says_the_same(name: str) -> None:
    """But for deltas, because equal ones may be meant."""
    events = [NUMBER.sub(b"", block) for block in blocks(name)]
    for at, event in enumerate(events):
        if b'.delta"' not in event:
            assert_all_said(hear(events[: at + 1] + events[at:]), TOLD[name])


@each_dialect
def test_a_dialect_with_two_events_in_the_other_order_says_nothing_twice(name: str) -> None:
    events = blocks(name)
    for at in range(len(events) - 1):
        swapped = [*events[:at], events[at + 1], events[at], *events[at + 2 :]]
        assert_at_most_once(hear(swapped), TOLD[name])


@each_with_places
def test_a_dialect_with_one_event_anywhere_else_says_nothing_twice(name: str) -> None:
    events = blocks(name)
    for at, event in enumerate(events):
        others = [*events[:at], *events[at + 1 :]]
        for place in range(len(events)):
            assert_at_most_once(hear([*others[:place], event, *others[place:]]), TOLD[name])


@each_with_places
def test_a_dialect_in_any_order_says_nothing_twice(name: str) -> None:
    events = blocks(name)
    for chance in map(random.Random, range(100)):
        assert_at_most_once(hear(chance.sample(events, k=len(events))), TOLD[name])


@each_dialect
def test_a_dialect_that_is_cut_says_its_beginning_and_ends(name: str) -> None:
    body = b"".join(blocks(name))
    for end in range(0, len(body), 7):
        heard = hear([body[:end]])
        assert isinstance(heard.end, Break | Stop)
        assert_at_most_once(heard, TOLD[name])
