"""Says in words what was decided about a request, and why. Text in, text out.

A text of the chat is shown by its first words, never whole, and without what a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from bridge.history.message import Message
from bridge.history.progress_rounds import is_progress_call
from bridge.history.rules import Rule
from bridge.redact import Hide
from bridge.routing.outcome import Joins, Opens, Outcome, Reason
from bridge.wire import RequestId

from .steps import RequestDecision, SessionBegan
from .telling_rows import rows, rows_of_session

MOST_CHARACTERS = 60
"""Characters of a text that are shown."""
FIRST_MESSAGES, LAST_MESSAGES = 3, 6
"""Messages that are listed; those between them are counted."""
MOST_REQUESTS = 20
"""Requests that are named in one line; those before are counted."""
ENDS = {
    "idle": "it was idle for too long",
    "least-recently-used": "a new one needs room, and this one was used least recently",
    "waited-longest": "a new one needs room, and the user has not answered this one for longest",
    "leaving": "the server ends",
    "internal": "an unexpected error occurred in it",
}
"""Why a conversation ended."""


def facts(
    decision: RequestDecision, began: SessionBegan | None, *, is_exact: bool
) -> Iterator[tuple[str, str]]:
    """Yield what was decided, name by name; a row that continues the one above has no name.

    Without `is_exact` the recording doesn't say how sessions began.
    """
    outcome = decision.outcome
    yield "why", f"{outcome.reason.value}: {why(decision)}"
    for rule in _in_order(outcome.match.rules):
        yield "rule", f"{rule.value}: {_first_sentence(rule.reason)}"
    if outcome.runner_up is not None:
        rival = outcome.runner_up
        yield "runner-up", f"conversation {rival.conversation}: {rival.verdict}"
    if decision.extends is not None:
        base, ending = requests_named(decision.extends), decision.committed
        if ending is None:
            yield "extends", base
        else:
            yield "commits", f"{base}, {ending.value}"
    if decision.replaces:
        yield _left(outcome), requests_named(*decision.replaces)
    yield from rows_of_session(decision.telling, began) if is_exact else rows(decision.telling)


def why(decision: RequestDecision) -> str:
    """Return the reason in words."""
    outcome = decision.outcome
    match outcome.reason:
        case Reason.PENDING_CALL:
            return "it answers calls that this conversation waits for"
        case Reason.PROGRESS:
            return "the editor has shown what was said, and waits for the rest"
        case Reason.EXTENDS:
            return "it repeats this conversation and continues it"
        case Reason.TOLERANT:
            return "it repeats this conversation in other words and continues it"
        case Reason.RETRY:
            return f"it asks the same question again{_off(outcome)}"
        case Reason.REPEAT:
            return "the host sends the same request again by itself, and gets the same answer"
        case Reason.SUPERSEDES:
            return "it continues without the newest exchange"
        case Reason.BRANCH:
            return f"it continues in another way{_off(outcome)}"
        case Reason.SUB_AGENT:
            return _led(outcome)
        case Reason.ONE_SHOT:
            return "no later request will build on it"
        case Reason.UNPROVEN:
            return "it is similar to a live conversation, but nothing proves that it continues it"
        case Reason.NEW:
            return "it matches no live conversation"
    assert_never(outcome.reason)


def _left(outcome: Outcome) -> str:
    """Return what becomes of the requests that a request takes the place of."""
    if outcome.reason is Reason.REPEAT:
        return "repeats"
    return "leaves" if isinstance(outcome, Opens) else "withdraws"


def _off(outcome: Outcome) -> str:
    """Return where a branch comes from; the conversation that it leaves stays live."""
    return "" if isinstance(outcome, Joins) else f", as a branch of conversation {outcome.origin}"


def _led(outcome: Outcome) -> str:
    origin = None if isinstance(outcome, Joins) else outcome.origin
    if origin is None:
        return "its system prompt says that it is a sub-agent"
    return f"a call that conversation {origin} waits for started this sub-agent"


def requests_named(*requests: RequestId) -> str:
    """Return requests by their numbers."""
    hidden = len(requests) - MOST_REQUESTS
    first = [f"{hidden} more"] if hidden > 0 else []
    numbers = ", ".join([*first, *(str(one) for one in requests[-MOST_REQUESTS:])])
    return f"request {numbers}" if len(requests) == 1 else f"requests {numbers}"


def message_lines(messages: tuple[Message, ...], show: Hide) -> Iterator[str]:
    """Yield a line for each message, but for those in the middle of many."""
    hidden = len(messages) - FIRST_MESSAGES - LAST_MESSAGES
    if hidden <= 1:
        yield from (_message(one, show) for one in messages)
        return
    yield from (_message(one, show) for one in messages[:FIRST_MESSAGES])
    yield f"... {hidden} more ..."
    yield from (_message(one, show) for one in messages[-LAST_MESSAGES:])


def _message(message: Message, show: Hide) -> str:
    """Return a message on one line: who speaks, and how it begins."""
    said: list[str] = []
    who = "agent" if message.role == "assistant" else "user"
    if message.role == "user" and message.request is None:
        who = "host"
    text = message.request or message.text
    if message.results:
        results = [result for result in message.results if not is_progress_call(result)]
        who = "results" if results else "host"
        said.append(", ".join(results) or "a progress round is over")
    if text:
        said.append(f'"{show(text)}"')
    return f"{who:<8}{'; '.join([*said, *attached(message)])}"


def attached(message: Message) -> Iterator[str]:
    """Yield what a message has beside its text."""
    calls = [call for call in message.calls if not is_progress_call(call.call_id)]
    if calls:
        yield "calls " + ", ".join(f"{call.name} ({call.call_id})" for call in calls)
    if message.images:
        yield "1 image" if len(message.images) == 1 else f"{len(message.images)} images"


def _in_order(rules: frozenset[Rule]) -> list[Rule]:
    return [rule for rule in Rule if rule in rules]


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0]


def shown(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the first words of a text, on one line."""
    # No more is looked at than can be shown: texts are long.
    line = " ".join(text[: 4 * most].split())
    clean = line
    if not line.isprintable():
        odd = "\N{REPLACEMENT CHARACTER}"
        clean = "".join(c if c.isprintable() else odd for c in line)
    if len(clean) <= most and len(text) <= 4 * most:
        return clean
    return clean[: most - 3].rstrip() + "..."
