"""Read and check the body of a request, and convert it for the core. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw

from agents.json_limits import has_too_many_values
from bridge.depth import TOO_DEEP, is_too_deep
from bridge.jsonrpc import REFUSED
from bridge.value import Value
from bridge.wire import ToolSpec
from bridge.work import Work

from .api_error import ApiError, bad_request, not_decodable

MOST_BODY_VALUES = 500_000
"""Values in the JSON of a request's body, or of a message over a WebSocket."""
MOST_TOOLS = 512
"""Functions that a request may offer."""
MOST_METADATA = 16
"""Pairs of a request's metadata."""
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SAMPLING = ("temperature", "top_p", "max_output_tokens", "presence_penalty", "frequency_penalty")
"""Fields that an endpoint's model understands; an agent that has none ignores them."""


_NULL = Raw(b"null")


class FunctionTool(msgspec.Struct):
    """A function that the client offers; Chat Completions put its fields into `function`."""

    type: str = "function"
    name: str = ""
    description: str | None = None
    parameters: Raw = _NULL
    strict: bool | None = None
    function: FunctionTool | None = None


class ResponseBody(msgspec.Struct, kw_only=True):
    """The fields of `POST /responses` that mean something here; others are ignored."""

    model: str | None = None
    input: str | list[Raw] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: int | None = None
    stream: bool | None = None
    store: bool | None = None
    background: bool | None = None
    text: dict[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    top_logprobs: int | None = None
    max_output_tokens: int | None = None
    reasoning: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    truncation: str | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None


_decode_response = msgspec.json.Decoder(ResponseBody).decode


def check_values(body: bytes) -> Work[None]:
    """Raise `ApiError` if there are too many values; before they are decoded."""
    if (yield from has_too_many_values(body, MOST_BODY_VALUES)):
        raise ApiError(413, "request_too_large", f"A body may have {MOST_BODY_VALUES:,} values.")


def read_body(body: bytes) -> ResponseBody:
    """Return a request for a response; raises `ApiError`."""
    return checked(decoded(_decode_response, body))


def decoded(decode: Any, body: bytes) -> Any:
    """Return what a body holds; raises `ApiError`."""
    if is_too_deep(body):
        raise ApiError(400, "invalid_json", TOO_DEEP)
    try:
        return decode(body)
    except REFUSED as error:
        raise not_decodable(error) from None


def checked(body: ResponseBody) -> ResponseBody:
    """Return a body that asks for nothing that can't be; raises `ApiError`."""
    if not body.model:
        raise bad_request("Name a model.", "model", "missing_required_parameter")
    if body.background:
        raise bad_request("Responses can't run in the background.", "background", "unsupported")
    kind = (body.text or {}).get("format") or {"type": "text"}
    if not isinstance(kind, dict) or cast("dict[str, Any]", kind).get("type") != "text":
        raise bad_request("Agents answer with text only.", "text.format", "unsupported")
    if len(body.metadata or {}) > MOST_METADATA:
        raise bad_request(f"At most {MOST_METADATA} pairs can be kept.", "metadata")
    return body


class OfferedFunctions(Value):
    """The functions that the agent may call, of those that a request offers."""

    tools: tuple[ToolSpec, ...]
    echoed: tuple[dict[str, Any], ...]
    """All that were given, as the response repeats them."""


def offer_of(tools: Sequence[FunctionTool] | None, choice: Any) -> OfferedFunctions:
    """Return the functions of a request; raises `ApiError` for what can't be offered."""
    given = tools or ()
    if len(given) > MOST_TOOLS:
        raise bad_request(f"At most {MOST_TOOLS} functions can be offered.", "tools")
    read = [_function(tool, f"tools[{index}]") for index, tool in enumerate(given)]
    allowed = _allowed(choice)
    offered = [one for one in read if allowed is None or one.name in allowed]
    return OfferedFunctions(tuple(_spec(one) for one in offered), tuple(_echo(one) for one in read))


def _function(tool: FunctionTool, place: str) -> FunctionTool:
    if tool.type != "function":
        text = f"Only functions can be offered, and this is a {tool.type!r}."
        raise bad_request(text, f"{place}.type", "unsupported")
    inner = tool.function or tool
    if not _TOOL_NAME.fullmatch(inner.name):
        text = "A name has 1 to 64 letters, digits, hyphens and underscores."
        raise bad_request(text, f"{place}.name")
    if bytes(inner.parameters)[:1] not in (b"{", b"n"):
        raise bad_request("A JSON schema is an object.", f"{place}.parameters")
    return inner


def _spec(tool: FunctionTool) -> ToolSpec:
    schema = UNSET if bytes(tool.parameters) == b"null" else tool.parameters
    return ToolSpec(tool.name, tool.description or "", schema)


def _echo(tool: FunctionTool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict,
    }


def _allowed(choice: Any) -> frozenset[str] | None:
    """Return the names that a choice leaves, None for all; a forced call is refused."""
    match choice:
        case None | "auto":
            return None
        case "none":
            return frozenset()
        case {"type": "allowed_tools", "tools": [*tools], **rest} if rest.get("mode") in (
            None,
            "auto",
        ):
            return frozenset(map(_name, tools))
        case _:
            text = "An agent can't be forced to call a function: use `auto` or `none`."
            raise bad_request(text, "tool_choice", "unsupported")


def _name(tool: Any) -> str:
    match tool:
        case {"type": "function", "name": str(name)}:
            return name
        case _:
            raise bad_request("Only functions can be allowed.", "tool_choice.tools")


def model_options(body: ResponseBody) -> Mapping[str, Any]:
    """Return what a model behind an endpoint is told of how to answer."""
    options = {name: value for name in _SAMPLING if (value := getattr(body, name)) is not None}
    effort = (body.reasoning or {}).get("effort")
    return {**options, **({"reasoning_effort": effort} if isinstance(effort, str) else {})}


def echo(body: ResponseBody, offer: OfferedFunctions) -> dict[str, Any]:
    """Return the fields of a response that repeat those of its request."""

    def given(value: Any, default: Any) -> Any:
        return default if value is None else value

    return {
        "model": body.model,
        "previous_response_id": body.previous_response_id,
        "instructions": body.instructions,
        "tools": offer.echoed,
        "tool_choice": given(body.tool_choice, "auto"),
        "truncation": given(body.truncation, "disabled"),
        "parallel_tool_calls": given(body.parallel_tool_calls, True),
        "text": {"format": {"type": "text"}, **(body.text or {})},
        "top_p": given(body.top_p, 1.0),
        "presence_penalty": given(body.presence_penalty, 0.0),
        "frequency_penalty": given(body.frequency_penalty, 0.0),
        "top_logprobs": given(body.top_logprobs, 0),
        "temperature": given(body.temperature, 1.0),
        "reasoning": None if body.reasoning is None else _reasoning(body.reasoning),
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": body.max_tool_calls,
        "store": given(body.store, True),
        "background": False,
        "service_tier": given(body.service_tier, "default"),
        "metadata": given(body.metadata, {}),
        "safety_identifier": body.safety_identifier,
        "prompt_cache_key": body.prompt_cache_key,
    }


def _reasoning(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"effort": given.get("effort"), "summary": given.get("summary")}
