from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.prompt.build import prompt_blocks, system_to_tell
from agents.acp.schema.content import (
    EmbeddedResource,
    ImageContent,
    KnownContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from agents.acp.schema.initialize import PromptCapabilities
from agents.events import Prompt
from bridge.wire import ChatMessage, DataPart, Settings, TextPart, ToolResultPart
from bridge.work import done
from tests.growth import assert_linear

from .test_transcript import ALL, CHAT, NONE, assistant, result, user

FULL = Settings(context="full")
SYSTEM = ChatMessage("system", (TextPart("You are an agent of VS Code."),))
PREAMBLE = user(
    "<environment_info>\nLinux\n</environment_info>\n<workspace_info>\nx\n</workspace_info>"
)
ATTACHED = (
    '<attachments>\n<attachment id="a" filePath="/w/a.py">\nx = 1\n</attachment>\n</attachments>\n'
)


def request(text: str, before: str = "") -> ChatMessage:
    return user(
        f"{before}<context>\ndate\n</context>\n<reminderInstructions>\nuse insert_edit\n"
        f"</reminderInstructions>\n<userRequest>\n{text}\n</userRequest>\n"
    )


def asks(words: str) -> TextPart:
    return TextPart(f"<context>\ndate\n</context>\n<userRequest>\n{words}\n</userRequest>\n")


def blocks(
    *messages: ChatMessage, capabilities: PromptCapabilities = ALL, **given: Any
) -> list[KnownContent]:
    return list(done(prompt_blocks(Prompt(messages, **given), capabilities)))


def text(found: list[KnownContent]) -> str:
    return "".join(block.text for block in found if isinstance(block, TextContent))


def test_only_what_the_user_asked_is_told() -> None:
    assert (
        blocks(SYSTEM, PREAMBLE, request("Fix it")) == [TextContent("Fix it\n\n")]
        or text(blocks(SYSTEM, PREAMBLE, request("Fix it"))).strip() == "Fix it"
    )


def test_attachments_come_before_the_request() -> None:
    found = blocks(request("Fix it", ATTACHED))
    assert found[:2] == [
        TextContent("<attachments>\n"),
        EmbeddedResource(ResourceContents("file:///w/a.py", "x = 1")),
    ]
    assert text(found[2:]).split() == ["</attachments>", "Fix", "it"]


def test_a_command_comes_first_where_agents_look_for_it() -> None:
    (first, *_) = blocks(PREAMBLE, request("/review now", ATTACHED))
    assert isinstance(first, TextContent)
    assert first.text.startswith("/review now\n\n")
    found = blocks(request("/review", ATTACHED), transcript=CHAT)
    assert text(found).startswith("<conversation_record>")


def test_a_command_works_behind_the_date_of_the_agent_host() -> None:
    """The selection and the files follow it; the date isn't told."""
    selection = "<ide_selection>\nx = 1\n</ide_selection>\n\n"
    date = "<current_datetime>noon</current_datetime>\n\n"
    files = "\n\n<tagged_files>\n* /a.py\n</tagged_files>"
    told = text(blocks(user(f"{selection}{date}/review now{files}")))
    assert told.startswith("/review now\n\n")
    assert told.count("x = 1") == told.count("/a.py") == told.count("/review") == 1
    assert "noon" not in told


REMINDER = "You have not yet marked the task as complete using the task_complete tool."


def test_the_agent_hosts_own_words_are_marked_and_are_told_once() -> None:
    date = "<current_datetime>noon</current_datetime>\n\n"
    marked = f"<system_notification>\n{REMINDER}\n</system_notification>"
    for said in (REMINDER, date + REMINDER, marked):
        assert text(blocks(user(said))).strip() == marked
        assert text(blocks(user("Now?"), transcript=(user(said),))).count(marked) == 1


def test_a_command_works_before_the_files_of_a_steering_message() -> None:
    told = text(blocks(user("/stop it\n\n<tagged_files>\n* /a.py\n</tagged_files>")))
    assert told.startswith("/stop it\n\n")
    assert told.count("/a.py") == 1


def test_a_selection_with_a_closing_tag_hides_no_command() -> None:
    selected = "<ide_selection>\na\n</ide_selection>\nb\n</ide_selection>\n\n"
    date = "<current_datetime>noon</current_datetime>\n\n"
    told = text(blocks(user(f"{selected}{date}/review")))
    assert told.startswith("/review\n\n")
    assert told.count(selected.strip()) == 1


def test_an_image_at_the_beginning_is_no_command() -> None:
    found = blocks(ChatMessage("user", (DataPart("image/png", b"x"), TextPart("/x"))))
    assert found == [ImageContent(b"x", "image/png"), TextContent("/x")]


def test_several_messages_are_blocks_of_their_own() -> None:
    assert blocks(user("One"), user("Two")) == [TextContent("One\n\n"), TextContent("Two")]


def test_everything_is_told_with_the_full_context() -> None:
    found = blocks(PREAMBLE, SYSTEM, request("Fix it"), settings=FULL)
    assert found[0] == TextContent("<system>\nYou are an agent of VS Code.\n</system>\n\n")
    told = text(found)
    assert "<environment_info>" in told
    assert "<userRequest>\nFix it\n</userRequest>\n" in told


def test_the_systems_message_stands_first_even_when_there_is_a_record() -> None:
    found = blocks(user("Go on"), transcript=(SYSTEM, *CHAT), settings=FULL)
    assert text(found).startswith("<system>\nYou are")
    assert text(found).count("You are an agent") == 1


def test_the_record_comes_before_the_request() -> None:
    found = blocks(request("And b.py?"), transcript=(SYSTEM, PREAMBLE, *CHAT))
    told = text(found)
    assert told.startswith("<conversation_record>")
    assert (
        told.index("It says x = 1.")
        < told.index("</conversation_record>")
        < told.index("And b.py?")
    )
    assert "You are an agent" not in told


def test_what_another_assistant_said_belongs_to_the_record() -> None:
    told = text(blocks(user("One"), assistant("Answer of another"), user("Two")))
    assert "[assistant]\nAnswer of another\n" in told
    assert told.endswith("</conversation_record>\n\nTwo")


def test_results_of_calls_that_the_agent_did_not_make_are_told_as_such() -> None:
    told = text(blocks(result("c1", "ok"), user("Go on"), transcript=CHAT[:2]))
    assert told.endswith("[tool result of read_file, c1]\nok\n\nGo on")


def test_results_alone_ask_to_go_on() -> None:
    told = text(blocks(result("c1", "ok"), transcript=CHAT[:2]))
    assert told.endswith("ok\n\nGo on with what was asked last, now that these results are there.")


def test_a_prompt_is_never_empty() -> None:
    assert blocks() == [TextContent("(The user sent an empty message.)")]
    assert blocks(PREAMBLE) == [TextContent("(The user sent an empty message.)")]
    assert blocks(user(" \n")) == [TextContent("(The user sent an empty message.)")]


def test_five_hundred_messages_are_one_prompt() -> None:
    chat = [user(f"u{n}.") if n % 2 == 0 else assistant(f"a{n}.") for n in range(500)]
    told = text(blocks(*chat, user("Newest")))
    assert all(f"\n{'a' if n % 2 else 'u'}{n}.\n" in told for n in range(500))
    assert told.endswith("Newest")


def test_the_budget_is_of_the_record_only() -> None:
    prompt = Prompt((user("n" * 5000),), tuple(CHAT))
    told = text(list(done(prompt_blocks(prompt, ALL, budget=10))))
    assert "n" * 5000 in told
    assert "left out" in told


WORDS = st.text(min_size=1).filter(lambda given: bool(given.strip()))
DATA = st.builds(
    DataPart, st.sampled_from(["image/png", "audio/wav", "x/y", "text/plain"]), st.binary()
)
RESULTS = st.builds(ToolResultPart, st.text(), st.none() | st.text())
MESSAGE = st.builds(
    ChatMessage,
    st.sampled_from(["user", "assistant"]),
    st.lists(DATA | RESULTS | st.builds(TextPart, WORDS) | WORDS.map(asks)).map(tuple),
)
CAPABILITIES = st.builds(PromptCapabilities, st.booleans(), st.booleans(), st.booleans())


@given(WORDS, st.sampled_from(["", ATTACHED]), CAPABILITIES)
def test_no_word_of_the_newest_request_is_lost(
    words: str, before: str, capabilities: PromptCapabilities
) -> None:
    found = blocks(request(words, before), transcript=CHAT, capabilities=capabilities)
    assert words in text(found)


@given(st.lists(MESSAGE, max_size=4), st.lists(MESSAGE, max_size=4), CAPABILITIES, st.booleans())
def test_blocks_are_valid_and_of_kinds_that_the_agent_takes(
    messages: list[ChatMessage],
    transcript: list[ChatMessage],
    capabilities: PromptCapabilities,
    full: bool,
) -> None:
    found = done(
        prompt_blocks(
            Prompt(tuple(messages), tuple(transcript), settings=FULL if full else Settings()),
            capabilities,
        )
    )
    assert found
    assert msgspec.json.decode(msgspec.json.encode(found), type=tuple[KnownContent, ...]) == found
    for block in found:
        assert not isinstance(block, TextContent) or block.text.strip()
        assert capabilities.image or not isinstance(block, ImageContent)
        assert capabilities.embedded_context or not isinstance(block, EmbeddedResource)
        assert isinstance(block, TextContent | ImageContent | EmbeddedResource | ResourceLink) or (
            capabilities.audio
        )


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=8), st.booleans())
def test_every_text_of_the_past_is_told_once(said: list[tuple[bool, int]], full: bool) -> None:
    texts = [f"<{at}:{number}>" for at, (_, number) in enumerate(said)]
    transcript = [
        user(words) if by_user else assistant(words)
        for words, (by_user, _) in zip(texts, said, strict=True)
    ]
    found = blocks(
        user("Newest"), transcript=tuple(transcript), settings=FULL if full else Settings()
    )
    assert [text(found).count(f"]\n{words}\n") for words in texts] == [1] * len(texts)


def test_without_capabilities_everything_is_text_or_a_link() -> None:
    image = ChatMessage("user", (DataPart("image/png", b"x"), TextPart("Look")))
    found = blocks(image, request("Fix it", ATTACHED), capabilities=NONE)
    assert all(isinstance(block, TextContent) for block in found)
    assert "x = 1" in text(found)


# A system prompt that changes.

OTHER = ChatMessage("system", (TextPart("You are brief."),))


def prompted(*messages: ChatMessage, **given: Any) -> Prompt:
    fields: dict[str, Any] = {"settings": FULL, "system": (OTHER,), **given}
    return Prompt(messages, **fields)


def test_a_system_prompt_that_the_agent_was_not_told_is_told_before_what_is_new() -> None:
    prompt = prompted(user("Go on"))
    system = system_to_tell(prompt, (SYSTEM,))
    assert system == (OTHER,)
    told = text(list(done(prompt_blocks(prompt, ALL, system=system))))
    assert told.startswith("(The system prompt has changed.")
    assert told.index("<system>\nYou are brief.") < told.index("Go on")


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (prompted(user("Go on")), (OTHER,)),
        (prompted(OTHER, user("Go on")), None),
        (prompted(user("Go on"), transcript=(OTHER, user("Hello"))), (SYSTEM,)),
        (prompted(user("Go on"), settings=Settings()), (SYSTEM,)),
        (prompted(user("Go on"), settings=Settings(context="request")), (SYSTEM,)),
        (prompted(user("Go on"), system=None), (SYSTEM,)),
        (prompted(user("Go on"), system=()), (SYSTEM,)),
    ],
    ids=["same", "in front", "in the record", "default", "request", "untold", "none"],
)
def test_nothing_is_told_of_a_system_prompt_that_need_not_be(
    prompt: Prompt, told: tuple[ChatMessage, ...] | None
) -> None:
    assert system_to_tell(prompt, told) == ()


def test_short_messages_to_an_agent_take_linear_time() -> None:
    def messages(count: int) -> Prompt:
        return Prompt(tuple(user(f"message {number}") for number in range(count)))

    assert_linear(messages, lambda prompt: done(prompt_blocks(prompt, ALL)), 500)


def test_files_between_words_take_linear_time() -> None:
    def record(count: int) -> Prompt:
        pieces = (TextPart("a" * 1000), DataPart("application/x", b"x")) * count
        parts = (ChatMessage("user", pieces), assistant("Yes"), user("Go on"))
        return Prompt(parts)

    assert_linear(record, lambda prompt: done(prompt_blocks(prompt, NONE)), 500)


def test_marks_that_a_record_has_already_take_linear_time() -> None:
    def record(count: int) -> Prompt:
        marks = "[user]" + "".join(f"[{number}:" for number in range(count))
        return Prompt((user(marks), assistant("Yes"), user("Go on")))

    assert_linear(record, lambda prompt: done(prompt_blocks(prompt, ALL)), 1_000)
