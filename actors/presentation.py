"""Convert an agent's events to parts that this editor can show. Pure.

Our notices (why a turn ended) are parts like any other: the host keeps them in its history, so they
belong to the record. But there they are told apart from the agent's words (`OwnTextPart`).
"""

from __future__ import annotations

from typing import Literal, assert_never

import attrs
import msgspec

from agents.events import AskPermission, Attach, CallTool, OwnCall, Say, StopReason, Think
from bridge.wire import (
    CHANGES_MIME_TYPE,
    PERMISSION_TOOL,
    Capabilities,
    DataPart,
    OwnTextPart,
    Part,
    TextPart,
    ThinkingMode,
    ThinkingPart,
    ToolCallPart,
    UnknownPart,
)

OWN_CALL = "vscodelm:tool_call"
"""The kind of the part for a call of an agent's own tool, for a program that wants it apart."""
OWN_IMAGE = "vscodelm:image"
"""The kind of the part for an image of an agent, for such a program."""

_NOTICES = {
    StopReason.END_TURN: "The agent ended its turn without an answer.",
    StopReason.MAX_TOKENS: "The agent stopped: it reached its token limit.",
    StopReason.MAX_TURN_REQUESTS: "The agent stopped: it reached its limit of requests for a turn.",
    StopReason.REFUSAL: "The agent refused to continue.",
    StopReason.CANCELLED: "The agent cancelled its turn.",
}
_DONE = "The agent is done."
"""Replaces an empty rest of an answer, if a part of the answer was shown."""


@attrs.define(eq=False, repr=False)
class Presenter:
    """Presents one response. `said` is whether anything visible went out."""

    capabilities: Capabilities
    thinking: ThinkingMode
    asks_by: str = PERMISSION_TOOL
    """The host's name of the tool that asks the user."""
    has_begun: bool = False
    """Whether responses before this one showed a part of the same answer."""
    separates_calls: bool = False
    """Whether calls of the agent's own tools are parts of their own, and not text, and images too.

    The line of text that tells of an image stays."""
    said: bool = False
    _voice: Literal["answer", "thought"] | None = attrs.field(default=None, init=False)
    """The kind of the newest text."""

    def part(self, event: Say | Think | Attach | CallTool | AskPermission) -> Part | None:
        """Return the part for an event, None if this editor isn't shown it."""
        match event:
            case Say(call=OwnCall() as call) if self.separates_calls:
                self.said = True
                return UnknownPart(OWN_CALL, msgspec.json.encode(call))
            case Say(text=text, by_us=by_us):
                if not text:
                    return None
                apart = self._apart("answer")
                return OwnTextPart(apart + text) if by_us else TextPart(apart + text)
            case Think():
                return self._thinking(event)
            case Attach():
                return self._data(event)
            case CallTool(call_id=call_id, name=name, parameters=parameters):
                self.said = True
                return ToolCallPart(call_id, name, parameters)
            case AskPermission(call_id=call_id, title=title, kind=kind, details=details):
                self.said = True
                parameters = {**details, "title": title, "kind": kind}
                return ToolCallPart(call_id, self.asks_by, parameters)
            case _:
                assert_never(event)

    def notice(self, reason: StopReason) -> Part | None:
        """Return what the user must know about the end of a turn.

        A response is never empty, because hosts take that for a failure and ask again.
        """
        if self.said and reason in (StopReason.END_TURN, StopReason.CANCELLED):
            return None
        is_more = self.has_begun and reason is StopReason.END_TURN
        text = _DONE if is_more else _NOTICES[reason]
        blank = "\n\n" if self.said else ""
        self.said = True
        return OwnTextPart(f"{blank}*{text}*")

    def _thinking(self, event: Think) -> Part | None:
        if not (event.text or event.metadata):
            return None
        if self.thinking == "part" and self.capabilities.thinking:
            return ThinkingPart(event.text, event.id, event.metadata)
        if self.thinking == "text" and event.text:
            return OwnTextPart(self._apart("thought") + event.text)
        return None

    def _apart(self, voice: Literal["answer", "thought"]) -> str:
        """Say text of that voice; return what parts it from that of the other."""
        is_other = self._voice not in (voice, None)
        self._voice = voice
        self.said = True
        return "\n\n" if is_other else ""

    def _data(self, event: Attach) -> Part | None:
        if self.separates_calls and event.mime_type.startswith("image/"):
            image = {"mime_type": event.mime_type, "result": event.data}
            return UnknownPart(OWN_IMAGE, msgspec.json.encode(image))
        can = self.capabilities
        own = {"usage": can.usage, CHANGES_MIME_TYPE: can.changes, "stateful_marker": can.marker}
        wanted = own.get(event.mime_type, can.data)
        return DataPart(event.mime_type, event.data) if wanted else None
