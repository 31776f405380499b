"""Plays a recording with the model in the host's place.

The recording says what a person did and what was answered; the model makes the requests. What the
host did by itself, and what only a person at the screen could see, is said in `Remarks`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import cast

import attrs

from bridge.wire import decode_part

from .chat import Chat, Ending, Mode
from .facts import Json
from .model import Host
from .request import Request
from .shape import Shapes
from .world import World


@attrs.frozen
class Remarks:
    """What the lines of a recording don't say."""

    visible: Mapping[int, int] = attrs.field(factory=dict[int, int])
    """How much of an answer that was cut short the user saw, by request."""
    pauses: frozenset[int] = frozenset()
    """The requests after whose answer the host asked whether to go on."""
    forks: frozenset[int] = frozenset()
    """The requests beside which the host made a summary."""
    from_request: int = 1
    """Earlier ones are none of the agent's."""
    left_out: frozenset[int] = frozenset()
    """The first requests without whole answers, because the chat was too long."""
    not_ours: frozenset[int] = frozenset()
    """Requests of a chat that began in another recording."""
    same_chat: bool = False
    """Whether the panel still shows the chat of the recording before."""


class Playing(World):
    """A world where a provider that is told to stop still says something."""

    def cancel(self, request: Request) -> None:
        """Wait for the recorded end."""


@attrs.define(eq=False)
class Playback:
    """Recordings, one after the other, in one window."""

    world: Playing = attrs.field(factory=Playing)
    differences: list[str] = attrs.field(factory=list[str])
    compared: int = 0
    _chats: dict[str, Chat] = attrs.field(factory=dict[str, Chat])
    _requests: dict[int, Request] = attrs.field(factory=dict[int, Request])
    _matched: int = 0
    _titles: bool = False
    _reloads: int = 0
    _recorded: Shapes = attrs.field(factory=Shapes)
    _modelled: Shapes = attrs.field(factory=Shapes)
    _lines: list[Json] = attrs.field(factory=list[Json])
    _remarks: Remarks = attrs.field(factory=Remarks)

    def play(self, lines: Iterable[bytes], remarks: Remarks) -> None:
        """Play a recording; `differences` says where the model does something else."""
        self._lines = [json.loads(line) for line in lines]
        self._remarks = remarks
        self._requests.clear()
        for index, line in enumerate(self._lines):
            if line.get("seq", remarks.from_request) < remarks.from_request:
                continue
            match line["kind"]:
                case "ui":
                    self._ui(line, index)
                case "request":
                    self._request(line)
                case "part" if line["seq"] in self._requests:
                    self._say(self._requests[line["seq"]], line["params"]["part"])
                case "end":
                    self._end(line)
                case _:
                    pass

    @property
    def _host(self) -> Host:
        return self.world.host

    # What a person did.

    def _ui(self, line: Json, index: int) -> None:
        action, text = line["action"], line.get("text", "")
        where = "editor" if "editor" in action else "panel"
        match action:
            case "command workbench.action.chat.newChat":
                if not self._remarks.same_chat:
                    self._chats.clear()
            case "setting" if line["key"] == "chat.byokUtilityModelDefault":
                self._titles = True
            case "command workbench.action.chat.toggleAgentMode":
                agent = line["args"][0]["modeId"] == "agent"
                self._chat(where).mode = Mode.AGENT if agent else Mode.ASK
            case "command workbench.action.chat.changeModel":
                self._chat(where).model = line["args"][0]["id"]
            case "send inline":
                self._host.inline(text)
            case "send" if text == "/compact":
                self._host.compact(self._chat(where))
            case "send with pasted image":
                self._host.send(self._chat(where), text, image=b"pixels")
            case "send" | "send in panel" | "send in editor":
                self._send(self._chat(where), text)
            case "click stop" | "stop panel":
                chat = self._chat(where)
                kept = self._ends_well(self._host.streaming[chat], index)
                self._host.stop(chat, kept=kept)
            case "edit message 2 and resend":
                self._host.edit(self._chat(where), 1, text)
            case "click retry on the last response":
                self._host.regenerate(self._chat(where))
            case "click Try Again":
                self._host.try_again(self._chat(where))
            case "click Continue":
                self._host.pause(self._chat(where))
                self._host.go_on(self._chat(where))
            case "click Fork conversation at the third request":
                self._chats["panel"] = self._host.fork(self._chat(where), 2)
            case "reload page" | "reload page while streaming":
                self._see_what_was_visible()
                self._host.reload()
                self._reloads += 1
            case _:
                pass  # done to the window, not to a chat

    def _chat(self, where: str) -> Chat:
        if where not in self._chats:
            self._chats[where] = self._host.open_chat()
        return self._chats[where]

    def _send(self, chat: Chat, text: str) -> None:
        if chat.mode is Mode.PARTICIPANT or text.startswith("@recp "):
            chat.mode = Mode.PARTICIPANT if text.startswith("@recp ") else Mode.AGENT
        if self._titles and not chat.turns:
            self._host.title(text)
        self._host.send(chat, text.removeprefix("@recp "))

    def _ends_well(self, request: Request, index: int) -> bool:
        """Whether the provider returned normally when it was told to stop."""
        seq = next(seq for seq, one in self._requests.items() if one is request)
        return any(
            line["kind"] == "end" and line["seq"] == seq and line["status"] == "complete"
            for line in self._lines[index:]
        )

    def _see_what_was_visible(self) -> None:
        for seq, visible in self._remarks.visible.items():
            if seq in self._requests:
                self._requests[seq].answer.visible = visible

    # What the host sent, and what was answered.

    def _request(self, line: Json) -> None:
        seq = line["seq"]
        if seq - 1 in self._remarks.forks:
            chat = cast("Chat", self._requests[seq - 1].chat)
            self._host.summarise(chat, (len(chat.turns) - 1, -1), fork=True)
        if self._matched == len(self.world.requests):
            self._go_on(line["params"]["messages"])
        request = list(self.world.requests.values())[self._matched]
        self._matched += 1
        self._requests[seq] = request
        recorded = self._recorded.of(line["params"], line["host"])
        modelled = self._modelled.of(request.params, str(self._reloads))
        self.compared += 1
        if recorded != modelled:
            self.differences.append(f"request {seq}: {difference(recorded, modelled)}")

    def _go_on(self, messages: list[Json]) -> None:
        """Let the host do what it does when an answer has come."""
        ids = {p["toolCallId"] for p in messages[-1]["content"] if p["type"] == "tool_result"}
        for chat in list(self._host.chats):
            waiting = {call["toolCallId"]: call for call in chat.waiting}
            if ids & set(waiting):
                for led in [
                    one for one in self._host.chats if one.led_by and one.led_by[0] is chat
                ]:
                    self._host.report(led)
                self._host.next_round(chat)
                return
        newest = messages[-1]["content"][-1].get("value", "")
        for chat in self._host.chats:
            for call in chat.waiting:
                if call["toolName"] == "runSubagent" and call["parameters"]["prompt"] in newest:
                    self._host.lead(chat, call)
                    return
        for chat in self._host.chats:
            if chat.turns and (chat.turns[-1].ending is Ending.EMPTY or chat.mode is Mode.ASK):
                self._host.retry(chat)
                return
        raise AssertionError("nothing in the model leads to this request")

    def _say(self, request: Request, raw: Json) -> None:
        part = decode_part(json.dumps(raw).encode())
        self.world.say(request, part)

    def _end(self, line: Json) -> None:
        seq = line["seq"]
        request = self._requests[seq]
        if line.get("cancelled") or not request.listening:
            self.world.ours.cancel(request.number)
        elif line["status"] == "error":
            self.world.ours.fail(request.number)
        else:
            self.world.ours.finish(request.number)
        if seq in self._remarks.pauses:
            self._host.pause(cast("Chat", request.chat))


def difference(recorded: Json, modelled: Json) -> str:
    """Say where two shapes differ first."""
    for key, value in recorded.items():
        if value != modelled[key] and key != "messages":
            return f"{key} is {value!r}, the model says {modelled[key]!r}"
    theirs, ours = recorded["messages"], modelled["messages"]
    for index, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one != other:
            return f"message {index} is {one!r}, the model says {other!r}"
    return f"it has {len(theirs)} messages, the model's {len(ours)}"
