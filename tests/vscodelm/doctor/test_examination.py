"""Examinations of the scripted agent, as a real child process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from actors.trace import open_trace
from agents.acp.transport import subprocess as process
from agents.launchers import NODE, UV
from bridge.fixes import ChangeSettings, OpenPage, RunCommand, SetKey
from bridge.redact import HIDDEN
from bridge.wire import EnvVariable, McpServerSpec
from tests.fakes.acp_agents import ChildAgent, child_program, until
from vscodelm.doctor.examination import Examination
from vscodelm.doctor.findings import ExaminationStep, Finding

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
PATIENCE = 60.0
SETTINGS = ChangeSettings("Open Settings")


@attrs.define
class Told:
    """What an examination told."""

    findings: list[Finding] = attrs.field(factory=list[Finding])
    begun: list[ExaminationStep] = attrs.field(factory=list[ExaminationStep])

    @property
    def states(self) -> list[tuple[str, str]]:
        return [(finding.step, finding.state) for finding in self.findings]

    def of(self, step: ExaminationStep) -> Finding:
        (finding,) = (finding for finding in self.findings if finding.step == step)
        return finding

    async def examine(self, spec: McpServerSpec, **options: Any) -> None:
        with trio.fail_after(PATIENCE):
            await Examination(spec, self.begun.append, self.findings.append, **options).run()


async def examined(script: JSON, **options: Any) -> tuple[Told, ChildAgent]:
    """Return what is told of an agent; none of its processes is left then."""
    told = Told()
    async with child_program(script) as child:
        await told.examine(child.spec(), **options)
        heard = child.heard
        assert child.living == []
    assert [entry["fault"] for entry in heard if "fault" in entry] == []
    return told, child


HEALTHY = [
    ("command", "ok"),
    ("process", "ok"),
    ("initialize", "ok"),
    ("session/new", "ok"),
    ("choices", "ok"),
]


async def test_a_healthy_agent_passes_every_step() -> None:
    told, _ = await examined({})
    assert told.states == [*HEALTHY, ("end", "ok")]
    assert told.begun == ["command", "process", "initialize", "session/new", "end"]
    assert told.of("command").summary == sys.executable
    assert dict(told.of("command").facts)["works in"] == str(Path.cwd())
    assert told.of("initialize").summary == "scripted 1"
    assert told.of("initialize").data["agentCapabilities"]["loadSession"] is True
    assert dict(told.of("initialize").facts)["prompts"] == "text, links, images, files"
    assert told.of("choices").summary == "it has no choice of model or mode"
    assert told.of("end").data == {"byItself": True, "leftBehind": False}
    for step in ("process", "initialize", "session/new", "end"):
        assert told.of(step).seconds is not None


async def test_what_a_session_offers_is_told() -> None:
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}
    told, _ = await examined({"session": {"modes": modes}})
    assert told.of("choices").facts == (("mode", "a"),)


async def test_the_mode_of_the_settings_is_told() -> None:
    offered = [{"id": name, "name": name} for name in ("auto", "default")]
    script = {
        "agent": {"agentInfo": {"name": "qwen-code", "version": "1"}},
        "session": {"modes": {"currentModeId": "auto", "availableModes": offered}},
    }
    told, _ = await examined(script)
    assert dict(told.of("choices").facts)["asks"].endswith("with `ask` vscodelm selects default")
    told, _ = await examined(script, mode="auto")
    assert "of your settings, which acts" in dict(told.of("choices").facts)["asks"]


async def test_a_turn_is_timed_and_what_was_said_is_shown() -> None:
    script = {"turns": [[{"think": "hm"}, {"say": "Hello "}, {"say": "there"}]]}
    told, _ = await examined(script, prompt="Hi")
    assert told.states == [*HEALTHY, ("prompt", "ok"), ("end", "ok")]
    turn = told.of("prompt")
    assert dict(turn.facts)["it said"] == "Hello there"
    assert turn.seconds is not None
    assert turn.data["stopReason"] == "end_turn"
    assert 0 <= turn.data["firstTextSeconds"] <= turn.seconds


async def test_whatever_a_turn_asks_for_is_denied() -> None:
    ask = {"ask": {"toolCallId": "1", "title": "rm -rf /", "kind": "execute"}}
    told, _ = await examined({"turns": [[ask, {"await": True}, {"outcomes": True}]]}, prompt="Hi")
    assert "denied" in dict(told.of("prompt").facts)["it said"]


@pytest.mark.parametrize("reason", ["refusal", "max_tokens"])
async def test_a_turn_that_stops_early_is_noted(reason: str) -> None:
    told, _ = await examined({"turns": [[{"stop": reason}]]}, prompt="Hi")
    assert told.of("prompt").state == "note"
    assert reason in told.of("prompt").summary


async def test_a_turn_that_fails_is_told_with_stderr() -> None:
    error = {"error": {"code": -32603, "message": "no api key"}}
    script = {"turns": [[{"stderr": "set API_KEY\n"}, error]]}
    told, _ = await examined(script, prompt="Hi")
    assert told.states == [*HEALTHY, ("prompt", "failed"), ("end", "ok")]
    assert "no api key" in told.of("prompt").summary
    assert told.of("prompt").stderr == "set API_KEY"


async def test_a_turn_that_does_not_end_is_given_up() -> None:
    script = {"turns": [[{"say": "Well"}, {"hang": True}]]}
    told, _ = await examined(script, prompt="Hi", seconds=1.5)
    turn = told.of("prompt")
    assert (turn.state, dict(turn.facts)["it said"]) == ("failed", "Well")
    assert "--timeout" in turn.advice


async def test_an_agent_that_crashes_in_a_turn_is_told_with_stderr() -> None:
    script = {"turns": [[{"stderr": "segfault\n"}, {"exit": 3}]]}
    told, _ = await examined(script, prompt="Hi")
    assert told.states == [*HEALTHY, ("prompt", "failed")]
    assert "status 3" in told.of("prompt").summary
    assert told.of("prompt").stderr == "segfault"


# What goes wrong before.


async def test_a_command_that_is_not_there_is_told_with_what_to_do() -> None:
    told = Told()
    await told.examine(McpServerSpec("it", "no-such-command-here", ("--acp", "--token=x")))
    assert told.states == [("command", "failed")]
    assert "PATH" in told.of("command").advice
    assert told.of("command").fixes == (SETTINGS,)
    assert (
        dict(told.of("command").facts)["runs"] == f"no-such-command-here --acp '--token={HIDDEN}'"
    )


async def test_a_definition_that_no_system_takes_is_told() -> None:
    told = Told()
    await told.examine(McpServerSpec("it", "a\x00b"))
    assert told.states == [("command", "failed")]
    assert "`command`" in told.of("command").summary
    assert told.of("command").fixes == (SETTINGS,)


@pytest.mark.parametrize(
    ("command", "advice", "page"), [("npx", "Node.js", NODE), ("uvx", "uv", UV)]
)
async def test_a_launcher_that_is_not_there_can_be_had(
    command: str, advice: str, page: OpenPage, tmp_path: Path
) -> None:
    told = Told()
    spec = McpServerSpec("it", command, (), (EnvVariable("PATH", str(tmp_path)),))
    await told.examine(spec)
    assert told.states == [("command", "failed")]
    assert advice in told.of("command").advice
    assert told.of("command").fixes == (page, SETTINGS)


async def test_the_advice_of_who_knows_better_counts() -> None:
    told = Told()
    await told.examine(McpServerSpec("it", "/nowhere/at/all"), missing="Install it.")
    assert told.of("command").advice == "Install it."
    assert told.of("command").fixes == ()


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = Told()
    spec = McpServerSpec("it", sys.executable, (), (), str(tmp_path / "missing"))
    await told.examine(spec)
    assert told.states == [("command", "ok"), ("process", "failed")]
    assert "missing" in told.of("process").summary


async def test_a_command_is_looked_for_where_the_agent_works(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    told = Told()
    await told.examine(McpServerSpec("it", "./agent", (), (), str(tmp_path)))
    assert told.states[0] == ("command", "ok")
    bare = Told()
    await bare.examine(McpServerSpec("it", "agent", (), (), str(tmp_path)))
    assert bare.states == [("command", "failed")]


@pytest.mark.parametrize("ends", [{"exit": 0}, {"hang": True}])
async def test_an_agent_that_fails_at_its_start_is_told_with_what_it_wrote_on_stdout(
    ends: JSON,
) -> None:
    """As kimi-cli 1.52 does. Its words are on stdout alone, and its status is 0."""
    words = "old-agent is no longer maintained."
    script = {"start": [{"garbage": f"{words}\n"}], "on": {"initialize": [ends]}}
    told, _ = await examined(script, seconds=5)
    assert told.of("initialize").state == "failed"
    assert f'It said: "{words}"' in told.of("initialize").summary


async def test_an_agent_that_ends_before_it_is_ready_is_told_with_stderr() -> None:
    told, _ = await examined({"start": [{"stderr": "node is too old\n"}, {"exit": 7}]})
    assert told.states == [("command", "ok"), ("process", "ok"), ("initialize", "failed")]
    assert "status 7" in told.of("initialize").summary
    assert told.of("initialize").stderr == "node is too old"
    assert told.of("initialize").fixes == (NODE,)


async def test_another_version_of_the_protocol_is_told() -> None:
    told, _ = await examined({"agent": {"protocolVersion": 2}})
    assert told.states[-2:] == [("initialize", "failed"), ("end", "ok")]
    assert "version 1" in told.of("initialize").summary


async def test_an_agent_that_does_not_introduce_itself_is_given_up() -> None:
    script = {"on": {"initialize": [{"stderr": "waiting for input\n"}, {"hang": True}]}}
    told, _ = await examined(script, seconds=1.5)
    assert told.states[-2:] == [("initialize", "failed"), ("end", "ok")]
    assert "within 1.5 seconds" in told.of("initialize").summary
    assert told.of("initialize").stderr == "waiting for input"
    assert "--timeout" in told.of("initialize").advice


async def test_a_login_that_is_needed_is_told_with_its_command() -> None:
    method = {"id": "t", "name": "Terminal", "type": "terminal", "args": ["login"]}
    script = {"agent": {"authMethods": [method]}, "login_needed": ["session/new"]}
    told, _ = await examined(script)
    assert told.states[-2:] == [("session/new", "failed"), ("end", "ok")]
    finding = told.of("session/new")
    assert "needs a login" in finding.summary
    assert "login`" in finding.summary
    assert finding.data["kind"] == "NoPermissions"
    (fix,) = finding.fixes
    assert isinstance(fix, RunCommand)
    assert (fix.title, fix.command) == ("Log In: Terminal", sys.executable)
    assert fix.args[-1] == "login"


async def test_a_login_that_a_turn_needs_has_its_fix() -> None:
    error = {"error": {"code": -32000, "message": "log in"}}
    method = {"id": "k", "name": "Key", "type": "env_var", "vars": [{"name": "NO_SUCH_KEY"}]}
    script = {"agent": {"authMethods": [method]}, "turns": [[error]]}
    told, _ = await examined(script, prompt="Hi")
    assert told.of("prompt").fixes == (SetKey("Set NO_SUCH_KEY...", ("NO_SUCH_KEY",)),)
    assert "`NO_SUCH_KEY`" in told.of("prompt").summary


async def test_an_agent_that_opens_no_session_is_given_up() -> None:
    told, _ = await examined({"on": {"session/new": [{"hang": True}]}}, seconds=1.5)
    assert told.states[-2:] == [("session/new", "failed"), ("end", "ok")]
    assert "within 1.5 seconds" in told.of("session/new").summary


# How it ends.


async def test_an_agent_that_leaves_a_child_behind_is_noted_and_the_child_ended() -> None:
    told, _ = await examined({"start": [{"child": 1000}]})
    assert told.states == [*HEALTHY, ("end", "note")]
    assert told.of("end").data == {"byItself": True, "leftBehind": True}


async def test_what_a_crash_leaves_behind_is_noted_too() -> None:
    told, _ = await examined({"start": [{"child": 1000}, {"exit": 1}]})
    assert told.states[2:] == [("initialize", "failed"), ("end", "note")]
    assert told.of("end").data["leftBehind"] is True


async def test_an_agent_that_does_not_heed_the_end_of_its_input_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "LEAVING_SECONDS", 0.2)
    told, _ = await examined({"lingers": True})
    assert told.states == [*HEALTHY, ("end", "note")]
    assert told.of("end").data == {"byItself": False, "leftBehind": False}


@pytest.mark.parametrize("at", ["initialize", "session/new", "session/prompt"])
async def test_a_cancel_ends_the_agent_whatever_it_does(at: str) -> None:
    hang = [{"ignore": ["SIGTERM"]}, {"child": 1000}, {"deaf": True}]
    script = {"on": {at: hang}, "otherwise": hang}
    told = Told()
    async with child_program(script) as child:
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lambda: told.examine(child.spec(), prompt="Hi"))
                await child.hears(at)
                nursery.cancel_scope.cancel()
        await until(lambda: child.living == [])
    assert "end" not in [step for step, _ in told.states]


async def test_known_facts_and_the_environment_are_told_but_no_secrets(tmp_path: Path) -> None:
    told = Told()
    program = tmp_path / "claude-agent-acp"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    spec = McpServerSpec("it", str(program), (), (EnvVariable("API_KEY", "hush"),))
    await told.examine(spec)
    facts = dict(told.of("command").facts)
    assert facts["set for it"] == "ENABLE_TOOL_SEARCH=false"
    assert facts["configured"] == "API_KEY"
    assert "hush" not in str(told.findings)


async def test_what_is_configured_is_not_said_to_be_set(tmp_path: Path) -> None:
    told = Told()
    own = (EnvVariable("ENABLE_TOOL_SEARCH", "true"),)
    await told.examine(McpServerSpec("it", str(tmp_path / "claude-agent-acp"), (), own))
    assert "set for it" not in dict(told.of("command").facts)


async def test_the_wire_can_be_traced(tmp_path: Path) -> None:
    trace = open_trace(tmp_path, "doctor")
    await examined({"start": [{"garbage": "no json\n"}]}, prompt="Hi", trace=trace)
    trace.close()
    lines = [json.loads(line) for line in (tmp_path / "doctor.jsonl").read_text().splitlines()]
    asked = [line["message"].get("method") for line in lines if line["direction"] == "out"]
    assert asked[:3] == ["initialize", "session/new", "session/prompt"]
    heard = [line for line in lines if line["direction"] == "in"]
    assert (heard[0]["message"], heard[0]["unreadable"]) == (None, len("no json"))
    assert heard[1]["message"]["result"]["protocolVersion"] == 1
