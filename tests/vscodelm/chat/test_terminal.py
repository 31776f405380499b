"""The chat as a real process on pipes, with its server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.fakes import npx_program
from tests.fakes.groups import group_members
from vscodelm.chat.child import server_argv

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


@pytest.mark.skipif(sys.platform == "win32", reason="the launcher is a shell script")
async def test_a_download_is_shown_and_ctrl_c_ends_it_with_all_its_processes(
    tmp_path: Path,
) -> None:
    npx = tmp_path / "npx"
    npx.write_text(f"#!/bin/sh\nexec {sys.executable} {npx_program.__file__} {tmp_path} -- $@\n")
    npx.chmod(0o755)
    config = tmp_path / "models.toml"
    cache = str(tmp_path / "cache")
    config.write_text(
        "[[models]]\nid = 'endless'\n[models.agent.acp]\n"
        f"name = 'e'\ncommand = '{npx}'\nargs = ['-y', 'endless-agent@1.0.0']\n"
        f"env = [{{ name = 'npm_config_cache', value = '{cache}' }}]\n"
    )
    pipe = subprocess.PIPE
    with trio.fail_after(20):
        process = await trio.lowlevel.open_process(
            [*CHAT, "--config", str(config), "--model", "endless"],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        async with process.stdin, process.stdout, process.stderr:
            await process.stdin.send_all(b"hello\n")
            notes = b""
            while not notes.endswith(b" ...\n"):
                notes += await process.stderr.receive_some()
            assert notes == b"Fetching endless-agent 1.0.0 ...\n"
            fetching = {int(line) for line in (tmp_path / "fetching").read_text().split()}
            group = os.getpgid(min(fetching))
            assert fetching <= set(group_members(group))
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
            notes = b""
            while not notes.endswith(b"\n"):
                notes += await process.stderr.receive_some()
            assert notes.startswith(b"Stopped.")
            await process.stdin.aclose()
            rest = b"".join([bytes(chunk) async for chunk in process.stdout])
        assert (await process.wait(), rest) == (0, b"")
    assert not group_members(group)
