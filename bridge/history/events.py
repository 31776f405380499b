"""Inputs of a history, and the effects to perform after each, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bridge.errors import Failure
from bridge.value import Value
from bridge.wire import Part, RequestId

from .exchange import Exchange, Match
from .message import Message


class Ask(Value):
    """A request of this conversation."""

    request: RequestId
    incoming: tuple[Message, ...]
    match: Match
    inherited: tuple[Exchange, ...] = ()
    """The shared beginning from another conversation, for the first request of a branch."""


class Rejoin(Value):
    """The host repeats the newest request by itself; `parts` is what was sent until now."""

    request: RequestId
    parts: Sequence[Part]


class Cancel(Value):
    """The editor doesn't want the rest of the answer to `request`."""

    request: RequestId


class Emit(Value):
    """The agent said something."""

    turn: int
    parts: Sequence[Part]


class Finish(Value):
    """The agent's turn ended, or waits for results of the calls it made.

    It may have failed: then the answer reports the `failure` in words.
    """

    turn: int
    failure: Failure | None = None


class Fail(Value):
    """The agent's turn failed."""

    turn: int
    failure: Failure


class Close(Value):
    """The conversation ends: it is too old, there are too many, or the process ends."""


Input: TypeAlias = Ask | Rejoin | Cancel | Emit | Finish | Fail | Close


class Deliver(Value):
    """Give the session the messages from `new_from` on; `withdrawn`: an exchange was taken back."""

    turn: int
    new_from: int
    withdrawn: bool


class Abort(Value):
    """Stop the session's turn."""

    turn: int


class Forward(Value):
    """Show the editor these parts."""

    request: RequestId
    parts: Sequence[Part]


class Settle(Value):
    """Answer the request: resolved, or failed. Nothing more is sent for it.

    `told` is a failure that the answer reports in words, so that the request resolves.
    """

    request: RequestId
    failure: Failure | None = None
    told: Failure | None = None


Effect: TypeAlias = Deliver | Abort | Forward | Settle
