from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.content import (
    AudioContent,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolCall,
    ToolCallUpdate,
    UnknownContent,
)
from agents.acp.methods import Usage
from agents.acp.render import Renderer, Shown
from agents.acp.told import Told
from agents.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    CompactionSummaryChunk,
    ConfigOptionUpdate,
    SessionInfoUpdate,
    SessionUpdate,
    UnknownUpdate,
    UsageUpdate,
    UserMessageChunk,
)
from agents.events import Attach, Say, Think

from .offered import Offered
from .scenes import SCENES, Ask, done, plan, says, shows, texts, thinks


def shown(renderer: Renderer, *updates: SessionUpdate) -> list[Shown]:
    return [event for update in updates for event in renderer.update(update)]


def text(events: Sequence[Shown]) -> str:
    return "".join(event.text for event in events if isinstance(event, Say))


def test_words_of_the_agent_go_out_as_they_come() -> None:
    events = shown(Renderer(Told()), says("*Good"), says(""), says("bye* `"))
    assert events == [Say("*Good"), Say("bye* `")]


def test_thoughts_go_out_as_thoughts() -> None:
    link = ResourceLink("https://e.org/a", "a")
    renderer = Renderer(Told())
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
        CompactionSummaryChunk("1", TextContent("summary")),
        UnknownUpdate("dance", {}),
        UsageUpdate(0, 0),
    ],
)
def test_what_is_not_for_the_user_is_not_shown(update: SessionUpdate) -> None:
    assert shown(Renderer(Told()), update) == []


def test_what_is_unknown_is_noted_once_in_a_session() -> None:
    told = Told()
    for _ in range(2):
        shown(Renderer(told), UnknownUpdate("dance", {}), shows(UnknownContent("hologram", {})))
    assert told.take_notes() == [
        "the agent sent an update of an unknown kind, which isn't shown: dance",
        "the agent sent content of an unknown kind, which isn't shown: hologram",
    ]


def test_it_tells_how_many_of_the_editors_tools_are_being_called() -> None:
    renderer = Renderer(Told(), offer=Offered.of("vsc1", "a"))
    assert renderer.under_way == 0
    assert renderer.update(ToolCall("1", "vsc1/a")) == ()
    assert renderer.under_way == 1


def test_images_and_sounds_are_attached_for_editors_that_take_them() -> None:
    events = shown(
        Renderer(Told()),
        shows(ImageContent(b"x" * 9999, "image/png")),
        shows(ImageContent(b"", "image/png", "https://e.org/a.png")),
        shows(AudioContent(b"y", "audio/wav")),
    )
    attached = [event for event in events if isinstance(event, Attach)]
    assert attached == [Attach("image/png", b"x" * 9999), Attach("audio/wav", b"y")]


def test_what_the_agent_says_shows_the_calls_that_were_held() -> None:
    renderer = Renderer(Told())
    events = shown(renderer, ToolCall("1", "One"), says("Wait."), ToolCall("2", "Two"))
    assert text(events) == "🔧 One\n\nWait."
    assert text(shown(renderer, shows(ImageContent(b"x", "image/png")))).startswith(
        "\n\n🔧 Two\n\n!"
    )


def test_a_long_silence_shows_the_calls_that_were_held() -> None:
    renderer = Renderer(Told())
    shown(renderer, ToolCall("1", "One"))
    assert text(renderer.flush()) == "🔧 One"


def test_what_is_asked_is_shown_when_it_is_answered() -> None:
    renderer = Renderer(Told())
    record = renderer.ask(ToolCallUpdate("1", title="Delete a", kind="delete"))
    assert record.title == "Delete a"
    renderer.begin_response()
    assert text(shown(renderer, done("1"))) == "✔ Delete a"


def test_usage_is_told_when_it_changes() -> None:
    renderer = Renderer(Told())
    events = shown(renderer, UsageUpdate(10, 100), UsageUpdate(10, 100), UsageUpdate(20, 100))
    tokens = [
        msgspec.json.decode(event.data)["total_tokens"]
        for event in events
        if isinstance(event, Attach)
    ]
    assert tokens == [10, 20]
    assert list(renderer.finish(Usage(110, 100, 10))) == []


def test_usage_of_the_prompts_answer_is_told_where_there_is_no_other() -> None:
    (event,) = Renderer(Told()).finish(Usage(110, 100, 10))
    assert isinstance(event, Attach)
    assert list(Renderer(Told()).finish(Usage(0, 0, 0))) == []


def test_a_turn_that_says_nothing_shows_nothing() -> None:
    assert list(Renderer(Told()).finish()) == []


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
    renderer = Renderer(Told())
    events = [*shown(renderer, *updates), *renderer.finish()]
    said = [
        update.content.text
        for update in updates
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContent)
    ]
    own = [event.text for event in events if isinstance(event, Say) and not event.by_us]
    assert "".join(own) == "".join(said)
    ends = text(events).count("✔") + text(events).count("✘") + text(events).count("*no result*")
    calls = {u.tool_call_id for u in updates if isinstance(u, ToolCall | ToolCallUpdate)}
    assert ends <= len(calls)
    assert list(renderer.finish()) == []


@pytest.mark.parametrize("name", SCENES)
def test_every_part_of_a_scene_is_sent_once(name: str) -> None:
    renderer = Renderer(Told())
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
