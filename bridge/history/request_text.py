"""Find the user's own words in a message that the host has wrapped.

VS Code's agent puts attachments, context and reminders into the user's message. The typed text is
in a tag at its end. The tag depends on the model's family and on the mode. The message before it
holds facts about the machine only. The Agent Host writes no such tag (`.agent_host`); in its
messages, such a tag is part of what was typed.
"""

from __future__ import annotations

from bridge.wire import ChatMessage

from .agent_host import is_host_summary, read_host_message

REQUEST_TAGS = ("userRequest", "user_query", "prompt")
BOILERPLATE = ("<environment_info>", "<workspace_info>")


def request_text(message: ChatMessage) -> str | None:
    """Return the user's words, None if there are none: then the host or only tools speak."""
    if message.role != "user":
        return None
    text = message.text
    host = read_host_message(text)
    return request_in(text) if host is None or host.is_typed else None


def request_in(text: str) -> str | None:
    """Return the words that a message asks with, None if there are none.

    They are the user's, or the host's own where it asks by itself.
    """
    if not text or is_host_summary(text):
        return None
    host = read_host_message(text)
    said = _tagged(text) if host is None else text[host.start : host.end]
    if said is None:
        said = "" if text.lstrip().startswith(BOILERPLATE) else text
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
