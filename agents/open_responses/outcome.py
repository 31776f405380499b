"""What is known of a response, from its stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from bridge.value import Value

from .faults import Fault

if TYPE_CHECKING:
    from msgspec import Raw

Status: TypeAlias = Literal["open", "completed", "incomplete", "failed", "unchained"]
"""How far a response is. `unchained`: the server goes on from nothing, though it was told to go on
from an earlier response; nothing of it was or will be emitted, and it must be asked in full."""


class Called(Value):
    """A tool call that was emitted: the id that the editor knows, and the server's own."""

    call_id: str
    server_call_id: str
    name: str
    arguments: str


class TokenUsage(Value):
    """The tokens of a response; None is what the server didn't say."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Outcome(Value):
    """A response, as known when it was asked for; all of it is of the newest snapshot.

    `previous_response_id` is what the server says it goes on from. `store` None: it didn't say.
    `output` are the items of the response as the server wrote them (JSON objects, in their order),
    reasoning items with their encrypted content among them; `calls` are the tool calls of them that
    were emitted. `has_emitted`: a part is out, so nothing may be asked again. `fault` is there with
    `failed`; whether it is worth a retry is for the session to ask of it (and of `has_emitted`).
    `incomplete_reason` is the server's word. `notes` are surprises worth a line in the log.
    """

    status: Status = "open"
    response_id: str | None = None
    previous_response_id: str | None = None
    model: str | None = None
    store: bool | None = None
    usage: TokenUsage | None = None
    output: tuple[Raw, ...] = ()
    calls: tuple[Called, ...] = ()
    has_emitted: bool = False
    fault: Fault | None = None
    incomplete_reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def can_be_continued(self) -> bool:
        """Whether a next request may name this response as the previous one.

        Not where two calls were emitted under one id of the server's: it couldn't tell the answers
        apart, so it must be told in full.
        """
        ids = [call.server_call_id for call in self.calls]
        is_kept = self.store is True and bool(self.response_id)
        return self.status == "completed" and is_kept and len(set(ids)) == len(ids)
