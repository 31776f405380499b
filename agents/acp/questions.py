"""Keep an agent's questions and tool calls of one turn, until they are answered. Pure.

`Questions` are the permission requests that the user decides about. `TurnTools` are the calls of
the editor's tools; a permission request about one of them is answered here, without the user.
`TurnForms` is the input that the agent asks the user for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from agents.acp.calls.identity import editors_tool, is_of_another
from agents.acp.calls.state import CallRecord
from agents.acp.edits.choice import paths_of
from agents.acp.rpc.news import MOST_QUESTIONS, InputRequested, PermissionRequested
from agents.acp.schema.elicitation import CreateElicitationResponse
from agents.acp.schema.methods import SelectedPermissionOutcome
from agents.events import (
    AskPermission,
    Decision,
    Elicit,
    ElicitAnswer,
    PermissionAnswer,
    TakeBack,
    ToolAnswer,
)
from agents.habits import Announcing
from agents.mcp.call_broker import CallBroker
from bridge.value import Value
from bridge.wire import Permissions

from .permissions import PermissionQuestion, allows, once, outcome, question_of
from .turn_ports import QuestionLine, ToolsPort

GATHER_SECONDS = 0.05
"""Seconds that another question may take to come, before the turn awaits the answers."""
MOST_GATHER_SECONDS = 0.5
"""The most seconds to gather questions that come one by one."""
ANNOUNCED_SECONDS = 0.25
"""Seconds that a question waits for the announcement of its call, if the agent announces calls."""


@attrs.define
class _Late:
    """A question whose call isn't announced, and until when that is waited for."""

    asked: PermissionRequested
    ask: AskPermission
    record: CallRecord
    until: float


class Decided(Value):
    """A permission that was allowed or denied, and why; `call_id` is the agent's."""

    call_id: str
    title: str
    reason: str
    is_allowed: bool


@attrs.define(eq=False, repr=False)
class Questions:
    """The questions of one turn; `permissions` is the setting under which they are answered.

    `agent` is the name of the agent that asks; `habit` is whether it announces the calls that it
    asks about. A question that overtakes the announcement is held back, because text comes with it.
    """

    line: QuestionLine
    permissions: Permissions
    agent: str = ""
    habit: Announcing = attrs.field(factory=Announcing)
    _gathered_at: float = attrs.field(default=math.inf, init=False)
    """When no more of them are waited for."""
    _late: list[_Late] = attrs.field(factory=list[_Late], init=False)
    _gathers_until: float = attrs.field(default=math.inf, init=False)
    """When gathering ends, however many more of them come."""
    _asked: dict[str, tuple[PermissionRequested, PermissionQuestion]] = attrs.field(
        factory=dict[str, "tuple[PermissionRequested, PermissionQuestion]"], init=False
    )
    """By the id of the call."""
    _decided: list[Decided] = attrs.field(factory=list["Decided"], init=False)

    @property
    def are_open(self) -> bool:
        """Whether one of them waits for its answer; the agent may have taken it back."""
        return any(self.line.is_open(asked.id) for asked, _ in self._asked.values())

    @property
    def gathered_at(self) -> float:
        """When the turn begins to await the answers."""
        waiting = (one.until for one in self._late if not one.record.is_announced)
        return min(max((self._gathered_at, *waiting)), self._gathers_until)

    def put(
        self,
        asked: PermissionRequested,
        call_id: str,
        record: CallRecord,
        open_calls: Sequence[CallRecord] = (),
        *,
        now: float,
    ) -> Sequence[AskPermission]:
        """Take a question in. Return it as the user is asked it, unless it is held back.

        `open_calls` are the session's other calls that aren't over.
        """
        call = asked.request.tool_call.tool_call_id
        is_again = any(
            self.line.is_open(other.id) and other.request.tool_call.tool_call_id == call
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
        if not self.are_open:
            self._gathers_until = now + MOST_GATHER_SECONDS
        if len(self._asked) >= MOST_QUESTIONS:  # some of them were taken back
            kept = [one for one in self._asked.items() if self.line.is_open(one[1][0].id)]
            self._asked = dict(kept)
            self._late = [one for one in self._late if self.line.is_open(one.asked.id)]
        self._asked[call_id] = asked, question
        self._gathered_at = now + GATHER_SECONDS
        if record.is_announced:
            self.habit.confirm()
        elif self.habit.is_expected:
            self._late.append(_Late(asked, question.ask, record, now + ANNOUNCED_SECONDS))
            return ()
        return (question.ask,)

    def take_late(self, now: float) -> Sequence[AskPermission]:
        """Return the questions that were held back, and note whether that was of use."""
        late, self._late = self._late, []
        for one in late:
            if one.record.is_announced:
                self.habit.confirm()
            elif now >= one.until:
                self.habit.miss()
        return tuple(one.ask for one in late if self.line.is_open(one.asked.id))

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
            self.line.record(
                f"call={answer.call_id} kind={question.ask.kind} decision={answer.decision.value} "
                f"reason={answer.reason or '-'}"
            )
            self.line.answer(asked.id, chosen)

    def take_decided(self) -> Sequence[Decided]:
        """Return what was decided since."""
        decided, self._decided = self._decided, []
        return decided

    def clear(self) -> None:
        """Forget them all: a cancel answers them."""
        self._asked.clear()
        self._late.clear()


@attrs.define(eq=False, repr=False)
class TurnTools:
    """A turn's part in the editor's tools of its session, if there are any."""

    line: QuestionLine
    calls: CallBroker = attrs.field(init=False)
    """The agent's calls; without tools there are none."""
    _box: ToolsPort | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._box = self.line.tools
        self.calls = CallBroker() if self._box is None else self._box.calls

    def answer(self, answer: ToolAnswer) -> None:
        """Hand a result over."""
        if self._box is not None:
            self._box.answer(answer)
            self.line.wake()

    def cancel(self) -> None:
        """Refuse everything that is called."""
        if self._box is not None:
            self._box.cancel()

    def allow(self, asked: PermissionRequested, record: CallRecord) -> bool:
        """Allow, once, a call that the editor asks its user about by itself; return whether it is.

        A call of another session's server is allowed, too: that server refuses it in words, and a
        denial would end the turn of some agents. If the agent offers no way to allow it once, the
        user decides.
        """
        if self._box is None:
            return False
        # Another call ended: some agents use an id again.
        call = CallRecord(record.call_id) if record.is_over else attrs.evolve(record)
        call.learn(asked.request.tool_call)
        tool = editors_tool(call, self._box)
        option = once(asked.request.options)
        if option is None:
            return False
        if tool is not None:
            self.line.record(f"allowed tool={tool.name}")
        elif self.line.allows_edit(call.kind, paths_of(call)):
            self.line.record(f"allowed edit={call.call_id}")
        elif is_of_another(call, self._box, self._box.owner.others(self._box.server)):
            self.line.record(f"another chat's title={call.title!r:.100}")
            self._box.owner.mix()
        else:
            return False
        self.line.answer(asked.id, SelectedPermissionOutcome(option.option_id))
        return True


_FORM_MARKS = {
    "accept": "✔ **Answered:**",
    "decline": "✘ **Declined:**",
    "cancel": "✘ **Closed without an answer:**",
}
"""The mark in the answer for how a form ended, by the user's action."""


class FormLine(Value):
    """A line for the answer that tells how a form ended, but no value: a value may be a secret."""

    mark: str
    message: str


@attrs.define(eq=False, repr=False)
class TurnForms:
    """The forms of one turn, by the calls that stand for them in the editor."""

    line: QuestionLine
    _asked: dict[str, InputRequested] = attrs.field(factory=dict[str, "InputRequested"], init=False)
    _ended: list[FormLine] = attrs.field(factory=list[FormLine], init=False)

    @property
    def are_open(self) -> bool:
        """Whether one of them waits for its answer."""
        return any(map(self._waits, self._asked.values()))

    def put(self, asked: InputRequested, call_id: str) -> Elicit:
        """Take a form in; return it as the user is asked it."""
        self._asked[call_id] = asked
        request = asked.request
        self.line.record(f"form={call_id} mode={request.mode}")
        is_form = request.mode == "form"
        return Elicit(
            call_id,
            request.message,
            request.requested_schema if is_form else None,
            None if is_form else request.url,
        )

    def answer(self, answer: ElicitAnswer) -> None:
        """Hand the agent the answer to a form, if it still waits for that."""
        asked = self._asked.pop(answer.call_id, None)
        if asked is None or not self._waits(asked):
            return
        self.line.record(f"form={answer.call_id} action={answer.action}")
        if not answer.is_told:
            self._ended.append(FormLine(_FORM_MARKS[answer.action], asked.request.message))
        content = answer.content if asked.request.mode == "form" else None
        self.line.answer(asked.id, CreateElicitationResponse(answer.action, content))

    def complete(self, elicitation_id: str) -> None:
        """Hear that the user has done what an address was for, though nobody said so here."""
        for call_id, asked in self._asked.items():
            request = asked.request
            is_meant = request.mode == "url" and request.elicitation_id == elicitation_id
            if is_meant and self._waits(asked):
                self.line.record(f"form={call_id} complete")
                self._ended.append(FormLine(_FORM_MARKS["accept"], request.message))
                self.line.answer(asked.id, CreateElicitationResponse("accept"))

    def take_gone(self) -> Sequence[TakeBack]:
        """Forget the forms whose answers the agent needs no more, and return that."""
        gone = [call_id for call_id, asked in self._asked.items() if not self._waits(asked)]
        for call_id in gone:
            del self._asked[call_id]
        return tuple(map(TakeBack, gone))

    def take_ended(self) -> Sequence[FormLine]:
        """Return how forms have ended since."""
        ended, self._ended = self._ended, []
        return ended

    def clear(self) -> None:
        """Forget them all: a cancel answers them."""
        self._asked.clear()

    def _waits(self, asked: InputRequested) -> bool:
        """Return whether the agent waits for the answer: it may have taken the form back."""
        return self.line.asks(asked.id, asked.request)
