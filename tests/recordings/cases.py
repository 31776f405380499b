"""Recordings of our own: one function each, which says in its first line what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from vscodelm.replay.labels import Label

from .chat import Chat
from .host_cases import HOST_CASES
from .script import (
    COMPACT_NOW,
    SUMMARISE,
    SUMMARISER,
    Script,
    call,
    image,
    message,
    reduced,
    result,
    text,
    user,
)

Case: TypeAlias = Callable[[Script], None]
CASES: dict[str, Case] = dict(HOST_CASES)


def case(play: Case) -> Case:
    """Register a case by its name."""
    CASES[play.__name__.replace("_", "-")] = play
    return play


def played(name: str) -> Script:
    """Return a case's recording."""
    script = Script()
    CASES[name](script)
    return script


# What became of a turn.


@case
def plain_turns(script: Script) -> None:
    """Three turns, echoed as they were."""
    chat = Chat(script, "A")
    chat.asks("Where do the keys lie?")
    chat.answers("In the drawer, under the [map](hall/map.md).")
    chat.asks("And the lamp?")
    chat.answers("On the shelf.")
    chat.asks("Thank you.")
    chat.answers("Gladly.")


@case
def stop_that_throws(script: Script) -> None:
    """The user stops twice, and the provider throws: what it said is gone, the questions stay."""
    chat = Chat(script, "A")
    chat.asks("Count the stairs.")
    chat.is_stopped("One, two, thr")
    chat.asks("Only those to the cellar.")
    chat.is_stopped("Four, fi")
    chat.asks("Never mind.")
    chat.answers("All right.")
    chat.asks("Is the door shut?")
    chat.answers("It is.")


@case
def stop_that_returns(script: Script) -> None:
    """The user stops, and the provider returns: what it said stays."""
    chat = Chat(script, "A")
    chat.asks("Count the stairs.")
    chat.is_stopped("One, two, thr", keeps=True)
    chat.asks("Enough.")
    chat.answers("As you like.")


@case
def stop_before_a_word(script: Script) -> None:
    """The user stops before anything was said."""
    chat = Chat(script, "A")
    chat.asks("Is the attic dry?")
    chat.answers("It was in spring.")
    chat.asks("And now?")
    chat.is_stopped()
    chat.asks("Then look at the cellar.")
    chat.answers("The cellar is damp.")


@case
def stop_of_an_answer_with_a_call(script: Script) -> None:
    """The user stops while an answer holds a call already: text and call are gone."""
    chat = Chat(script, "A")
    first = chat.asks("Open the window.")
    script.part(first, text("With pleasure."))
    script.part(first, call("open-1"))
    chat.is_stopped()
    chat.asks("No, leave it.")
    chat.answers("It stays shut.")


@case
def stop_while_a_tool_runs(script: Script) -> None:
    """The user stops a running tool: its result says so, and comes with the next message."""
    chat = Chat(script, "A")
    chat.asks("Water the plants.")
    chat.calls(call("water-1"), call("water-2"))
    chat.asks("Only those upstairs.", with_results=["water-1", "water-2"])
    chat.answers("They have had enough.")


@case
def steering_while_a_tool_runs(script: Script) -> None:
    """The user types on while a tool runs."""
    chat = Chat(script, "A")
    chat.asks("Sweep the hall.")
    chat.calls(call("sweep-1"), said="At once.")
    chat.asks("And mind the vase.", with_results=["sweep-1"])
    chat.answers("The vase is safe.")
    chat.asks("Well done.")
    chat.answers("Thank you.")


@case
def error_before_a_word(script: Script) -> None:
    """A turn fails at once; the first is tried again, the second is left behind."""
    chat = Chat(script, "A")
    chat.asks("Ring the bell.")
    chat.fails()
    chat.repeats()
    chat.answers("It rang.")
    chat.asks("Ring it twice.")
    chat.fails()
    chat.asks("Then knock.")
    chat.answers("I knocked.")


@case
def error_after_a_word(script: Script) -> None:
    """A turn fails half way; what it had said is gone."""
    chat = Chat(script, "A")
    chat.asks("Read me the letter.")
    chat.answers("Which one?")
    chat.asks("The one from the sea.")
    chat.fails("Dear f")
    chat.repeats()
    chat.fails("Dear")
    chat.asks("Then the other one.")
    chat.answers("It is a bill.")


@case
def empty_answers(script: Script) -> None:
    """The agent says nothing, and the host tries by itself, four times in all."""
    chat = Chat(script, "A")
    chat.asks("Are you there?")
    chat.answers("Yes.")
    chat.asks("Say something.")
    chat.is_silent()
    for _ in range(3):
        chat.repeats()
        chat.is_silent()
    chat.asks("Anything.")
    chat.answers("Something.")


# What the user takes back.


@case
def edit(script: Script) -> None:
    """An earlier message is edited: three requests are taken back."""
    chat = Chat(script, "A")
    chat.asks("What is for lunch?")
    chat.answers("Soup.")
    second = chat.asks("With bread?")
    chat.calls(call("bread-1"))
    chat.gives("bread-1")
    chat.answers("With bread.")
    chat.asks("And butter?")
    chat.answers("And butter.")
    chat.edits(second, "With cheese?")
    chat.answers("With cheese.")
    chat.asks("And to drink?")
    chat.answers("Water.")


@case
def edit_of_the_first_message(script: Script) -> None:
    """The very first message is edited, which leaves nothing to know the chat by."""
    chat = Chat(script, "A")
    chat.asks("What is for supper?")
    chat.answers("Fish.")
    edited = Chat(script, "B", session="A")
    edited.asks("What is for breakfast?")
    edited.answers("Eggs.")


@case
def edit_of_a_failed_turn(script: Script) -> None:
    """A message whose turn failed is edited, so that nothing of it stays."""
    chat = Chat(script, "A")
    chat.asks("Call the plumber.")
    chat.answers("Which one?")
    second = chat.asks("The bad one.")
    chat.fails("I di")
    chat.edits(second, "The good one.")
    chat.answers("He is on his way.")


@case
def edit_before_a_stopped_turn(script: Script) -> None:
    """A stopped message is edited after another one was answered."""
    chat = Chat(script, "A")
    chat.asks("Draw a plan.")
    chat.answers("Of which floor?")
    second = chat.asks("The first.")
    chat.is_stopped("It has")
    chat.asks("No, the second.")
    chat.answers("Five rooms.")
    chat.edits(second, "The third.")
    chat.answers("One room.")


@case
def edit_of_a_steering_message(script: Script) -> None:
    """A message that came with results is edited: the results are given once more, to a branch."""
    chat = Chat(script, "A")
    chat.asks("Bake a cake.")
    chat.calls(call("oven-1"))
    second = chat.asks("With apples.", with_results=["oven-1"])
    chat.answers("It smells of apples.")
    chat.edits(second, "With plums.", with_results=["oven-1"])
    chat.answers("It smells of plums.")


@case
def edit_after_a_summary(script: Script) -> None:
    """A message is edited whose history begins with a summary."""
    chat = Chat(script, "A")
    chat.asks("Tell me of the roof.")
    chat.answers("It leaks.")
    chat.asks("Where?")
    chat.answers("By the chimney.")
    chat.summarises("The roof leaks.", keeping=2)
    third = chat.asks("Since when?")
    chat.answers("Since March.")
    chat.edits(third, "How badly?")
    chat.answers("It drips.")


@case
def retry_of_a_stopped_turn(script: Script) -> None:
    """A turn is stopped, tried again, answered, and tried again once more after a later stop."""
    chat = Chat(script, "A")
    chat.asks("Whistle.")
    chat.answers("Which tune?")
    chat.asks("Any.")
    chat.is_stopped("Tw")
    chat.repeats()
    chat.answers("Tweet.")
    chat.asks("Louder.")
    chat.is_stopped("TW")
    chat.asks("Not so loud.")
    chat.answers("tweet")
    chat.regenerates(5)
    chat.answers("Tweet?")


@case
def regenerated_turn(script: Script) -> None:
    """A turn with a tool round in it is asked for again."""
    chat = Chat(script, "A")
    chat.asks("Who called?")
    chat.answers("Your aunt.")
    second = chat.asks("What did she want?")
    chat.calls(call("tape-1"))
    chat.gives("tape-1")
    chat.answers("To be called back.")
    chat.regenerates(second)
    chat.calls(call("tape-2"))
    chat.gives("tape-2")
    chat.answers("She wants to visit.")
    chat.asks("When?")
    chat.answers("On Sunday.")


@case
def fork(script: Script) -> None:
    """A chat is forked: both go on, with one id."""
    chat = Chat(script, "A")
    chat.asks("Name a colour.")
    chat.answers("Green.")
    second = chat.asks("Another.")
    chat.answers("Blue.")
    other = chat.forks("B", before=second)
    other.asks("A warm one.")
    other.answers("Red.")
    chat.asks("One more.")
    chat.answers("Grey.")
    other.asks("A darker one.")
    other.answers("Brown.")


# What the host makes of the history.


@case
def reload(script: Script) -> None:
    """The window is reloaded: turns that were cut short come back as far as they were seen."""
    chat = Chat(script, "A")
    chat.asks("Where is the ladder?")
    chat.answers("Behind the [shed](garden/shed.md).")
    chat.asks("List the tools.")
    chat.is_stopped("A [saw](tools/saw.md), a hammer, na", visible="A saw, a ham")
    chat.asks("And the nails?")
    chat.fails("In the [tin](tools/tin.md), I th", visible="In the tin")
    chat.asks("I see them.")
    chat.answers("Good.")
    chat.reloads()
    chat.history[2] = message("assistant", text("Behind the shed."))
    chat.asks("Where was I?")
    chat.answers("On the ladder.")
    chat.asks("So I was.")
    chat.answers("Hold on tight.")


@case
def reload_while_streaming(script: Script) -> None:
    """The window is reloaded while an answer streams: nothing ends it but the next message."""
    chat = Chat(script, "A")
    chat.asks("Tell me of the house.")
    chat.answers("It is old.")
    second = chat.asks("Go on.")
    script.part(second, text("It was built by a sailor, wh"))
    chat.history[-1] = user(text(reduced("Go on.")))
    chat.history.append(message("assistant", text("It was built by")))
    chat.asks("Who lives in it?")
    chat.answers("You do.")


@case
def ask_mode(script: Script) -> None:
    """The mode changes: other prompts, no tools, bare questions, no rounds; then back again."""
    chat = Chat(script, "A")
    chat.asks("Feed the cat.")
    chat.calls(call("feed-1"), said="She is hungry.")
    chat.gives("feed-1")
    chat.answers("The cat is fed.")
    agent = list(chat.history)
    chat.tools = ()
    chat.history = [user(text("Feed the cat.")), message("assistant", text("The cat is fed."))]
    chat.add_and_send(user(text("<prompt>\nWhat does she eat?\n</prompt>\n")), "What does she eat?")
    chat.answers("Fish.")
    chat.tools = ("tool_1", "tool_2")
    chat.history = [
        *agent,
        user(text(reduced("What does she eat?"))),
        message("assistant", text("Fish.")),
    ]
    chat.asks("Buy some.")
    chat.answers("It is on the list.")


@case
def ask_mode_with_a_call(script: Script) -> None:
    """A call is made though no tool is offered: the host repeats, then drops the call."""
    chat = Chat(script, "A")
    chat.asks("Hello, house.")
    chat.answers("Hello.")
    chat.tools = ()
    chat.asks("Who is at the door?")
    chat.calls(call("door-1"), said="Let me see.")
    chat.history.pop()
    chat.repeats()
    chat.calls(call("door-2"), said="Let me see.")
    chat.history[-1] = message("assistant", text("Let me see."))
    chat.asks("Well?")
    chat.answers("The postman.")


@case
def dropped_turn(script: Script) -> None:
    """A rebuilt history lacks a stopped turn altogether, its question too."""
    chat = Chat(script, "A")
    chat.asks("Light the stove.")
    chat.answers("It burns.")
    chat.asks("Make it hotter.")
    chat.is_stopped("I put on mo")
    chat.asks("No, cooler.")
    chat.answers("I closed the damper.")
    del chat.history[3]
    chat.asks("Better.")
    chat.answers("Good.")


@case
def dropped_call(script: Script) -> None:
    """A call never gets its result: only the answer's text comes back."""
    chat = Chat(script, "A")
    chat.asks("Clean the windows.")
    chat.calls(call("clean-1"), said="I begin upstairs.")
    chat.history[-1] = message("assistant", text("I begin upstairs."))
    chat.asks("Begin downstairs.")
    chat.answers("As you wish.")


@case
def dropped_call_and_text(script: Script) -> None:
    """Calls never get a result: their whole answer is gone."""
    chat = Chat(script, "A")
    chat.asks("Is it late?")
    chat.answers("Not yet.")
    chat.asks("Wind the clocks.")
    chat.calls(call("wind-1"), said="One by one.")
    chat.history.pop()
    chat.asks("Only the big one.")
    chat.answers("It is wound.")


@case
def pruned_round(script: Script) -> None:
    """After a pause a finished round disappears from the middle of the history."""
    chat = Chat(script, "A")
    chat.asks("Tidy the library.")
    for number in (1, 2, 3):
        chat.calls(call(f"tidy-{number}"), said=f"Shelf {number}. ")
        chat.gives(f"tidy-{number}")
    chat.answers("All is tidy.")
    del chat.history[4:6]
    chat.asks("Where is the atlas?")
    chat.answers("On shelf 2.")
    chat.asks("Bring it.")
    chat.calls(call("atlas-1"))
    del chat.history[2:4]
    chat.gives("atlas-1")
    chat.answers("Here it is.")


@case
def changed_preamble(script: Script) -> None:
    """What the host says of the machine changes, and moves."""
    chat = Chat(script, "A")
    chat.asks("How many rooms are there?")
    chat.answers("Nine.")
    chat.history[0] = user(
        text("<environment_info>\nA house with four floors.\n</environment_info>")
    )
    chat.asks("And now?")
    chat.answers("Twelve.")
    del chat.history[0]
    chat.asks("Who built the new ones?")
    chat.answers("The carpenter.")


@case
def replaced_image(script: Script) -> None:
    """Pictures are dropped: one that was asked about, one for a line of text, one of a result."""
    chat = Chat(script, "A")
    chat.asks("What is in this picture?", image("aGFsbA=="))
    chat.answers("A hall.")
    chat.history[1]["content"] = chat.history[1]["content"][1:]
    chat.asks("And in this?", image("YXR0aWM="))
    chat.answers("An attic.")
    newest = chat.history[3]["content"]
    chat.history[3]["content"] = [text("[An image was here.]"), *newest[1:]]
    chat.asks("Which is older?")
    chat.calls(call("look-1"))
    chat.add_and_send(user(result("look-1"), image("YmVhbQ==")), "look-1")
    chat.answers("The attic, by its beams.")
    chat.history[-2] = user(result("look-1"))
    chat.asks("Thank you.")
    chat.answers("Gladly.")


@case
def replaced_image_without_tags(script: Script) -> None:
    """A caller that wraps nothing round its messages replaces a picture by a line of text."""
    chat = Chat(script, "A", None)
    chat.history.clear()
    chat.add_and_send(user(text("What is this?"), image("a2V5")), "What is this?")
    chat.answers("A key.")
    chat.history[0] = user(text("What is this?\n[An image was here.]"))
    chat.add_and_send(user(text("For which door?")), "For which door?")
    chat.answers("The cellar's.")


@case
def odd_calls(script: Script) -> None:
    """A tool's name is changed by the host; two calls have one id."""
    chat = Chat(script, "A")
    chat.asks("Try the odd keys.")
    chat.calls(call("odd-1", "no.such key"), call("odd-2", hand=1.0))
    chat.history[-1] = message(
        "assistant", text(""), call("odd-1", "no_such_key"), call("odd-2", hand=1)
    )
    chat.gives("odd-1", "odd-2")
    chat.calls(call("twin"), call("twin", "tool_2"), said="Both at once.")
    chat.gives("twin", "twin")
    chat.answers("None fits.")
    chat.asks("A pity.")
    chat.answers("Indeed.")


@case
def calls_alone(script: Script) -> None:
    """Results come for calls of ours in a history that is nobody's: ids decide."""
    chat = Chat(script, "A")
    chat.asks("Look under every bed.")
    chat.calls(call("bed-1"), said="I kneel down.")
    chat.history[:] = [
        user(text("Elsewhere.")),
        message("assistant", text("Something else."), call("bed-1")),
    ]
    chat.gives("bed-1")
    chat.answers("Dust.")


# Summaries.


@case
def background_compaction(script: Script) -> None:
    """A summary is made beside the turn that streams, and used from the next one on."""
    chat = Chat(script, "A")
    chat.asks("Tell me a story.")
    chat.answers("Once there was a door.")
    second = chat.asks("Go on.")
    script.part(second, text("It was "))
    prompt = f"{COMPACT_NOW} Answer in <summary> tags."
    aside = chat.sends_aside("A/compact", "compaction", prompt, model_options=chat.options())
    script.answer(aside, text("<summary>A door.</summary>"))
    script.answer(second, text("never shut."))
    chat.history.append(message("assistant", text("It was never shut.")))
    chat.summarises("A door.", keeping=2)
    chat.asks("And then?")
    chat.answers("Somebody came in.")
    chat.asks("Who?")
    chat.answers("The wind.")


@case
def foreground_compaction(script: Script) -> None:
    """Summaries are made before turns, as flat text; each differs from the one before."""
    chat = Chat(script, "A")
    chat.asks("Count the spoons.")
    chat.calls(call("spoons-1"), said="In the kitchen.")
    chat.gives("spoons-1")
    chat.answers("Twelve spoons.")
    for number, thing in enumerate(("forks", "knives"), 1):
        flat = f"<user>\nCount.\n</user>\n<assistant>\nTwelve, round {number}.\n</assistant>"
        label = Label(f"A/compact{number}", "compaction", new_texts=(flat,))
        aside = script.request(
            label,
            [message("system", text(SUMMARISER)), user(text(flat))],
            (),
            {"_otelTraceContext": {"traceId": None}},
        )
        script.answer(aside, text("<summary>Cutlery.</summary>"))
        chat.summarises(f"Cutlery, told in {number} lines.", keeping=2)
        chat.asks(f"Count the {thing}.")
        chat.answers(f"Twelve {thing}.")


@case
def compaction_by_command(script: Script) -> None:
    """The user asks for a summary; all that was said before it is gone, and no answer is left."""
    chat = Chat(script, "A")
    chat.asks("Is it raining?")
    chat.answers("A little.")
    aside = chat.sends_aside(
        "A/compact", "compaction", SUMMARISE, SUMMARISER, model_options=chat.options()
    )
    script.answer(aside, text("<summary>Rain.</summary>"))
    chat.summarises("Rain.", keeping=0)
    chat.history.append(user(text(reduced(""))))
    chat.asks("Is it still?")
    script.accept(3)
    chat.answers("Not any more.")
    chat.asks("Good.")
    chat.answers("Quite.")


def _compaction_after_a_fork(script: Script, session: str) -> None:
    chat = Chat(script, "A")
    chat.asks("Plant a tree.")
    chat.answers("Which kind?")
    second = chat.asks("An oak.")
    chat.answers("It is planted.")
    chat.asks("And a rose.")
    chat.answers("It is red.")
    other = chat.forks("B", before=second)
    other.session = session
    other.asks("An elm.")
    other.answers("It stands.")
    chat.summarises("An oak was planted.", keeping=2)
    chat.asks("Water both.")
    chat.answers("They are wet.")
    other.asks("Water it.")
    other.answers("It is wet.")


@case
def compaction_after_a_fork(script: Script) -> None:
    """Of two chats with one id, the one that was asked less recently is summarised."""
    _compaction_after_a_fork(script, "B")


@case
def compaction_after_a_fork_that_nothing_names(script: Script) -> None:
    """The same, and the prompts are equal too: the turn that was kept tells whose it is."""
    _compaction_after_a_fork(script, "A")


@case
def compaction_in_mid_turn(script: Script) -> None:
    """A summary swallows the very message that is being worked on."""
    chat = Chat(script, "A")
    chat.asks("Lay the table.")
    chat.answers("It is laid.")
    chat.asks("For nine people.")
    chat.calls(call("plates-1"), said="Plates.")
    chat.gives("plates-1")
    chat.calls(call("plates-2"), said="More plates.")
    chat.summarises("A table is laid for nine.", keeping=1)
    chat.gives("plates-2")
    chat.calls(call("plates-3"), said="The last ones.")
    chat.summarises("A table is laid, almost.", keeping=1)
    chat.gives("plates-3")
    chat.answers("Nine plates.")
    chat.asks("And the glasses?")
    chat.answers("They come next.")


# What stands beside a chat.


@case
def title_before_the_first_turn(script: Script) -> None:
    """A title is asked for just before the turn that it is for, and a message later on."""
    options = {"_capturingTokenCorrelationId": "title", "_otelTraceContext": {"traceId": None}}
    wish = "Please write a brief title for the following request:\n\nPaint the fence."
    title = script.request(
        Label("util-1", "utility", new_texts=(wish,)),
        [message("system", text("You write titles.")), user(text(wish))],
        (),
        options,
    )
    chat = Chat(script, "A")
    chat.asks("Paint the fence.")
    script.answer(title, text("Fence"))
    chat.answers("Which colour?")
    aside = script.request(
        Label("util-2", "utility", new_texts=("Say what changed: a fence.",)),
        [message("system", text("You write logs.")), user(text("Say what changed: a fence."))],
        (),
        options,
    )
    script.answer(aside, text("Fence painted"))
    chat.asks("White.")
    chat.answers("It is white.")


@case
def inline_edits(script: Script) -> None:
    """Two edits at the cursor, neither of which knows of the other."""
    options = {"_capturingTokenCorrelationId": "edit", "_otelTraceContext": {"traceId": "run"}}
    for number, wish in enumerate(("Move the chair.", "Move it back."), 1):
        shown = f"The plan of room {number}."
        edit = script.request(
            Label(f"inline-{number}", "one-shot", new_texts=(shown, wish)),
            [
                message("system", text("You move furniture.")),
                user(text(f"<file>\n{shown}\n</file>")),
                user(text(f"<reminder>\nNow.\n</reminder>\n<prompt>\n{wish}\n</prompt>\n")),
            ],
            ("tool_1",),
            options,
        )
        script.answer(edit, call(f"move-{number}"))


@case
def sub_agents(script: Script) -> None:
    """Two sub-agents at once, and their results, in the order of the calls."""
    chat = Chat(script, "A")
    chat.asks("Search the house.")
    chat.calls(call("up"), call("down"), said="I send two.")
    upstairs = chat.leads("A/sub1", "Search upstairs.")
    downstairs = chat.leads("A/sub2", "Search downstairs.")
    downstairs.calls(call("cellar"))
    upstairs.calls(call("attic"))
    upstairs.gives("attic")
    downstairs.gives("cellar")
    downstairs.answers("Nothing below.")
    upstairs.answers("A cat above.")
    chat.gives("up", "down")
    chat.answers("There is a cat in the attic.")
    chat.asks("Leave her there.")
    chat.answers("She sleeps.")


@case
def equal_sub_agents(script: Script) -> None:
    """Two sub-agents get the same wish; the second begins when the first has made a call."""
    chat = Chat(script, "A")
    chat.asks("Search the house twice.")
    chat.calls(call("once"), call("twice"))
    one = chat.leads("A/sub1", "Search it.")
    one.calls(call("attic-1"))
    other = chat.leads("A/sub2", "Search it.")
    one.gives("attic-1")
    one.answers("Found nothing.")
    other.calls(call("attic-2"))
    other.gives("attic-2")
    other.answers("Found a cat.")
    chat.gives("once", "twice")
    chat.answers("There is a cat.")


@case
def equal_chats(script: Script) -> None:
    """Two chats with equal first messages, at the same time."""
    one, other = Chat(script, "A"), Chat(script, "B", "chat-2")
    one.asks("Good morning.")
    other.asks("Good morning.")
    other.answers("Good morning to you.")
    one.answers("Good morning to you.")
    other.asks("What day is it?")
    one.asks("What day is it?")
    one.is_stopped("It is Mo")
    other.answers("It is Monday.")
    one.asks("Thank you.")
    other.asks("Thank you.")
    one.answers("You are welcome.")
    other.answers("You are welcome.")


@case
def equal_chats_one_after_the_other(script: Script) -> None:
    """A second chat begins like the first, which was answered: the host says that it is another."""
    chats = Chat(script, "A", "chat-1"), Chat(script, "B", "chat-2")
    for chat in chats:
        chat.asks("Good evening.")
        chat.answers("Good evening to you.")
    for chat in chats:
        chat.asks("What is the time?")
        chat.answers("Late.")


@case
def other_model(script: Script) -> None:
    """The chat goes on with another model, which is told all of it, and then with the first."""
    chat = Chat(script, "A")
    chat.asks("Count to three.")
    chat.calls(call("count-1"), said="With my fingers.")
    chat.gives("count-1")
    chat.answers("Three.")
    other = chat.switches("B", "m2")
    other.asks("Now to four.")
    other.answers("Four.")
    other.asks("To five.")
    other.answers("Five.")
    chat.hears_of(other)
    chat.asks("And to six.")
    chat.answers("Six.")


@case
def turn_regenerated_with_another_model(script: Script) -> None:
    """The newest answer is taken back, given by another model instead, and built upon."""
    chat = Chat(script, "A")
    chat.asks("Pick a room.")
    chat.answers("The kitchen.")
    second = chat.asks("A better one.")
    chat.answers("The pantry.")
    chat.goes_back(second)
    chat.hears("A better one.", "The library.")
    chat.asks("Why that?", kind="branch", replaces=[second])
    chat.answers("For the quiet.")
    chat.asks("I see.")
    chat.answers("Good.")


# Older hosts.


@case
def older_host(script: Script) -> None:
    """No ids, no private options, results in one message, suffixes on the ids."""
    chat = Chat(script, "A", None)
    chat.asks("Close the shutters.")
    chat.calls(call("east"), call("west"), said="Two of them.")
    answer = message(
        "assistant",
        call("east__vscode-1700000000"),
        text("Two of them."),
        call("west__vscode-1700000001"),
    )
    chat.history[-1] = answer
    both = user(result("east__vscode-1700000000"), result("west__vscode-1700000001"))
    chat.add_and_send(both, "east", "west")
    chat.answers("Both are shut.")
    chat.history[-2:-1] = [user(result("east")), user(result("west"))]
    chat.asks("It is dark now.")
    chat.answers("I light a candle.")


@case
def older_host_without_cancel(script: Script) -> None:
    """Nothing says that a turn was stopped, except that the next message is there."""
    chat = Chat(script, "A", None)
    chat.asks("Play a tune.")
    chat.answers("Which one?")
    second = chat.asks("The long one.")
    script.part(second, text("La, la, l"))
    chat.asks("No, the short one.")
    script.part(second, text("ate"))
    script.end(second)
    chat.answers("La.")
    chat.asks("Once more.")
    chat.answers("La.")


@case
def older_host_without_cancel_at_first(script: Script) -> None:
    """The first turn is overtaken: nothing tells that from another chat, which is told all."""
    chat = Chat(script, "A", None)
    first = chat.asks("Sing.")
    script.part(first, text("La, "))
    other = Chat(script, "B", None, session="A")
    other.hears("Sing.")
    other.asks("No, hum.")
    script.end(first)
    other.answers("Hm.")
    other.asks("Thank you.")
    other.answers("Hm.")


@case
def older_hosts_compaction(script: Script) -> None:
    """A summary without an id: the answer that was kept proves whose it is."""
    chat = Chat(script, "A", None)
    chat.asks("Describe the garden.")
    chat.answers("Roses and a pond.")
    chat.asks("And the pond?")
    chat.answers("It has carps.")
    aside = chat.sends_aside("A/compact", "compaction", COMPACT_NOW)
    script.answer(aside, text("<summary>A garden.</summary>"))
    chat.summarises("A garden with roses.", keeping=2)
    chat.asks("How many?")
    chat.answers("Five carps.")
