"""The body of a request to `/responses`.

Its fields come from three sources. The host's `modelOptions` override the agent's definition (with
the endpoint's own keys), and the fields that we must set override both. Private options (`_` in
front) never leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from agents.loading import fields_of, input_schema_of
from agents.open_responses.items import CallItem, Item, ResultItem
from bridge.models import AgentChoice
from bridge.redact import is_secret
from bridge.wire import OpenResponsesSpec, ToolSpec

from .names import fitting_id, fitting_name

_OURS = frozenset(
    {
        "background",
        "conversation",
        "input",
        "instructions",
        "model",
        "previous_response_id",
        "stream",
        "tool_choice",
        "tools",
    }
)
_OUR_KEYS = frozenset(OpenResponsesSpec.__struct_encode_fields__)
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_LEAST_OUTPUT_TOKENS = 16
_ENCRYPTED = "reasoning.encrypted_content"
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def further_options(choice: AgentChoice) -> dict[str, Any]:
    """Return the keys of a definition that aren't ours, but the endpoint's. A key is none of them:
    it goes into a header, or nowhere.
    """  # noqa: D205  one sentence
    (definition,) = msgspec.json.decode(choice.key, type=dict[str, dict[str, Any]]).values()
    return {
        key: value
        for key, value in definition.items()
        if key not in _OUR_KEYS and not is_secret(key)
    }


def options_body(
    spec: OpenResponsesSpec, further: Mapping[str, Any], model_options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields that say how to answer, apart from what is asked."""
    fields: dict[str, Any] = {
        "store": spec.store,
        "reasoning": spec.reasoning or None,
        "include": list(spec.include) or None,
        "max_output_tokens": spec.max_output_tokens,
        **{key: value for key, value in further.items() if key not in _OURS},
    }
    for key, value in model_options.items():
        name = _snake(key)
        if not key.startswith("_") and name not in _OURS:
            _put(fields, _RENAMED.get(name, name), value)
    if spec.store is False and spec.reasoning:
        fields["include"] = fields.get("include") or [_ENCRYPTED]
    least = fields.get("max_output_tokens")
    if isinstance(least, int) and least < _LEAST_OUTPUT_TOKENS:
        fields["max_output_tokens"] = _LEAST_OUTPUT_TOKENS
    return {key: value for key, value in fields.items() if value is not None}


def _put(fields: dict[str, Any], name: str, value: Any) -> None:
    if name == "reasoning_effort":
        fields["reasoning"] = {**fields_of(fields.get("reasoning")), "effort": value}
    elif value is not None:
        fields[name] = value


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", key)


def tools_body(tools: Iterable[ToolSpec], *, required: bool) -> dict[str, Any]:
    """Return the tools and which of them must be called; nothing where none is offered."""
    functions = [_function(tool) for tool in tools]
    if not functions:
        return {}
    return {"tools": functions, **({"tool_choice": "required"} if required else {})}


def _function(tool: ToolSpec) -> dict[str, Any]:
    schema = input_schema_of(tool)
    return {
        "type": "function",
        "name": fitting_name(tool.name),
        **({"description": tool.description} if tool.description else {}),
        "parameters": _NO_PARAMETERS if schema is None else schema,
        # Sent explicitly: the server's own default may be strict, and the hosts' schemas aren't.
        "strict": False,
    }


def with_fitting_ids(items: Iterable[Item]) -> list[Item]:
    """Return the items with ids that every server takes: they are new to the server."""
    return [
        msgspec.structs.replace(item, call_id=fitting_id(item.call_id))
        if isinstance(item, CallItem | ResultItem)
        else item
        for item in items
    ]


def whole_body(
    spec: OpenResponsesSpec,
    options: Mapping[str, Any],
    tools: Mapping[str, Any],
    *,
    instructions: str,
    items: Iterable[Item],
    previous_response_id: str | None,
) -> bytes:
    """Return a request's body. Instructions and tools are said each time: they don't carry over."""
    body: dict[str, Any] = {"model": spec.model, **options}
    if instructions:
        body["instructions"] = instructions
    if previous_response_id is None:
        body["input"] = with_fitting_ids(items)
    else:
        body["previous_response_id"] = previous_response_id
        body["input"] = list(items)
    return msgspec.json.encode({**body, **tools, "stream": True})
