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
    USE(tool{...})  calls a tool of the editor's, by the end of the name that the agent has for it,
                    with the arguments that follow as JSON without blanks; several at once,
                    but what stands after THEN is called when all before it is answered. All of
                    it stands in one line, and the last such line counts
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs

JSON = dict[str, Any]
Speaker: TypeAlias = Literal["system", "user", "assistant", "tool"]

_WORD = re.compile(r"\b(RECALL|ENDLESS|PONDER|LOOK|FAIL|WRITE|USE(?=\())\b(?:\((?P<of>[^)\s]+)\))?")
_THEN = "THEN"
_NAME = re.compile(r"\bmy name is (\w+)")
_SHELLS = ("bash", "execute", "exec_command", "shell", "shell_command")


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
                found = [*_WORD.finditer(one.text)]
                if found and found[-1][1] == "USE":
                    return _next_round(one.text, given, results)
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
    said = " / ".join(result[:300] for result in results)
    return Scenario("results", (Say(f"The tool said: {said}"),))


def _next_round(text: str, given: Given, results: Sequence[str]) -> Scenario:
    """Return the calls that come after so many results; when all have been made, what was told."""
    made = 0
    line = [line for line in text.splitlines() if "USE(" in line][-1]
    for piece in line.split(_THEN):
        uses = [word["of"] for word in _WORD.finditer(piece) if word[1] == "USE"]
        if made == len(results) and uses:
            return Scenario("USE", (Say("I will use it. "), *(_use(use, given) for use in uses)))
        made += len(uses)
    return _told(results)


def _use(use: str, given: Given) -> Step:
    name, brace, arguments = use.partition("{")
    for tool in given.tools:
        if tool.whole_name.endswith(f"_{name}"):
            return Call(tool.name, json.loads(brace + arguments or "{}"), tool.namespace)
    return Say(f"I have no {name}, only {' '.join(tool.whole_name for tool in given.tools)}.")


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
