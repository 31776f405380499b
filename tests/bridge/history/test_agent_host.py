"""Where the user's words are in a message of VS Code's Agent Host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.agent_host import is_marked, read_host_message
from bridge.history.request_text import REQUEST_TAGS, request_in, request_text
from bridge.wire import ChatMessage, TextPart

SELECTED = "File: a.py (lines 1-2)\n```\nx = 1\n```"
REMINDER = "\n\n<system_reminder>\nThese must not be edited:\n- /a.py\n</system_reminder>"
FILES = "\n\n\n\n<tagged_files>\n* /a.py (7 lines)\n</tagged_files>"
IMAGE = "Image file at path /pictures/Pasted Image.png"
PLAN = "[[PLAN]] "


def date(when: str = "2030-01-02T03:04:05.000+00:00") -> str:
    return f"<current_datetime>{when}</current_datetime>\n\n"


def selection(selected: str = SELECTED) -> str:
    return f"<ide_selection>\n{selected}\n</ide_selection>\n\n"


def notice(words: str = "The model has been switched.") -> str:
    return f"<tools_changed_notice>\n{words}\n</tools_changed_notice>\n\n"


words = st.text(alphabet="ab /\n", min_size=1)
pieces = ["<", ">", "a", " ", "\n", "/", *(f"<{tag}>" for tag in REQUEST_TAGS)]
pieces += [f"</{tag}>" for tag in (*REQUEST_TAGS, "ide_selection", "system_reminder")]
typed = st.lists(st.sampled_from(pieces), min_size=1).map("".join).map(str.strip).filter(bool)
selected = st.lists(st.sampled_from([*pieces, SELECTED, "</ide_selection>\n"])).map("".join)
dates = st.text(alphabet="0123456789-T:.Z", min_size=1)
optional = st.sets(st.sampled_from(["selection", "notice", "plan"]))
endings = st.lists(st.sampled_from([REMINDER, FILES, REMINDER + IMAGE, f"\n{IMAGE}"]), max_size=3)


@st.composite
def trailing(draw: st.DrawFn) -> str:
    folder = draw(words.map(str.strip))
    return "".join(draw(endings)).replace("/a.py", f"{folder}/a.py")


@given(typed, selected, dates, words, optional, trailing())
def test_what_was_typed_is_found_among_the_hosts_blocks(
    said: str, marked: str, when: str, changed: str, blocks: set[str], after: str
) -> None:
    """Tags in it, and in what the user has selected, are no tags of the host's."""
    text = selection(marked) if "selection" in blocks else ""
    text += date(when)
    text += notice(changed) if "notice" in blocks else ""
    text += PLAN if "plan" in blocks else ""
    text += said + after
    found = read_host_message(text)
    assert found is not None
    assert text[found.start : found.end] == said == request_in(text)
    told = [text[one.start : one.end] for one in (*found.before, *found.after) if one.is_told]
    plan = [PLAN] if "plan" in blocks else []
    first = [selection(marked)] if "selection" in blocks else []
    assert "".join(told) == "".join([*first, *plan, after])


@given(st.permutations([date(), selection(), notice()]), st.integers(1, 3))
def test_the_leading_blocks_may_stand_in_any_order(blocks: list[str], most: int) -> None:
    assert request_in("".join(blocks[:most]) + "/go on") == "/go on"


def test_the_blocks_are_told_apart() -> None:
    text = selection() + date() + notice() + "[[PLAN]] hello" + REMINDER
    found = read_host_message(text)
    assert found is not None
    told = [text[one.start : one.end] for one in (*found.before, *found.after) if one.is_told]
    assert told == [selection(), "[[PLAN]] ", REMINDER]
    assert sum(one.end - one.start for one in (*found.before, *found.after)) == len(text) - 5


def test_blocks_in_the_users_own_words_are_words() -> None:
    said = f"What is {date().strip()}?\n<system_reminder>\nx\n</system_reminder> and so on"
    assert request_in(date() + said) == said
    quoted = "It says <system_reminder>\nx\n</system_reminder>"
    assert request_in(date() + quoted) == quoted, "the host's block begins a line"
    path = "Is it an Image file at path /a.png"
    assert request_in(date() + path) == path
    assert request_in(date() + "[[TODO]] go on") == "[[TODO]] go on", "the host has one mode"
    header = f"{selection()}{date()}why?"
    assert request_in(selection() + date() + header) == header


@pytest.mark.parametrize("said", ["Explain:\n<prompt>\nx\n</prompt>\nplease", "/stop now"])
@pytest.mark.parametrize("after", [REMINDER, FILES, f"\n{IMAGE}", REMINDER + FILES + IMAGE])
def test_a_steering_message_has_only_the_blocks_after_its_text(said: str, after: str) -> None:
    found = read_host_message(said + after)
    assert found is not None
    assert (found.before, found.is_typed) == ((), True)
    assert said == request_in(said + after) == (said + after)[: found.end]


@pytest.mark.parametrize(
    "text", ["hello", "<current_datetime>open", "", REMINDER, "[[PLAN]] go on", "<ide_selection>"]
)
def test_a_message_without_blocks_round_it_is_whole(text: str) -> None:
    assert read_host_message(text) is None
    assert request_in(text) == (text or None)


OWN = [
    "<system_notification>\nIt has finished.\n</system_notification>",
    "<system_notification>\nIt ran `echo <prompt>x</prompt>`.\n</system_notification>\n",
    '<skill-context name="greeting">\nSay <prompt>hi</prompt>.\n</skill-context>',
    '<skill-context name="greeting">\nSay hi.\n</skill_context>\n',
]


@pytest.mark.parametrize("text", OWN)
def test_the_hosts_own_message_with_a_tag_is_asked_as_it_is(text: str) -> None:
    """It opens a turn by itself, and its tag says that it is the host's."""
    found = read_host_message(text)
    assert found is not None
    assert not found.is_typed
    assert is_marked(text)
    assert request_in(text) == text
    assert request_text(ChatMessage("user", (TextPart(text),))) is None


def test_a_tag_of_the_hosts_in_what_was_typed_is_typed() -> None:
    for said in ("<system_notification> is which tag?", "</system_notification>"):
        assert not is_marked(said)
        assert request_text(ChatMessage("user", (TextPart(said),))) == said


AUTOPILOT = (
    "You have not yet marked the task as complete using the task_complete tool. You MUST call "
    "task_complete when done.\n\nIMPORTANT: Do NOT call task_complete if:\n- You have questions"
)


@pytest.mark.parametrize("before", ["", "\n", date(), selection() + date()])
@pytest.mark.parametrize("after", ["", "\n", REMINDER])
@pytest.mark.parametrize(
    "text",
    [
        AUTOPILOT,
        AUTOPILOT.partition(" You MUST")[0],
        "You haven't yet marked the task as complete. Use `task_complete`.",
    ],
)
def test_autopilots_reminder_is_the_hosts_own(before: str, text: str, after: str) -> None:
    found = read_host_message(before + text + after)
    assert found is not None
    assert not found.is_typed
    asked = (before + text + after)[found.start : found.end]
    assert asked.strip() == text
    assert request_text(ChatMessage("user", (TextPart(before + text + after),))) is None


@pytest.mark.parametrize(
    "said",
    [
        f"Why do I read this? {AUTOPILOT}",
        "You have not yet marked the task as complete in the list.",
    ],
)
def test_words_like_the_reminders_are_typed(said: str) -> None:
    found = read_host_message(date() + said)
    assert found is not None
    assert found.is_typed


@pytest.mark.parametrize("first", ["Some of the", "The"])
def test_nobody_asks_a_summary(first: str) -> None:
    text = f"{first} conversation history has been summarized to free up context.\n\nThey said q1."
    assert request_in(text) is None
    assert request_in(f"{text}\n<prompt>\nx\n</prompt>") is None


@given(st.text(alphabet="<>/ab\n") | typed)
def test_any_text_is_read(text: str) -> None:
    for message in (text, date() + text, selection() + text + FILES):
        found = read_host_message(message)
        if found is not None:
            assert 0 <= found.start <= found.end <= len(message)
