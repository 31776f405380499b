"""An agent's child process. These start real ones: no clock but the machine's, and no sleeps."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path

import pytest
import trio

from agents.acp.transport import subprocess as process_module
from agents.acp.transport.subprocess import ChildProcess, open_process
from agents.base import AgentError
from bridge.wire import EnvVariable, McpServerSpec
from tests.fakes.groups import group_is_gone, group_members

PATIENCE = 30.0

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


def python(code: str, *args: str, cwd: str | None = None, **env: str) -> McpServerSpec:
    variables = tuple(EnvVariable(name, value) for name, value in env.items())
    return McpServerSpec("agent", sys.executable, ("-c", code, *args), variables, cwd)


async def all_of(child: ChildProcess) -> str:
    """Return everything that a child says until it ends."""
    with trio.fail_after(PATIENCE):
        return b"".join([bytes(chunk) async for chunk in child.source]).decode()


async def line_of(child: ChildProcess) -> str:
    said = b""
    with trio.fail_after(PATIENCE):
        while not said.endswith(b"\n"):
            chunk = await child.source.receive_some()
            assert chunk, "the child ended"
            said += chunk
    return said.decode().strip()


# Starting.


async def test_a_child_is_spoken_with_over_its_stdin_and_stdout() -> None:
    async with open_process(python(ECHO)) as child:
        await child.sink.send_all(b"hello\n")
        assert await line_of(child) == "hello"
    assert child.process.returncode == 0
    assert group_is_gone(child.pid)


@pytest.mark.checklist(6)
async def test_an_agent_is_started_without_a_shell() -> None:
    """Point 6: argv, never through a shell."""
    code = "import sys; print(sys.argv[1:])"
    odd = ["$HOME", "a b", "; exit 3", "`id`", "*"]
    async with open_process(python(code, *odd)) as child:
        assert await all_of(child) == f"{odd}\n"


@pytest.mark.checklist(6)
async def test_the_environment_is_inherited_and_overlaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point 6: keys, proxies and certificates come from our environment."""
    for name in ("ONE", "TWO", "THREE"):
        monkeypatch.setenv(name, "ours")
    code = (
        "import os; print([os.environ[n] for n in ('ONE', 'TWO', 'THREE')], 'PATH' in os.environ)"
    )
    spec = python(code, THREE="its own")
    async with open_process(spec, {"TWO": "known", "THREE": "known"}) as child:
        assert await all_of(child) == "['ours', 'known', 'its own'] True\n"


async def test_an_agent_has_only_the_secrets_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ONE", "first")
    monkeypatch.setenv("TWO", "second")
    monkeypatch.setenv("VSCODELM_SECRETS", "ONE,TWO")
    code = "import os; print(os.environ.get('ONE'), os.environ.get('TWO'))"
    async with open_process(python(code, TWO="${secret:TWO}")) as child:
        assert await all_of(child) == "None second\n"


@pytest.mark.parametrize("given", [None, "absolute", "relative"])
@pytest.mark.checklist(6)
async def test_an_agent_works_in_an_absolute_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    """Point 6: an absolute cwd, from the definition or else ours."""
    monkeypatch.chdir(tmp_path)
    cwd = {None: None, "absolute": str(tmp_path), "relative": "."}[given]
    async with open_process(python("import os; print(os.getcwd())", cwd=cwd)) as child:
        assert await all_of(child) == f"{os.getcwd()}\n"
    assert os.path.isabs(process_module.working_directory(python("", cwd=cwd)))


@pytest.mark.checklist(4)
async def test_a_command_that_is_not_there_is_told_as_that() -> None:
    """Point 4: "command not found" is told apart from an agent that ended."""
    with pytest.raises(AgentError) as caught:
        async with open_process(McpServerSpec("it", "no-such-command-here")):
            pass
    assert caught.value.failure.kind == "NotFound"
    assert "no-such-command-here" in caught.value.failure.message


async def test_a_folder_that_is_not_there_is_told_as_that(tmp_path: Path) -> None:
    folder = str(tmp_path / "missing")
    with pytest.raises(AgentError) as caught:
        async with open_process(python(ECHO, cwd=folder)):
            pass
    assert folder in caught.value.failure.message


async def test_a_file_that_can_not_be_run_is_told_as_that(tmp_path: Path) -> None:
    file = tmp_path / "agent"
    file.write_text("no program")
    with pytest.raises(AgentError) as caught:
        async with open_process(McpServerSpec("it", str(file))):
            pass
    assert str(file) in caught.value.failure.message


# What it writes to stderr.


@pytest.mark.checklist(3)
async def test_a_child_that_logs_much_does_not_come_to_a_stop() -> None:
    """Point 3: stderr is drained always, into a bounded ring."""
    code = "import sys; sys.stderr.write('x' * 5_000_000 + '\\nlast words\\n'); print('done')"
    async with open_process(python(code)) as child:
        assert await all_of(child) == "done\n"
        with trio.fail_after(PATIENCE):
            exit_ = await child.exit()
    assert exit_.status == 0
    assert exit_.last_words.endswith("\nlast words")
    assert len(exit_.last_words) < 5_000


@pytest.mark.checklist(3)
async def test_stderr_is_logged_only_for_who_debugs(caplog: pytest.LogCaptureFixture) -> None:
    code = "import sys; sys.stderr.write('SECRET\\n')"
    async with open_process(python(code)) as child:
        await all_of(child)
    assert "SECRET" not in caplog.text
    with caplog.at_level(logging.DEBUG, "vscodelm.acp"):
        async with open_process(python(code)) as child:
            await all_of(child)
            await child.exit()
    assert "SECRET" in caplog.text


# Ending.


async def test_a_child_ends_with_its_input() -> None:
    """Point 1: closing stdin comes first, and nobody is signalled who heeds it."""
    code = f"{ECHO}\nsys.exit(7)"
    async with open_process(python(code)) as child:
        pass
    assert child.process.returncode == 7
    assert group_is_gone(child.pid)


@pytest.mark.checklist(1, 2)
async def test_a_child_that_does_not_heed_the_end_of_its_input_is_terminated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Point 2: stdin EOF ends not every agent."""
    monkeypatch.setattr(process_module, "LEAVING_SECONDS", 0.05)
    async with open_process(python("import time; print(flush=True); time.sleep(1000)")) as child:
        await line_of(child)
    assert child.process.returncode == -signal.SIGTERM
    assert group_is_gone(child.pid)


@pytest.mark.limit("agents.acp.transport.subprocess.LEAVING_SECONDS")
@pytest.mark.checklist(1)
async def test_a_child_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point 1: SIGKILL for the group comes last."""
    monkeypatch.setattr(process_module, "LEAVING_SECONDS", 0.05)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print(flush=True); time.sleep(1000)"
    )
    async with open_process(python(code)) as child:
        await line_of(child)
    assert child.process.returncode == -signal.SIGKILL
    assert group_is_gone(child.pid)


WRAPPER = """
import subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(1000)"])
{then}
"""


@pytest.mark.limit("agents.acp.transport.subprocess.ORPHAN_SECONDS")
@pytest.mark.parametrize(
    "then",
    ["sys.exit(3)", "sys.stdin.read()", "time.sleep(1000)"],
    ids=["gone already", "ends with its input", "stays"],
)
@pytest.mark.checklist(1)
async def test_what_a_launcher_started_ends_with_it(
    monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """Point 1: the whole group, because terminating a launcher alone leaves the agent behind."""
    monkeypatch.setattr(process_module, "LEAVING_SECONDS", 0.1)
    async with open_process(python(WRAPPER.format(then=then))) as child:
        await line_of(child)
        assert group_members(child.pid)
    assert child.process.returncode is not None
    assert group_is_gone(child.pid)


@pytest.mark.checklist(2)
async def test_the_end_of_a_child_is_seen_while_its_child_holds_the_pipes() -> None:
    """Point 2: descendants can hold stdout and stderr open; we wait for the process."""
    async with open_process(python(WRAPPER.format(then="sys.exit(3)"))) as child:
        with trio.fail_after(PATIENCE):
            await child.ended()
            assert (await child.exit()).status == 3
    assert group_is_gone(child.pid)


async def test_a_child_is_gone_when_the_block_is_cancelled() -> None:
    """Point 1: the end is shielded, so a cancel leaves no orphan."""
    started: list[ChildProcess] = []
    with trio.CancelScope() as scope:
        async with open_process(python(ECHO)) as child:
            started.append(child)
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert group_is_gone(started[0].pid)


async def test_a_child_is_gone_when_the_block_fails() -> None:
    started: list[ChildProcess] = []
    with pytest.RaisesGroup(ZeroDivisionError):
        async with open_process(python(ECHO)) as child:
            started.append(child)
            raise ZeroDivisionError
    assert group_is_gone(started[0].pid)


async def test_a_cancel_while_a_child_starts_leaves_none_behind(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); sys.stdin.read()"
    with trio.CancelScope() as scope:
        scope.cancel()
        async with open_process(python(code, str(mark))):
            await trio.lowlevel.checkpoint()
    assert not mark.exists() or group_is_gone(int(mark.read_text() or 0))


# On Windows.


def test_an_agent_on_windows_starts_with_the_line_that_its_program_needs() -> None:
    spec = McpServerSpec("it", "npx", ("-y", "an agent"))
    line = process_module.windows_line(spec, {"Path": "C:\\x"}, {r"C:\x\npx.cmd"}.__contains__)
    assert line.endswith(r'""C:\x\npx.cmd" -y "an agent""')


def test_an_agent_on_windows_is_refused_an_argument_that_would_be_changed() -> None:
    spec = McpServerSpec("it", r"C:\npx.cmd", ("--key=hunter2%",))
    with pytest.raises(AgentError) as caught:
        process_module.windows_line(spec, {}, {r"C:\npx.cmd"}.__contains__)
    assert "argument 1" in caught.value.failure.message
    assert "hunter2" not in caught.value.failure.message


def test_a_command_that_is_not_there_on_windows_is_told_as_that() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        process_module.windows_line(McpServerSpec("it", "npx"), {}, {"npx"}.__contains__)
    assert caught.value.filename == "npx"
