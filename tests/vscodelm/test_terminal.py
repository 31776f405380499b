"""The chat as a real process on pipes, with its server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import trio

from vscodelm.child import server_argv

CHAT = server_argv(["chat"])


async def run_chat(typed: bytes, *options: str) -> tuple[int, str, str]:
    """Return what a chat with these lines ends with and what it writes."""
    with trio.fail_after(20):
        ended = await trio.run_process(
            [*CHAT, *options],
            stdin=typed,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


async def test_a_piped_chat_answers_on_standard_output_and_ends_well() -> None:
    status, out, notes = await run_chat(b"hello\n!tool current_time {}")
    assert status == 0
    assert len(out.splitlines()) == 4, "an answer, and one with the tool's result"
    assert notes.startswith("-> current_time {}\n<- ")


async def test_a_chat_that_cannot_begin_says_why_in_one_line() -> None:
    status, out, notes = await run_chat(b"", "--config", "missing.toml")
    assert (status, out) == (1, "")
    assert notes.splitlines() == [notes.rstrip("\n")]
    assert notes.startswith("Error: vscodelm ended with status 1: missing.toml: ")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
async def test_ctrl_c_stops_the_answer_and_not_the_chat() -> None:
    pipe = subprocess.PIPE
    with trio.fail_after(20):
        process = await trio.lowlevel.open_process(
            CHAT, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        async with process.stdin, process.stdout, process.stderr:
            await process.stdin.send_all(b"!hang\n")
            said = b""
            while not said.endswith(b"stop me."):
                said += await process.stdout.receive_some()
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
            await process.stdin.send_all(b"hello\n")
            await process.stdin.aclose()
            rest = b"".join([bytes(chunk) async for chunk in process.stdout])
            notes = b"".join([bytes(chunk) async for chunk in process.stderr])
        assert await process.wait() == 0
    assert rest.count(b"\n") == 2, "the end of the stopped answer, and the other answer"
    assert notes.startswith(b"Stopped.")
