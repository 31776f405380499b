"""List how a host's repetition of a chat may differ from the original, each with its reason.

A request that repeats a conversation exactly needs none of them. A request that differs in any
other way is another conversation. Sources: recorded traffic of VS Code 1.139 with its built-in
agent ("recorded"), that agent's published source ("source"), reports of users ("reported").
"""

from __future__ import annotations

import enum


class Rule(enum.Enum):
    """A named tolerance."""

    ANSWER_ABSENT = "unfinished-answer-absent"
    ANSWER_UNSEEN = "whole-answer-absent"
    ANSWER_CUT = "unfinished-answer-cut"
    TURN_ABSENT = "unfinished-turn-absent"
    REQUEST_ONLY = "request-text-only"
    PREAMBLE = "preamble-changed"
    CALLS_DROPPED = "unanswered-calls-dropped"
    ROUND_PRUNED = "round-pruned"
    RESULTS_REGROUPED = "results-regrouped"
    IMAGE_REPLACED = "image-replaced"
    LINKS_REWRITTEN = "links-rewritten"
    SUMMARY = "summary"
    CALL_ALONE = "call-id-alone"

    @property
    def reason(self) -> str:
        """Return why a host does this, and how we know."""
        return _REASONS[self]


_REASONS = {
    Rule.ANSWER_ABSENT: (
        "The answer of a turn that was stopped, failed or empty is left out; the question stays. "
        "Recorded: stop, error before and after the first part, an empty answer."
    ),
    Rule.ANSWER_UNSEEN: (
        "VS Code's Agent Host doesn't report a stop. So the answer is complete here, but the next "
        "request leaves it out. The host also leaves out answers that don't fit into the window. "
        "Only a request that names the same chat may do so. Recorded: stop, a small window."
    ),
    Rule.ANSWER_CUT: (
        "After a reload the answer of such a turn has only its visible beginning, with its links "
        "rewritten. Recorded."
    ),
    Rule.TURN_ABSENT: (
        "A turn that was stopped or failed is dropped with its question when the history is "
        "rebuilt. The request must repeat a later answer. Source: filtered and undone turns are "
        "removed."
    ),
    Rule.REQUEST_ONLY: (
        "A message of the user is reduced to what was typed, without the context round it. "
        "Recorded: reload, and the change between agent and ask mode."
    ),
    Rule.PREAMBLE: (
        "The message with facts about the machine appears, changes or disappears. Recorded: ask "
        "mode, participants; source: it is rendered anew when the workspace changes."
    ),
    Rule.CALLS_DROPPED: (
        "A call that never got a result is removed, and with it the whole answer or only the call. "
        "Recorded: ask mode; source: calls without results are removed from past rounds."
    ),
    Rule.ROUND_PRUNED: (
        "A finished round, a call and its result, is missing in the middle. Recorded: after a "
        "pause for too many requests; ask mode drops every round of a past turn."
    ),
    Rule.RESULTS_REGROUPED: (
        "Results come in one message or in one message each. Source: other callers of the API."
    ),
    Rule.IMAGE_REPLACED: (
        "An image is dropped, or replaced by a line of text. Source: the host's budget for images."
    ),
    Rule.LINKS_REWRITTEN: (
        "Links in an answer are rendered anew. Recorded after a reload: `[app](src/app.py)` comes "
        "back as `app`. Source: other links come back with their text as code."
    ),
    Rule.SUMMARY: (
        "A summary replaces the beginning, and sometimes the question that is being worked on, "
        "too. Recorded: background, foreground and by command."
    ),
    Rule.CALL_ALONE: (
        "Everything else has changed, but results of our calls came. The ids are unique in this "
        "process, so the conversation is certain. Recorded: ids are never changed."
    ),
}

BY_DIGESTS = frozenset(
    {
        Rule.ANSWER_ABSENT,
        Rule.ANSWER_CUT,
        Rule.TURN_ABSENT,
        Rule.REQUEST_ONLY,
        Rule.PREAMBLE,
        Rule.RESULTS_REGROUPED,
        Rule.LINKS_REWRITTEN,
    }
)
"""Rules by which a conversation is recognised by digests alone (`bridge.routing.sketch`)."""
