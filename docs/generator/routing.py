"""The reasons of `bridge.router`."""

from __future__ import annotations

from bridge.router import Reason

from .markdown import table

_JOINS, _OPENS = "joins one that is live", "opens a new one"
_REASONS = {
    Reason.PENDING_CALL: (
        _JOINS,
        "It ends with the result of a tool call that only this conversation made.",
    ),
    Reason.EXTENDS: (_JOINS, "It repeats everything that was shown, and goes on."),
    Reason.UNANSWERED: (
        _JOINS,
        "It repeats everything up to the newest question, and goes on. The answer had been cut "
        "short and didn't come back.",
    ),
    Reason.RETRY: (_JOINS, "It asks the newest question again, word for word."),
    Reason.SUPERSEDES: (
        _JOINS,
        "It repeats what was committed, and then says something else: the newest exchange was "
        "edited, or dropped.",
    ),
    Reason.BRANCH: (
        _OPENS,
        "It shares a beginning, with at least one answer in it, with a live conversation that went "
        "on differently: an earlier message was edited, or a chat was forked.",
    ),
    Reason.NEW: (_OPENS, "Nothing live explains it."),
}


def reasons() -> str:
    """Return every reason, as it stands in logs and counters."""
    return table(
        ["reason", "conversation", "the request"],
        [[f"`{reason.value}`", *_REASONS[reason]] for reason in Reason],
    )
