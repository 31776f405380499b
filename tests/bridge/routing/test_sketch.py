"""Recognising a conversation by digests: as `bridge.routing.align` would, and never by a guess."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bridge.history.exchange import Ending, Exchange, Extends, exchanges_of
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.routing.align import UNFINISHED, items_of, plain
from bridge.routing.relate import Path, tolerant
from bridge.routing.sketch import MOST_KEYS, Sketch, keys, recognise
from bridge.wire import DataPart, Part, TextPart, ToolCallPart, ToolResultPart
from tests.strategies import any_messages, assistant, exchanges, odd_messages, user

FACTS = user("<environment_info>\nLinux\n</environment_info>")
OTHER_FACTS = user("<workspace_info>\nsrc/\n</workspace_info>")
SUMMARY = user("<conversation-summary>\nThey said a.\n</conversation-summary>")
IMAGE = DataPart("image/png", b"1")

Record = list[Exchange]


def messages_of(record: Sequence[Exchange]) -> list[Message]:
    return [item.message for item in items_of(record)]


def sketch_of(record: Sequence[Exchange]) -> Sketch:
    sketch = Sketch.of(record)
    assert sketch is not None
    return sketch


def found(record: Sequence[Exchange], path: Sequence[Message]) -> int | None:
    return recognise(sketch_of(record).steps, path)


def turn(name: str, ending: Ending = Ending.COMPLETE, *before: Message) -> Exchange:
    asked = user(f"<context>\n{name}\n</context>\n<userRequest>\nq{name}\n</userRequest>\n")
    return Exchange((*before, asked), assistant(f"see [a{name}](b/{name}) and `{name}`"), ending)


def reduced(question: Message) -> Message:
    """Return what is left of a question after a reload."""
    return user(f"<userRequest>\n{question.request}\n</userRequest>\n")


def calling(*ids: str) -> Message:
    return Message.of("assistant", [ToolCallPart(one, "read", {}) for one in ids])


def results(*ids: str) -> Message:
    return Message.of("user", [ToolResultPart(one) for one in ids])


# Conversations that hosts have, and what becomes of them.


@st.composite
def chats(draw: st.DrawFn) -> Record:
    """A record in which every message is another, and that ends as one does that is kept."""
    record: Record = []
    for number in range(draw(st.integers(0, 4))):
        before = [FACTS] if not record and draw(st.booleans()) else []
        match draw(st.sampled_from(["whole", "tools", "unfinished", "silent"])):
            case "whole":
                record.append(turn(f"{number}", Ending.COMPLETE, *before))
            case "tools":
                ids = [f"c{number}.{index}" for index in range(draw(st.integers(1, 3)))]
                asked = turn(f"{number}", Ending.COMPLETE, *before).asked
                record.append(Exchange(asked, calling(*ids), Ending.COMPLETE))
                record.append(
                    Exchange((results(*ids),), assistant(f"done {number}"), Ending.COMPLETE)
                )
            case "unfinished":
                record.append(turn(f"{number}", draw(st.sampled_from(sorted(UNFINISHED, key=str)))))
            case _:
                asked = turn(f"{number}").asked
                record.append(Exchange(asked, None, Ending.EMPTY))
    return [*record, turn("last")]


@st.composite
def shown_again(draw: st.DrawFn, record: Record) -> list[Message]:
    """The chat as a host tells it later, with everything that it may have done to it.

    Of unfinished turns in a row, one at the most is absent.
    """
    path: list[Message] = []
    is_absent = False

    def may_show_facts() -> None:
        path.extend(draw(st.sampled_from([[], [], [OTHER_FACTS]])))

    for exchange in record:
        unfinished = exchange.ending in UNFINISHED
        is_absent = unfinished and not is_absent and draw(st.booleans())
        if is_absent:
            continue
        may_show_facts()
        for message in exchange.asked:
            if message == FACTS:
                path.extend(draw(st.sampled_from([[], [FACTS]])))
            elif message.results:
                path.extend(
                    draw(st.sampled_from([[message], [results(r) for r in message.results]]))
                )
            else:
                path.append(draw(st.sampled_from([message, reduced(message)])))
        if exchange.answer is None:
            continue
        text = exchange.answer.text
        if not unfinished:
            path.append(
                draw(st.sampled_from([exchange.answer, _with_text(exchange.answer, plain(text))]))
            )
        elif draw(st.booleans()):
            path.append(assistant(plain(text)[: draw(st.integers(1, len(plain(text))))]))
    return path


def _with_text(answer: Message, text: str) -> Message:
    parts: list[Part] = [TextPart(text)]
    if answer.calls:
        return answer
    return Message.of("assistant", parts)


def remembering(record: Record) -> History:
    history = History()
    history.committed.extend(record)
    return history


# The laws.


@given(st.lists(exchanges, max_size=4), st.lists(any_messages, max_size=2))
def test_what_is_told_again_word_for_word_is_recognised_whole(
    record: Record, new: list[Message]
) -> None:
    sketch = Sketch.of([*record, turn("last")])
    assume(sketch is not None)
    assert sketch is not None
    path = messages_of([*record, turn("last")])
    assert recognise(sketch.steps, [*path, *new]) == len(path)


@given(chats(), st.lists(any_messages, max_size=2), st.data())
def test_what_a_host_makes_of_a_chat_is_recognised_as_it_is_in_a_live_one(
    record: Record, new: list[Message], data: st.DataObject
) -> None:
    path = data.draw(shown_again(record))
    assert found(record, [*path, *new]) == len(path)
    match = tolerant(remembering(record), (*path, *new))
    assert isinstance(match, Extends)
    assert match.new_from == len(path)


@given(
    st.lists(exchanges, max_size=3),
    st.lists(any_messages | odd_messages, max_size=4),
    st.data(),
)
def test_nothing_is_recognised_that_a_live_conversation_would_not_go_on_with(
    record: Record, rest: list[Message], data: st.DataObject
) -> None:
    """Any record, any path. Answers that were cut short have a test of their own."""
    record = [
        one if one.ending is Ending.COMPLETE else Exchange(one.asked, None, one.ending)
        for one in [*record, turn("last")]
    ]
    sketch = Sketch.of(record)
    assume(sketch is not None)
    assert sketch is not None
    path = messages_of(record)
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(path)))
        path[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.lists(st.sampled_from([FACTS, *path, *rest]), max_size=2)
        )
    steps = recognise(sketch.steps, path)
    if steps is not None:
        match = tolerant(remembering(record), tuple(path))
        assert isinstance(match, Extends)
        assert match.new_from == steps


@given(chats(), st.data())
def test_a_chat_that_is_not_there_yet_is_not_recognised(
    record: Record, data: st.DataObject
) -> None:
    path = data.draw(shown_again(record))
    assert found(record, path[: data.draw(st.integers(0, len(path) - 1))]) is None


@given(chats(), st.data())
def test_a_finished_turn_that_is_missing_or_says_something_else_is_another_chat(
    record: Record, data: st.DataObject
) -> None:
    whole = [index for index, one in enumerate(record) if one.ending is Ending.COMPLETE]
    index = data.draw(st.sampled_from(whole))
    ours = record[index]
    assert ours.answer is not None
    parts: list[Part] = [TextPart(f"{ours.answer.text}!")]
    parts += [ToolCallPart(call.call_id, call.name, {}) for call in ours.answer.calls]
    changed = [
        [],
        [Exchange(ours.asked, None, Ending.EMPTY)],
        [Exchange((), ours.answer, Ending.COMPLETE)],
        [Exchange((*ours.asked[:-1], user("else")), ours.answer, Ending.COMPLETE)],
        [Exchange(ours.asked, Message.of("assistant", parts), Ending.COMPLETE)],
    ]
    theirs = [*record[:index], *data.draw(st.sampled_from(changed)), *record[index + 1 :]]
    assert found(record, messages_of(theirs)) is None


@given(chats(), chats())
def test_a_chat_with_other_words_is_another(record: Record, other: Record) -> None:
    others = [Exchange((user("hello"),), assistant("hello"), Ending.COMPLETE), *other]
    assert found(record, messages_of(others)) is None


@given(chats(), st.data())
def test_a_record_is_found_by_a_key_of_each_path_in_which_it_is_recognised(
    record: Record, data: st.DataObject
) -> None:
    """But for a chat that began with two answers which were cut short and are shown."""
    first = next(index for index, one in enumerate(record) if one.ending is Ending.COMPLETE)
    assume(sum(one.answer is not None for one in record[:first]) < 2)
    path = data.draw(shown_again(record))
    assert sketch_of(record).key in keys(path)
    assert sketch_of(record).key in keys([*path, user("more"), assistant("else"), user("new")])


@given(chats())
def test_what_is_kept_has_the_same_size_whatever_was_said(record: Record) -> None:
    """So it holds no text: there is no room for any."""
    number = len(messages_of(record))
    sketch = sketch_of(record)
    assert len(sketch.key) == 16
    assert len(sketch.steps) == 9 + 17 * number


# What is kept at all.


def test_what_is_kept_is_plain_digests_that_every_process_and_version_reads() -> None:
    """Whoever changes this forgets every session: then the version in the bytes changes, too."""
    record = [Exchange((user("q"),), assistant("a"), Ending.COMPLETE)]
    assert sketch_of(record).key.hex() == "4602e4578fba203833dfbc6baee4155f"
    assert sketch_of(record).steps.hex() == (
        "01828619606274873b530c6dfab52bf87b2707eeca294544f48e3c683adb3088b5281db5279689c10d0253"
    )


@pytest.mark.parametrize("ending", sorted(UNFINISHED, key=str))
def test_a_record_without_a_whole_answer_at_its_end_is_not_kept(ending: Ending) -> None:
    assert Sketch.of([turn("1"), turn("2", ending)]) is None
    assert Sketch.of([turn("1"), Exchange((user("q"),), None, Ending.EMPTY)]) is None
    assert Sketch.of([]) is None


@pytest.mark.parametrize(
    "strange",
    [
        Message.of("system", [TextPart("a")]),
        Message.of("user", []),
        Message.of("user", [ToolCallPart("c", "t", {})]),
        Message.of("assistant", [ToolResultPart("c")]),
    ],
)
def test_a_record_with_what_nobody_says_is_not_kept(strange: Message) -> None:
    assert Sketch.of([Exchange((strange,), assistant("a"), Ending.COMPLETE), turn("1")]) is None


# What may differ.


def test_images_of_a_question_that_is_reduced_are_gone_and_none_is_added() -> None:
    shown = Message.of("user", [TextPart("<userRequest>look</userRequest>"), IMAGE])
    record = [Exchange((shown,), assistant("a"), Ending.COMPLETE)]
    assert found(record, [shown, assistant("a")]) == 2
    assert found(record, [user("<userRequest>look</userRequest>"), assistant("a")]) == 2
    other = Message.of("user", [TextPart("<prompt>look</prompt>"), IMAGE])
    assert found(record, [other, assistant("a")]) is None
    plain_record = [Exchange((user("look"),), assistant("a"), Ending.COMPLETE)]
    assert found(plain_record, [shown, assistant("a")]) is None


@pytest.mark.parametrize(
    "theirs", [assistant("anything"), assistant("see"), Message.of("assistant", [IMAGE])]
)
def test_an_answer_that_was_cut_short_may_have_come_back_in_any_words(theirs: Message) -> None:
    record = [turn("1", Ending.CANCELLED), turn("2")]
    path = messages_of(record)
    assert found(record, [path[0], theirs, *path[2:]]) == 4


@pytest.mark.parametrize(
    "theirs", [calling("c"), Message.of("assistant", [TextPart("a"), ToolResultPart("c")])]
)
def test_but_not_with_calls(theirs: Message) -> None:
    record = [turn("1", Ending.CANCELLED), turn("2")]
    path = messages_of(record)
    assert found(record, [path[0], theirs, *path[2:]]) is None


def test_an_answer_that_another_gave_is_recognised_and_never_missing() -> None:
    asked = (user("q1"), assistant("[by](another)"), user("q2"))
    record = [Exchange(asked, assistant("a"), Ending.COMPLETE)]
    assert found(record, [asked[0], assistant("by"), asked[2], assistant("a")]) == 4
    assert found(record, [asked[0], asked[2], assistant("a")]) is None
    unfinished = [Exchange(asked, None, Ending.FAILED), turn("2")]
    assert found(unfinished, [asked[0], assistant("else"), *messages_of([turn("2")])]) is None


def test_a_summary_stands_for_nothing_and_is_only_recognised_where_it_was() -> None:
    record = [turn("1"), turn("2")]
    path = messages_of(record)
    assert found(record, [SUMMARY, *path[2:]]) is None
    assert found(record, [SUMMARY, *path]) is None
    summarised = [Exchange((SUMMARY, user("q")), assistant("a"), Ending.COMPLETE)]
    assert found(summarised, [SUMMARY, user("q"), assistant("a")]) == 3
    with_facts = [Exchange((FACTS, SUMMARY, user("q")), assistant("a"), Ending.COMPLETE)]
    assert found(with_facts, [SUMMARY, user("q"), assistant("a")]) is None


def test_a_turn_that_was_cut_short_is_missing_only_where_the_chat_goes_on_with_the_next() -> None:
    record = [turn("1", Ending.CANCELLED), turn("2", Ending.COMPLETE, FACTS)]
    path = messages_of(record)
    assert found(record, path[3:]) is None
    assert not isinstance(tolerant(remembering(record), tuple(path[3:])), Extends)


def test_a_finished_round_is_never_missing() -> None:
    record = [
        Exchange((user("q"),), calling("c"), Ending.COMPLETE),
        Exchange((results("c"),), assistant("a"), Ending.COMPLETE),
    ]
    assert found(record, [user("q"), assistant("a")]) is None
    assert found(record, [user("q"), calling("c"), assistant("a")]) is None


@pytest.mark.parametrize(
    ("size", "steps"),
    [(1, 5), (128, 132), (129, None)],
    ids=["one", "as many as hosts have", "more"],
)
def test_results_may_be_grouped_in_another_way(size: int, steps: int | None) -> None:
    ids = [f"c{number}" for number in range(size)]
    apart = [results(one) for one in ids]
    record = [
        Exchange((user("q"),), calling(*ids), Ending.COMPLETE),
        Exchange((results(*ids, "z"), user("and")), assistant("a"), Ending.COMPLETE),
    ]
    path = [user("q"), calling(*ids), *apart[:-1], results(ids[-1], "z"), user("and")]
    expected = None if steps is None else steps if size > 1 else 5
    assert found(record, [*path, assistant("a")]) == expected
    back = [record[0], Exchange(tuple(path[2:]), assistant("a"), Ending.COMPLETE)]
    again = [user("q"), calling(*ids), results(*ids, "z"), user("and"), assistant("a")]
    assert found(back, again) == (None if steps is None else 5)


def test_a_result_that_is_missing_or_another_is_none_of_these() -> None:
    record = [
        Exchange((user("q"),), calling("c", "d"), Ending.COMPLETE),
        Exchange((results("c", "d"),), assistant("a"), Ending.COMPLETE),
    ]
    for theirs in ([results("c")], [results("d", "c")], [results("c"), results("e")], [user("c")]):
        assert found(record, [user("q"), calling("c", "d"), *theirs, assistant("a")]) is None


# Its lookup.


@pytest.mark.limit("bridge.routing.sketch.MOST_KEYS")
def test_the_newest_answer_is_looked_up_first_and_no_more_than_is_worth_a_try() -> None:
    chat = [turn(str(number)) for number in range(100)]
    found_keys = keys(messages_of(chat))
    assert len(found_keys) == MOST_KEYS
    assert sketch_of(chat).key in found_keys[:2]
    assert sketch_of(chat[:-1]).key in found_keys[:4]
    assert len(set(found_keys)) == MOST_KEYS


def test_nothing_is_looked_up_without_an_answer() -> None:
    assert keys([]) == []
    assert keys([user("q"), user("r")]) == []


def test_chats_that_differ_in_their_beginning_or_their_end_have_keys_of_their_own() -> None:
    ends = [turn("1"), turn("2"), turn("3")]
    chats_ = [[begin, end] for begin in ends for end in ends]
    assert len({sketch_of(chat).key for chat in chats_}) == len(chats_)


def test_a_chat_that_was_led_by_another_is_sketched_like_any() -> None:
    path: Path = (user("q1"), assistant("a1"), user("q2"), assistant("a2"))
    assert found(exchanges_of(path), path) == 4


# Bytes that no sketch has.


@given(st.binary(max_size=60), chats())
def test_whatever_the_bytes_are_they_are_read_or_are_none(noise: bytes, record: Record) -> None:
    path = messages_of(record)
    assert recognise(noise, path) is None
    assert recognise(sketch_of(record).steps + noise[:1] + b"x", path) is None


@given(chats(), st.data())
def test_one_wrong_bit_or_a_missing_end_is_noticed(record: Record, data: st.DataObject) -> None:
    """What was cut off would be an earlier state, and the session knows more than that."""
    path, steps = messages_of(record), sketch_of(record).steps
    assert recognise(steps[: data.draw(st.integers(0, len(steps) - 1))], path) is None
    at, bit = data.draw(st.integers(0, len(steps) - 1)), data.draw(st.integers(0, 7))
    wrong = bytearray(steps)
    wrong[at] ^= 1 << bit
    assert recognise(bytes(wrong), path) is None
