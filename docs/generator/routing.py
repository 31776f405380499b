"""The reasons, the rules and the classes by which requests are routed."""

from __future__ import annotations

from bridge.history.rules import Rule
from bridge.routing.outcome import Reason
from bridge.routing.request import RequestClass

from .markdown import table

_JOINS, _OPENS, _EITHER = "joins one that is live", "opens a new one", "either"
_REASONS = {
    Reason.PENDING_CALL: (
        _JOINS,
        "It brings the result of a call that only this conversation made.",
    ),
    Reason.PROGRESS: (
        _JOINS,
        "It brings the result of a call of the progress tool, so the answer goes on. VS Code's "
        "Agent Host shows a long answer in such pieces.",
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
    Reason.REPEAT: (
        _JOINS,
        "VS Code's Agent Host sends the newest request once more by itself. The turn of the first "
        "one goes on, and the repeat gets the whole answer.",
    ),
    Reason.SUPERSEDES: (
        _JOINS,
        "It goes on without the newest exchange. The user can't return to that, so it is "
        "[withdrawn](#what-becomes-of-what-is-left-out).",
    ),
    Reason.BRANCH: (
        _OPENS,
        "It leaves a live conversation before its end. That one stays: a message was edited, an "
        "answer was taken back, a chat was forked.",
    ),
    Reason.SUB_AGENT: (
        _OPENS,
        "A call that a live conversation waits for runs it, or its system prompt is a sub-agent's.",
    ),
    Reason.ONE_SHOT: (_OPENS, "No later request will build on it; see [classes](#the-classes)."),
    Reason.UNPROVEN: (
        _OPENS,
        "It was compared with live conversations, and nothing proves that it belongs to one of "
        "them.",
    ),
    Reason.NEW: (_OPENS, "Nothing live resembles it."),
}

_CLASSES = {
    RequestClass.MAIN: "A turn of a chat. Also every request without the signs of another class.",
    RequestClass.UTILITY: "A title, a commit message or a name, not a message of the chat.",
    RequestClass.COMPACTION: "A summary of a chat. The chat then continues with the summary in "
    "place of the messages.",
    RequestClass.INLINE: "An edit at the cursor.",
    RequestClass.SUB_AGENT: "A chat that a call of another chat runs.",
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
