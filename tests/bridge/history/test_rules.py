"""Each tolerance by name: the smallest case that needs it, and one just outside of it."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Ending, Exchange, Extends
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.align import Alignment, align, items_of
from bridge.routing.outcome import Joins, Opens, Reason
from bridge.wire import DataPart, Part, TextPart, ToolCallPart, ToolResultPart
from tests.bridge.desk import OTHER_AGENT, Desk
from tests.strategies import assistant, user

COMPLETE, CANCELLED, FAILED = Ending.COMPLETE, Ending.CANCELLED, Ending.FAILED
UNFINISHED = [CANCELLED, FAILED, Ending.EMPTY, Ending.OPEN]

Q1, Q2, Q3, OTHER = user("q1"), user("q2"), user("q3"), user("other")
A1, A2 = assistant("a1"), assistant("a2")
FACTS = user("<environment_info>\nLinux\n</environment_info>")
OTHER_FACTS = user("\n<workspace_info>\nsrc/\n</workspace_info>")
SUMMARY = user("\n<conversation-summary>\nThey said q1.\n</conversation-summary>")


def wrapped(text: str, context: str = "Monday") -> Message:
    """A question as the host renders it."""
    return user(f"<context>\n{context}\n</context>\n<userRequest>\n{text}\n</userRequest>\n")


def called(*call_ids: str, text: str = "") -> Message:
    calls = [ToolCallPart(call_id, "read", {}) for call_id in call_ids]
    return Message.of("assistant", [TextPart(text), *calls])


def results(*call_ids: str, text: str = "", image: bytes | None = None) -> Message:
    parts: list[Part] = [ToolResultPart(call_id) for call_id in call_ids]
    pictures = [DataPart("image/png", image)] if image else []
    return Message.of("user", [*parts, *pictures, TextPart(text)])


def pictured(text: str, image: bytes = b"1") -> Message:
    return Message.of("user", [DataPart("image/png", image), TextPart(text)])


def said(*chat: Message, ending: Ending = COMPLETE) -> list[Exchange]:
    """The record of a chat in which each answer ends an exchange; the last one ended so."""
    exchanges: list[Exchange] = []
    asked: list[Message] = []
    for message in chat:
        asked.append(message)
        if message.role == "assistant":
            exchanges.append(Exchange(tuple(asked[:-1]), message, COMPLETE))
            asked = []
    if asked:
        return [*exchanges, Exchange(tuple(asked), None, ending)]
    last = exchanges[-1]
    return [*exchanges[:-1], Exchange(last.asked, last.answer, ending)]


def read(record: list[Exchange], *incoming: Message) -> Alignment:
    return align(items_of(record), incoming)


def accounts(record: list[Exchange], *incoming: Message) -> bool:
    """Whether all of a record is found in a request, or may be missing, up to its last message."""
    found = read(record, *incoming)
    return found.recorded == len(items_of(record)) and found.consumed == len(incoming) - 1


def rules_for(record: list[Exchange], *incoming: Message) -> set[Rule]:
    """The rules by which all is accounted for; the request's last message is new."""
    assert accounts(record, *incoming)
    return set(read(record, *incoming).rules)


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_says_why_and_how_we_know(rule: Rule) -> None:
    assert rule.reason.endswith(".")
    sources = ("Recorded", "Source", "Reported")
    assert any(source in rule.reason for source in sources)


def test_every_rule_has_a_test_of_its_own_here() -> None:
    ours = {name for name in globals() if name.startswith("test_")}
    for rule in Rule:
        stem = rule.name.lower()
        kinds = [name for name in ours if name.startswith(f"test_{stem}")]
        assert any(name.startswith(f"test_{stem}_but_not_") for name in kinds)
        assert any("_but_not_" not in name for name in kinds)


# One by one.


@pytest.mark.parametrize("ending", UNFINISHED)
def test_answer_absent_where_the_turn_did_not_end_well(ending: Ending) -> None:
    """A host forgets the answer of a turn that was stopped or failed, and keeps the question."""
    assert rules_for(said(Q1, A1, ending=ending), Q1, Q2) == {Rule.ANSWER_ABSENT}
    assert read(said(Q1, A1, ending=ending), Q1, Q2).proof == 0


def test_answer_absent_but_not_where_it_was_complete() -> None:
    """Then it was taken back, which the agent must know."""
    assert not accounts(said(Q1, A1), Q1, Q2)
    assert read(said(Q1, A1), Q1, Q2) == Alignment(1, 1, (0,), 0, frozenset())


def test_answer_unseen_of_a_stop_that_nobody_told_us_of() -> None:
    """VS Code's Agent Host stops by itself: the answer ends here, and is absent there."""
    unseen = {Rule.ANSWER_UNSEEN}
    for record, incoming in (
        (said(Q1, A1), (Q1, Q2)),
        (said(Q1, A1, Q2, A2), (Q1, Q2, A2, Q3)),
        (said(Q1, A1, Q2, A2), (Q1, Q2, Q3)),
        (said(Q1, called("c1"), results("c1"), A1), (Q1, called("c1"), results("c1"), Q2)),
    ):
        found = align(items_of(record), incoming, may_be_unseen=True)
        assert (found.recorded, found.consumed) == (len(items_of(record)), len(incoming) - 1)
        assert found.rules == unseen


@pytest.mark.parametrize("incoming", [(Q1,), (Q1, assistant("another"), Q2), (Q1, OTHER, A2, Q3)])
def test_answer_unseen_but_not_where_the_chat_goes_on_otherwise(
    incoming: tuple[Message, ...],
) -> None:
    """It is asked again, was answered by others, or goes on with what the record doesn't have."""
    record = said(Q1, A1, Q2, A2)
    assert align(items_of(record), incoming, may_be_unseen=True).recorded == 1


def test_answer_unseen_but_not_where_the_host_tells_of_stops() -> None:
    assert read(said(Q1, A1, Q2, A2), Q1, Q2, A2, Q3).recorded == 1


@pytest.mark.parametrize("ending", UNFINISHED)
def test_answer_cut_to_what_was_visible(ending: Ending) -> None:
    """After a reload there is of such an answer what the user saw of it, rendered anew."""
    record = said(Q1, assistant("see [app](src/app.py) and then"), ending=ending)
    for visible in ("see", "see app", "see [app](src/app.py) an"):
        assert rules_for(record, Q1, assistant(visible), Q2) == {Rule.ANSWER_CUT}
        assert read(record, Q1, assistant(visible), Q2).proof == 0, "others begin so, too"


@pytest.mark.parametrize("theirs", [assistant("then"), called("c1", text="see"), assistant(" ")])
def test_answer_cut_but_not_to_anything_else(theirs: Message) -> None:
    record = said(Q1, assistant("see and then"), ending=CANCELLED)
    assert Rule.ANSWER_CUT not in read(record, Q1, theirs, Q2).rules
    assert read(record, Q1, theirs, Q2).consumed == 1, "what we didn't say is new"


def test_answer_cut_but_not_of_a_complete_one() -> None:
    assert read(said(Q1, assistant("see and then")), Q1, assistant("see"), Q2).rules == frozenset()


@pytest.mark.parametrize("ending", UNFINISHED)
@pytest.mark.parametrize("answer", [None, assistant("cut")])
def test_turn_absent_where_it_did_not_end_well(ending: Ending, answer: Message | None) -> None:
    """Such a turn is dropped with its question when the history is built anew."""
    lost = Exchange((Q2,), answer, ending)
    record = [*said(Q1, A1), lost, *said(Q3, A2)]
    expected = {Rule.TURN_ABSENT}
    assert rules_for(record, Q1, A1, Q3, A2, OTHER) == expected
    two = [*said(Q1, A1), Exchange((OTHER, Q2), answer, ending), *said(Q3, A2)]
    assert rules_for(two, Q1, A1, Q3, A2, OTHER) == expected


def test_turn_absent_but_not_a_complete_one() -> None:
    assert not accounts(said(Q1, A1, Q2, A2, Q3, A1), Q1, A1, Q3, A1, OTHER)


def test_turn_absent_but_not_the_newest() -> None:
    """That one was withdrawn."""
    assert not accounts(said(Q1, A1, Q2, A2, ending=CANCELLED), Q1, A1, OTHER)


def test_turn_absent_but_not_where_the_chat_goes_on_otherwise() -> None:
    record = [*said(Q1, A1), Exchange((Q2,), None, FAILED), *said(Q3, A2)]
    assert read(record, Q1, A1, OTHER).recorded == 2
    assert read(record, Q1, A1).recorded == 2


def test_turn_absent_but_not_where_no_later_answer_proves_it() -> None:
    """Users say the same twice, so what follows may be another branch of the chat."""
    lost = Exchange((Q2,), A2, CANCELLED)
    open_ended = [*said(Q1, A1), lost, Exchange((Q3,), None, CANCELLED)]
    assert read(open_ended, Q1, A1, Q3, OTHER) == Alignment(2, 2, (0, 2), 1, frozenset())
    proven = [*open_ended, *said(OTHER, A2)]
    assert rules_for(proven, Q1, A1, Q3, OTHER, A2, Q2) == {Rule.TURN_ABSENT}


def test_request_only_is_left_of_what_a_user_asked() -> None:
    """The context round it is left out after a reload, and comes back with the next mode."""
    assert rules_for(said(wrapped("q1"), A1), Q1, A1, Q2) == {Rule.REQUEST_ONLY}
    assert rules_for(said(Q1, A1), wrapped("q1"), A1, Q2) == {Rule.REQUEST_ONLY}
    anew = wrapped("q1", context="Tuesday")
    assert rules_for(said(wrapped("q1"), A1), anew, A1, Q2) == {Rule.REQUEST_ONLY}


def test_request_only_but_not_of_what_a_user_did_not_ask() -> None:
    for theirs in (wrapped("q2"), Q2, assistant("q1"), Message.of("user", [TextPart("q1")], "ann")):
        assert read(said(wrapped("q1"), A1), theirs, A1, Q2).recorded == 0


def test_preamble_comes_goes_and_changes() -> None:
    """Facts about the machine are rendered as the mode wants them, and nobody said them."""
    assert rules_for(said(Q1, A1), FACTS, Q1, A1, Q2) == {Rule.PREAMBLE}
    assert rules_for(said(FACTS, Q1, A1), Q1, A1, Q2) == {Rule.PREAMBLE}
    assert rules_for(said(FACTS, Q1, A1), OTHER_FACTS, Q1, A1, Q2) == {Rule.PREAMBLE}
    blank = user("<userRequest>\n\n</userRequest>\n")
    assert rules_for(said(Q1, A1), Q1, blank, A1, Q2) == {Rule.PREAMBLE}


@pytest.mark.parametrize(
    "extra", [OTHER, wrapped("x"), results("c9"), pictured(""), assistant("<environment_info>")]
)
def test_preamble_but_not_anything_that_was_said(extra: Message) -> None:
    assert not accounts(said(Q1, A1), extra, Q1, A1, Q2)
    assert not accounts(said(extra, Q1, A1), Q1, A1, Q2)


def test_calls_dropped_that_never_got_a_result() -> None:
    """Hosts remove such a call, as no model takes it: with what was said to it, or alone."""
    assert rules_for(said(Q1, called("c1", text="Reading."), Q2, A2), Q1, Q2, A2, Q3) == {
        Rule.CALLS_DROPPED
    }
    record = said(Q1, called("c1", text="Reading."), Q2, A2)
    assert rules_for(record, Q1, assistant("Reading."), Q2, A2, Q3) == {Rule.CALLS_DROPPED}
    waiting = said(Q1, called("c1"))
    assert rules_for(waiting, Q1, Q2) == {Rule.CALLS_DROPPED}
    twice = said(Q1, called("c1"), Q2, called("c2"))
    assert rules_for(twice, Q1, Q2, Q3) == {Rule.CALLS_DROPPED}


def test_calls_dropped_but_not_one_whose_result_is_on_record() -> None:
    record = said(Q1, called("c1"), results("c1"), A1, Q2, A2)
    assert not accounts(record, Q1, results("c1"), A1, Q2, A2, Q3)
    late = said(Q1, called("c1"), Q2, A2, results("c1"), A1)
    assert read(late, Q1, Q2, A2, results("c1"), A1, Q3).recorded == 1


@pytest.mark.parametrize(
    "theirs", [assistant("Writing."), called("c2", text="Reading."), assistant("")]
)
def test_calls_dropped_but_not_with_other_words_or_calls(theirs: Message) -> None:
    record = said(Q1, called("c1", text="Reading."), results("c1"), A1)
    assert not accounts(record, Q1, theirs, results("c1"), A1, Q2)


def test_calls_dropped_but_not_a_call_without_words_for_words() -> None:
    record = said(Q1, called("c1"), results("c1"), A1)
    for theirs in ("words", " "):
        assert not accounts(record, Q1, assistant(theirs), results("c1"), A1, Q2)


def test_round_pruned_from_the_middle() -> None:
    """A finished round, or several in a row, is gone after a pause or a change of mode."""
    one = said(Q1, called("c1"), results("c1"), A1)
    assert rules_for(one, Q1, A1, Q2) == {Rule.ROUND_PRUNED}
    two = said(Q1, called("c1"), results("c1"), called("c2", "c3"), results("c2", "c3"), A1)
    assert rules_for(two, Q1, A1, Q2) == {Rule.ROUND_PRUNED}
    assert rules_for(two, Q1, called("c1"), results("c1"), A1, Q2) == {Rule.ROUND_PRUNED}
    assert rules_for(two, Q1, called("c2", "c3"), results("c2", "c3"), A1, Q2) == {
        Rule.ROUND_PRUNED
    }
    apart = said(Q1, called("c1", "c2"), results("c1"), results("c2"), A1)
    assert rules_for(apart, Q1, A1, Q2) == {Rule.ROUND_PRUNED}


def test_round_pruned_at_the_end_of_what_was_said() -> None:
    """The turn was stopped while it used the result, and all of the round is gone."""
    record = said(Q1, called("c1"), results("c1"), ending=CANCELLED)
    assert rules_for(record, Q1, Q2) == {Rule.ROUND_PRUNED}


def test_round_pruned_but_not_half_of_one() -> None:
    record = said(Q1, called("c1"), results("c1"), A1)
    assert not accounts(record, Q1, called("c1"), A1, Q2)
    assert not accounts(record, Q1, results("c1"), A1, Q2)


def test_round_pruned_but_not_with_the_answer_after_it() -> None:
    record = said(Q1, called("c1"), results("c1"), A1, Q2, A2)
    assert not accounts(record, Q1, Q2, A2, Q3)
    assert not accounts(record, Q1, assistant("never said"), Q2, A2, Q3)
    assert read(record, Q1).recorded == 1


def test_round_pruned_but_not_with_a_question() -> None:
    record = said(Q1, called("c1"), results("c1"), called("c2"), OTHER, A1, Q2, A2)
    assert not accounts(record, Q1, A1, Q2, A2, Q3)


def test_results_regrouped_into_one_message_or_several() -> None:
    """Callers put the results of a round into one message, or one into each."""
    together = said(Q1, called("c1", "c2", "c3"), results("c1", "c2", "c3"), A1)
    apart = said(Q1, called("c1", "c2", "c3"), results("c1"), results("c2", "c3"), A1)
    singly = results("c1"), results("c2"), results("c3")
    for record in (together, apart):
        match = {Rule.RESULTS_REGROUPED}
        assert rules_for(record, Q1, called("c1", "c2", "c3"), *singly, A1, Q2) == match
    once = results("c1", "c2", "c3")
    assert rules_for(apart, Q1, called("c1", "c2", "c3"), once, A1, Q2) == {Rule.RESULTS_REGROUPED}


@pytest.mark.parametrize(
    "theirs",
    [
        [results("c1")],
        [results("c2"), results("c1")],
        [results("c1"), results("c2"), results("c3")],
        [results("c1"), results("c3")],
        [results("c1"), results("c2", text="and this")],
    ],
)
def test_results_regrouped_but_not_others_or_in_another_order(theirs: list[Message]) -> None:
    record = said(Q1, called("c1", "c2"), results("c1", "c2"), A1)
    assert not accounts(record, Q1, called("c1", "c2"), *theirs, A1, Q2)


def test_image_replaced_by_a_line_or_by_nothing() -> None:
    """Hosts have a budget for images, and leave a line of text in their place, or nothing."""
    assert rules_for(said(pictured("q1"), A1), Q1, A1, Q2) == {Rule.IMAGE_REPLACED}
    in_words = user("q1\n[1 image was left out]")
    assert rules_for(said(pictured("q1"), A1), in_words, A1, Q2) == {Rule.IMAGE_REPLACED}
    record = said(Q1, called("c1"), results("c1", image=b"1"), A1)
    assert rules_for(record, Q1, called("c1"), results("c1"), A1, Q2) == {Rule.IMAGE_REPLACED}


@pytest.mark.parametrize("theirs", [Q2, user("[1 image was left out]\nq1"), assistant("q1"), FACTS])
def test_image_replaced_but_not_the_words_beside_it(theirs: Message) -> None:
    assert read(said(pictured("q1"), A1), theirs, A1, Q2).recorded == 0


def test_image_replaced_but_not_added() -> None:
    """Who adds one has edited the message, and asks something else."""
    assert read(said(Q1, A1), pictured("q1"), A1, Q2).recorded == 0
    twice = Message.of("user", [TextPart("q1"), *(DataPart("image/png", b) for b in (b"1", b"2"))])
    assert read(said(pictured("q1"), A1), twice, A1, Q2).recorded == 0
    other = Message.of("user", [TextPart("q1"), DataPart("image/png", b"smaller")])
    assert rules_for(said(pictured("q1"), A1), other, A1, Q2) == {Rule.IMAGE_REPLACED}
    record = said(Q1, called("c1"), results("c1"), A1)
    shown = results("c1", image=b"1")  # a result is known by its call
    assert rules_for(record, Q1, called("c1"), shown, A1, Q2) == {Rule.RESULTS_REGROUPED}


def test_image_replaced_but_not_by_a_line_where_there_was_none() -> None:
    assert read(said(Q1, A1), user("q1\n[1 image was left out]"), A1, Q2).recorded == 0


def test_image_replaced_but_not_in_results_of_other_calls_or_with_other_words() -> None:
    record = said(Q1, called("c1"), results("c1", image=b"1"), A1)
    for theirs in (results("c2"), results("c1", text="and this")):
        assert not accounts(record, Q1, called("c1"), theirs, A1, Q2)


def test_links_rewritten_as_their_labels() -> None:
    """After a reload a link to a file is its label, or one round code; blanks at the end go."""
    record = said(Q1, assistant("see [app](src/app.py), [`x`](y#L1) \n"))
    for theirs in ("see app, x", "see [`app`](file:///src/app.py), [x](z)", "see app, [`x`](y)"):
        found = read(record, Q1, assistant(theirs), Q2)
        assert rules_for(record, Q1, assistant(theirs), Q2) == {Rule.LINKS_REWRITTEN}
        assert found.proof == 1, "who else said that?"


@pytest.mark.parametrize("theirs", ["see src/app.py", "see [main](src/app.py)", "see", "see [app]"])
def test_links_rewritten_but_not_their_labels(theirs: str) -> None:
    record = said(Q1, assistant("see [app](src/app.py)"))
    assert not accounts(record, Q1, assistant(theirs), Q2)


def test_links_rewritten_but_not_by_users_or_beside_other_calls() -> None:
    assert not accounts(said(user("[q1](x)"), A1), Q1, A1, Q2)
    record = said(Q1, called("c1", text="[a](x)"), results("c1"), A1)
    assert not accounts(record, Q1, called("c2", text="a"), results("c1"), A1, Q2)


def test_summary_in_place_of_the_beginning() -> None:
    """The host compacted the chat: it goes on behind the summary where we still know it."""
    record = said(Q1, A1, Q2, A2)
    assert rules_for(record, SUMMARY, Q2, A2, Q3) == {Rule.SUMMARY}
    found = read(record, SUMMARY, Q2, A2, Q3)
    assert (found.proof, found.starts) == (1, (0, 1))


def test_summary_in_place_of_everything() -> None:
    """Nothing that is known comes after it."""
    found = read(said(Q1, A1, Q2, A2), SUMMARY, Q3)
    assert (found.recorded, found.consumed, found.proof) == (4, 1, 0)
    assert found.rules == {Rule.SUMMARY}


def test_summary_that_swallowed_the_question_that_is_worked_on() -> None:
    record = said(Q1, A1, Q2, called("c1"))
    found = read(record, FACTS, SUMMARY, called("c1"), results("c1"))
    assert (found.recorded, found.consumed, found.proof) == (4, 3, 1)
    assert found.rules == {Rule.SUMMARY, Rule.PREAMBLE}


def test_summary_after_summary_with_the_hosts_words_between() -> None:
    record = said(Q1, A1, Q2, A2)
    assert rules_for(record, SUMMARY, SUMMARY, FACTS, Q2, A2, Q3) == {Rule.SUMMARY}
    on_record = said(SUMMARY, Q2, A2)
    assert rules_for(on_record, SUMMARY, Q2, A2, Q3) == set(), "as it was"


def test_summary_of_what_was_said_twice_goes_on_at_the_last() -> None:
    """It stands for as much as it can; what follows it is the newest."""
    record = said(Q1, A1, Q2, A2, Q1, assistant("a3"))
    found = read(record, SUMMARY, Q1, assistant("a3"), Q3)
    assert (found.recorded, found.consumed) == (6, 3)


@pytest.mark.parametrize(
    "theirs",
    [
        assistant("<conversation-summary>\nThey said q1.\n</conversation-summary>"),
        user("What is a <conversation-summary>?"),
    ],
)
def test_summary_but_not_by_anybody_or_somewhere_in_a_text(theirs: Message) -> None:
    assert not accounts(said(Q1, A1, Q2, A2), theirs, Q2, A2, Q3)


def test_summary_but_not_of_what_comes_after_it() -> None:
    """Behind the message by which it goes on, everything has to be there again."""
    record = said(Q1, A1, Q2, A2, Q3, assistant("a3"))
    assert not accounts(record, SUMMARY, Q2, Q3, assistant("a3"), OTHER)


CALL = ToolCallPart("c1", "read", {})


def waiting(desk: Desk) -> int:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    return key


def test_call_alone_is_enough_whatever_became_of_the_rest() -> None:
    """Nobody else in this process made that call."""
    desk = Desk()
    key = waiting(desk)
    _, outcome = desk.ask(OTHER, called("c1"), results("c1"))
    assert outcome == Joins(key, Extends(2, frozenset({Rule.CALL_ALONE})), Reason.PENDING_CALL)


def test_call_alone_but_not_a_call_that_nobody_waits_for() -> None:
    desk = Desk()
    key = waiting(desk)
    assert isinstance(desk.route(OTHER, called("c2"), results("c2")), Opens)
    assert isinstance(desk.route(OTHER, called("c1"), results("c1"), agent=OTHER_AGENT), Opens)
    desk.ask(Q1, called("c1"), results("c1"))
    desk.finish(key, "a1")
    assert isinstance(desk.route(OTHER, called("c1"), results("c1")), Opens)


def test_call_alone_but_not_a_result_of_an_earlier_round() -> None:
    desk = Desk()
    waiting(desk)
    assert isinstance(desk.route(OTHER, called("c1"), results("c1"), A1, Q2), Opens)


def test_rules_add_up() -> None:
    record = [*said(wrapped("q1"), called("c1"), results("c1"), A1), *said(Q2, A2, ending=FAILED)]
    expected = {Rule.REQUEST_ONLY, Rule.ROUND_PRUNED, Rule.ANSWER_ABSENT}
    assert rules_for(record, Q1, A1, Q2, Q3) == expected
    assert rules_for(record, FACTS, Q1, A1, Q2, Q3) == expected | {Rule.PREAMBLE}
