"""Explain decisions about an agent's questions: who decided, and what the user can do. Pure."""

from __future__ import annotations

from bridge.value import Value
from bridge.wire import PERMISSION_TOOL, Settings, ToolResultPart

from .answers import is_interrupted, result_text

MOST_CHARACTERS = 200
"""Characters of what an editor answers that are repeated."""
ALLOWED_BY_RULE = "The command Manage Permissions removes the rule."


class ClientWords(Value):
    """The words that depend on the kind of client."""

    client: str
    """Begins a sentence about the client."""
    no_tools: str
    switched_off: str
    read_only: str
    deny: str
    no_form: str


IN_CHAT = ClientWords(
    client="The editor",
    no_tools="You can't be asked, because this chat offers no tools. Choose Agent mode to decide "
    "yourself.",
    switched_off="You can't be asked, because the tool Agent Action is switched off in this chat. "
    "Switch it on among the chat's tools to decide yourself.",
    read_only="The setting permissions = read_only allows only reading, searching and thinking.",
    deny="The setting permissions = deny allows nothing.",
    no_form="this editor can't show a form",
)
"""For an editor, which shows the answer in a chat."""
_NOT_OFFERED = (
    f"The client can't be asked, because the request doesn't offer the function {PERMISSION_TOOL}. "
    "A client that offers it decides by the function's output."
)
TO_PROGRAM = ClientWords(
    client="The client",
    no_tools=_NOT_OFFERED,
    switched_off=_NOT_OFFERED,
    read_only="The permissions are read_only, for the server or this model: only reading, "
    "searching and thinking are allowed.",
    deny="The permissions are deny, for the server or this model: nothing is allowed.",
    no_form="this client can't show a form",
)
"""For a program, which has no modes, commands or settings of a chat."""


_PHRASES = (
    ("chose to skip", "You skipped it."),
    ("cancelled the tool call", "You cancelled it."),
    ("denied by the user", "You denied it."),
)
"""Answers of hosts, and their meanings."""
_REJECTED = "The user rejected this tool call. User feedback: "
_WITHOUT_FEEDBACK = "The user denied permission."
_CANCELED = ("canceled", "cancelled")
STOPPED_FIRST = "You stopped the turn before you decided."


def denied_by_settings(
    settings: Settings, *, offers_tools: bool, words: ClientWords = IN_CHAT
) -> str:
    """Return why nobody was asked; `offers_tools` is whether the chat offers any tool."""
    match settings.permissions:
        case "read_only":
            return words.read_only
        case "deny":
            return words.deny
        case _:
            return words.switched_off if offers_tools else words.no_tools


def cannot_ask(
    message: str, *, shows_forms: bool, is_read: bool, words: ClientWords = IN_CHAT
) -> str | None:
    """Return the paragraph that tells why an agent's question for input is declined.

    `is_read` is whether a person reads the answer. None: the question can be asked.
    """
    if shows_forms and is_read:
        return None
    from agents.acp.text.markdown import escape, one_line  # here, because few chats need them

    why = "a program asked for this answer" if shows_forms else words.no_form
    asked = escape(one_line(message, MOST_CHARACTERS))
    return f"\n\n⚠️ The agent asked for your input, but {why}, so it was declined: {asked}\n\n"


def denied_by_answer(part: ToolResultPart | None, words: ClientWords = IN_CHAT) -> str:
    """Return why the client's answer to a question is no approval."""
    unanswered = f"{words.client} gave no answer to the question."
    if part is None:
        return unanswered
    text = " ".join(result_text(part.result).split())
    if is_interrupted(text):
        return STOPPED_FIRST
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
        return (
            f"{words.client} couldn't ask you: {text}"
            if text
            else f"{words.client} couldn't ask you."
        )
    return f"{words.client} answered: {text}" if text else unanswered


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
