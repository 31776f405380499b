"""A request as the host sends it: messages, options, and what the host knows about it."""

from __future__ import annotations

import enum

import attrs

from bridge.wire import PROGRESS_TOOL

from .chat import Answer, Chat, Mode
from .facts import Json, facts_of
from .render import Profile


class Relation(enum.Enum):
    """What a request is to the one before it in its chat."""

    FIRST = "first"
    GOES_ON = "goes on"
    """Nothing was taken back, so the agent that knows the chat answers."""
    TAKES_BACK = "takes back"
    """An answer, or a turn, is gone."""
    BESIDE = "beside"
    """It is no part of a chat: nobody's live conversation is touched."""


@attrs.define(eq=False)
class Request:
    number: int
    chat: Chat | None
    relation: Relation
    messages: list[Json]
    model: str
    options: Json
    answer: Answer
    listening: bool = True
    """Whether the host still takes what comes; not after a stop."""
    is_soon: bool = False
    """Whether it follows by itself, without a pause."""
    repeats: int | None = None
    """The request that the host repeats with it, by itself."""
    required: list[int] = attrs.field(init=False)
    """The facts in it."""

    def __attrs_post_init__(self) -> None:
        self.required = facts_of(self.messages)

    @property
    def first(self) -> int:
        """The first of all requests that are the same."""
        return self.number if self.repeats is None else self.repeats

    @property
    def params(self) -> Json:
        """The parameters of `lm/provideLanguageModelChatResponse`."""
        return {"modelId": self.model, "messages": self.messages, "options": self.options}


def _tools(*names: str) -> list[Json]:
    return [{"name": name, "description": "", "inputSchema": {"type": "object"}} for name in names]


PROGRESS = _tools(PROGRESS_TOOL)
AGENT_HOST_TOOLS = _tools("view", "glob", "bash", "edit", "task")
EXPLORER_TOOLS = _tools("view", "glob")
AGENT_TOOLS = _tools("list_dir", "read_file", "run_in_terminal", "edit_file", "runSubagent")
SUB_AGENT_TOOLS = AGENT_TOOLS[:-1]
INLINE_TOOLS = _tools("replace_string_in_file")


_CORE: Json = {
    "requestInitiator": "core",
    "modelOptions": {"max_tokens": 8000},
    "includeEncryptedThinking": True,
    "toolMode": 1,
}
"""What the Agent Host says in each request."""


@attrs.define
class Options:
    """Writes the options of requests; run ids are a counter, as the host's are."""

    profile: Profile
    requests: int = 0

    def chat(self, chat: Chat) -> Json:
        """Options of a turn of a chat."""
        if self.profile.agent_host:
            return self._of_agent_host(chat)
        if chat.mode is Mode.PARTICIPANT:
            return self._options({}, None)
        thinking = chat.mode is Mode.AGENT
        private = {"_telemetryTurn": 1 if chat.led_by else chat.turns[-1].number}
        private |= self._trace(chat.run) | {"_enableThinking": thinking}
        tools = (SUB_AGENT_TOOLS if chat.led_by else AGENT_TOOLS) if thinking else []
        return self._options(private | {"_conversationId": chat.conversation_id}, tools)

    def fork(self, chat: Chat) -> Json:
        """Options of a summary made beside a turn: all but the number of the turn."""
        options = self.chat(chat)
        options["modelOptions"].pop("_telemetryTurn", None)
        return options

    def inline(self, run: int) -> Json:
        """Options of an edit at the cursor."""
        return self._options(self._trace(run) | {"_enableThinking": False}, INLINE_TOOLS)

    def utility(self, *, tools: bool = False) -> Json:
        """Options of a title, a commit message, a summary."""
        if self.profile.agent_host:
            return _CORE | {"tools": []}
        return self._options(self._trace(None), AGENT_TOOLS if tools else [])

    def _of_agent_host(self, chat: Chat) -> Json:
        if chat.explores:
            return _CORE | {"tools": EXPLORER_TOOLS}
        progress = PROGRESS if self.profile.offers_progress else []
        return _CORE | {"tools": [*AGENT_HOST_TOOLS, *progress]}

    def _trace(self, run: int | None) -> Json:
        self.requests += 1
        trace = None if run is None else {"traceId": f"{run:032x}", "spanId": f"{run:016x}"}
        return {
            "_capturingTokenCorrelationId": f"request-{self.requests}",
            "_otelTraceContext": trace,
        }

    def _options(self, private: Json, tools: list[Json] | None) -> Json:
        options: Json = {"toolMode": 1, "requestInitiator": "github.copilot-chat"}
        options["modelOptions"] = private if self.profile.private_keys else {}
        return options if tools is None else options | {"tools": tools}
