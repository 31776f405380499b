"""What a user message asks, apart from what the host wraps round it.

VS Code's agent puts attachments, context and reminders into the user's message, and what was typed
into a tag at its end; which tag depends on the model's family and on the mode. The message before
it holds facts about the machine only.
"""

from __future__ import annotations

from .wire import ChatMessage, TextPart

REQUEST_TAGS = ("userRequest", "user_query", "prompt")
BOILERPLATE = ("<environment_info>", "<workspace_info>")


def request_text(message: ChatMessage) -> str | None:
    """Return what the user says, None if nothing: the host speaks, or only tools do."""
    if message.role != "user":
        return None
    return request_in("".join(part.value for part in message.content if isinstance(part, TextPart)))


def request_in(text: str) -> str | None:
    """Return what the user says in the text of a message, None if nothing."""
    asked = _tagged(text)
    if asked is None and text.lstrip().startswith(BOILERPLATE):
        return None
    said = text if asked is None else asked
    return said if said.strip() else None


def _tagged(text: str) -> str | None:
    """Return the inside of the request tag that is closed last, None if there is none.

    The user's own text may hold such tags too, but the host's closing tag comes after it.
    """
    found: str | None = None
    last = -1
    for tag in REQUEST_TAGS:
        closing = text.rfind(f"</{tag}>")
        opening = text.rfind(f"<{tag}>", 0, max(closing, 0))
        if opening >= 0 and closing > last:
            found, last = text[opening + len(tag) + 2 : closing].strip(), closing
    return found
