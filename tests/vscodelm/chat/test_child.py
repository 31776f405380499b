"""A server of our own, here small programs that speak just enough of the protocol."""

from __future__ import annotations

import sys

import pytest
import trio
from msgspec import Raw

from bridge.wire import ChatParams
from vscodelm.chat import child
from vscodelm.chat.child import open_client, server_argv
from vscodelm.chat.client import ServerGone

QUESTION = ChatParams("eliza", [Raw(b'{"role":"user","content":[{"type":"text","value":"Hi"}]}')])

GREETS = """
import json, os, signal, sys
def hello():
    id_ = json.loads(sys.stdin.readline())["id"]
    server = {"serverInfo": {"name": "fake", "version": "1"}}
    print(json.dumps({"jsonrpc": "2.0", "id": id_, "result": server}), flush=True)
"""


def program(text: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", GREETS + text]


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a child that ignores everything next to no time."""
    monkeypatch.setattr(child, "TERMINATING_SECONDS", 0.01)


def ignore_line(line: str) -> None:
    """Show nothing."""


async def test_a_child_that_dies_fails_the_answer_with_its_status_and_its_last_words() -> None:
    argv = program(
        "hello(); sys.stdin.readline(); print('Error: out of luck', file=sys.stderr); sys.exit(3)"
    )
    with trio.fail_after(5):
        async with open_client(argv, ignore_line) as client, client.chat(QUESTION) as answer:
            with pytest.raises(ServerGone, match="ended with status 3: out of luck"):
                await anext(answer)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signals")
async def test_a_child_that_is_killed_is_reported_by_its_signal() -> None:
    argv = program("hello(); sys.stdin.readline(); os.kill(os.getpid(), signal.SIGKILL)")
    with trio.fail_after(5):
        async with open_client(argv, ignore_line) as client, client.chat(QUESTION) as answer:
            with pytest.raises(ServerGone, match=r"ended by signal 9\."):
                await anext(answer)


async def test_a_child_that_does_not_start_serving_says_why_in_one_line() -> None:
    argv = program("print('Error: models.toml: no such file', file=sys.stderr); sys.exit(1)")
    shown: list[str] = []
    with trio.fail_after(5), pytest.raises(ServerGone) as raised:
        async with open_client(argv, shown.append):
            pytest.fail("it doesn't serve")
    assert str(raised.value) == "vscodelm ended with status 1: models.toml: no such file"
    assert shown == []


async def test_a_program_that_is_not_there_is_named() -> None:
    with trio.fail_after(5), pytest.raises(ServerGone, match="no-such-program can't be started"):
        async with open_client(["no-such-program"], ignore_line):
            pytest.fail("there is none")


async def test_what_a_serving_child_logs_is_shown_from_its_first_line_on() -> None:
    shown: list[str] = []
    lines = trio.Event()

    def show(line: str) -> None:
        shown.append(line)
        if len(shown) == 2:
            lines.set()

    argv = program(
        "print('begins', file=sys.stderr, flush=True); hello();"
        "print('serves', file=sys.stderr, flush=True); sys.stdin.read()"
    )
    with trio.fail_after(5):
        async with open_client(argv, show):
            await lines.wait()
    assert shown == ["begins", "serves"]


@pytest.mark.skipif(sys.platform != "linux", reason="how a process is told dead differs")
@pytest.mark.usefixtures("impatience")
async def test_a_child_that_ignores_everything_is_killed_with_its_children() -> None:
    argv = program(
        "import time; signal.signal(signal.SIGTERM, signal.SIG_IGN); r, w = os.pipe()\n"
        "if os.fork():\n    os.read(r, 1); hello()\n"
        "else:\n    os.write(w, b'.'); print(os.getpid(), file=sys.stderr, flush=True)\n"
        "while True: time.sleep(60)"
    )
    pids: list[int] = []
    known = trio.Event()

    def note_pid(line: str) -> None:
        pids.append(int(line))
        known.set()

    with trio.fail_after(5):
        async with open_client(argv, note_pid, patience=0.01):
            await known.wait()
        await _gone(pids[0])


async def _gone(pid: int) -> None:
    """Return when a process is dead; it may be a zombie of init's for a moment."""
    while True:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: ASYNC230  # no wait
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        await trio.lowlevel.checkpoint()


async def test_a_child_whose_user_is_cancelled_is_gone_soon() -> None:
    argv = program("hello(); sys.stdin.read()")
    with trio.fail_after(5), trio.CancelScope() as scope:
        async with open_client(argv, ignore_line):
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught


def test_the_servers_command_imports_nothing_of_the_current_folder() -> None:
    argv = server_argv(["--log-level", "info"])
    assert argv == [sys.executable, "-P", "-m", "vscodelm", "--log-level", "info"]
