from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import msgspec
import pytest
from msgspec import UNSET

from bridge.chats import REPEATED as REPEATED_TOO_OFTEN
from bridge.history.message import Message
from bridge.history.progress_rounds import CALL_PREFIX
from bridge.history.transcript import TranscriptReader
from bridge.inspection.facts import MOST_REQUESTS, requests_named
from bridge.inspection.inspection import (
    MOST_EVENTS,
    MOST_LOOKED_AT,
    MOST_NAMED,
    MOST_SHOWN,
    REPEATED,
    Inspection,
)
from bridge.inspection.steps import Over, SessionBegan
from bridge.inspection.telling import MemoryKind
from bridge.inspection.tracker import AskedOf, Tracker
from bridge.jsonrpc import decode_at
from bridge.redact import HIDDEN
from bridge.routing.chat_events import (
    Broke,
    Cancelled,
    ChatEvent,
    ChatRequest,
    Closed,
    Ended,
    Expired,
    Failed,
)
from bridge.routing.damper import MOST_BAD
from bridge.routing.outcome import RoutedRequest
from bridge.routing.request import Hints, RequestClass
from bridge.wire import (
    ChatParams,
    DataPart,
    InspectedEnd,
    InspectedEvent,
    InspectedRefusal,
    InspectedRequest,
    InspectedSession,
    InspectedTokens,
    Part,
    RequestId,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.bridge.desk import BROKE, Desk

SECRET = "swordfish-" * 4
HOST = Hints(session="s")
"""Of a host that repeats a request by itself."""
_decode_params = msgspec.json.Decoder(ChatParams).decode


def user(text: str) -> Message:
    return Message.of("user", [TextPart(text)])


def agent(*parts: Part) -> Message:
    return Message.of("assistant", parts)


@attrs.define
class Watched:
    """A desk whose chats are inspected, as the running server does it."""

    desk: Desk = attrs.field(factory=Desk)
    inspection: Inspection = attrs.field(
        factory=lambda: Inspection(lambda text: text.replace(SECRET, HIDDEN))
    )
    tracker: Tracker = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.tracker = Tracker(self.desk.chats)

    def ask(self, *path: Message, **more: Any) -> RequestId:
        request = next(self.desk.requests)
        routed = RoutedRequest(b"a", path, **more)
        asked = ChatRequest(request, routed, 0, 1_000)
        answers = self.tracker.open_answers()
        effects = self.desk.tell(asked)
        said = AskedOf(transcript(path), MemoryKind.SESSIONS, "claude")
        for step in self.tracker.decided(asked, said, answers, effects):
            self.inspection.note(step, self.desk.now)
        self._forget(effects)
        return request

    def tell(self, event: ChatEvent) -> None:
        if isinstance(event, Ended):
            request = self.tracker.request_of(event.conversation, event.turn)
            self.inspection.said(request, event.parts)
        effects = self.desk.tell(event)
        for step in self.tracker.followed(effects):
            self.inspection.note(step, self.desk.now)
        self._forget(effects)

    def _forget(self, effects: Any) -> None:
        for key, effect in effects:
            if isinstance(effect, Closed):
                self.tracker.forget(key)

    def answer(self, *parts: Part, key: int = 1, turn: int = 1) -> None:
        self.tell(Ended(key, turn, parts))

    @property
    def events(self) -> Sequence[InspectedEvent]:
        return self.inspection.result(self.tracker.open_answers()).events

    @property
    def last(self) -> InspectedRequest:
        return [one for one in self.events if isinstance(one, InspectedRequest)][-1]


def transcript(path: Sequence[Message]) -> Any:
    messages = [
        {"role": one.role, "content": [{"type": "text", "value": one.text or "."}]} for one in path
    ]
    params = json.dumps({"modelId": "m", "messages": messages}).encode()
    return TranscriptReader().read(decode_at(_decode_params, params, "$").messages)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_text_is_shortened_after_its_secrets_were_taken_out(watched: Watched) -> None:
    watched.ask(user("x" * (MOST_SHOWN - 20) + SECRET + "y" * 1_000))
    watched.answer(TextPart("z" * 1_000 + SECRET))
    for event in (watched.last, _after_rest(watched)):
        assert "swordfish" not in str(event)
        assert len(event.asked) <= MOST_SHOWN
        assert len(event.answer) <= MOST_SHOWN


def _after_rest(watched: Watched) -> InspectedRequest:
    watched.inspection.rest()
    return watched.last


def test_a_long_text_is_looked_at_only_as_far_as_it_can_be_shown(watched: Watched) -> None:
    seen: list[int] = []
    watched.inspection.hide = lambda text: (seen.append(len(text)), text)[1]
    watched.ask(user("a" * 1_000_000))
    assert watched.last.asked.startswith("aaa")
    assert max(seen) == MOST_LOOKED_AT


def test_messages_are_let_go_when_their_request_is_over(watched: Watched) -> None:
    watched.ask(user("Hi"))
    watched.answer(TextPart("Hello"))
    before = watched.last
    watched.inspection.rest()
    watched.inspection.rest()
    assert watched.last == before
    assert watched.last is watched.last
    (row,) = watched.inspection._entries  # pyright: ignore[reportPrivateUsage]
    assert not isinstance(row, InspectedRefusal | InspectedEnd)
    assert row.decision.delivered == ()


@pytest.mark.limit("bridge.inspection.inspection.MOST_EVENTS")
def test_the_oldest_events_are_forgotten_and_counted() -> None:
    watched = Watched(inspection=Inspection(most=3))
    for number in range(5):
        watched.ask(user(f"chat {number}"))
        watched.tell(Failed(number + 1, 1, BROKE))
    assert [one.asked for one in watched.events if isinstance(one, InspectedRequest)] == [
        "chat 2",
        "chat 3",
        "chat 4",
    ]
    assert watched.inspection.result({}).left_out == 2
    assert Inspection().most == MOST_EVENTS


def test_a_failure_and_a_cancel_are_told(watched: Watched) -> None:
    watched.ask(user("Hi"))
    watched.tell(Failed(1, 1, BROKE))
    assert (watched.last.ending, watched.last.failure) == ("failed", "it fell over")
    request = watched.ask(user("Hello"))
    watched.tell(Cancelled(request))
    assert (watched.last.ending, watched.last.failure) == ("cancelled", UNSET)
    assert watched.last.ended_at == 300.0


def test_a_conversation_that_breaks_ends_its_request(watched: Watched) -> None:
    watched.ask(user("Hi"))
    watched.tell(Broke(BROKE, 1))
    assert watched.last.ending == "failed"
    assert watched.events[-1] == InspectedEnd(1, "an unexpected error occurred in it", 100.0)
    assert watched.tracker.open_answers() == {}


def test_an_error_before_a_request_was_routed_makes_it_a_refusal(watched: Watched) -> None:
    request = watched.desk.request(user("Hi"))  # its effects were lost with the error
    watched.tell(Broke(BROKE, 1))
    assert watched.events[0] == InspectedRefusal(request, "it fell over", 0.0)


def test_a_conversation_that_expires_is_told(watched: Watched) -> None:
    watched.ask(user("Hi"))
    watched.answer(TextPart("Hello"))
    watched.tell(Expired(1))
    assert watched.events[-1] == InspectedEnd(1, "it was idle for too long", 200.0)
    watched.inspection.note(Over(7, "a later reason"), 400.0)
    assert watched.events[-1] == InspectedEnd(7, "a later reason", 300.0)


def test_a_repeat_too_many_is_a_refusal(watched: Watched) -> None:
    watched.desk.apart = 0.0
    for turn in range(1, MOST_BAD + 2):
        watched.ask(user("Hi"))
        watched.tell(Failed(1, turn, BROKE))
    request = watched.ask(user("Hi"))
    assert watched.events[-1] == InspectedRefusal(request, REPEATED_TOO_OFTEN.message, 0.0)


def test_a_session_that_begins_late_is_told_all_the_same(watched: Watched) -> None:
    request = watched.ask(user("Hi"))
    watched.tell(Cancelled(request))
    watched.inspection.rest()
    (began,) = watched.tracker.began(1, 1, "fresh", "new", 0, None)
    watched.inspection.note(began, 1.0)
    assert watched.last.session == InspectedSession("fresh", "new", 0)
    assert [*watched.tracker.began(9, 1, "fresh", "new", 0, None)] == []
    watched.inspection.note(SessionBegan("unknown", "fresh", "new", 0), 1.0)


def test_a_session_says_its_process(watched: Watched) -> None:
    watched.ask(user("Hi"))
    (began,) = watched.tracker.began(1, 1, "replayed", "withdrawn", 4, 4711)
    watched.inspection.note(began, 1.0)
    assert watched.last.session == InspectedSession("replayed", "withdrawn", 4, 4711)
    facts = {fact.name: fact.text for fact in watched.last.facts}
    assert facts["agent"] == "a new session, with 4 messages replayed"


def test_rounds_of_the_progress_tool_are_one_answer(watched: Watched) -> None:
    call = ToolCallPart(f"{CALL_PREFIX}1", "vscodelm-progress", {})
    first = watched.ask(user("Count."))
    watched.answer(TextPart("One "), call)
    watched.inspection.rest()
    result = Message.of("user", [ToolResultPart(call.tool_call_id, [])])
    watched.ask(user("Count."), agent(TextPart("One "), call), result)
    assert (watched.last.request, watched.last.rounds, watched.last.ending) == (first, 1, "open")
    watched.answer(TextPart("two."), ToolCallPart("c1", "look", {}), turn=2)
    watched.inspection.rest()
    assert len(watched.events) == 1
    told = watched.last
    assert (told.answer, told.calls, told.ending, told.rounds) == ("One", ["look"], "complete", 1)


def test_a_round_may_begin_before_the_answer_was_taken_in(watched: Watched) -> None:
    call = ToolCallPart(f"{CALL_PREFIX}1", "vscodelm-progress", {})
    watched.ask(user("Count."))
    watched.answer(TextPart("One "), call)
    result = Message.of("user", [ToolResultPart(call.tool_call_id, [])])
    watched.ask(user("Count."), agent(TextPart("One "), call), result)
    watched.answer(TextPart("two."), turn=2)
    watched.inspection.rest()
    assert (watched.last.rounds, watched.last.ending) == (1, "complete")


def test_the_end_of_a_request_that_was_forgotten_is_nothing() -> None:
    watched = Watched(inspection=Inspection(most=1))
    watched.ask(user("Hi"))
    watched.ask(user("Hello"))
    watched.answer(TextPart("Well."))
    assert watched.last.ending == "open"


def test_calls_and_results_are_named_but_not_without_end(watched: Watched) -> None:
    watched.ask(user("Look."))
    watched.answer(*(ToolCallPart(f"c{n}", "look", {}) for n in range(MOST_NAMED + 1)))
    assert watched.last.calls == ["look"] * MOST_NAMED


@pytest.mark.parametrize("record", [b"", b"\xff", b"[]", b'{"prompt_tokens": "many"}'])
def test_a_record_of_tokens_that_cannot_be_read_is_left_out(
    watched: Watched, record: bytes
) -> None:
    watched.ask(user("Hi"))
    watched.answer(DataPart("usage", record), TextPart("Hello"))
    assert watched.last.tokens is UNSET


def test_without_a_turn_the_record_of_tokens_counts_as_it_is(watched: Watched) -> None:
    watched.ask(user("Hi"))
    watched.answer(DataPart("usage", b'{"prompt_tokens": 7, "completion_tokens": 2}'))
    assert watched.last.tokens == InspectedTokens(7, 2)
    watched.inspection.said(None, [DataPart("usage", b"{}")])


def test_the_first_of_two_equal_requests_goes_on_in_the_second(watched: Watched) -> None:
    watched.desk.apart = 0.0
    watched.ask(user("Hi"), hints=HOST)
    watched.ask(user("Hi"), hints=HOST)
    watched.answer(TextPart("Hello"))
    watched.ask(user("Hi"), hints=HOST)  # it comes again when the answer is there
    first, *repeats = (one for one in watched.events if isinstance(one, InspectedRequest))
    assert (first.ending, first.reason) == (REPEATED, "new")
    assert [(one.ending, one.reason, one.answer) for one in repeats] == [
        ("complete", "repeat", "Hello")
    ] * 2
    assert all(one.given == [] and one.taken_back == [] for one in repeats)


def test_what_is_taken_back_and_remembered_is_told(watched: Watched) -> None:
    begun = user("Hi"), agent(TextPart("Hello"))
    watched.ask(*begun[:1])
    watched.answer(TextPart("Hello"))
    stopped = watched.ask(*begun, user("Rye?"))
    watched.tell(Cancelled(stopped))
    kept = watched.ask(*begun, user("Wheat?"), keep=True)
    assert (watched.last.taken_back, watched.last.remembers) == ([stopped], True)
    watched.tell(Cancelled(kept))
    watched.ask(*begun, user("Spelt?"))
    assert (watched.last.taken_back, watched.last.remembers) == ([kept], False)


def test_many_requests_are_named_by_the_newest_ones() -> None:
    line = requests_named(*range(1, MOST_REQUESTS + 3))
    assert line.startswith("requests 2 more, 3, 4, ")
    assert line.endswith(f", {MOST_REQUESTS + 2}")


def test_a_request_beside_the_chat_has_a_row_and_no_end_of_a_conversation(
    watched: Watched,
) -> None:
    watched.ask(user("Name this chat."), request_class=RequestClass.UTILITY)
    watched.answer(TextPart("A chat"))
    (told,) = watched.events
    assert isinstance(told, InspectedRequest)
    assert (told.request_class, told.ending) == ("utility", "complete")
