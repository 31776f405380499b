"""The reasons of `bridge.router`, the rules of `bridge.rules`, the classes of `bridge.request`."""

from __future__ import annotations

from bridge.request import RequestClass
from bridge.router import Reason
from bridge.rules import Rule

from .markdown import table

_JOINS, _OPENS, _EITHER = "joins one that is live", "opens a new one", "either"
_REASONS = {
    Reason.PENDING_CALL: (
        _JOINS,
        "It brings the result of a call that only this conversation made.",
    ),
    Reason.EXTENDS: (
        _JOINS,
        "It repeats everything that was shown, and goes on. Only an answer that was cut short may "
        "be missing.",
    ),
    Reason.TOLERANT: (
        _JOINS,
        "It repeats everything that was shown in other words, by [rules](#the-rules), and goes on.",
    ),
    Reason.RETRY: (
        _EITHER,
        "It asks the newest question again. It opens a conversation if the answer to that was "
        "complete or may still be wanted, and joins if the answer was cut short.",
    ),
    Reason.SUPERSEDES: (
        _JOINS,
        "It goes on without the newest exchange, to which nobody can come back: that is "
        "[withdrawn](#what-becomes-of-what-is-left-out).",
    ),
    Reason.BRANCH: (
        _OPENS,
        "It leaves a live conversation before its end, and that lives on: a message was edited, an "
        "answer was taken back, a chat was forked.",
    ),
    Reason.SUB_AGENT: (_OPENS, "A call that a live conversation waits for leads it."),
    Reason.ONE_SHOT: (_OPENS, "No later request will build on it; see [classes](#the-classes)."),
    Reason.UNPROVEN: (
        _OPENS,
        "It was compared with live conversations, and nothing proves that it is one of theirs.",
    ),
    Reason.NEW: (_OPENS, "Nothing live resembles it."),
}

_CLASSES = {
    RequestClass.MAIN: "A turn of a chat. Whatever isn't known to be something else is this.",
    RequestClass.UTILITY: "A title, a commit message, a name: something beside the chat.",
    RequestClass.COMPACTION: "A summary of a chat that is going to be led on without what it sums "
    "up.",
    RequestClass.INLINE: "An edit at the cursor.",
    RequestClass.SUB_AGENT: "A chat that a call of another chat leads.",
}


def reasons() -> str:
    """Return every reason, as it stands in logs and counters."""
    return table(
        ["reason", "conversation", "the request"],
        [[f"`{reason.value}`", *_REASONS[reason]] for reason in Reason],
    )


def rules() -> str:
    """Return every tolerance, with why a host makes it necessary."""
    return table(
        ["rule", "what a host does, and how we know"],
        [[f"`{rule.value}`", rule.reason] for rule in Rule],
    )


def classes() -> str:
    """Return every class of request, and whether it is answered once."""
    return table(
        ["class", "what it is", "one-shot"],
        [
            [f"`{kind.value}`", _CLASSES[kind], "yes" if kind.is_one_shot else "no"]
            for kind in RequestClass
        ],
    )
