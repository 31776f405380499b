from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.render.renderer import Renderer, ShownEvent
from agents.acp.render.session_view import SessionView
from agents.acp.schema.content import (
    AudioContent,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolCall,
    ToolCallUpdate,
    UnknownContent,
)
from agents.acp.schema.methods import Usage
from agents.acp.schema.unstable import PlanMarkdown, PlanRemoved, PlanUpdate, UnknownPlan
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionUpdate,
    SessionInfoUpdate,
    SessionUpdate,
    UnknownUpdate,
    UsageUpdate,
    UserMessageChunk,
)
from agents.events import Attach, Say, Think
from tests.agents.acp.offered import Offered
from tests.agents.acp.scenes import SCENES, Ask, done, plan, says, shows, texts, thinks
from tests.agents.talk import said


def shown(renderer: Renderer, *updates: SessionUpdate) -> list[ShownEvent]:
    return [event for update in updates for event in renderer.update(update)]


def test_words_of_the_agent_go_out_as_they_come() -> None:
    events = shown(Renderer(SessionView()), says("*Good"), says(""), says("bye* `"))
    assert events == [Say("*Good"), Say("bye* `")]


def test_thoughts_go_out_as_thoughts() -> None:
    link = ResourceLink("https://e.org/a", "a")
    renderer = Renderer(SessionView())
    events = shown(
        renderer,
        thinks("Hm"),
        AgentThoughtChunk(TextContent("."), "t1"),
        thinks(""),
        AgentThoughtChunk(link),
    )
    assert events == [Think("Hm"), Think(".", "t1"), Think("\n\n📎 [a](https://e.org/a)")]


@pytest.mark.parametrize(
    "update",
    [
        UserMessageChunk(TextContent("an echo")),
        AvailableCommandsUpdate(),
        ConfigOptionUpdate(),
        SessionInfoUpdate("title"),
        CompactionSummaryChunk("1", TextContent("")),
        PlanUpdate(UnknownPlan("graph", {})),
        PlanRemoved("unseen"),
        UnknownUpdate("dance", {}),
        UsageUpdate(0, 0),
    ],
)
def test_what_is_not_for_the_user_is_not_shown(update: SessionUpdate) -> None:
    assert shown(Renderer(SessionView()), update) == []


def test_the_summary_of_a_condensed_memory_is_a_thought() -> None:
    pieces = [CompactionSummaryChunk("1", TextContent(text)) for text in ("We fixed ", "it.")]
    whole = CompactionUpdate("1", "completed", (TextContent("We fixed it."),))
    events = shown(Renderer(SessionView()), thinks("Full."), *pieces, whole)
    thoughts = [event for event in events if isinstance(event, Think)]
    assert [one.text for one in thoughts] == ["Full.", "\n\nWe fixed ", "it."]
    blocks = (TextContent("First."), TextContent(""), TextContent("Second."))
    events = shown(Renderer(SessionView()), CompactionUpdate("1", "completed", blocks))
    assert Think("First.\n\nSecond.", "compaction 1") in events
    assert said(events) == "🗜️ The agent condenses its memory of this chat ✔"


def test_a_plan_that_changed_after_it_was_shown_is_shown_again_at_the_end() -> None:
    renderer = Renderer(SessionView())
    versions = [PlanUpdate(PlanMarkdown("p", text)) for text in ("Look.", "Mend.", "Test.")]
    assert said(shown(renderer, *versions)) == "**Plan**\n\nLook."
    assert said(renderer.finish()) == "\n\n**Plan**\n\nTest."


def test_the_agents_system_prompt_is_no_thought() -> None:
    rules = "System Prompt:\nYou are an agent.\n" + "Be good. " * 100
    assert shown(Renderer(SessionView()), AgentThoughtChunk(TextContent(rules))) == []
    for thought in ("The system prompt: it says so.", "System prompt:\nI look at it.", rules[15:]):
        assert shown(Renderer(SessionView()), AgentThoughtChunk(TextContent(thought))) != []


def test_what_is_unknown_is_noted_once_in_a_session() -> None:
    view = SessionView()
    for _ in range(2):
        shown(Renderer(view), UnknownUpdate("dance", {}), shows(UnknownContent("hologram", {})))
        shown(Renderer(view), PlanUpdate(UnknownPlan("graph", {})))
    assert view.take_notes() == [
        "the agent sent an update of an unknown kind, which isn't shown: dance",
        "the agent sent content of an unknown kind, which isn't shown: hologram",
        "the agent sent a plan of an unknown kind, which isn't shown: graph",
    ]


def test_it_tells_how_many_of_the_editors_tools_are_being_called() -> None:
    renderer = Renderer(SessionView(), offer=Offered.of("vsc1", "a"))
    assert renderer.calls.under_way == 0
    assert renderer.update(ToolCall("1", "vsc1/a")) == ()
    assert renderer.calls.under_way == 1


def test_images_and_sounds_are_attached_for_editors_that_take_them() -> None:
    events = shown(
        Renderer(SessionView()),
        shows(ImageContent(b"x" * 9999, "image/png")),
        shows(ImageContent(b"", "image/png", "https://e.org/a.png")),
        shows(AudioContent(b"y", "audio/wav")),
    )
    attached = [event for event in events if isinstance(event, Attach)]
    assert attached == [Attach("image/png", b"x" * 9999), Attach("audio/wav", b"y")]


def test_what_the_agent_says_shows_the_calls_that_were_held() -> None:
    renderer = Renderer(SessionView())
    events = shown(renderer, ToolCall("1", "One"), says("Wait."), ToolCall("2", "Two"))
    assert said(events) == "🔧 One\n\nWait."
    assert said(shown(renderer, shows(ImageContent(b"x", "image/png")))).startswith(
        "\n\n🔧 Two\n\n!"
    )


def test_a_long_silence_shows_the_calls_that_were_held() -> None:
    renderer = Renderer(SessionView())
    shown(renderer, ToolCall("1", "One"))
    assert said(renderer.flush()) == "🔧 One"


def test_what_is_asked_is_shown_when_it_is_answered() -> None:
    renderer = Renderer(SessionView())
    record = renderer.ask(ToolCallUpdate("1", title="Delete a", kind="delete"))
    assert record.title == "Delete a"
    renderer.begin_response()
    assert said(shown(renderer, done("1"))) == "✔ Delete a"


def test_usage_is_told_when_it_changes() -> None:
    renderer = Renderer(SessionView())
    events = shown(renderer, UsageUpdate(10, 100), UsageUpdate(10, 100), UsageUpdate(20, 100))
    tokens = [
        msgspec.json.decode(event.data)["total_tokens"]
        for event in events
        if isinstance(event, Attach)
    ]
    assert tokens == [10, 20]
    (last,) = renderer.finish(Usage(110, 100, 10))
    assert isinstance(last, Attach)
    told = msgspec.json.decode(last.data)
    assert (told["total_tokens"], told["turn"]["total_tokens"]) == (20, 110)


def test_usage_of_the_prompts_answer_is_told_where_there_is_no_other() -> None:
    (event,) = Renderer(SessionView()).finish(Usage(110, 100, 10))
    assert isinstance(event, Attach)
    assert list(Renderer(SessionView()).finish(Usage(0, 0, 0))) == []


def test_the_tokens_of_a_chat_are_the_sum_of_its_turns() -> None:
    view = SessionView()
    Renderer(view).finish(Usage(110, 100, 10))
    (last,) = Renderer(view).finish(Usage(110, 100, 10))
    assert isinstance(last, Attach)
    assert msgspec.json.decode(last.data)["chat"]["total_tokens"] == 220


def test_a_turn_that_says_nothing_shows_nothing() -> None:
    assert list(Renderer(SessionView()).finish()) == []


UPDATES = st.one_of(
    st.builds(says, st.text("ab \n"), st.sampled_from([None, "1", "2"])),
    st.builds(thinks, st.text("ab")),
    st.builds(
        ToolCall,
        st.sampled_from("123"),
        st.sampled_from(["One", "Two"]),
        status=st.sampled_from([None, "pending", "in_progress", "completed"]),
    ),
    st.builds(
        ToolCallUpdate,
        st.sampled_from("123"),
        status=st.sampled_from([None, "in_progress", "completed", "failed"]),
        content=st.sampled_from([None, texts("42")]),
    ),
    st.builds(plan, st.sampled_from(["> a", "x a"])),
    st.builds(UsageUpdate, st.integers(0, 3), st.just(9)),
)


@given(st.lists(UPDATES))
def test_the_agents_words_are_all_there_and_each_call_ends_once(
    updates: list[SessionUpdate],
) -> None:
    renderer = Renderer(SessionView())
    events = [*shown(renderer, *updates), *renderer.finish()]
    given = [
        update.content.text
        for update in updates
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContent)
    ]
    own = [event.text for event in events if isinstance(event, Say) and not event.by_us]
    assert "".join(own) == "".join(given)
    ends = sum(said(events).count(mark) for mark in ("✔", "✘", "*no result*"))
    calls = {u.tool_call_id for u in updates if isinstance(u, ToolCall | ToolCallUpdate)}
    assert ends <= len(calls)
    assert list(renderer.finish()) == []


@pytest.mark.parametrize("name", SCENES)
def test_every_part_of_a_scene_is_sent_once(name: str) -> None:
    renderer = Renderer(SessionView())
    steps = SCENES[name]
    first = [event for s in steps if not isinstance(s, Ask) for event in renderer.update(s)]
    assert first
    renderer.finish()
    again = [
        event
        for step in steps
        if isinstance(step, ToolCall | ToolCallUpdate)
        for event in renderer.update(step)
    ]
    assert again == []
