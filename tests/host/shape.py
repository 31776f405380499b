"""The shape of a request: what must be equal in a recorded one and in the model's.

Not its bytes: the host's prompts are long, and change with its versions. But who says what in which
form, every word of the user and of the answers, every id, and which options are there.
"""

from __future__ import annotations

import re
from typing import Any

from . import prompts
from .facts import Json, without_facts


class Shapes:
    """Gives ids numbers as they come, so that those of a recording and of the model are equal."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Any], int] = {}

    def of(self, params: Json, window: str) -> Json:
        """The shape of a request that `window` sent."""
        options = params["options"]
        private: Json = options.get("modelOptions", {})
        trace: Json = private.get("_otelTraceContext") or {}
        return {
            "messages": [_message(message) for message in params["messages"]],
            "private": sorted(private),
            "turn": private.get("_telemetryTurn"),
            "conversation": self._number("conversation", private.get("_conversationId")),
            "run": self._number(f"run in {window}", trace.get("traceId")),
            "thinking": private.get("_enableThinking"),
            "tools": _amount(options.get("tools")),
            "others": sorted({*options} & _OTHERS),
        }

    def _number(self, kind: str, name: Any) -> int | None:
        return None if name is None else self._seen.setdefault((kind, name), len(self._seen))


def _message(message: Json) -> tuple[Any, ...]:
    parts = without_facts(message["content"])
    kinds = [part.get("mimeType", part["type"]) for part in parts]
    text = "".join(part["value"] for part in parts if part["type"] == "text")
    calls = [(p["toolCallId"], p["toolName"]) for p in parts if p["type"] == "tool_call"]
    results = [part["toolCallId"] for part in parts if part["type"] == "tool_result"]
    thoughts = [part["value"] for part in parts if isinstance(part.get("value"), list)]
    form: object = text
    if message["role"] == "system":
        form = next(known for known in _SYSTEM if text.startswith(known))
    elif message["role"] == "user":
        form = _form(text)
    return message["role"], message.get("name"), kinds, form, calls, results, thoughts


_SYSTEM = (
    "You are an expert AI",
    prompts.ASK.partition("\n")[0],
    prompts.TITLE,
    prompts.COMMIT,
    prompts.SUMMARY,
    prompts.INLINE.partition(".")[0].removesuffix(" GitHub Copilot"),
    prompts.HOST,
    prompts.HOST_SUB_AGENT.partition(" yourself")[0],
    prompts.HOST_EXPLORER.partition(".")[0],
)
_OTHERS = {"requestInitiator", "includeEncryptedThinking", "toolMode"}
_FRAMES = ("<attachments>", "<context>", "<environment_info>", "<conversation-summary>")
_OWN_TEXTS = (
    prompts.NOTIFICATION.partition("\n")[0],
    "Please create a detailed summary of the conversation so far.",
    "Some of the conversation history has been summarized",
    "The conversation history has been summarized",
    "The conversation has grown too large",
    "Summarize the conversation history so far",
    "The filepath is `",
)
_ASKED = re.compile(r"<(userRequest|prompt)>\n(.*)\n</\1>\n\Z", re.DOTALL)


_OPENED = re.compile(
    r"\A<ide_selection>.*?</ide_selection>\s*|\s*<(system_reminder|tagged_files)>.*?</\1>"
    r"|Image file at path [^\n]*\Z",
    re.DOTALL,
)
"""What the Agent Host says of files that were open or attached, which the model does not have."""
_DATED = re.compile(
    r"<current_datetime>[^<]*</current_datetime>\n\n"
    r"(<tools_changed_notice>.*?</tools_changed_notice>\n\n)?(.*)\Z",
    re.DOTALL,
)


def _form(text: str) -> object:
    """What stands in front, and what the user says."""
    dated = _DATED.match(_OPENED.sub("", text))
    if dated is not None:
        return "dated", dated[1], dated[2]
    frame = next((one for one in (*_FRAMES, *_OWN_TEXTS) if text.startswith(one)), None)
    asked = _ASKED.search(text)
    if asked is not None:
        # What a chip in the message stands for isn't typed.
        return frame, asked[1], asked[2]
    return frame or text


def _amount(tools: list[Any] | None) -> str:
    match len(tools) if tools is not None else None:
        case None:
            return "not said"
        case 0:
            return "none"
        case 1:
            return "one"
        case _:
            return "many"
