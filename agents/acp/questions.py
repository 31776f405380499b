"""What an agent asks in a turn, until it is answered."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import attrs
import trio

from agents.events import AskPermission, Decision, PermissionAnswer
from bridge.value import Value
from bridge.wire import Permissions

from .dialogue import MOST_QUESTIONS, Asked, Dialogue
from .permission import Question, outcome, question_of
from .tool_call import CallRecord

log = logging.getLogger("vscodelm.acp")

GATHER_SECONDS = 0.05
"""How long another question may take to come, before the turn awaits the answers."""
MOST_GATHER_SECONDS = 0.5
"""How long questions that come one by one are gathered, at most."""


class Decided(Value):
    """What was allowed or denied, and why."""

    title: str
    reason: str
    is_allowed: bool


@attrs.define(eq=False)
class Questions:
    """The questions of one turn; `permissions` is the setting under which they are answered.

    `agent` is the name of the agent that asks.
    """

    dialogue: Dialogue
    permissions: Permissions
    agent: str = ""
    gathered_at: float = attrs.field(default=math.inf, init=False)
    """When no more of them are waited for."""
    _gathers_until: float = attrs.field(default=math.inf, init=False)
    """When gathering ends, however many more of them come."""
    _asked: dict[str, tuple[Asked, Question]] = attrs.field(
        factory=dict[str, "tuple[Asked, Question]"], init=False
    )
    """By the id of the call."""
    _decided: list[Decided] = attrs.field(factory=list["Decided"], init=False)

    @property
    def are_open(self) -> bool:
        """Whether one of them waits for its answer; the agent may have taken it back."""
        return any(self.dialogue.is_open(asked.id) for asked, _ in self._asked.values())

    def put(
        self, asked: Asked, call_id: str, record: CallRecord, open_calls: Sequence[CallRecord] = ()
    ) -> AskPermission:
        """Take a question in; return it as the user is asked it.

        `open_calls` are the session's other calls that aren't over.
        """
        question = question_of(
            asked.request, call_id, record, agent=self.agent, open_calls=open_calls
        )
        now = trio.current_time()
        if not self.are_open:
            self._gathers_until = now + MOST_GATHER_SECONDS
        if len(self._asked) >= MOST_QUESTIONS:  # some of them were taken back
            kept = [one for one in self._asked.items() if self.dialogue.is_open(one[1][0].id)]
            self._asked = dict(kept)
        self._asked[call_id] = asked, question
        self.gathered_at = min(now + GATHER_SECONDS, self._gathers_until)
        return question.ask

    def answer(self, answer: PermissionAnswer) -> None:
        """Hand the agent the first answer to a question that is open."""
        if answer.call_id in self._asked:
            asked, question = self._asked.pop(answer.call_id)
            if answer.decision is not Decision.ABANDONED and answer.reason:
                is_allowed = answer.decision is Decision.ALLOWED
                self._decided.append(Decided(question.ask.title, answer.reason, is_allowed))
            log.info(
                "session=%s call=%s kind=%s decision=%s reason=%s",
                self.dialogue.session_id,
                answer.call_id,
                question.ask.kind,
                answer.decision.value,
                answer.reason or "-",
            )
            chosen = outcome(question, answer.decision, self.permissions, answer.option)
            self.dialogue.answer(asked.id, chosen)

    def take_decided(self) -> Sequence[Decided]:
        """Return what was decided since for a reason that the user must know."""
        decided, self._decided = self._decided, []
        return decided

    def clear(self) -> None:
        """Forget them all: a cancel answers them."""
        self._asked.clear()
