"""`vscodelm doctor` as a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import trio
from click.testing import CliRunner

from bridge.models import Catalogue, parse_catalogue
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec
from tests.fakes.acp_agents import child_program
from tests.fakes.waiting import until
from tests.vscodelm.registry.entries import BINARY, NPX, index_of
from vscodelm.cli import main
from vscodelm.doctor.command import SubjectError, subject_of, subject_of_command
from vscodelm.registry.local import Registry

PATIENCE = 60.0
DOCTOR = (sys.executable, "-m", "vscodelm", "doctor")


async def doctor(*arguments: str, folder: Path) -> tuple[int, str, str]:
    env = {**os.environ, "VSCODELM_CACHE_DIR": str(folder)}
    with trio.fail_after(PATIENCE):
        ended = await trio.run_process(
            [*DOCTOR, *arguments], capture_stdout=True, capture_stderr=True, check=False, env=env
        )
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


@pytest.mark.slow
async def test_a_healthy_agent_is_status_0(tmp_path: Path) -> None:
    async with child_program({}) as child:
        spec = child.spec()
        status, out, err = await doctor(
            "--prompt", "Hi", "--", spec.command, *spec.args, folder=tmp_path
        )
    assert (status, err) == (0, "")
    steps = [line.split()[1] for line in out.splitlines() if line.startswith("ok ")]
    assert steps == [
        *("command", "process", "initialize", "session/new", "choices", "prompt", "end"),
    ]
    assert out.endswith(" can be used.\n")


@pytest.mark.slow
async def test_a_sick_agent_is_status_1_and_json_tells_why(tmp_path: Path) -> None:
    async with child_program({"start": [{"stderr": "no way\n"}, {"exit": 4}]}) as child:
        spec = child.spec()
        status, out, err = await doctor("--json", "--", spec.command, *spec.args, folder=tmp_path)
    assert (status, err) == (1, "")
    told = json.loads(out)
    assert told["usable"] is False
    assert told["findings"][-1]["step"] == "initialize"
    assert told["findings"][-1]["stderr"] == "no way"


@pytest.mark.slow
async def test_a_model_of_the_configuration_is_examined(tmp_path: Path) -> None:
    async with child_program({"lingers": False}) as child:
        spec = child.spec()
        config = tmp_path / "config.toml"
        agent = f'{{ name = "x", command = "{spec.command}", args = {json.dumps(spec.args)} }}'
        config.write_text(f'[[models]]\nid = "mine"\nagent = {{ acp = {agent} }}\n')
        status, out, _ = await doctor("mine", "--config", str(config), folder=tmp_path)
    assert status == 0
    assert "mine can be used." in out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_agent_and_all_that_it_started(
    number: signal.Signals, tmp_path: Path
) -> None:
    script = {"on": {"initialize": [{"child": 1000}, {"hang": True}]}}
    async with child_program(script) as child:
        spec = child.spec()
        env = {**os.environ, "VSCODELM_CACHE_DIR": str(tmp_path)}
        with trio.fail_after(PATIENCE):
            process = await trio.lowlevel.open_process(
                [*DOCTOR, "--", spec.command, *spec.args],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=env,
                start_new_session=True,
            )
            await child.hears("initialize")
            await until(lambda: len(child.living) == 2)
            os.killpg(process.pid, number)
            assert await process.wait() == 128 + number
        assert child.living == []


def test_eliza_is_always_well(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        main, ["doctor", "eliza", "--prompt", "hello", "--cache-dir", str(tmp_path)]
    )
    assert result.exit_code == 0
    assert "Eliza runs in this process" in result.output
    assert "it said" in result.output
    alone = CliRunner().invoke(main, ["doctor", "eliza", "--json"])
    assert alone.exit_code == 0
    assert len(json.loads(alone.output)["findings"]) == 1


def test_an_endpoint_is_asked_if_there_is_something_to_ask(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    agent = '{ open_responses = { baseUrl = "http://127.0.0.1:1", model = "m", retries = 0 } }'
    config.write_text(f'[[models]]\nid = "local"\nagent = {agent}\n')
    alone = CliRunner().invoke(main, ["--config", str(config), "doctor", "local"])
    assert alone.exit_code == 0
    assert "--prompt sends it a message" in " ".join(alone.output.split())
    asked = CliRunner().invoke(
        main, ["--config", str(config), "doctor", "local", "--prompt", "hello"]
    )
    assert asked.exit_code == 1
    assert "can't be reached" in " ".join(asked.output.split())


def test_nobody_of_that_name_is_an_error_of_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "nobody", "--cache-dir", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: There is no model 'nobody'")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["--"], ["eliza", "--", "x"], ["a", "b"], ["eliza", "--timeout", "0"]],
)
def test_one_agent_is_named_in_one_way(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, ["doctor", *arguments])
    assert result.exit_code == 2
    assert "Usage: " in result.output


def test_the_help_tells_how_a_command_is_given() -> None:
    result = CliRunner().invoke(main, ["doctor", "--help"])
    assert "AGENT | -- COMMAND" in result.output


@pytest.mark.slow
async def test_a_report_has_no_secret_of_the_agent(tmp_path: Path) -> None:
    script = "import sys; print('I have', *sys.argv, file=sys.stderr); sys.exit(4)"
    command = (sys.executable, "-c", script, "--api-key=hunter22", "--token", "hunter23")
    for options in ((), ("--json",)):
        status, out, err = await doctor(*options, "--", *command, folder=tmp_path)
        assert (status, err) == (1, "")
        assert "I have" in out
        assert "hunter" not in out


CATALOGUE = parse_catalogue("""
[[models]]
id = "mine"
agent = { acp = { name = "it", command = "it-acp" } }
[[models]]
id = "older"
agent = { mcp_server = { name = "it", command = "it-acp" } }
[[models]]
id = "local"
agent = { open_responses = { baseUrl = "http://127.0.0.1:1", model = "m" } }
[[models]]
id = "parrot-acp"
agent = { eliza = {} }
""")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Give a registry that has a package and a program."""
    stored = {"url": "u", "fetched_at": 1.0, "index": msgspec.Raw(index_of(NPX, BINARY))}
    (tmp_path / "registry.json").write_bytes(msgspec.json.encode(stored))
    return Registry(tmp_path, "https://example.org", "linux-x86_64", lambda _: True)


def test_a_model_of_the_configuration_comes_first(registry: Registry) -> None:
    for name in ("mine", "older"):
        assert subject_of(name, CATALOGUE, registry).agent == McpServerSpec("it", "it-acp")
    assert subject_of("parrot-acp", CATALOGUE, registry).agent == ElizaSpec()
    assert isinstance(subject_of("local", CATALOGUE, registry).agent, OpenResponsesSpec)


def test_then_an_agent_of_the_registry(registry: Registry) -> None:
    agent = subject_of("parrot-acp", Catalogue(), registry).agent
    assert isinstance(agent, McpServerSpec)
    assert agent.command == "npx"
    goose = subject_of("goose", Catalogue(), registry)
    assert goose.missing == "It isn't installed. Run `vscodelm agents install goose`."


def test_whoever_is_nowhere_is_told_whom_there_is(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match=r"Did you mean mine\? The registry has no agent"):
        subject_of("mina", CATALOGUE, registry)
    nowhere = Registry(tmp_path / "new", "https://example.org")
    with pytest.raises(SubjectError, match=r"no model 'goose' .* never fetched"):
        subject_of("goose", CATALOGUE, nowhere)
    (tmp_path / "registry.json").write_text("{")
    with pytest.raises(SubjectError, match="can't be used"):
        subject_of("goose", CATALOGUE, registry)


def test_a_command_is_called_by_what_it_starts() -> None:
    def name(*command: str) -> str:
        return subject_of_command(command).name

    assert name("it", "--acp", "x y") == "it"
    assert name("/opt/bin/it") == "it"
    assert name("npx", "-y", "@birds/parrot@1.2.3", "--acp") == "parrot@1.2.3"
    assert name("/usr/bin/node", "/opt/agent.js") == "agent.js"
    assert name("npx", "--version") == "npx"
    subject = subject_of_command(("/opt/it", "--acp", "x y"))
    assert subject.agent == McpServerSpec("it", "/opt/it", ("--acp", "x y"))
