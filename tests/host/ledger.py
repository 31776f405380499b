"""What one conversation's agent was given and said, by the session actor's own plan."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.plan import Delivery, plan
from agents.events import CallTool, ToolAnswer
from bridge.wire import Part, ToolCallPart
from bridge.work import done

from .facts import facts_in, facts_in_result


@attrs.define
class Ledger:
    """The agent of a conversation; a rewound session is a new one."""

    knows: list[int] = attrs.field(factory=list[int])
    session: int = 1
    _fresh: bool = True
    _questions: list[CallTool] | None = None
    """What the agent's open turn waits for; None if no turn is open."""
    _answer: int | None = None
    """The fact of the answer that it is giving."""

    def take(self, delivery: Delivery, answer: int) -> None:
        """Take a delivery; `answer` is the fact of what will be said to it."""
        todo = plan(delivery, fresh=self._fresh, open_questions=self._questions)
        if todo.rewind:
            self.knows, self._fresh, self._questions = [], True, None
            self.session += 1
            todo = plan(delivery, fresh=True)
        if self._fresh:
            self.knows += facts_in(done(delivery.before()))
        for given in todo.answers:
            if isinstance(given, ToolAnswer):
                self.knows += facts_in_result(given.result)
        self.knows += facts_in(todo.prompt)
        self._fresh, self._questions, self._answer = False, None, answer

    def say(self, parts: Sequence[Part]) -> None:
        """Note that the agent said something."""
        if self._answer is not None:
            self.knows.append(self._answer)
            self._answer = None
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._questions = self._questions or []
                self._questions.append(CallTool(part.tool_call_id, part.tool_name, part.parameters))

    def abort(self) -> None:
        """End the open turn; what was said stays said."""
        self._questions = None
        self._answer = None

    @property
    def waits(self) -> bool:
        """Whether its turn waits for results."""
        return self._questions is not None
