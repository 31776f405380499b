"""Structured log lines: one a decision."""

from __future__ import annotations

import logging

from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Outcome, RoutedRequest
from bridge.wire import RequestId

from .beginning import Start
from .messages import Began

log = logging.getLogger("vscodelm")

_IDS = ("request", "conversation", "turn")


def decision(what: str, **facts: object) -> None:
    """Log one decision: about whom, what, and why (`request=7 turn=2 extends new=1`)."""
    if log.isEnabledFor(logging.INFO):
        about = [f"{key}={facts.pop(key)}" for key in _IDS if key in facts]
        why = [f"{key}={value}" for key, value in facts.items()]
        log.info("%s", " ".join([*about, what, *why]))


def log_outcome(
    request: RequestId, key: ConversationKey, turn: int, routed: RoutedRequest, outcome: Outcome
) -> None:
    """Log whose a request was found to be."""
    if not log.isEnabledFor(logging.INFO):
        return  # before anything is put together for it: an agent may wait
    rules = ",".join(sorted(rule.value for rule in outcome.match.rules))
    runner_up = outcome.runner_up
    decision(
        outcome.reason.value,
        request=request,
        conversation=key,
        turn=turn,
        new=len(routed.path) - outcome.match.new_from,
        **{"class": outcome.request_class.value},
        **({"rules": rules} if rules else {}),
        **({"runner-up": f"{runner_up.conversation}:{runner_up.verdict}"} if runner_up else {}),
    )


def log_start(began: Began) -> None:
    """Log how a session began."""
    about = {"conversation": began.conversation, "turn": began.turn}
    told = {"told": began.told} if began.start is not Start.FRESH else {}
    why = {"why": began.why.value} if began.start is Start.REPLAYED else {}
    decision(began.start.value, **about, **told, **why)
