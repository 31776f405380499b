from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from agents.events import Attach, CallTool, Say, Stop, ToolAnswer
from agents.open_responses.checkpoints import MISSES, Point, Points
from agents.open_responses.items import (
    CallItem,
    CompactionItem,
    MessageItem,
    ResultItem,
)
from agents.open_responses.request.content import ConversionError
from agents.open_responses.request.messages import NO_RESULT, ConversionOptions
from agents.open_responses.response_chain import ResponseChain, Shown
from agents.open_responses.stream.outcome import Called, ResponseOutcome
from bridge.wire import ChatMessage
from bridge.work import done

from .words import PNG, assistant, call, result, system, user

SETUP = b"setup"


class Talk:
    """A conversation, with a server that answers what it is told."""

    def __init__(self, points: Points | None = None, **options: Any) -> None:
        self.points = points or Points()
        self.options = ConversionOptions(**options)
        self.it = ResponseChain(self.points)
        self._asked: str | None = None

    def tell(self, *messages: ChatMessage) -> None:
        self.it.tell(messages, self.options)
        done(self.it.take_in())

    def ask(self, setup: bytes = SETUP, *, stateful: bool = True) -> tuple[list[Any], str | None]:
        ask = self.it.ask(setup, stateful=stateful)
        self._asked = ask.previous_response_id
        return [_brief(item) for item in ask.items], ask.previous_response_id

    def hear(
        self,
        response_id: str,
        text: str = "",
        *calls: str,
        whole: bool = True,
        output: list[Any] | None = None,
        **fields: Any,
    ) -> None:
        shown = Shown(is_whole=whole)
        shown.add([Say(text), *(CallTool(f"gw-{one}", "f", {}) for one in calls)])
        made = tuple(Called(f"gw-{one}", one, "f", "{}") for one in calls)
        known: dict[str, Any] = {"status": "completed", "store": True, **fields}
        raws = tuple(Raw(json.dumps(item).encode()) for item in output or [])
        outcome = ResponseOutcome(
            response_id=response_id,
            previous_response_id=self._asked,
            calls=made,
            output=raws,
            **known,
        )
        self.take(outcome, shown)

    def take(self, outcome: ResponseOutcome, shown: Shown) -> None:
        done(self.it.hear(outcome, shown, SETUP))

    def answer(self, *answers: ToolAnswer) -> None:
        done(self.it.answer(answers))


def _brief(item: Any) -> Any:
    match item:
        case MessageItem(role=role, content=content):
            return f"{role}: {content}"
        case CallItem(call_id=call_id):
            return f"call {call_id}"
        case ResultItem(call_id=call_id, output=output):
            return f"result {call_id}: {output}"
        case CompactionItem():
            return "compaction"
        case _:
            return "reasoning"


def test_a_request_says_what_came_after_the_last_response() -> None:
    talk = Talk()
    talk.tell(system("Be kind."), user("a"))
    assert talk.ask() == (["user: a"], None)
    assert talk.it.instructions == "Be kind."
    talk.hear("r1", "b")
    talk.tell(user("c"))
    assert talk.ask() == (["user: c"], "r1")


def test_what_is_not_taken_in_to_its_end_is_taken_in_with_the_next() -> None:
    talk = Talk()
    for first, kept in (([system("Be kind."), user("a")], []), ([user("c")], ["user: a"])):
        asked = talk.ask()
        talk.it.tell(first, talk.options)
        steps = talk.it.take_in()
        for _ in range(2 * len(first)):
            next(steps)
            assert talk.ask() == asked
        talk.tell(user("b"))
        assert talk.ask()[0][: len(kept)] == kept
    assert talk.ask() == (["user: a", "user: b", "user: c", "user: b"], None)
    assert talk.it.instructions == "Be kind."


@pytest.mark.parametrize(
    "fields", [{"store": None}, {"store": False}, {"status": "incomplete"}, {"status": "failed"}]
)
def test_a_response_that_is_not_kept_is_told_again(fields: dict[str, Any]) -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "b", **fields)
    talk.tell(user("c"))
    assert talk.ask() == (["user: a", "assistant: b", "user: c"], None)


def test_other_tools_or_instructions_are_told_with_everything() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "b")
    talk.tell(user("c"))
    assert talk.ask(b"other")[1] is None
    assert talk.ask(stateful=False)[1] is None
    assert talk.ask()[1] == "r1"


def test_a_response_that_was_not_shown_whole_is_nothing_to_go_on_from() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "b")
    talk.tell(user("c"))
    talk.ask()
    talk.hear("r2", "d", whole=False, output=[{"type": "message", "content": "more"}])
    talk.tell(user("e"))
    assert talk.ask() == (["user: c", "assistant: d", "user: e"], "r1")


def test_results_go_on_from_the_response_that_called() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "", "1", "2")
    assert talk.it.open_calls == ("gw-1", "gw-2")
    talk.answer(ToolAnswer("gw-1", "one"), ToolAnswer("gw-2", "two", is_error=True))
    assert talk.it.open_calls == ()
    assert talk.ask() == (["result 1: one", "result 2: The tool failed: two"], "r1")


def test_images_of_results_come_after_all_of_them_if_wanted() -> None:
    talk = Talk(result_images="message")
    talk.tell(user("a"))
    talk.hear("r1", "", "1", "2")
    image = [{"type": "data", "mimeType": "image/png", "data": ""}]
    talk.answer(ToolAnswer("gw-1", image), ToolAnswer("gw-2", "two"))
    first, second, image_message = talk.ask()[0]
    assert (first, second) == ("result 1: ", "result 2: two")
    assert image_message.startswith("user: (InputText")


def test_results_that_come_with_the_next_message_answer_their_calls() -> None:
    """The turn was cancelled, or broke off, while the tools ran."""
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "", "1", "2")
    talk.tell(user(result("gw-2", "two")), user("well?"))
    told = [f"result 1: {NO_RESULT}", "result 2: two", "user: well?"]
    assert talk.ask() == (told, "r1")


def test_a_message_that_says_nothing_is_told_as_one() -> None:
    talk = Talk()
    talk.tell(user(""))
    assert talk.ask() == (["user: (The user sent an empty message.)"], None)


def test_what_can_not_be_told_changes_nothing() -> None:
    talk = Talk(image_in_non_user_message="error")
    talk.tell(user("a"))
    talk.hear("r1", "b")
    with pytest.raises(ConversionError):
        talk.tell(assistant(PNG))
    talk.tell(user("c"))
    assert talk.ask() == (["user: c"], "r1")


def test_a_server_that_forgets_is_told_everything_and_then_trusted_once_more() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "b")
    for number in range(1, MISSES + 1):
        talk.tell(user("c"))
        assert talk.ask()[1] == f"r{number}"
        talk.it.miss()
        talk.it.miss()  # twice counts once
        assert talk.ask()[1] is None
        talk.hear(f"r{number + 1}", "d")
    assert talk.points.is_stateless
    talk.tell(user("e"))
    assert talk.ask()[1] is None


def test_a_hit_between_misses_counts() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "b")
    for number in range(1, 6):
        talk.tell(user("c"))
        talk.ask()
        if number % 2:
            talk.it.miss()
            talk.ask()
        talk.hear(f"r{number + 1}", "d")
    assert not talk.points.is_stateless


# Branches.


def test_another_session_goes_on_from_the_same_words() -> None:
    first = Talk()
    first.tell(user("a"))
    first.hear("r1", "b")
    first.tell(user("c"))
    first.ask()
    first.hear("r2", "d")
    edited = Talk(first.points)
    edited.tell(user("a"), assistant("b"), user("other"))
    assert edited.ask() == (["user: other"], "r1")
    edited.hear("r3", "e")
    back = Talk(first.points)
    back.tell(user("a"), assistant("b"), user("c"), assistant("d"), user("f"))
    assert back.ask() == (["user: f"], "r2")
    stranger = Talk(first.points)
    stranger.tell(user("a"), assistant("B"), user("c"))
    assert stranger.ask()[1] is None


def test_a_branch_after_a_call_answers_it_by_the_server_s_id() -> None:
    first = Talk()
    first.tell(user("a"))
    first.hear("r1", "", "1", output=[{"type": "function_call", "call_id": "x", "name": "f"}])
    assert first.points.server_ids == {"gw-1": "x"}
    other = Talk(first.points)
    other.tell(user("a"), assistant(call("gw-1", "f")), user(result("gw-1")), user("b"))
    assert other.ask() == (["result x: done", "user: b"], "r1")


def test_what_the_server_forgot_is_no_branch_any_more() -> None:
    first = Talk()
    first.tell(user("a"))
    first.hear("r1", "b")
    first.tell(user("c"))
    first.ask()
    first.it.miss()
    other = Talk(first.points)
    other.tell(user("a"), assistant("b"), user("c"))
    assert other.ask()[1] is None


@pytest.mark.limit("agents.open_responses.checkpoints.MOST_POINTS")
def test_the_oldest_points_and_ids_are_forgotten() -> None:
    points = Points(most=2)
    for name in (b"1", b"2"):
        points.keep(name, Point(name.decode(), SETUP))
    assert points.at(b"1")
    points.keep(b"3", Point("3", SETUP))
    assert [points.at(name) is not None for name in (b"1", b"2", b"3")] == [True, False, True]
    talk = Talk(points)
    for n in range(4):
        talk.tell(user("a"))
        output = [{"type": "function_call", "call_id": f"x{n}", "name": "f"}]
        talk.hear(f"r{n}", "", str(n), output=output)
    assert points.server_ids == {"gw-2": "x2", "gw-3": "x3"}


# What servers add.


def test_a_compaction_is_where_to_begin() -> None:
    talk = Talk()
    talk.tell(user("a"))
    compaction = {"type": "compaction", "encrypted_content": "ENC"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "b"}]}
    talk.hear("r1", "b", output=[compaction, said])
    talk.tell(user("c"))
    assert talk.ask() == (["compaction", "assistant: b", "user: c"], None)


def test_reasoning_goes_back_until_the_user_speaks_again() -> None:
    talk = Talk()
    talk.tell(user("a"))
    output: list[Any] = [
        {"type": "reasoning", "summary": [], "encrypted_content": "ENC"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
    ]
    talk.hear("r1", "", "1", store=False, output=output)
    talk.answer(ToolAnswer("gw-1", "one"))
    assert talk.ask() == (["user: a", "reasoning", "call 1", "result 1: one"], None)
    talk.tell(user("b"))
    assert talk.ask()[0] == ["user: a", "call 1", "result 1: one", "user: b"]


def test_what_a_tool_shows_is_nothing_that_the_user_says() -> None:
    talk = Talk(result_images="message")
    talk.tell(user("a"))
    output: list[Any] = [
        {"type": "reasoning", "summary": [], "encrypted_content": "ENC"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
    ]
    talk.hear("r1", "", "1", store=False, output=output)
    image = [{"type": "data", "mimeType": "image/png", "data": ""}]
    talk.answer(ToolAnswer("gw-1", image))
    *before, beside = talk.ask()[0]
    assert before == ["user: a", "reasoning", "call 1", "result 1: "]
    assert beside.startswith("user: (InputText")
    talk.tell(user("b"))
    assert "reasoning" not in talk.ask()[0]


def test_what_we_say_ourselves_is_not_told_as_the_model_s() -> None:
    talk = Talk()
    talk.tell(user("a"))
    shown = Shown()
    shown.add([Say("b"), Say("(ours)", by_us=True), Attach("usage", b""), Stop()])
    talk.take(ResponseOutcome(status="incomplete"), shown)
    assert talk.ask() == (["user: a", "assistant: b"], None)
    assert shown.own == ["b"]


def test_a_chat_is_found_again_with_and_without_our_words() -> None:
    """What we said ourselves is known from the model's words, but not in the next process."""
    talk = Talk()
    talk.tell(user("a"))
    for number, word in enumerate("bc", 1):
        shown = Shown(is_whole=True)
        shown.add([Say(word), Say("(ours)", by_us=True), CallTool(f"gw-{word}", "f", {})])
        calls = (Called(f"gw-{word}", word, "f", "{}"),)
        talk.take(
            ResponseOutcome(status="completed", store=True, response_id=f"r{number}", calls=calls),
            shown,
        )
        talk.answer(ToolAnswer(f"gw-{word}", "done"))
        talk.tell(user(f"after {word}"))
    for ours in ("", "(ours)"):
        again = Talk(talk.points)
        again.tell(
            user("a"),
            assistant(f"b{ours}", call("gw-b", "f")),
            user(result("gw-b", "done")),
            user("after b"),
            assistant(f"c{ours}", call("gw-c", "f")),
            user(result("gw-c", "done"), "d"),
        )
        assert again.ask() == (["result c: done", "user: d"], "r2")


# The system prompt.


def test_the_newest_system_prompt_takes_the_place_of_the_one_before() -> None:
    talk = Talk()
    talk.tell(system("be brief"), user("one"))
    assert talk.it.instructions == "be brief"
    talk.hear("r1", "1")
    talk.tell(user("two"))
    talk.it.instruct(None)
    assert talk.it.instructions == "be brief"
    talk.it.instruct([system("be long")])
    assert talk.it.instructions == "be long"
    assert talk.ask() == (["user: two"], "r1")
    talk.it.instruct([])
    assert talk.it.instructions == ""


def test_a_system_prompt_that_is_an_item_is_told_only_with_everything() -> None:
    talk = Talk(system_messages="developer")
    talk.tell(system("be brief"), user("one"))
    assert talk.ask() == (["developer: be brief", "user: one"], None)
    talk.hear("r1", "1")
    talk.it.instruct([system("be long")])
    talk.tell(user("two"))
    assert talk.ask() == (["user: two"], "r1")
    everything = ["developer: be long", "user: one", "assistant: 1", "user: two"]
    assert talk.ask(b"other") == (everything, None)


def test_a_chat_that_begins_with_a_system_prompt_goes_on_where_another_left_off() -> None:
    one = Talk(system_messages="system")
    one.tell(system("be brief"), user("one"))
    one.hear("r1", "1")
    other = Talk(one.points, system_messages="system")
    other.tell(system("be brief"), user("one"), assistant("1"), user("two"))
    assert other.ask() == (["user: two"], "r1")
    assert other.ask(b"other")[0] == ["system: be brief", "user: one", "assistant: 1", "user: two"]


def test_a_system_prompt_that_can_not_be_told_changes_nothing() -> None:
    talk = Talk(image_in_non_user_message="error")
    talk.tell(system("be brief"), user("one"))
    with pytest.raises(ConversionError):
        talk.it.instruct([system(PNG)])
    assert talk.it.instructions == "be brief"


def test_a_response_that_is_not_heard_to_its_end_changes_nothing() -> None:
    talk = Talk()
    talk.tell(user("a"))
    before = talk.ask()
    shown = Shown(is_whole=True)
    shown.add([Say("b"), CallTool("gw-1", "f", {}), CallTool("gw-2", "f", {})])
    calls = tuple(Called(f"gw-{n}", str(n), "f", "{}") for n in (1, 2))
    outcome = ResponseOutcome(status="completed", store=True, response_id="r1", calls=calls)
    steps = talk.it.hear(outcome, shown, SETUP)
    for _ in calls:
        next(steps)
        assert talk.ask() == before
        assert not talk.it.open_calls
    talk.take(outcome, shown)
    assert talk.it.open_calls == ("gw-1", "gw-2")


def test_results_that_are_not_taken_to_the_end_change_nothing() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "", "1", "2")
    before = talk.ask()
    answers = [ToolAnswer("gw-1", "x"), ToolAnswer("gw-2", "y")]
    steps = talk.it.answer(answers)
    for _ in answers:
        next(steps)
        assert talk.ask() == before
        assert talk.it.open_calls == ("gw-1", "gw-2")
    talk.answer(*answers)
    assert talk.ask() == (["result 1: x", "result 2: y"], "r1")


def test_ids_that_follow_from_ours_need_no_remembering() -> None:
    talk = Talk()
    talk.tell(user("a"))
    talk.hear("r1", "", "x", "y", output=[{"type": "function_call", "call_id": "z", "name": "f"}])
    assert talk.points.server_ids == {"gw-x": "z"}
    assert talk.it.open_calls == ("gw-x", "gw-y")
