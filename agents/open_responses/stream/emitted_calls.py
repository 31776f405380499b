"""Tool calls on their way to the editor: under its ids, and noted for the requests to come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, cast

import msgspec

from agents.events import CallTool

from .outcome import Called
from .tool_calls import WholeCall

_PARALLEL = frozenset({"parallel", "multi_tool_use.parallel", "multi_tool_use_parallel"})


class Calling:
    """Makes the calls of one response; `made` are those that went out.

    `outward` and `tools` are those of `StreamMachine`.
    """

    def __init__(self, outward: Callable[[str], str], tools: Collection[str] | None) -> None:
        self.made: list[Called] = []
        self._outward = outward
        self._tools = tools

    @property
    def server_ids(self) -> set[str]:
        """The server's ids of the calls that were made."""
        return {call.server_call_id for call in self.made}

    def make(self, calls: Iterable[WholeCall]) -> Iterator[CallTool]:
        """Return whole calls as they go to the editor."""
        for call in calls:
            for one in unwrap(call, self._tools):
                call_id = self._outward(one.call_id)
                self.made.append(Called(call_id, one.call_id, one.name, one.arguments))
                yield CallTool(call_id, one.name, one.parameters)


def unwrap(call: WholeCall, tools: Collection[str] | None) -> list[WholeCall]:
    """Return the calls in a call of `parallel`, if each is one of a tool that was offered.

    Else the call itself. Nobody declared `parallel`; models of OpenAI's make it now and then, out
    of their training.
    """
    if tools is None or call.name not in _PARALLEL or call.name in tools:
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
