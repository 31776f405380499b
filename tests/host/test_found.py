"""What the model found, one by one: each of these once went wrong."""

from __future__ import annotations

import pytest

from bridge.history.progress_rounds import CALL_PREFIX
from bridge.history.rules import Rule
from bridge.routing.outcome import Joins, Outcome, Reason
from bridge.routing.request import RequestClass
from bridge.wire import PROGRESS_TOOL

from .agent_host_machine import AGENT_HOST
from .chat import Chat, Mode
from .render import Profile
from .world import World

OLDER = Profile(private_keys=False)


@pytest.fixture
def world() -> World:
    return World()


def _begin(world: World, text: str, answer: str = "") -> Chat:
    chat = world.host.open_chat()
    world.host.send(chat, text)
    if answer:
        world.finish(chat, answer)
    return chat


def _ask(world: World, *texts: str) -> Chat:
    """Begin a chat in ask mode, each question of which is answered."""
    chat = world.host.open_chat(mode=Mode.ASK)
    for text in texts:
        world.host.send(chat, text)
        world.finish(chat, "ok")
    return chat


def _wait_for_tools(world: World, chat: Chat, *calls: str, name: str = "list_dir") -> None:
    for call_id in calls:
        world.call(chat, call_id, name, prompt="look")
    world.finish(chat)


def _newest(world: World) -> Outcome:
    return world.outcomes[-1]


# Forks: they share the id of their origin, and all that was said before.


def test_a_fork_leaves_a_turn_of_its_origin_alone_that_waits_for_a_tool(world: World) -> None:
    origin = _begin(world, "hi", "ok")
    fork = world.host.fork(origin, 1)
    world.host.send(origin, "more")
    _wait_for_tools(world, origin, "call-1")
    world.host.send(fork, "go")
    world.host.next_round(origin)
    assert isinstance(_newest(world), Joins)


def test_a_fork_that_asks_again_is_left_alone_by_an_edit_in_its_origin(world: World) -> None:
    """In ask mode nothing but the answers tells the two apart."""
    origin = _ask(world, "hi", "more")
    world.host.send(origin, "go")
    fork = world.host.fork(origin, 2)
    world.host.regenerate(fork)
    world.host.edit(origin, 2, "more")


@pytest.mark.parametrize("begun", ["ok", "okay, th"])
def test_a_fork_that_begins_to_say_what_its_origin_was_told_is_left_alone_by_it(
    world: World, begun: str
) -> None:
    origin = _ask(world, "hi", "more")
    fork = world.host.fork(origin, 2)
    world.host.regenerate(fork)
    world.text(fork, begun)
    world.host.send(origin, "go")
    assert isinstance(_newest(world), Joins)


@pytest.mark.parametrize("text", ["go", "hi"])
def test_an_edit_in_ask_mode_leaves_a_fork_alone_that_waits_for_a_tool(
    world: World, text: str
) -> None:
    """The fork names its chat, and the edit doesn't."""
    origin = _ask(world, "hi", "more")
    fork = world.host.fork(origin, 1)
    fork.mode = Mode.AGENT
    world.host.send(fork, "go")
    _wait_for_tools(world, fork, "call-1")
    world.host.edit(origin, 1, text)
    world.host.next_round(fork)
    assert _newest(world).reason is Reason.PENDING_CALL


def test_a_fork_of_a_whole_chat_does_not_go_on_with_its_agent(world: World) -> None:
    origin = _begin(world, "hi", "ok")
    fork = world.host.fork(origin, 1)
    world.host.send(fork, "go")
    assert not isinstance(_newest(world), Joins)
    world.host.send(origin, "more")
    assert _newest(world).reason is Reason.EXTENDS


def test_a_question_asked_in_ask_mode_does_not_end_the_turn_of_a_fork(world: World) -> None:
    """Its prompt doesn't name its chat, so nothing but the turn that streams tells them apart."""
    origin = _begin(world, "hi", "ok")
    fork = world.host.fork(origin, 1)
    world.host.send(fork, "hi")
    world.text(fork, "slow")
    origin.mode = Mode.ASK
    world.host.send(origin, "hi")
    world.finish(fork)


def test_a_fork_that_was_compacted_does_not_go_on_with_an_agent_of_its_family(
    world: World,
) -> None:
    origin = _begin(world, "hi", "ok")
    fork = world.host.fork(origin, 1)
    world.host.send(fork, "go")
    world.finish(fork, "gone")
    world.host.compact(origin)
    world.finish_beside()
    world.host.send(origin, "more")
    assert Rule.SUMMARY in _newest(world).match.rules


# Summaries: they hide what would tell one branch of a chat from another.


def test_a_summary_does_not_lead_to_a_line_that_was_taken_back(world: World) -> None:
    chat = _begin(world, "hi")
    world.host.edit(chat, 0, "more")
    world.fail(chat)
    world.host.compact(chat)
    world.host.send(chat, "more")


def test_a_summary_after_going_back_does_not_lead_to_the_turns_that_are_gone(world: World) -> None:
    chat = _begin(world, "hi", "ok")
    world.host.send(chat, "more")
    world.finish(chat, "gone")
    world.host.restore(chat, 1)
    world.host.summarise(chat, (1, -1), fork=False)
    world.host.send(chat, "go")


@pytest.mark.parametrize("profile", [Profile(), OLDER, AGENT_HOST])
def test_an_edit_after_a_summary_goes_back_though_an_answer_is_said_twice(
    profile: Profile,
) -> None:
    world = World(profile)
    chat = _begin(world, "hi", "ok")
    world.host.send(chat, "more")
    world.finish(chat, "seen")
    world.host.summarise(chat, (0, 0), fork=False)
    world.finish_beside()
    world.host.send(chat, "go")
    world.finish(chat, "ok")
    world.host.edit(chat, 2, "hi")
    assert _newest(world).reason is Reason.BRANCH


def test_turns_of_another_model_that_a_summary_hides_are_not_lost(world: World) -> None:
    chat = _begin(world, "hi", "ok")
    chat.model = "small"
    world.host.send(chat, "more")
    world.finish(chat, "ok")
    world.host.compact(chat)
    chat.model = "rec"
    world.host.send(chat, "go")
    assert _newest(world).reason is Reason.UNPROVEN


def test_turns_of_another_model_are_not_lost_where_the_host_numbers_none() -> None:
    world = World(AGENT_HOST)
    chat = _begin(world, "hi", "ok")
    chat.model = "small"
    world.host.send(chat, "more")
    world.finish(chat, "seen")
    world.host.compact(chat)
    world.finish_beside()
    chat.model = "rec"
    world.host.send(chat, "go")
    assert _newest(world).reason is Reason.UNPROVEN
    world.finish(chat, "ok")
    world.host.compact(chat)
    world.finish_beside()
    world.host.send(chat, "hi")
    assert isinstance(_newest(world), Joins)


def test_results_that_a_summary_hides_are_not_lost(world: World) -> None:
    chat = _begin(world, "hi")
    _wait_for_tools(world, chat, "call-1")
    world.host.stop(chat, kept=True)
    world.host.compact(chat)
    world.host.send(chat, "more")


def test_the_agent_goes_on_after_a_summary_of_all_it_knows(world: World) -> None:
    chat = _begin(world, "hi", "ok")
    world.host.compact(chat)
    world.host.send(chat, "more")
    assert isinstance(_newest(world), Joins)


def test_the_same_request_again_is_a_retry_where_a_summary_hides_equal_words(world: World) -> None:
    chat = _begin(world, "hi")
    world.fail(chat)
    world.host.send(chat, "hi")
    world.finish(chat)
    world.host.summarise(chat, (1, -1), fork=False)
    world.host.send(chat, "hi")
    world.host.regenerate(chat)
    assert _newest(world).reason is Reason.RETRY


def test_a_summary_is_told_to_one_branch_of_a_chat_even_if_all_is_said_twice() -> None:
    world = World(AGENT_HOST)
    chat = _begin(world, "hi", "seen")
    world.host.compact(chat)
    world.finish_beside()
    world.host.send(chat, "hi")
    assert _newest(world).reason is Reason.RETRY
    world.finish(chat, "seen")
    world.host.send(chat, "hi")
    world.host.edit(chat, 2, "hi")
    assert _newest(world).reason is Reason.SUPERSEDES


def test_an_edit_after_a_summary_goes_back_in_the_newest_branch_of_a_chat() -> None:
    """An earlier branch has the same answer, and another question that the summary hides."""
    world = World(AGENT_HOST)
    chat = _begin(world, "go", "seen")
    world.host.edit(chat, 0, "hi")
    world.finish(chat, "seen")
    world.host.summarise(chat, (0, 0), fork=False)
    world.finish_beside()
    for _ in range(3):
        world.host.send(chat, "hi")
        world.finish(chat)
    world.host.edit(chat, 2, "hi")
    assert _newest(world).reason is Reason.UNPROVEN


# Sub-agents.


def test_two_sub_agents_with_the_same_task_stay_apart(world: World) -> None:
    chat = _begin(world, "hi")
    _wait_for_tools(world, chat, "call-1", "call-2", name="runSubagent")
    one, two = chat.waiting
    first = world.host.lead(chat, one)
    _wait_for_tools(world, first, "call-3")
    second = world.host.lead(chat, two)
    assert _newest(world).reason is Reason.SUB_AGENT
    world.finish(second, "seen")
    world.host.next_round(first)
    assert isinstance(_newest(world), Joins)


# Answers that were cut.


def test_an_answer_that_was_cut_is_known_without_its_call_and_with_its_links_rewritten() -> None:
    world = World(OLDER)
    chat = _begin(world, "hi")
    world.call(chat, "call-1")
    world.text(chat, "see [app](src/app.py)")
    cut = world.host.streaming[chat]
    world.host.reload()
    world.cancel(cut)
    world.host.send(chat, "more")
    assert Rule.CALLS_DROPPED in _newest(world).match.rules


def test_an_older_host_finds_its_chat_by_its_question_when_nothing_else_is_as_it_was() -> None:
    """Other chats lie nearer in the tree of prefixes, for all begin with the same preamble."""
    world = World(OLDER)
    _begin(world, "something else", "ok")
    chat = _begin(world, "hi")
    world.call(chat, "call-1")
    world.text(chat, "ok")
    cut = world.host.streaming[chat]
    world.host.reload()
    world.cancel(cut)
    world.host.send(chat, "more")
    assert isinstance(_newest(world), Joins)


# Equal chats of a host that doesn't say whose a request is.


def test_a_chat_asks_again_where_another_one_could_go_on_by_a_rule() -> None:
    world = World(OLDER)
    chat = _begin(world, "hi")
    world.host.edit(chat, 0, "more")
    world.fail(chat)
    world.host.send(chat, "hi")
    world.finish(chat, "ok")
    world.host.undo(chat)
    world.host.regenerate(chat)
    world.finish(chat, "ok")
    world.host.send(chat, "hi")
    world.host.regenerate(chat)
    assert _newest(world).reason is Reason.RETRY


# Hosts that don't tell when an answer was stopped.


def test_an_answer_that_comes_back_while_it_still_streams_was_stopped_whatever_else_changed() -> (
    None
):
    world = World(Profile(private_keys=False, says_stop=False))
    chat = world.host.open_chat(mode=Mode.ASK)
    world.host.send(chat, "hi")
    world.text(chat, "ok")
    world.host.stop(chat, kept=True)
    world.host.send(chat, "more")
    assert isinstance(_newest(world), Joins)


# The Agent Host, whose sub-agents say what they are.


@pytest.mark.parametrize("call", ["list_dir", PROGRESS_TOOL])
def test_an_edit_of_the_first_message_while_a_tool_runs_is_no_sub_agents(call: str) -> None:
    world = World(AGENT_HOST)
    chat = _begin(world, "hi")
    _wait_for_tools(world, chat, f"{CALL_PREFIX}1", name=call)
    world.host.edit(chat, 0, "go")
    assert _newest(world).request_class is RequestClass.MAIN
    world.finish(chat, "ok")
    world.host.send(chat, "more")
    assert isinstance(_newest(world), Joins)


# Branches of one chat whose words, and missing answers, are the same.


def test_going_back_twice_to_equal_words_asks_again_what_was_asked_last(world: World) -> None:
    """Without an answer between them two branches of equal words look alike."""
    chat = _begin(world, "hi")
    world.host.edit(chat, 0, "hi")
    world.host.stop(chat, kept=False)
    world.host.send(chat, "hi")
    world.host.edit(chat, 1, "hi")
    world.host.undo(chat)
    world.host.undo(chat)
    world.host.send(chat, "hi")
    assert _newest(world).reason is Reason.RETRY


def test_a_line_that_was_gone_back_to_is_not_one_that_lacks_a_turn(world: World) -> None:
    chat = _begin(world, "hi")
    for turn, text in ((0, "more"), (0, "hi"), (0, "hi")):
        world.host.edit(chat, turn, text)
    world.host.undo(chat)
    world.host.undo(chat)
    world.host.send(chat, "hi")
    world.expire(chat)
    world.host.undo(chat)
    world.host.send(chat, "more")
    assert Rule.TURN_ABSENT not in _newest(world).match.rules


def test_a_line_that_was_gone_back_to_shares_the_answers_before(world: World) -> None:
    chat = _begin(world, "hi", "ok")
    world.host.send(chat, "more")
    world.host.stop(chat, kept=False)
    world.host.send(chat, "go")
    world.host.stop(chat, kept=False)
    world.host.edit(chat, 1, "go")
    world.host.stop(chat, kept=False)
    world.host.send(chat, "hi")
    assert _newest(world).match.rules <= {Rule.ANSWER_ABSENT}
