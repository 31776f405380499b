"""Google's Gemini API, as Gemini CLI speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..scenario import Call, Forever, Given, Said, Say, Scenario, Speaker, Think, Tool
from .sse import ENDLESS, event

JSON = dict[str, Any]
PATH = ":streamGenerateContent"
SIDE_PATH = ":generateContent"

_SPEAKERS: dict[str, Speaker] = {"user": "user", "model": "assistant"}


def read(body: JSON) -> Given:
    """Return what the model is given."""
    system: JSON = body.get("systemInstruction") or {}
    said = [Said("system", part.get("text", "")) for part in system.get("parts", ())]
    for content in body["contents"]:
        said += (_said(_SPEAKERS[content.get("role", "user")], part) for part in content["parts"])
    declared = (tool.get("functionDeclarations") or () for tool in body.get("tools") or ())
    return Given(tuple(said), tuple(_tool(one) for group in declared for one in group))


def _tool(declared: JSON) -> Tool:
    parameters: JSON = declared.get("parametersJsonSchema") or declared.get("parameters") or {}
    return Tool(declared["name"], parameters, declared.get("description") or "")


def _said(speaker: Speaker, part: JSON) -> Said:
    if "functionResponse" in part:
        told = part["functionResponse"]
        return Said("tool", json.dumps(told.get("response")), call_id=told.get("id") or "")
    image = part.get("inlineData", {}).get("data")
    return Said(speaker, part.get("text", ""), (image,) if image else ())


def side_answer(_body: JSON) -> JSON:
    """Return the answer to a question of the agent's own, such as which model to take."""
    answer = {"reasoning": "none", "model_choice": "flash", "complexity_reasoning": "none"}
    return _piece({"text": json.dumps(answer | {"complexity_score": 1})}, finish="STOP")


def write(scenario: Scenario, number: int) -> Iterator[bytes]:
    """Yield the reply's events; what follows an endless one is never reached."""
    for index, step in enumerate(scenario.steps):
        match step:
            case Say(text):
                yield event(_piece({"text": text}))
            case Forever(text):
                for _ in ENDLESS:
                    yield event(_piece({"text": text}))
            case Think(text):
                yield event(_piece({"text": text, "thought": True}))
            case Call(name, arguments):
                call = {"name": name, "args": arguments, "id": f"call-{number}-{index}"}
                yield event(_piece({"functionCall": call}))
    yield event(_piece({"text": ""}, finish="STOP"))


def _piece(part: JSON, *, finish: str | None = None) -> JSON:
    candidate: JSON = {"content": {"role": "model", "parts": [part]}, "index": 0}
    candidate |= {"finishReason": finish} if finish else {}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
