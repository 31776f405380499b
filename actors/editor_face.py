"""The interface of an editor for the History Actor: JSON-RPC on stdio, or the HTTP server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from bridge.errors import Failure
from bridge.redact import Hide
from bridge.tokens.gauge import Measured
from bridge.wire import AgentSessionsResult, Empty, InspectResult, Part, RequestId, Stats

from .forms.open_forms import OpenForms
from .trace import Trace

Result: TypeAlias = Empty | Stats | InspectResult | AgentSessionsResult
"""The results of requests that are no chat requests."""


class EditorFace(Protocol):
    """Receives the output of the History Actor. No method waits."""

    @property
    def trace(self) -> Trace:
        """The trace of the run."""
        ...

    @property
    def hide(self) -> Hide:
        """Takes secrets out of the text of an error."""
        ...

    @property
    def forms(self) -> OpenForms:
        """The questions of agents that the user sees."""
        ...

    def show(self, request: RequestId, parts: Sequence[Part]) -> None:
        """Send parts of the answer to a request."""
        ...

    def settle(
        self, request: RequestId, failure: Failure | None = None, told: Failure | None = None
    ) -> None:
        """Answer a chat request; the questions that are open for it are closed."""
        ...

    def answer(self, request: RequestId, result: Result | Failure) -> None:
        """Answer any other request: done, or failed."""
        ...

    def learn(self, model: str, measured: Measured) -> None:
        """Count tokens better from now on."""
        ...

    def let_go(self) -> None:
        """Hold the newest chat request no longer: its conversation has ended."""
        ...
