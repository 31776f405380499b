"""The editor's tools in one turn, or that there are none."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import attrs

from agents.events import CallTool, Say, ToolAnswer
from agents.mcp.toolbox import Toolbox

from .dialogue import Asked, Dialogue
from .methods import SelectedPermissionOutcome
from .own_tools import editors_tool, is_of_another
from .permission import once
from .tool_call import CallRecord

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False)
class TurnTools:
    """What a turn has to do with the toolbox of its session, if there is one."""

    dialogue: Dialogue

    @property
    def _box(self) -> Toolbox | None:
        return self.dialogue.tools

    @property
    def due(self) -> float:
        """When calls that wait go out; infinite where none does."""
        return math.inf if self._box is None else self._box.due

    @property
    def are_out(self) -> bool:
        """Whether the editor has a call that isn't answered."""
        return self._box is not None and self._box.out > 0

    def begin(self) -> None:
        """Begin the turn."""
        if self._box is not None:
            self._box.begin()

    def resume(self) -> None:
        """Go on in another response."""
        if self._box is not None:
            self._box.resume()

    def announce(self, under_way: int, tools: Sequence[str]) -> None:
        """Note how many calls the agent says are under way, and the tools of the new ones."""
        if self._box is not None:
            self._box.announce(under_way, tools)

    def emit(self) -> tuple[CallTool, ...]:
        """Send out all that waits."""
        return () if self._box is None else self._box.emit()

    def answer(self, answer: ToolAnswer) -> None:
        """Hand a result over."""
        if self._box is not None:
            self._box.answer(answer)
            self.dialogue.wake()

    def cancel(self) -> None:
        """Refuse everything that is called."""
        if self._box is not None:
            self._box.cancel()

    def end(self) -> tuple[Say, ...]:
        """End the turn; return what the user should know."""
        if self._box is None:
            return ()
        self._box.end()
        complaint = self._box.complain()
        return () if complaint is None else (Say(f"\n\n{complaint}\n\n", by_us=True),)

    def allow(self, asked: Asked, record: CallRecord) -> bool:
        """Allow, once, a call that the editor asks its user about by itself; return whether it is.

        A call of another session's server is allowed, too: that server refuses it in words, and a
        denial would end the turn of some agents. Where the agent offers no way to allow it once,
        that is for the user to decide.
        """
        if self._box is None:
            return False
        # What ended was another call: some agents use an id again.
        call = CallRecord(record.call_id) if record.is_over else attrs.evolve(record)
        call.learn(asked.request.tool_call)
        tool = editors_tool(call, self._box)
        option = once(asked.request.options)
        if option is None:
            return False
        if tool is not None:
            log.info("session=%s allowed tool=%s", self.dialogue.session_id, tool.name)
        elif is_of_another(call, self._box, self._box.others()):
            log.info("session=%s another chat's title=%.100r", self.dialogue.session_id, call.title)
            self._box.on_mixed()
        else:
            return False
        self.dialogue.answer(asked.id, SelectedPermissionOutcome(option.option_id))
        return True
