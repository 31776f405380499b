"""Recordings of our own of VS Code's Agent Host: one function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .chat import Chat
from .host_chat import HostChat
from .script import Script, call, text

Case: TypeAlias = Callable[[Script], None]


def stop_that_nobody_hears_of(script: Script) -> None:
    """The user stops twice; each answer is given to its end and is absent later."""
    chat = HostChat(script, "A")
    chat.asks("Count the stairs.")
    chat.is_stopped_unheard("One, two, three.")
    chat.asks("Only those to the cellar.")
    chat.answers("Four.")
    chat.asks("And to the attic.")
    chat.is_stopped_unheard("Five, six.")
    chat.asks("Never mind.")
    chat.answers("All right.")
    chat.asks("Is the door shut?")
    chat.answers("It is.")


def stop_while_it_streams(script: Script) -> None:
    """The user stops the first answer of all, and types on while it still streams."""
    chat = HostChat(script, "A")
    first = chat.asks("Sing.")
    script.part(first, text("La, "))
    chat.asks("No, hum.")
    script.end(first)
    chat.answers("Hm.")
    chat.asks("Thank you.")
    chat.answers("Hm.")


def stop_of_a_call(script: Script) -> None:
    """The user stops an answer whose call is never run."""
    chat = HostChat(script, "A")
    first = chat.asks("Open the window.")
    script.answer(first, text("With pleasure."), call("open-1"))
    chat.asks("No, leave it.")
    chat.answers("It stays shut.")


def repeat_of_a_running_turn(script: Script) -> None:
    """The host gives a request up after ten minutes, tells nobody, and sends it again."""
    chat = HostChat(script, "A")
    chat.asks("Take your time.")
    chat.repeats()
    chat.answers("It is done.")
    chat.asks("Thank you.")
    chat.answers("Gladly.")


def equal_chats_of_the_agent_host(script: Script) -> None:
    """Two chats with the same texts, of which each is stopped where the other goes on."""
    one, other = HostChat(script, "A"), HostChat(script, "B")
    for chat in (one, other):
        chat.asks("Good morning.")
    one.is_stopped_unheard("Good morning to you.")
    other.answers("Good morning to you.")
    for chat in (one, other):
        chat.asks("What day is it?")
        chat.answers("Monday.")


def results_in_order_of_completion(script: Script) -> None:
    """Results come in the order in which the tools ended, and stay in it."""
    chat = HostChat(script, "A")
    chat.asks("Air the rooms.")
    chat.calls(call("air-1"), call("air-2"), call("air-3"), said="At once.")
    chat.gives("air-3", "air-1", "air-2")
    chat.answers("Done.")
    chat.asks("Thank you.")
    chat.answers("Gladly.")


def steering_in_the_agent_host(script: Script) -> None:
    """The user types on while a tool runs; that message has no date."""
    chat = HostChat(script, "A")
    chat.asks("Sweep the hall.")
    chat.calls(call("sweep-1"))
    chat.is_steered("And mind the vase.", with_results=["sweep-1"])
    chat.answers("The vase is safe.")
    chat.is_notified('Shell command "dust" has completed.')
    chat.answers("The dust is gone.")
    chat.asks("Well done.")
    chat.answers("Thank you.")


def summary_in_the_agent_host(script: Script) -> None:
    """The host sums up beside a streaming answer, then without tools; the chat goes on."""
    chat = HostChat(script, "A")
    chat.asks("Tell me of the roof.")
    chat.answers("It leaks.")
    second = chat.asks("Where?")
    aside = chat.sums_up("A/compact1")
    script.answer(aside, text("The roof leaks."))
    chat.answers("By the chimney.")
    chat.goes_on_from("The roof leaks.", keeping=1)
    chat.asks("Since when?")
    chat.answers("Since March.")
    assert second < aside
    aside = chat.sums_up("A/compact2", tools=())
    script.answer(aside, text("It leaks since March."))
    chat.goes_on_from("It leaks since March.", keeping=0)
    chat.asks("How badly?")
    chat.answers("It drips.")


def answers_left_out_for_room(script: Script) -> None:
    """The window is small: answers are left out, and nothing stands in their place."""
    chat = HostChat(script, "A")
    chat.asks("Name the rooms.")
    chat.answers("There are many.")
    chat.asks("All of them.")
    chat.answers("The hall.")
    chat.history = [one for one in chat.history if one["role"] == "user"]
    chat.asks("And the kitchen?")
    chat.answers("That, too.")


def sub_agents_of_the_agent_host(script: Script) -> None:
    """Sub-agents are led by calls, one in the background, one that names no chat."""
    chat = HostChat(script, "A")
    chat.asks("Search the house.")
    chat.calls(call("lead-1", "task"), call("lead-2", "task"))
    sub = chat.delegates("A/sub1", "Search the cellar.")
    explorer = chat.delegates("A/sub2", "Search the attic.", explores=True)
    sub.calls(call("look-1"))
    explorer.calls(call("look-2"))
    explorer.gives("look-2")
    explorer.answers("Nothing.")
    chat.gives("lead-2", "lead-1")
    chat.answers("The cellar is being searched.")
    sub.gives("look-1")
    sub.answers("A key.")
    late = chat.delegates("A/sub3", "Search the cellar.")
    late.answers("Another key.")
    chat.asks("What was found?")
    chat.answers("A key.")


def fork_in_the_agent_host(script: Script) -> None:
    """A chat is forked: the copy has a folder of its own."""
    chat = HostChat(script, "A")
    chat.asks("Name a colour.")
    chat.answers("Green.")
    second = chat.asks("Another.")
    chat.answers("Blue.")
    other = chat.is_forked("B", before=second)
    other.asks("A warm one.")
    other.answers("Red.")
    chat.asks("One more.")
    chat.answers("Grey.")
    other.asks("A darker one.")
    other.answers("Brown.")


def edit_in_the_agent_host(script: Script) -> None:
    """An earlier message is edited, in the same folder; one before it was stopped."""
    chat = HostChat(script, "A")
    chat.asks("What is for lunch?")
    chat.answers("Soup.")
    second = chat.asks("With bread?")
    chat.answers("With bread.")
    chat.asks("And butter?")
    chat.is_stopped_unheard("And butter.")
    chat.asks("And salt?")
    chat.answers("And salt.")
    chat.edits(second, "With cheese?")
    chat.answers("With cheese.")
    chat.asks("And to drink?")
    chat.answers("Water.")


def chat_that_changes_harness(script: Script) -> None:
    """A chat of the local harness goes on in the Agent Host, which words it in its own way."""
    local = Chat(script, "A")
    local.asks("Where are the keys?")
    local.answers("In the drawer.")
    local.asks("And the lamp?")
    local.answers("On the shelf.")
    chat = HostChat(script, "A")
    chat.moves_from(local)
    chat.asks("Which shelf?")
    chat.answers("The upper one.")
    chat.asks("Thank you.")
    chat.answers("Gladly.")


HOST_CASES: dict[str, Case] = {
    play.__name__.replace("_", "-"): play
    for play in (
        stop_that_nobody_hears_of,
        stop_while_it_streams,
        stop_of_a_call,
        repeat_of_a_running_turn,
        equal_chats_of_the_agent_host,
        results_in_order_of_completion,
        steering_in_the_agent_host,
        summary_in_the_agent_host,
        answers_left_out_for_room,
        sub_agents_of_the_agent_host,
        fork_in_the_agent_host,
        edit_in_the_agent_host,
        chat_that_changes_harness,
    )
}
