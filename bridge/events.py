"""What happens to a history: inputs. And what is to be done about it, in that order: effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .errors import Failure
from .exchange import Exchange
from .match import Match
from .message import Message
from .value import Value
from .wire import Part, RequestId


class Ask(Value):
    """A request whose conversation this is."""

    request: RequestId
    incoming: tuple[Message, ...]
    match: Match
    inherited: tuple[Exchange, ...] = ()
    """What another conversation knows of the beginning, for the first request of a branch."""


class Cancel(Value):
    """The editor doesn't want the rest of the answer to `request`."""

    request: RequestId


class Emit(Value):
    """The agent said something."""

    turn: int
    parts: Sequence[Part]


class Finish(Value):
    """The agent's turn ended, or waits for results of the calls it made."""

    turn: int


class Fail(Value):
    """The agent's turn failed."""

    turn: int
    failure: Failure


class Close(Value):
    """The conversation is given up: too old, too many, or the process ends."""


Input: TypeAlias = Ask | Cancel | Emit | Finish | Fail | Close


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
    """Answer the request: resolved, or failed. It is the last that the request hears of us."""

    request: RequestId
    failure: Failure | None = None


Effect: TypeAlias = Deliver | Abort | Forward | Settle
