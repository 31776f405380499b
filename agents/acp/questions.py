"""What an agent asks in a turn, until it is answered."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import attrs
import trio

from agents.events import AskPermission, Decision, PermissionAnswer
from agents.habits import Announcing
from bridge.value import Value
from bridge.wire import Permissions

from .dialogue import MOST_QUESTIONS, Asked, Dialogue
from .permission import Question, allows, outcome, question_of
from .tool_call import CallRecord

log = logging.getLogger("vscodelm.acp")

GATHER_SECONDS = 0.05
"""How long another question may take to come, before the turn awaits the answers."""
MOST_GATHER_SECONDS = 0.5
"""How long questions that come one by one are gathered, at most."""
ANNOUNCED_SECONDS = 0.25
"""How long a question waits for the announcement of its call, where the agent announces calls."""


@attrs.define
class _Late:
    """A question whose call isn't announced, and until when that is waited for."""

    asked: Asked
    ask: AskPermission
    record: CallRecord
    until: float


class Decided(Value):
    """What was allowed or denied, and why; `call_id` is the agent's."""

    call_id: str
    title: str
    reason: str
    is_allowed: bool


@attrs.define(eq=False)
class Questions:
    """The questions of one turn; `permissions` is the setting under which they are answered.

    `agent` is the name of the agent that asks; `habit` is whether it announces the calls that it
    asks about. A question that overtakes the announcement is held back, because text comes with it.
    """

    dialogue: Dialogue
    permissions: Permissions
    agent: str = ""
    habit: Announcing = attrs.field(factory=Announcing)
    _gathered_at: float = attrs.field(default=math.inf, init=False)
    """When no more of them are waited for."""
    _late: list[_Late] = attrs.field(factory=list[_Late], init=False)
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

    @property
    def gathered_at(self) -> float:
        """When the turn begins to await the answers."""
        waiting = (one.until for one in self._late if not one.record.is_announced)
        return min(max((self._gathered_at, *waiting)), self._gathers_until)

    def put(
        self, asked: Asked, call_id: str, record: CallRecord, open_calls: Sequence[CallRecord] = ()
    ) -> Sequence[AskPermission]:
        """Take a question in. Return it as the user is asked it, unless it is held back.

        `open_calls` are the session's other calls that aren't over.
        """
        call = asked.request.tool_call.tool_call_id
        is_again = any(
            self.dialogue.is_open(other.id) and other.request.tool_call.tool_call_id == call
            for other, _ in self._asked.values()
        )
        question = question_of(
            asked.request,
            call_id,
            record,
            agent=self.agent,
            open_calls=open_calls,
            is_again=is_again,
        )
        now = trio.current_time()
        if not self.are_open:
            self._gathers_until = now + MOST_GATHER_SECONDS
        if len(self._asked) >= MOST_QUESTIONS:  # some of them were taken back
            kept = [one for one in self._asked.items() if self.dialogue.is_open(one[1][0].id)]
            self._asked = dict(kept)
            self._late = [one for one in self._late if self.dialogue.is_open(one.asked.id)]
        self._asked[call_id] = asked, question
        self._gathered_at = now + GATHER_SECONDS
        if record.is_announced:
            self.habit.confirm()
        elif self.habit.is_expected:
            self._late.append(_Late(asked, question.ask, record, now + ANNOUNCED_SECONDS))
            return ()
        return (question.ask,)

    def take_late(self) -> Sequence[AskPermission]:
        """Return the questions that were held back, and note whether that was of use."""
        late, self._late = self._late, []
        for one in late:
            if one.record.is_announced:
                self.habit.confirm()
            elif trio.current_time() >= one.until:
                self.habit.miss()
        return tuple(one.ask for one in late if self.dialogue.is_open(one.asked.id))

    def answer(self, answer: PermissionAnswer) -> None:
        """Hand the agent the first answer to a question that is open."""
        if answer.call_id in self._asked:
            asked, question = self._asked.pop(answer.call_id)
            chosen = outcome(question, answer.decision, self.permissions, answer.option)
            if answer.decision is not Decision.ABANDONED:
                call_id = asked.request.tool_call.tool_call_id
                is_allowed = allows(question, chosen)
                self._decided.append(
                    Decided(call_id, question.ask.title, answer.reason, is_allowed)
                )
            log.info(
                "session=%s call=%s kind=%s decision=%s reason=%s",
                self.dialogue.session_id,
                answer.call_id,
                question.ask.kind,
                answer.decision.value,
                answer.reason or "-",
            )
            self.dialogue.answer(asked.id, chosen)

    def take_decided(self) -> Sequence[Decided]:
        """Return what was decided since."""
        decided, self._decided = self._decided, []
        return decided

    def clear(self) -> None:
        """Forget them all: a cancel answers them."""
        self._asked.clear()
        self._late.clear()
