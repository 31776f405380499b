"""A definition that can't be used is an error of its request, which names the field."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from agents.acp.agent import AcpAgent
from agents.acp.launch.definition import cannot_start, definition_fault
from agents.base import AgentError
from bridge.errors import Failure
from bridge.wire import EnvVariable, McpServerSpec
from tests.agents.acp.talk import asking


def spec(name: str = "Claude", command: str = "claude", **fields: Any) -> McpServerSpec:
    return McpServerSpec(name, command, **fields)


def env(name: str = "NAME", value: str = "value") -> tuple[EnvVariable, ...]:
    return (EnvVariable("FINE", "value"), EnvVariable(name, value))


ODD: list[tuple[McpServerSpec, str, str]] = [
    (spec(command=""), "command", "is empty"),
    (spec(command="a\x00b"), "command", "NUL"),
    (spec(command="\ud83d"), "command", "an incomplete character"),
    (spec(args=("fine", "a\x00b")), "args[1]", "NUL"),
    (spec(args=("\ude00",)), "args[0]", "an incomplete character"),
    (spec(env=env(name="")), "env[1].name", "is empty"),
    (spec(env=env(name="A=B")), "env[1].name", "="),
    (spec(env=env(name="=A")), "env[1].name", "="),
    (spec(env=env(name="A\x00B")), "env[1].name", "NUL"),
    (spec(env=env(name="\ud83d")), "env[1].name", "an incomplete character"),
    (spec(env=env(value="\x00")), "env[1].value", "NUL"),
    (spec(env=env(value="\ud83d")), "env[1].value", "an incomplete character"),
    (spec(cwd="/tmp\x00"), "cwd", "NUL"),
    (spec(cwd="~a\x00b"), "cwd", "NUL"),
    (spec(cwd="\ud83d"), "cwd", "an incomplete character"),
]


@pytest.mark.parametrize(("odd", "field", "words"), ODD)
def test_what_no_system_takes_is_told_with_its_field(
    odd: McpServerSpec, field: str, words: str
) -> None:
    failure = definition_fault(odd)
    assert failure is not None
    assert failure.message.startswith(f"Claude can't be started: `{field}` in its definition ")
    assert words in failure.message


@pytest.mark.parametrize(
    "fine",
    [
        spec(),
        spec(args=("", "=", "\n", "\udcff"), env=env(value="A=B"), cwd=""),
        spec(name="odd\x00\ud83d", cwd="~"),
    ],
)
def test_what_a_system_may_take_is_tried(fine: McpServerSpec) -> None:
    assert definition_fault(fine) is None


# What the system says.


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file", "claude"), "claude was not found. Is it"),
        (PermissionError(errno.EACCES, "Permission denied", "claude"), "(Permission denied)"),
        (OSError("odd"), "can't be run (OSError)"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/w"), "directory /w can't be used"),
    ],
)
def test_a_command_that_cannot_be_run_is_not_found(error: OSError, words: str) -> None:
    failure = cannot_start(McpServerSpec("Claude", "claude", cwd="/w"), error)
    assert failure.kind == "NotFound"
    assert failure.message.startswith("Claude can't be started: ")
    assert words in failure.message
    assert failure.detail == str(error)


def test_a_file_that_is_missing_is_the_command_where_no_folder_was_given() -> None:
    error = FileNotFoundError(errno.ENOENT, "No such file", "/usr/bin/claude")
    assert "claude was not found" in cannot_start(McpServerSpec("Claude", "claude"), error).message


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"args": ("short", "x" * 5000)}, "longest is `args[1]` in its definition: 5,000."),
        ({"env": env(value="x" * 5000)}, "longest is `env[1].value` in its definition: 5,000."),
        ({}, "longest is the environment variable HUGE: 1,000."),
    ],
)
def test_of_what_is_too_long_the_longest_is_named(fields: dict[str, Any], words: str) -> None:
    error = OSError(errno.E2BIG, "Argument list too long", "claude")
    environment = {"HUGE": "x" * 1000, "NAME": "x" * 5000 if "env" in fields else "x"}
    assert words in cannot_start(spec(**fields), error, environment).message


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN, errno.ENFILE])
def test_no_room_for_a_process_may_pass(number: int) -> None:
    failure = cannot_start(spec(), OSError(number, os.strerror(number)))
    assert failure.kind == "Unavailable"
    assert os.strerror(number) in failure.message


def test_what_else_is_refused_is_told_by_its_kind() -> None:
    failure = cannot_start(spec(), ValueError("embedded something"))
    assert failure.message == "Claude can't be started: its definition can't be used (ValueError)."
    assert failure.detail == "embedded something"


def test_long_texts_are_cut() -> None:
    error = OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000)
    assert len(cannot_start(spec(name="x" * 5000, command="x" * 5000), error).message) < 600


# What becomes of a request.


async def failure_of(odd: McpServerSpec) -> Failure:
    """Return why an agent opens no session."""
    async with trio.open_nursery() as nursery:
        agent = AcpAgent(odd, nursery, new_call_id=lambda: "1")
        with trio.fail_after(10), pytest.raises(AgentError) as caught:
            async with agent.session(asking("hello")):
                pass
        await agent.aclose()
        nursery.cancel_scope.cancel()
    return caught.value.failure


@pytest.mark.parametrize(("odd", "field", "words"), ODD)
async def test_a_session_is_refused_with_the_name_of_the_field(
    odd: McpServerSpec, field: str, words: str
) -> None:
    failure = await failure_of(odd)
    assert f"`{field}`" in failure.message
    assert words in failure.message


@pytest.mark.skipif(sys.platform == "win32", reason="there the system says something else")
@pytest.mark.parametrize(
    ("odd", "field"),
    [
        (spec(command=sys.executable, args=("-c", "x" * 3_000_000)), "args[1]"),
        (spec(command=sys.executable, env=env(value="x" * 3_000_000)), "env[1].value"),
        (spec(command="x" * 5000), "command"),
        (spec(command=sys.executable, cwd="/" + "x" * 5000), "cwd"),
    ],
)
async def test_what_is_too_long_is_told_with_the_name_of_the_field(
    odd: McpServerSpec, field: str
) -> None:
    assert field in (await failure_of(odd)).message


async def test_a_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "removed"
    message = (await failure_of(spec(command=sys.executable, cwd=str(folder)))).message
    assert str(folder) in message
    assert "`cwd`" in message


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use can't be removed there")
@pytest.mark.parametrize("cwd", [None, "here"])
async def test_our_own_folder_may_have_been_removed(
    cwd: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert "`cwd`" in (await failure_of(spec(command=sys.executable, cwd=cwd))).message
