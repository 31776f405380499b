"""What is decided about programs on Windows, without Windows."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.transport.windows import (
    ArgumentRefused,
    command_line,
    find_program,
    folded,
    tree_killer,
)

NODE = r"C:\Program Files\nodejs"
TOOLS = r"D:\tools"
PATH = rf'.;;{NODE};"{TOOLS}";bin;\bin;C:bin'
FILES = frozenset(
    {
        rf"{NODE}\npx",
        rf"{NODE}\npx.cmd",
        rf"{NODE}\node.exe",
        rf"{TOOLS}\npx.exe",
        rf"{TOOLS}\old.com",
        r".\npx.exe",
        r"bin\npx.exe",
        r"\bin\npx.exe",
        r"C:bin\npx.exe",
        r"npx.exe",
        r"sub\agent.bat",
        r"C:agent.exe",
    }
)
SHELL = r"C:\Windows\System32\cmd.exe /d /v:off /s /c "


def find(command: str, **more: str) -> str | None:
    return find_program(command, {"PATH": PATH, **more}, FILES.__contains__)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("npx", rf"{NODE}\npx.cmd"),
        ("npx.exe", rf"{TOOLS}\npx.exe"),
        ("node", rf"{NODE}\node.exe"),
        ("NODE.EXE", None),  # the file system decides about case, which here is Python's
        ("old", rf"{TOOLS}\old.com"),
        ("nothing", None),
        (r"sub\agent", r"sub\agent.bat"),
        (r"sub\agent.bat", r"sub\agent.bat"),
        (r"C:agent", r"C:agent.exe"),
        (rf"{NODE}\node", rf"{NODE}\node.exe"),
    ],
)
def test_a_program_is_found_on_path_with_its_ending_and_never_in_the_workspace(
    command: str, found: str | None
) -> None:
    assert find(command) == found


def test_the_environment_says_which_endings_programs_have() -> None:
    assert find("npx", PATHEXT=".EXE;;.CMD") == rf"{NODE}\npx.cmd"
    assert find("npx", PATHEXT=".EXE") == rf"{TOOLS}\npx.exe"
    assert find_program("npx", {}, FILES.__contains__) is None


def test_a_program_gets_its_arguments_as_it_will_read_them() -> None:
    given = ["a b", 'say "hi"', "", "%PATH%", "a&b", "end\\"]
    line = command_line(rf"{NODE}\node.exe", given, {})
    assert line == rf'"{NODE}\node.exe" "a b" "say \"hi\"" "" %PATH% a&b end' + "\\"


@pytest.mark.parametrize(
    ("argument", "written"),
    [
        ("-y", "-y"),
        ("@scope/agent@1.0", "@scope/agent@1.0"),
        (r"C:\some\folder", r"C:\some\folder"),
        ("a b", '"a b"'),
        ("", '""'),
        ("a=b", '"a=b"'),
        ("(x)", '"(x)"'),
        ("a,b;c", '"a,b;c"'),
        ("C:\\some folder\\", '"C:\\some folder\\\\"'),
        ("it's", '"it\'s"'),
    ],
)
def test_a_batch_file_gets_its_arguments_through_the_shell_unchanged(
    argument: str, written: str
) -> None:
    line = command_line(rf"{NODE}\npx.CMD", [argument, "last"], {})
    assert line == rf'{SHELL}""{NODE}\npx.CMD" {written} last"'


@pytest.mark.parametrize("character", list('"%!^&|<>\n\r\t\0'))
def test_an_argument_that_the_shell_would_interpret_is_refused_and_not_shown(
    character: str,
) -> None:
    with pytest.raises(ArgumentRefused, match="argument 2 has a character") as caught:
        command_line(rf"{NODE}\npx.bat", ["fine", f"hunter2{character}"], {})
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ArgumentRefused, match="path of the program"):
        command_line(rf"C:\a{character}b\npx.bat", [], {})


@given(st.lists(st.text(), max_size=4))
def test_nothing_that_the_shell_interprets_is_ever_outside_of_quotes(arguments: list[str]) -> None:
    try:
        line = command_line(r"C:\x.cmd", arguments, {})
    except ArgumentRefused:
        return
    words = line.removeprefix(SHELL)[1:-1]
    assert words.startswith(r'"C:\x.cmd"')
    assert words.count('"') % 2 == 0
    outside = "".join(words.split('"')[::2])
    assert not set(outside) & set("&|<>()^%!;,=")


def test_a_tree_is_ended_by_the_system_s_own_program() -> None:
    assert tree_killer(7, {"SYSTEMROOT": r"E:\Win"}) == [
        r"E:\Win\System32\taskkill.exe",
        "/T",
        "/F",
        "/PID",
        "7",
    ]
    assert tree_killer(7, {})[0] == r"C:\Windows\System32\taskkill.exe"
    line = command_line("x.bat", [], {"SYSTEMROOT": r"E:\W in"})
    assert line.startswith(r'"E:\W in\System32\cmd.exe" /d')


def test_a_name_is_there_once_in_an_environment_whatever_its_case() -> None:
    assert folded({"PATH": "ours", "Path": "its own", "x": "y"}) == {"PATH": "its own", "X": "y"}


@given(st.lists(st.text(alphabet='ab \\"\t')))
def test_lines_of_programs_are_those_that_python_writes(arguments: list[str]) -> None:
    assert command_line("x.exe", arguments, {}) == subprocess.list2cmdline(["x.exe", *arguments])
