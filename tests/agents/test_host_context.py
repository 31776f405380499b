from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.host_context import KEPT, LEFT_OUT, marks, spans


def told(text: str) -> str:
    return "".join(text[span.start : span.end] for span in spans(text) if span.kind != "left out")


def typed(text: str) -> list[str]:
    return [text[span.start : span.end] for span in spans(text) if span.kind == "request"]


def block(tag: str, inside: str) -> str:
    return f"<{tag}>\n{inside}\n</{tag}>\n"


@pytest.mark.parametrize("tag", LEFT_OUT)
def test_what_the_host_tells_its_own_agent_is_left_out(tag: str) -> None:
    assert told(block(tag, "secret") + block("userRequest", "Fix it")).strip() == "Fix it"


@pytest.mark.parametrize("tag", [*KEPT, "somethingNew"])
def test_what_the_user_gave_and_what_nobody_knows_is_kept(tag: str) -> None:
    text = told(block(tag, "here") + block("userRequest", "Fix it"))
    assert text.startswith(block(tag, "here"))
    assert text.endswith("Fix it")


@pytest.mark.parametrize("tag", ["userRequest", "user_query", "prompt"])
def test_what_was_typed_is_what_stands_in_the_last_tag(tag: str) -> None:
    assert typed(block("context", "date") + block(tag, "Fix it")) == ["Fix it"]


def test_a_message_that_the_hosts_agent_did_not_render_is_kept_whole() -> None:
    text = "<context>\nmine\n</context>\nSummarise this."
    assert typed(text) == [text]
    assert typed("") == [""]


def test_the_message_about_the_machine_is_left_out() -> None:
    text = block("environment_info", "Linux") + block("workspace_info", "demo")
    assert told(text).strip() == ""
    assert (
        told(text + block("instructions", "Be brief.")).strip()
        == block("instructions", "Be brief.").strip()
    )


HOSTS = (
    "<ide_selection>\nx = 1\n</ide_selection>\n\n<current_datetime>noon</current_datetime>\n\n"
    "/fix it\n\n<tagged_files>\n* /a.py\n</tagged_files>"
)


def test_the_agent_hosts_selection_and_files_are_context_of_what_was_typed() -> None:
    assert typed(HOSTS) == ["/fix it"]
    assert told(HOSTS) == HOSTS.replace("<current_datetime>noon</current_datetime>\n\n", "")
    assert "".join(HOSTS[span.start : span.end] for span in spans(HOSTS)) == HOSTS


@given(st.lists(st.sampled_from(["<prompt>", "</prompt>", "<context>", "</context>", "\n", "a"]))
       .map("".join).map(str.strip).filter(bool))  # fmt: skip
def test_tags_that_were_typed_in_the_agent_host_are_typed(words: str) -> None:
    text = HOSTS.replace("/fix it", words)
    assert typed(text) == [words]
    assert told(text) == text.replace("<current_datetime>noon</current_datetime>\n\n", "")
    steering = f"{words}\n\n<tagged_files>\n* /a.py\n</tagged_files>"
    assert (typed(steering), told(steering)) == ([words], steering)


OWN = "<system_notification>\nIt has finished. See <prompt>x</prompt>.\n</system_notification>"
REMINDER = "You have not yet marked the task as complete using the task_complete tool. Go on."


@pytest.mark.parametrize("words", [OWN, REMINDER])
def test_the_hosts_own_words_are_told_as_the_hosts(words: str) -> None:
    (span,) = spans(words)
    assert (span.kind, told(words), typed(words)) == ("host", words, [])
    before, after = marks(words)
    assert f"{before}{words}{after}".count("<system_notification>") == 1
    assert f"{before}{words}{after}".startswith("<system_notification>\n")


def test_the_agent_hosts_summary_is_told_and_is_nobodys_request() -> None:
    text = "The conversation history has been summarized to free up context.\n\nThey said q1."
    assert (told(text), typed(text)) == (text, [])


def test_tags_that_the_user_typed_are_the_users() -> None:
    inside = "What do <userRequest> and\n<context>\nx\n</context>\n</userRequest> mean?"
    assert typed(block("context", "date") + block("userRequest", inside)) == [inside]


def test_tags_in_an_attachment_belong_to_it() -> None:
    attached = block("attachments", "<userRequest>\nno\n</userRequest>\n<context>\nx\n</context>")
    text = told(attached + block("context", "date") + block("userRequest", "Fix it"))
    assert text == attached + "Fix it"


def test_a_block_that_does_not_end_is_kept() -> None:
    text = "<context>\nno end\n<userRequest>\nFix it\n</userRequest>\n"
    assert told(text) == text


def test_a_block_may_end_on_its_line_or_be_empty() -> None:
    request = block("userRequest", "Fix it")
    assert told(f"<context>date</context>\n{request}").strip() == "Fix it"
    assert told(f"<context></context>\n{request}").strip() == "Fix it"
    assert told(f'<context id="1">\n</context>\n{request}').strip() == "Fix it"


def test_an_empty_request_is_empty() -> None:
    assert typed("<userRequest>\n\n</userRequest>") == [""]
    assert typed("<userRequest>\n</userRequest>") == [""]
    assert typed("<userRequest></userRequest>") == [""]


def test_what_comes_after_the_request_is_kept() -> None:
    assert told(block("userRequest", "Fix it") + "and more") == "Fix itand more"


@given(st.lists(st.sampled_from(["<userRequest>", "</userRequest>", "<context>", "<prompt>",
                                 "</context>", "</prompt>", "<attachments>", "\n", "a", " "]))
       .map("".join))  # fmt: skip
def test_no_typed_word_is_ever_lost(words: str) -> None:
    text = block("context", "date") + block("reminderInstructions", "x")
    assert typed(text + block("userRequest", words)) == [words]


@given(st.lists(st.sampled_from(["<userRequest>", "</userRequest>", "<context>", "</context>",
                                 "<attachment>", "</attachment>", "<environment_info>", "\n", "a"]))
       .map("".join))  # fmt: skip
def test_stretches_are_in_order_and_leave_no_gap(text: str) -> None:
    found = spans(text)
    assert [span.start for span in found] == [0, *(span.end for span in found[:-1])]
    assert found[-1].end == len(text)
