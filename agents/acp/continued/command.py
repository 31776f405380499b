"""Find the user's `/continue` in a chat. Pure.

It is a command of ours, and so is never sent to an agent that can open its sessions again. It
counts only while the user has sent nothing else in the chat. Later `/continue` is text like any
other, so an agent's own command of that name works from the second message on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.history.request_text import BOILERPLATE, request_text
from bridge.value import Value
from bridge.wire import ChatMessage

COMMAND = "/continue"
_COMMAND = re.compile(rf"{COMMAND}(?:\s+(\S+))?")


class Wish(Value):
    """The session that a chat is to go on with; without an id, the user wants a list."""

    session_id: str = ""


def wish_in(messages: Sequence[ChatMessage]) -> Wish | None:
    """Return what the newest message wishes, None if the user has said anything but commands."""
    wish: Wish | None = None
    for message in messages:
        if message.role == "user" and not _is_of_host(message):
            wish = wish_of(message)
            if wish is None:
                return None
    return wish


def _is_of_host(message: ChatMessage) -> bool:
    """Return whether a message only describes the editor: VS Code begins each chat with one."""
    return message.text.lstrip().startswith(BOILERPLATE) and request_text(message) is None


def wish_of(message: ChatMessage) -> Wish | None:
    """Return what a message of the user's wishes, None if it isn't a command."""
    found = _COMMAND.fullmatch((request_text(message) or "").strip())
    return None if found is None else Wish(found[1] or "")
