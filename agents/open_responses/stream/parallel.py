"""A call of `parallel`, which nobody declared, and the calls that are in it.

Models of OpenAI's make it now and then, out of their training.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import msgspec

from .tool_calls import WholeCall

_NAMES = frozenset({"parallel", "multi_tool_use.parallel", "multi_tool_use_parallel"})


def unwrap(call: WholeCall, tools: Collection[str] | None) -> list[WholeCall]:
    """Return the calls in it, if each is one of a tool that was offered; else the call itself."""
    if tools is None or call.name not in _NAMES or call.name in tools:
        return [call]
    uses = call.parameters.get("tool_uses")
    if not isinstance(uses, list) or not uses:
        return [call]
    calls: list[WholeCall] = []
    for use in cast("list[Any]", uses):
        match use:
            case {"recipient_name": str(recipient), "parameters": dict()}:
                parameters = cast("dict[str, dict[str, Any]]", use)["parameters"]
                name = recipient.removeprefix("functions.")
                if name not in tools:
                    return [call]
                text = msgspec.json.encode(parameters).decode()
                calls.append(WholeCall(call.call_id, name, parameters, text))
            case _:
                return [call]
    return calls
