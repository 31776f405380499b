from __future__ import annotations

import msgspec
import pytest

from bridge.errors import Failure
from bridge.fixes import ChangeSettings, Fix, LogIn, OpenPage, RunCommand, SetKey, without_secrets


def hide(text: str) -> str:
    return text.replace("hunter2", "-")


@pytest.mark.parametrize(
    "fix",
    [
        OpenPage("Install it", "https://example.org"),
        SetKey("Set KEY...", ("KEY",)),
        RunCommand("Log in", "agent", ("login",), {"MODE": "a"}, "/there"),
        LogIn("Log in", "chatgpt"),
        ChangeSettings("Open Settings"),
    ],
)
def test_a_fix_without_a_secret_is_given_as_it_is(fix: Fix) -> None:
    assert without_secrets((fix,), hide) == (fix,)
    assert msgspec.convert(msgspec.to_builtins(fix), Fix) == fix


def test_a_command_that_holds_a_secret_is_not_given() -> None:
    assert without_secrets((RunCommand("a", "x", ("--with", "hunter2")),), hide) == ()
    assert without_secrets((RunCommand("a", "hunter2"),), hide) == ()
    assert without_secrets((RunCommand("a", "x", ("--api-key", "short")),), hide) == ()


def test_variables_and_a_folder_that_hold_a_secret_are_left_out() -> None:
    fix = RunCommand("hunter2", "x", (), {"A": "hunter2", "B": "b"}, "/hunter2")
    assert without_secrets((fix,), hide) == (RunCommand("-", "x", (), {"B": "b"}),)


def test_a_failure_carries_its_fixes_to_the_host() -> None:
    fixes = (RunCommand("Log in", "x", ("hunter2",)), LogIn("by hunter2", "id"))
    failure = Failure("NoPermissions", "no", fixes=fixes).without_secrets(hide)
    assert failure.as_rpc_error().data == {
        "kind": "NoPermissions",
        "detail": "no",
        "fixes": [{"type": "login", "title": "by -", "methodId": "id"}],
    }
