"""What a model is asked, and what ours says to it: no dialect, no I/O.

The scenario is picked by a word in the newest text of the user's and by whether results of tools
follow it, never by counting requests: agents make side calls of their own (a title, a warm-up), at
any time. A request that offers no tools is such a side call.

    RECALL          says every name that the user has given as "my name is NAME", oldest first
    ENDLESS         says something for ever
    PONDER          thinks before it speaks
    LOOK            says how many images it was shown
    FAIL(status)    fails with this status, again and again
    WRITE(path)     makes a file, by the agent's own tool that runs commands; for several, it is
                    called several times at once
    LINGER(path)    makes a file in the same way, by a command that then goes on for a while
    USE name {...}  a line of its own: calls the tool of that name, whatever an agent puts before
                    it; of `=name` the agent's own, of that very name. Several lines call their
                    tools at once; but what stands below a line THEN is called when all above it is
                    answered
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs

JSON = dict[str, Any]
Speaker: TypeAlias = Literal["system", "user", "assistant", "tool"]

_WORD = re.compile(r"\b(RECALL|ENDLESS|PONDER|LOOK|FAIL|WRITE|LINGER)\b(?:\((?P<of>[^)\s]+)\))?")
_USES = re.compile(r"^(?:(?:USE =?[\w-]+ \{.*\}|THEN)(?:\n|\Z))+", re.MULTILINE)
_THEN = "THEN\n"
_NAME = re.compile(r"\bmy name is (\w+)")
_CODE = "run_typescript"
_GROUP = re.compile(r"^- (mcp_\w+)$", re.MULTILINE)
"""A group of tools that code may call, as an agent tells of it."""
_RISK = "security_risk"
_WRITER = "write_file"
_LAST_SHELL = "terminal"
"""One agent asks before it writes a file with the one, but not before it does with the other."""
LINGERS = 25
"""Seconds for which a command goes on."""
_SHELLS = ("bash", "execute", "exec_command", "run_shell_command", "shell", "shell_command")


@attrs.frozen
class Said:
    """A message of the history that a model is given; images in base64."""

    speaker: Speaker
    text: str
    images: tuple[str, ...] = ()
    call_id: str = ""
    """Of which call it is the result; ids are in the order of the calls."""


@attrs.frozen
class Tool:
    """A tool that the model may call, with the schema of its parameters."""

    name: str
    parameters: JSON
    description: str = ""
    namespace: str = ""
    """The group that it is in, where a dialect has groups; a call names it, too."""

    @property
    def whole_name(self) -> str:
        """The name with the group's."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


@attrs.frozen
class Given:
    """All that a model is given with one request."""

    said: tuple[Said, ...]
    tools: tuple[Tool, ...]

    def texts(self, speaker: Speaker) -> str:
        """Return all that somebody has said, as one text."""
        return "\n".join(one.text for one in self.said if one.speaker == speaker)

    @property
    def images(self) -> list[str]:
        """Every image of the user's."""
        return [image for one in self.said for image in one.images]

    @property
    def names(self) -> list[str]:
        """Every name that the user has given, oldest first, each once."""
        return list(dict.fromkeys(_NAME.findall(self.texts("user"))))


# What a reply is made of.


@attrs.frozen
class Say:
    """Text."""

    text: str


@attrs.frozen
class Think:
    """Reasoning that the user may see."""

    text: str


@attrs.frozen
class Call:
    """A tool call."""

    name: str
    arguments: JSON
    namespace: str = ""


@attrs.frozen
class Forever:
    """Text without an end."""

    text: str


Step: TypeAlias = Say | Think | Call | Forever


@attrs.frozen
class Scenario:
    """What happens, and why: a reply, or none."""

    name: str
    steps: tuple[Step, ...]
    status: int = 200


def scenario_for(given: Given) -> Scenario:
    """Return what our model does with what it is given."""
    if not given.tools:
        return Scenario("side call", (Say("A title"),))
    results: list[str] = []
    for one in reversed(given.said):
        match one.speaker:
            case "tool":
                results.insert(0, one.text)
            case "user":
                uses = _uses(one.text)
                if uses:
                    return _next_round(uses, given, results)
                found = [*_WORD.finditer(one.text)]
                if found and not results:
                    return _scenario(found, given)
                if found:
                    break
            case "system":
                pass  # an agent's own notes stand anywhere
            case "assistant" if not results:
                break
            case "assistant":
                pass  # it made the calls
    return _told(results) if results else Scenario("echo", (Say("I hear you."),))


def _told(results: Sequence[str]) -> Scenario:
    said = " and ".join(result[:300] for result in results)
    return Scenario("results", (Say(f"The tool said: {said}"),))


def _uses(text: str) -> str | None:
    """Return the lines that call tools, if they are the last thing that is asked for.

    A transcript may stand above them, with lines of earlier turns.
    """
    found = [*_USES.finditer(text)]
    if not found or _WORD.search(text, found[-1].end()):
        return None
    return found[-1][0]


def _next_round(uses: str, given: Given, results: Sequence[str]) -> Scenario:
    """Return the calls that come after so many results; when all have been made, what was told."""
    made = 0
    for lines in uses.split(_THEN):
        calls = lines.splitlines()
        if made == len(results):
            steps = (_use(call.removeprefix("USE "), given) for call in calls)
            return Scenario("USE", (Say("Let me see. "), *steps))
        made += len(calls)
    return _told(results)


def _use(call: str, given: Given) -> Step:
    """Return the call of a tool. An agent's own tool may have the very name that is meant."""
    name, _, arguments = call.partition(" ")
    if name.startswith("="):
        found = [tool for tool in given.tools if tool.whole_name == name[1:]]
        code = None
    else:
        ends = (f"_{name}", f"-{name}")
        named = [tool for tool in given.tools if tool.whole_name.endswith(ends)]
        code = _code_that_calls(name, arguments, given)
        found = [*named, *(tool for tool in given.tools if tool.whole_name == name and not code)]
    for tool in found:
        return Call(tool.name, _judged(json.loads(arguments), tool), tool.namespace)
    if code is not None:
        return code
    return Say(f"I have no {name}, only {' '.join(tool.whole_name for tool in given.tools)}.")


def _code_that_calls(name: str, arguments: str, given: Given) -> Call | None:
    """Return code that calls a tool, where an agent offers the tools of servers to code alone."""
    groups = _GROUP.findall(given.texts("system"))
    if not groups or all(tool.name != _CODE for tool in given.tools):
        return None
    call = f"tools.{groups[-1]}.{name}({arguments})"
    return Call(_CODE, {"code": f"async function main() {{ return await {call}; }}"})


def _scenario(words: Sequence[re.Match[str]], given: Given) -> Scenario:
    steps: tuple[Step, ...]
    name = words[-1][1]
    match name:
        case "FAIL":
            return Scenario("FAIL", (), status=int(words[-1]["of"]))
        case "RECALL":
            steps = Say("You told me: "), Say(" ".join(given.names) or "nothing"), Say(".")
        case "ENDLESS":
            steps = Say("It begins. "), Forever("And on. ")
        case "PONDER":
            steps = Think("Hmm, let me "), Think("ponder."), Say("I have pondered.")
        case "LOOK":
            steps = (Say(f"I see images: {len(given.images)}."),)
        case _:
            make = _linger if name == "LINGER" else _write
            calls = (make(word["of"], given.tools) for word in words)
            steps = (Say("I will write it. "), *calls)
    return Scenario(name, steps)


def _judged(arguments: JSON, tool: Tool) -> JSON:
    """Return the arguments with the model's own judgement, where an agent insists on it."""
    is_judged = _RISK in tool.parameters.get("required", ())
    return arguments | ({_RISK: "LOW"} if is_judged else {})


def _write(path: str, tools: tuple[Tool, ...]) -> Step:
    """Return the call that makes a file, in the shape in which this agent wants it."""
    by_name = _by_name(tools)
    if _WRITER in by_name and by_name.keys().isdisjoint(_SHELLS):
        return Call(by_name[_WRITER].name, {"path": path, "content": "written"})
    return _run(f"touch {path}", tools)


def _linger(path: str, tools: tuple[Tool, ...]) -> Step:
    return _run(f"touch {path} && sleep {LINGERS}", tools)


def _by_name(tools: tuple[Tool, ...]) -> dict[str, Tool]:
    return {tool.name.lower().split("__")[-1]: tool for tool in tools}


def _run(command: str, tools: tuple[Tool, ...]) -> Step:
    """Return the call that runs a command, in the shape in which this agent wants it."""
    by_name = _by_name(tools)
    shells = [by_name[name] for name in (*_SHELLS, _LAST_SHELL) if name in by_name]
    if not shells:
        return Say(f"I have no shell, only {' '.join(tool.name for tool in tools)}.")
    shell = shells[0]
    properties: JSON = shell.parameters.get("properties", {})
    arguments: JSON = {}
    for name in {*shell.parameters.get("required", ()), *({"command", "cmd"} & {*properties})}:
        if name == _RISK:
            arguments = _judged(arguments, shell)
        elif name not in ("command", "cmd"):
            arguments[name] = "Make a file"  # a description, in words
        elif properties[name].get("type") == "array":
            arguments[name] = ["bash", "-c", command]
        else:
            arguments[name] = command
    if "sandbox_permissions" in properties:  # a sandbox would refuse it without asking anybody
        arguments |= {"sandbox_permissions": "require_escalated", "justification": "May I?"}
    return Call(shell.name, arguments)
