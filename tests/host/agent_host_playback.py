"""Plays a recording of the Agent Host with the model in its place (`playback`).

A request can come later than what a person did, and beside others. So each one is looked for among
those that the model has made.
"""

from __future__ import annotations

import re

import attrs

from . import prompts
from .agent_host import AgentHost
from .agent_host_machine import WITHOUT_PROGRESS
from .chat import Chat
from .facts import Json
from .playback import Playback, Playing, difference
from .request import Request

_FOLDER = re.compile(r"^Session folder: .*/session-state/(\S+)", re.MULTILINE)
_MODELS = {"RecOne": "rec", "RecTwo": "rec2", "RecSmall": "small"}
_BACKGROUND = "Agent started in background"


@attrs.define(eq=False)
class AgentHostPlayback(Playback):
    """Recordings of the Agent Host."""

    world: Playing = attrs.field(factory=lambda: Playing(WITHOUT_PROGRESS))
    _model: str = "rec"
    _untaken: list[Request] = attrs.field(factory=list[Request])
    """Requests that the model has made, and no line was matched with."""
    _seen: int = 0
    """How many requests of the model's were looked at."""
    _chat_of: dict[str, str] = attrs.field(factory=dict[str, str])
    """The folder in the model for each folder of the recording."""
    _left: Chat | None = None
    """The chat from before the window was loaded anew."""
    _led: set[str] = attrs.field(factory=set[str])
    """The calls that lead a sub-agent."""
    _edits: int | None = None
    """The message that the next text replaces."""
    _image: bytes | None = None
    _newest: int = 0
    """The newest line of a request."""

    @property
    def _host(self) -> AgentHost:
        host = super()._host
        assert isinstance(host, AgentHost)
        return host

    # What a person did.

    def _ui(self, line: Json, index: int) -> None:
        action, text = line["action"], line.get("text", "")
        where = line.get("where", "panel")
        match action:
            case "begin":
                self._chats.clear()
            case "command workbench.action.chat.newChat":
                self._chats.pop("panel", None)
            case "pick model":
                self._model = _MODELS[line["label"]]
                for chat in self._chats.values():
                    chat.model = self._model
            case "click stop" | "stop panel":
                if not self._is_in_vain(index):
                    self._host.stop(self._chat(where), kept=False)
            case "click message 2 to edit":
                self._edits = 1
            case "paste image":
                self._image = b"pixels"
            case "open with attachFiles README.md and send":
                self._send(self._chat(where), "With a file rec:plain")
            case "send":
                self._send(self._chat(where), text)
            case "reload page":
                self._left = self._chats.pop("panel")
                self._host.begin_anew(forgets=False)
                self.world.restart()
            case "open the session from before the reload":
                assert self._left is not None
                self._chats["panel"] = self._left
            case _:
                pass  # done to the window, not to a chat

    def _chat(self, where: str) -> Chat:
        if where not in self._chats:
            self._chats[where] = self._host.open_chat(self._model)
        return self._chats[where]

    def _send(self, chat: Chat, text: str) -> None:
        if self._newest + 1 in self._remarks.left_out:
            self._host.leave_out(chat)
        edits, image, self._edits, self._image = self._edits, self._image, None, None
        if edits is not None:
            self._host.edit(chat, edits, text)
        else:
            self._host.send(chat, text, image=image)

    def _is_in_vain(self, index: int) -> bool:
        """Whether the next click is in the same question, which was still open then."""
        following = self._lines[index + 1]
        return following["kind"] == "ui" and following["action"].startswith("click /Skip")

    # What the host sent, and what was answered.

    def _request(self, line: Json) -> None:
        seq, params = line["seq"], line["params"]
        if seq in self._remarks.not_ours:
            return
        self._newest = seq
        recorded = self._recorded.of(params, line["host"])
        if seq - 1 in self._remarks.forks:
            chat = self._requests[seq - 1].chat
            assert chat is not None
            self._host.summarise(chat, (len(chat.turns) - 1, 0), fork=False)
        request = self._found(params, recorded)
        if request is None:
            self._go_on(params["messages"])
            request = self._found(params, recorded)
        self.compared += 1
        if request is None:
            request = self._untaken[0]
            modelled = self._modelled.of(request.params, "")
            self.differences.append(f"request {seq}: {difference(recorded, modelled)}")
        self._untaken.remove(request)
        self._requests[seq] = request

    def _found(self, params: Json, recorded: Json) -> Request | None:
        """Return the request of the model's that is this one: the same in the same chat."""
        made = list(self.world.requests.values())
        self._untaken += made[self._seen :]
        self._seen = len(made)
        folder = _folder(params)
        for request in self._untaken:
            ours = _folder(request.params)
            known = self._chat_of.get(folder)
            is_same = known == ours if known else ours not in self._chat_of.values() or not ours
            if is_same and self._modelled.of(request.params, "") == recorded:
                self._chat_of[folder] = ours
                return request
        return None

    def _go_on(self, messages: list[Json]) -> None:
        newest = messages[-1]["content"]
        results = _last_results(messages)
        for chat in list(self._host.chats):
            waiting = {call["toolCallId"]: call for call in chat.waiting}
            if waiting and set(results) == set(waiting):
                self._return(chat, results)
                return
        text = newest[-1].get("value", "")
        for chat in list(self._host.chats):
            for call in _leading_calls(chat):
                is_new = call["toolCallId"] not in self._led
                if is_new and text.endswith(call["parameters"]["prompt"]):
                    self._led.add(call["toolCallId"])
                    self._host.lead(chat, call)
                    return
        for led in [one for one in self._host.chats if one.led_by]:
            if text.startswith(prompts.NOTIFICATION.partition("\n")[0]) and led.led_by:
                self._host.chats.remove(led)
                self._host.notify(led.led_by[0], text)
                return
        for chat, request in self._host.newest.items():
            is_same = self._modelled.of(request.params, "")["messages"][-1] == self._last(messages)
            if is_same and chat.turns[-1].rounds[-1].answer is request.answer:
                # Far apart, for what was recorded gave another answer each time.
                self._host.repeat(chat, is_soon=False)
                return
        raise AssertionError("nothing in the model leads to this request")

    def _last(self, messages: list[Json]) -> object:
        return self._recorded.of({"messages": messages, "options": {}}, "")["messages"][-1]

    def _return(self, chat: Chat, results: dict[str, str]) -> None:
        """Let tools return as they did, and sub-agents report what they did before that."""
        led = {one.led_by[1]: one for one in self._host.chats if one.led_by}
        for call_id, text in results.items():
            if call_id in led and not text.startswith(_BACKGROUND):
                self._host.report(led[call_id])
            else:
                self._host.run_tool(chat, call_id, text)
        self._host.next_round(chat)

    def _end(self, line: Json) -> None:
        if line["seq"] in self._remarks.not_ours:
            return
        request = self._requests[line["seq"]]
        if line["status"] == "error":
            self.world.ours.fail(request.number)
        else:
            self.world.ours.finish(request.number)


def _folder(params: Json) -> str:
    system = params["messages"][0]["content"][0]["value"]
    found = _FOLDER.search(system)
    return found[1] if found else ""


def _last_results(messages: list[Json]) -> dict[str, str]:
    """Return the texts of the newest results by the ids of their calls, in order."""
    found: list[tuple[str, str]] = []
    for message in reversed(messages):
        part = message["content"][0]
        if part["type"] != "tool_result":
            break
        found.append((part["toolCallId"], part["result"][0]["value"]))
    return dict(reversed(found))


def _leading_calls(chat: Chat) -> list[Json]:
    calls = [call for one in chat.turns[-1].rounds for call in one.answer.calls]
    return [call for call in calls if call["toolName"] == "task"]
