"""The subprocess as an editor has it: a chat, its end, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from bridge.stdio import PIPE
from tests.e2e.process import COMMAND, PATIENCE, run, started
from tests.fakes.editor import ELIZA, JSON, Chat, FakeEditor, user

if sys.platform == "linux":
    import fcntl

no_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


async def test_a_chat_of_two_turns() -> None:
    async with started() as process:
        chat = Chat(process.editor)
        first = await chat.say("My computer makes me nervous.")
        second = await chat.say("Why do you ask?")
        stats = await process.editor.call("lm/stats")
    assert first.text == "Do computers worry you?"
    assert second.text == "What makes you ask?"
    assert stats["matchesByRule"] == {"extends": 1}
    assert process.stderr == b""


async def test_the_answer_ends_when_the_input_does() -> None:
    async with started() as process:
        hung = await Chat(process.editor).ask("!hang").shows("me.")
        process.editor.close()
        assert await process.exits() == 0
        assert hung.result == {}
        assert hung.text.endswith("me.")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe's size is what it is")
async def test_a_pipe_that_it_reads_from_holds_much() -> None:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    with trio.fail_after(PATIENCE):
        process = await trio.lowlevel.open_process(
            COMMAND, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        os.write(sink, b'{"jsonrpc":"2.0","id":1,"method":"lm/stats"}\n')
        assert await process.stdout.receive_some()
        size = fcntl.fcntl(sink, fcntl.F_GETPIPE_SZ)
        os.close(source)
        os.close(sink)
        await process.wait()
    assert size == PIPE


@no_signals
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
async def test_a_signal_settles_what_is_open_and_shows_in_the_status(number: str) -> None:
    signum = signal.Signals[number]
    async with started(status=128 + signum) as process:
        hung = await Chat(process.editor).ask("!hang").shows("me.")
        process.it.send_signal(signum)
        await process.exits()
        assert hung.result == {}
    assert process.stderr == b""


async def test_a_client_that_reads_late_gets_everything() -> None:
    async with started() as process:
        process.editor.stop_reading()
        long = Chat(process.editor).ask("!long 20000")
        later = [
            process.editor.request("lm/provideTokenCount", {"modelId": "eliza", "text": "x " * i})
            for i in range(1000)
        ]
        process.editor.go_on_reading()
        await long.settled()
        assert len(long.text.split()) >= 20000
        for request in later:
            await request.settled()


async def test_a_client_that_reads_late_can_still_cancel() -> None:
    async with started() as process:
        process.editor.stop_reading()
        chat = Chat(process.editor)
        long = chat.ask("!long 5000000")
        process.editor.cancel(long)
        process.editor.go_on_reading()
        await long.settled()
        chat.keep(long)
        assert len(long.parts) < 5_000_000
        assert (await chat.say("I am back.")).text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
async def test_what_a_client_does_not_read_does_not_fill_the_memory() -> None:
    def peak() -> int:
        status = Path(f"/proc/{process.it.pid}/status").read_text()
        (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        return int(kilobytes)

    async with started() as process:
        await Chat(process.editor).say("Hello")
        before = peak()
        long = await Chat(process.editor).ask("!long 300000").settled()
        assert len(long.text.split()) >= 300_000
        # it all is more than 30 MB on the wire, and the canonical answer a few
        assert peak() - before < 30_000


async def test_a_client_that_reads_no_more_ends_the_process() -> None:
    process = await trio.lowlevel.open_process([*COMMAND], stdin=-1, stdout=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    line: JSON = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "lm/provideLanguageModelChatResponse",
        "params": {"modelId": "eliza", "messages": [user("!long 100000")], "agent": ELIZA},
    }
    with trio.fail_after(PATIENCE):
        await process.stdin.send_all(json.dumps(line).encode() + b"\n")
        await process.stdout.receive_some(1)
        await process.stdout.aclose()
        assert await process.wait() == 0


async def test_regular_files_may_be_input_and_output(tmp_path: Path) -> None:
    """Each request is answered, with what was ready when the input ended."""
    to_process, editor_writes = trio.testing.memory_stream_one_way_pair()
    from_process, source = trio.testing.memory_stream_one_way_pair()
    editor = FakeEditor(source, to_process, patience=PATIENCE)
    requests = [editor.initialize(), editor.chat([user("Hello")]), editor.request("lm/stats")]
    editor.close()
    input_, output = tmp_path / "input", tmp_path / "output"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(editor.run)
        with trio.fail_after(PATIENCE):
            async for chunk in editor_writes:
                input_.write_bytes((input_.read_bytes() if input_.exists() else b"") + chunk)
            with input_.open("rb") as stdin, output.open("wb") as stdout:
                await trio.run_process([*COMMAND], stdin=stdin, stdout=stdout)
            await from_process.send_all(output.read_bytes())
            await from_process.aclose()
            await editor.has_ended.wait()
    assert all("result" in (request.reply or {}) for request in requests)


NOISY = """
import os, subprocess, sys
from agents.eliza.agent import ElizaSession
from vscodelm.cli import main

run = ElizaSession.run

def noisy(self, prompt):
    assert sys.stdin.read() == ""
    print("stray print", flush=True)
    os.write(1, b"stray write\\n")
    subprocess.run([sys.executable, "-c", "import sys; print('stray child', sys.stdin.read())"])
    return run(self, prompt)

ElizaSession.run = noisy
main([])
"""


async def test_nothing_else_in_the_process_or_its_children_reaches_the_wire() -> None:
    async with started(command=(sys.executable, "-c", NOISY)) as process:
        assert (await Chat(process.editor).say("Hello")).text
    for stray in (b"stray print", b"stray write", b"stray child"):
        assert stray in process.stderr


# Options.


async def test_the_version_is_told() -> None:
    done = await run("--version")
    assert done.returncode == 0
    assert re.fullmatch(rb"vscodelm, version \d+\.\d+\.\S+\r?\n", done.stdout)


CONFIG = """
[[models]]
id = "calm"
name = "Calm Eliza"
agent = { eliza = { deterministic = true } }
"""


@pytest.mark.parametrize("how", ["option", "variable"])
async def test_a_configuration_adds_models_and_their_agents(tmp_path: Path, how: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    option = ["--config", str(config)] if how == "option" else []
    env = {"VSCODELM_CONFIG": str(config)} if how == "variable" else {}
    async with started(*option, env=env) as process:
        found: Any = await process.editor.call("lm/provideLanguageModelChatInformation")
        assert [model["id"] for model in found["models"]] == ["eliza", "calm"]
        assert found["models"][1]["name"] == "Calm Eliza"
        answer = await process.editor.chat([user("Hello")], agent=None, model="calm").settled()
        assert answer.text == "How do you do. What brings you here?"


WRONG_CONFIGS = {
    "[[models]": "",
    "[[models]]\nid = 1": "`$.models[0].id`",
    '[[models]]\nid = "x"': "`agent`",
    '[[models]]\nid = "x"\nagent = { nobody = {} }': "`$.models[0].agent`",
    "[[models]]\nid = 'x'\nagent = { eliza = {} }\ncolour = 'red'": "colour",
}


@pytest.mark.parametrize("toml", WRONG_CONFIGS)
async def test_a_wrong_configuration_is_an_error_of_one_line(tmp_path: Path, toml: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(toml)
    done = await run("--config", str(config))
    assert done.returncode == 1
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert str(config) in line
    assert WRONG_CONFIGS[toml] in line


@pytest.mark.parametrize("how", ["option", "variable"])
async def test_a_configuration_that_is_not_there_is_an_error_of_one_line(
    tmp_path: Path, how: str
) -> None:
    config = str(tmp_path / "nowhere.toml")
    done = await (
        run("--config", config) if how == "option" else run(env={"VSCODELM_CONFIG": config})
    )
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert config in line


async def test_a_trace_records_the_wire_without_its_secrets(tmp_path: Path) -> None:
    secrets = {f"hunter{i}" for i in range(4)}
    agents: list[JSON] = [
        {"mcp_server": {"name": "x", "command": "x", "env": [{"name": "A", "value": "hunter0"}]}},
        {
            "open_responses": {
                "baseUrl": "http://localhost",
                "model": "x",
                "headers": {"x-key": "hunter1"},
                "apiKey": "hunter2",
            }
        },
    ]
    async with started("--trace-dir", str(tmp_path / "traces")) as process:
        for agent in agents:
            await process.editor.chat([user("Hello")], agent=agent).settled()
        await process.editor.chat(
            [user("Hello")], options={"modelOptions": {"authorization": "hunter3"}}
        ).settled()
    (file,) = (tmp_path / "traces").iterdir()
    content = file.read_text()
    records: list[Any] = [json.loads(line) for line in content.splitlines()]
    wire = [record for record in records if "event" not in record]
    assert {record["direction"] for record in wire} == {"in", "out"}
    editors = [record for record in wire if "peer" not in record]
    assert [r["message"]["id"] for r in editors if r["direction"] == "in"] == [1, 2, 3]
    assert [r["message"] for r in editors if r["direction"] == "out"] == process.editor.lines
    assert {record["peer"] for record in wire if "peer" in record} == {"localhost"}
    assert not [secret for secret in secrets if secret in content]


async def test_a_folder_for_traces_that_cannot_be_made_is_one_line_in_the_log(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    done = await run("--trace-dir", str(tmp_path / "file" / "traces"))
    assert done.returncode == 0
    (line,) = done.stderr.decode().splitlines()
    assert str(tmp_path / "file") in line


async def test_the_log_goes_to_stderr_a_line_a_decision() -> None:
    async with started("--log-level", "info") as process:
        await Chat(process.editor).say("a secret")
    assert b"request=1 conversation=1 turn=1 new new=1" in process.stderr
    assert b"a secret" not in process.stderr
