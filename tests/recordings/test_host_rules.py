"""The rules for the Agent Host's messages: their names exist, and recordings show them."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from docs.generator.agent_host import HOST_RULES, HostRule

from .test_recorded_traffic import FIXTURES

FOLDER = FIXTURES / "vscode-agent-host"
JSON = dict[str, Any]
DATE = "<current_datetime>"

each_rule = pytest.mark.parametrize("rule", HOST_RULES.values(), ids=list(HOST_RULES))


@each_rule
def test_the_code_that_a_rule_names_exists(rule: HostRule) -> None:
    assert rule.code
    for name in rule.code:
        assert pkgutil.resolve_name(name) is not None


@cache
def happenings(file: str) -> list[JSON]:
    return [json.loads(line) for line in (FOLDER / file).read_bytes().splitlines()]


def requests(file: str) -> Iterator[list[JSON]]:
    """Yield the messages of each request."""
    for one in happenings(file):
        if one["kind"] == "request" and "messages" in one["params"]:
            yield one["params"]["messages"]


def parts(file: str, role: str, kind: str) -> Iterator[JSON]:
    for messages in requests(file):
        for message in messages:
            if message["role"] == role:
                yield from (part for part in message["content"] if part["type"] == kind)


def streamed(file: str, kind: str) -> list[JSON]:
    shown = [one["params"]["part"] for one in happenings(file) if one["kind"] == "part"]
    return [part for part in shown if part["type"] == kind]


def typed(file: str, pattern: str) -> bool:
    """Return whether a user's text is like this."""
    texts = (part["value"] for part in parts(file, "user", "text"))
    return any(re.search(pattern, text, re.DOTALL) for text in texts)


def is_out_of_order(file: str) -> bool:
    for messages in requests(file):
        calls = [part["toolCallId"] for one in messages for part in of(one, "tool_call")]
        results = [part["toolCallId"] for one in messages for part in of(one, "tool_result")]
        if results != [call for call in calls if call in results]:
            return True
    return False


def of(message: JSON, kind: str) -> list[JSON]:
    return [part for part in message["content"] if part["type"] == kind]


def has_other_names(file: str) -> bool:
    ours = {part["toolCallId"]: part["toolName"] for part in streamed(file, "tool_call")}
    theirs = parts(file, "assistant", "tool_call")
    return any(
        part["toolName"] != ours.get(part["toolCallId"], part["toolName"]) for part in theirs
    )


def has_bare_calls(file: str) -> bool:
    answers = [one for messages in requests(file) for one in messages if one["role"] == "assistant"]
    is_bare = any(of(one, "tool_call") and not of(one, "text") for one in answers)
    return is_bare and not any(part["value"] == "" for one in answers for part in of(one, "text"))


def has_no_images_in_results(file: str) -> bool:
    results = [part["result"] for part in parts(file, "user", "tool_result")]
    kinds = {piece["type"] for result in results for piece in result}
    return kinds == {"text"} and "Viewed image file" in json.dumps(results)


def has_no_markers(file: str) -> bool:
    sent = [part for part in streamed(file, "data") if part["mimeType"] == "stateful_marker"]
    back = list(parts(file, "assistant", "data"))
    folders = {
        found[0]
        for part in parts(file, "system", "text")
        for found in re.finditer(r"^Session folder: .*$", part["value"], re.MULTILINE)
    }
    return not back and bool(folders) and (bool(sent) or len(folders) > 1)


def has_neighbours(file: str) -> bool:
    """Return whether a user's message with a date follows another one."""
    for messages in requests(file):
        dated = [
            one["role"] == "user" and any(DATE in part["value"] for part in of(one, "text"))
            for one in messages
        ]
        if any(one and other for one, other in pairwise(dated)):
            return True
    return False


SHOWS: dict[str, Callable[[str], bool]] = {
    "leading blocks": lambda file: (
        typed(file, r"\A<ide_selection>.*<current_datetime>")
        or typed(file, r"</current_datetime>\s*<tools_changed_notice>")
    ),
    "trailing blocks": lambda file: typed(file, r"\n</(system_reminder|tagged_files)>\Z"),
    "skills": lambda file: typed(file, r"</current_datetime>\s*/\S+.*SKILL\.md"),
    "steering": lambda file: typed(file, rf"\A(?!.*{DATE}|<|Some of|The conv|Please create a det)"),
    "notifications": lambda file: typed(file, r"\A<system_notification>"),
    "reminders of Autopilot": lambda file: typed(file, "not yet marked the task as complete"),
    "summaries": lambda file: typed(file, r"\A(Some of t|T)he conversation history has been summ"),
    "order of completion": is_out_of_order,
    "thinking as lists": lambda file: any(
        isinstance(part["value"], list) for part in parts(file, "assistant", "thinking")
    ),
    "sanitised names": has_other_names,
    "no empty part": has_bare_calls,
    "images as text": has_no_images_in_results,
    "no markers": has_no_markers,
    "unheard stops": has_neighbours,
}


def test_each_rule_is_looked_for() -> None:
    assert SHOWS.keys() == HOST_RULES.keys()


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the recordings aren't here")
@pytest.mark.parametrize("name", HOST_RULES)
def test_a_rule_names_the_recordings_that_show_it(name: str) -> None:
    """A rule that names none is from the host's program."""
    files = sorted(path.name for path in FOLDER.glob("*.jsonl"))
    assert [file for file in files if SHOWS[name](file)] == list(HOST_RULES[name].recordings)
