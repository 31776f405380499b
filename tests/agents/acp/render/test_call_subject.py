"""What a call is about is said once, and always said."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.calls.state import CallRecord
from agents.acp.render.call_subject import relative, subject, unwrapped_command
from agents.acp.schema.content import ToolCallLocation

ROOT = "/home/me/work"


def call(title: str = "", kind: str = "execute", **given: Any) -> CallRecord:
    return CallRecord("1", title, kind=kind, raw_input=given)


COMMANDS = st.lists(
    st.from_regex(r"[a-z]{1,8}(?:\.[a-z]{1,3})?", fullmatch=True), min_size=1, max_size=5
).map(lambda words: " ".join([words[0], *(f"{ROOT}/{word}" for word in words[1:])]))


@given(
    COMMANDS,
    st.sampled_from(["{}", "`{}`", "/bin/bash -lc '{}'", "sh -c '{}'"]),
    st.sampled_from(["{}", "/bin/bash -lc '{}'", "zsh -c '{}'"]),
    st.sampled_from(["command", "cmd"]),
    st.booleans(),
    st.booleans(),
)
def test_a_command_is_told_once_however_it_is_told_twice(
    command: str, titled: str, line: str, key: str, is_short: bool, as_list: bool
) -> None:
    title = titled.format(command.replace(f"{ROOT}/", "") if is_short else command)
    value: Any = ["bash", "-lc", command] if as_list else line.format(command)
    shown = subject(call(title, **{key: value}), ROOT)
    assert shown == f"`{command.replace(f'{ROOT}/', '')}`"


@given(COMMANDS, st.sampled_from(["…", "..."]), st.data())
def test_a_title_that_is_a_command_cut_off_gives_way_to_the_command(
    command: str, dots: str, data: st.DataObject
) -> None:
    plain = command.replace(f"{ROOT}/", "")
    kept = data.draw(st.integers(1, len(plain)))
    assert subject(call(f"{plain[:kept].strip()}{dots}", command=command), ROOT) == f"`{plain}`"


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (call("Look around", command="ls -l"), "Look around `ls -l`"),
        (call("Shell: ls (Look)", command="ls"), "Shell: ls (Look)"),
        (call("Run it's `x", command="it's `x"), "Run it's \\`x"),
        (call("Sh", command=["git", "log"]), "Sh `git log`"),
        (call("Go", command=f"cd {ROOT}/ && rm -r {ROOT}/a"), "Go `cd . && rm -r a`"),
        (call(f"Run: cd {ROOT[:-1]}...", command=f"cd {ROOT} && ls"), "`cd . && ls`"),
        (call("Run: git com…", command="git commit"), "`git commit`"),
        (call("Run: git push…", command="git commit"), "Run: git push… `git commit`"),
        (call("Run: ls .", command="ls . -l"), "Run: ls . `ls . -l`"),
        (call("Keep it", "other", description="Keep it", query="a"), "Keep it `query: a`"),
        (call("read", "read", filePath=f"{ROOT}/a.py", limit=3), "read `a.py`"),
        (call("Read a.py", "read", path=f"{ROOT}/a.py"), "Read a.py"),
        (call("Read the catalogue", "read", path="log"), "Read the catalogue `log`"),
        (call("Read the catalogue log", "read", path="log"), "Read the catalogue log"),
        (call("", "search", pattern="x y", path="b"), "Search `x y`"),
        (call("Fetch", "fetch", url="https://e.org"), "Fetch `https://e.org`"),
        (call("Edit", "edit", old_string="path", new_string="dir"), "Edit"),
        (call("write", "other", todos=[{"a": 1}, {"b": 2}]), "write `todos: 2 items`"),
        (call("it", "other", of=[{}], d={"x": {"y": 1}}, f=True), "it `of: 1 item, f: true`"),
        (call("write", "other", content="a\nb"), "write"),
        (call("pick", "other", names=["a", "b"], none=None, empty=""), "pick `names: a, b`"),
        (call('read {"path": "a.py"}', "other", path="a.py"), "read `path: a.py`"),
        (call('read: {"path": "a.py", "x": "lo…', "other"), "read"),
        (call("Find {x", "other"), "Find {x"),
        (call('{"a": 1}', "other"), '{"a": 1}'),
    ],
)  # fmt: skip
def test_what_is_told_of_a_call(known: CallRecord, shown: str) -> None:
    assert subject(known, ROOT) == shown


def test_the_folder_itself_is_no_news() -> None:
    known = CallRecord("1", "Search", kind="search", locations=(ToolCallLocation(ROOT),))
    assert subject(known, ROOT) == "Search"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{ROOT}/a", "a"),
        (f"x {ROOT}/a/b.py:3 y", "x a/b.py:3 y"),
        (ROOT, "."),
        (f"{ROOT}/", "."),
        (f"'{ROOT}'/x", "'.'/x"),
        (f"{ROOT}/ && ls", ". && ls"),
        (f"/other{ROOT}/a", f"/other{ROOT}/a"),
        (f"{ROOT}er/a", f"{ROOT}er/a"),
        (f"{ROOT}-2", f"{ROOT}-2"),
        ("home/me/work/a.py", "a.py"),
    ],
)
def test_only_paths_of_the_folder_are_shortened(text: str, shown: str) -> None:
    assert relative(text, ROOT) == shown


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), JSON_VALUES, max_size=4),
    st.sampled_from(["other", "read", "edit", "execute", "fetch"]),
)
def test_no_input_is_shown_as_json(arguments: dict[str, Any], kind: str) -> None:
    shown = subject(call("Title", kind, **arguments), ROOT)
    found = re.search(r'[\[{]\s*"[^"]*"\s*[:,\]]', shown)
    flat = json.dumps([value for value in arguments.values() if isinstance(value, str)])
    assert found is None or found[0][1:-1].strip('" ') in flat, shown


def test_a_line_that_no_shell_could_read_stays() -> None:
    assert unwrapped_command({"command": "sh -c 'x"}) == "sh -c 'x"
    assert unwrapped_command({"command": "x" * 5000 + " -c y"}).endswith(" -c y")
    assert unwrapped_command({}) == ""


def test_a_command_that_is_neither_a_line_nor_words_is_shown_all_the_same() -> None:
    assert unwrapped_command({"command": {"argv": ["ls"]}}) == "{'argv': ['ls']}"
    assert unwrapped_command({"command": 0, "cmd": 5}) == "5"


def test_a_title_may_end_in_what_is_too_deep_to_be_read() -> None:
    title = "Do it " + '{"a":' * 100_000
    assert subject(CallRecord("1", title), "").startswith("Do it ")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ('look: {"a": "{}"}: Reading a', "look: Reading a"),
        ('look: {"a": 1}, b', 'look: {"a": 1}, b'),
        ('look: {"a": b}: c', 'look: {"a": b}: c'),
    ],
)
def test_the_input_in_the_middle_of_a_title_is_left_out(title: str, shown: str) -> None:
    assert subject(CallRecord("1", title), "") == shown
