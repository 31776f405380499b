"""Tool calls on their way to the editor: under its ids, and noted for the requests to come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from agents.events import CallTool

from .outcome import Called
from .parallel import unwrap
from .tool_calls import WholeCall


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
