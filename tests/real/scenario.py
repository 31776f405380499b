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
    USE name {...}  a line of its own: calls the tool of that name, whatever an agent puts before
                    it; several lines call their tools at once
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs

JSON = dict[str, Any]
Speaker: TypeAlias = Literal["system", "user", "assistant", "tool"]

_WORD = re.compile(r"\b(RECALL|ENDLESS|PONDER|LOOK|FAIL|WRITE)\b(?:\((?P<of>[^)\s]+)\))?")
_USE = re.compile(r"^USE (\w+) (\{.*\})$", re.MULTILINE)
_NAME = re.compile(r"\bmy name is (\w+)")
_SHELLS = ("bash", "execute", "exec_command", "shell", "shell_command")


@attrs.frozen
class Said:
    """A message of the history that a model is given; images in base64."""

    speaker: Speaker
    text: str
    images: tuple[str, ...] = ()


@attrs.frozen
class Tool:
    """A tool that the model may call, with the schema of its parameters."""

    name: str
    parameters: JSON


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
    scenario = Scenario("echo", (Say("I hear you."),))
    for one in reversed(given.said):
        match one.speaker:
            case "tool":
                results.insert(0, one.text[:300])
            case "user":
                wanted = _wanted(one.text, given)
                if wanted is not None:
                    scenario = wanted
                    break
            case "system":
                pass  # an agent's own notes stand anywhere
            case "assistant":
                break
    return (
        Scenario("results", (Say(f"The tool said: {' and '.join(results)}"),))
        if results
        else scenario
    )


def _wanted(text: str, given: Given) -> Scenario | None:
    uses = [*_USE.finditer(text)]
    if uses:
        calls = (_use(use[1], json.loads(use[2]), given.tools) for use in uses)
        return Scenario("USE", (Say("Let me see. "), *calls))
    found = [*_WORD.finditer(text)]
    return _scenario(found, given) if found else None


def _use(name: str, arguments: JSON, tools: tuple[Tool, ...]) -> Step:
    for tool in tools:
        if tool.name == name or tool.name.endswith(f"_{name}"):
            return Call(tool.name, arguments)
    return Say(f"I have no {name}, only {' '.join(tool.name for tool in tools)}.")


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
            calls = (_write(word["of"], given.tools) for word in words)
            steps = (Say("I will write it. "), *calls)
    return Scenario(name, steps)


def _write(path: str, tools: tuple[Tool, ...]) -> Step:
    """Return the call that makes a file, in the shape in which this agent wants it."""
    shells = [tool for tool in tools if tool.name.lower().split("__")[-1] in _SHELLS]
    if not shells:
        return Say(f"I have no shell, only {' '.join(tool.name for tool in tools)}.")
    shell = shells[0]
    command = f"touch {path}"
    properties: JSON = shell.parameters.get("properties", {})
    arguments: JSON = {}
    for name in {*shell.parameters.get("required", ()), *({"command", "cmd"} & {*properties})}:
        if name not in ("command", "cmd"):
            arguments[name] = "Make a file"  # a description, in words
        elif properties[name].get("type") == "array":
            arguments[name] = ["bash", "-c", command]
        else:
            arguments[name] = command
    return Call(shell.name, arguments)
