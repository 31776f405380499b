"""Why an agent's question is decided as it is: by whom, and what the user can do. Pure."""

from __future__ import annotations

from bridge.wire import Settings, ToolResultPart

from .answers import is_interrupted, result_text

MOST_CHARACTERS = 200
"""Characters of what an editor answers that are repeated."""
UNANSWERED = "The editor gave no answer to the question."
NO_TOOLS = (
    "You can't be asked, because this chat offers no tools. Choose Agent mode to decide yourself."
)
SWITCHED_OFF = (
    "You can't be asked, because the tool Agent Action is switched off in this chat. "
    "Switch it on among the chat's tools to decide yourself."
)
READ_ONLY = "The setting permissions = read_only allows only reading, searching and thinking."
ALLOWED_BY_RULE = "The command Manage Permissions removes the rule."
DENY = "The setting permissions = deny allows nothing."
_PHRASES = (
    ("chose to skip", "You skipped it."),
    ("cancelled the tool call", "You cancelled it."),
    ("denied by the user", "You denied it."),
)
"""Answers of hosts, and their meanings."""
_REJECTED = "The user rejected this tool call. User feedback: "
_WITHOUT_FEEDBACK = "The user denied permission."
_CANCELED = ("canceled", "cancelled")
INTERRUPTED = "You stopped the turn before you decided."


def denied_by_settings(settings: Settings, *, offers_tools: bool) -> str:
    """Return why nobody was asked; `offers_tools` is whether the chat offers any tool."""
    match settings.permissions:
        case "read_only":
            return READ_ONLY
        case "deny":
            return DENY
        case _:
            return SWITCHED_OFF if offers_tools else NO_TOOLS


def cannot_ask(message: str, *, shows_forms: bool, is_read: bool) -> str | None:
    """Return the paragraph that tells why an agent's question for input is declined.

    `is_read` is whether a person reads the answer. None: the question can be asked.
    """
    if shows_forms and is_read:
        return None
    from agents.acp.text.markdown import escape, one_line  # here, because few chats need them

    why = "a program asked for this answer" if shows_forms else "this editor can't show a form"
    asked = escape(one_line(message, MOST_CHARACTERS))
    return f"\n\n⚠️ The agent asked for your input, but {why}, so it was declined: {asked}\n\n"


def denied_by_answer(part: ToolResultPart | None) -> str:
    """Return why the editor's answer to a question is no approval."""
    if part is None:
        return UNANSWERED
    text = " ".join(result_text(part.result).split())
    if is_interrupted(text):
        return INTERRUPTED
    if text.lower() in _CANCELED:
        return "You cancelled it."
    if text.startswith(_REJECTED):
        feedback = _cut(text.removeprefix(_REJECTED))
        return "You skipped it." if feedback == _WITHOUT_FEEDBACK else f"You refused: {feedback}"
    for phrase, meaning in _PHRASES:
        if phrase in text.lower():
            return meaning
    text = _cut(text)
    if part.is_error:
        return f"The editor couldn't ask you: {text}" if text else "The editor couldn't ask you."
    return f"The editor answered: {text}" if text else UNANSWERED


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
