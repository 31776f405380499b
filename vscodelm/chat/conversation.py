"""A chat as its user sees it: what was said so far, and what is asked next. Pure.

It keeps the rules of a host. An answer becomes one message: its text joined, its calls last. The
part of an answer before a cancel or an error stays. Each call has its result before the user's next
message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from bridge.errors import LocalError
from bridge.wire import ChatMessage, Part, TextPart, ToolCallPart, ToolResultPart, joined_text

NO_ANSWER = "The user went on without answering this call."


class NothingSaid(Exception):
    """There is no question yet that could be asked again."""

    def __init__(self) -> None:
        super().__init__("There is no message yet; type something first.")


@attrs.define(eq=False, repr=False)
class TerminalConversation:
    """The messages so far, and the answer that is being heard."""

    messages: list[ChatMessage] = attrs.field(factory=list[ChatMessage])
    _heard: list[Part] = attrs.field(factory=list["Part"], init=False)

    def ask(self, text: str) -> None:
        """Say something. Calls of the last answer that have no result yet get one first."""
        content: list[Part] = [
            ToolResultPart(call.tool_call_id, [TextPart(NO_ANSWER)], is_error=True)
            for call in self.settle()
        ]
        self.messages.append(ChatMessage("user", (*content, TextPart(text))))

    def hear(self, part: Part) -> None:
        """Take in a part of the answer."""
        self._heard.append(part)

    def settle(self) -> tuple[ToolCallPart, ...]:
        """End the answer, whole or not; return the calls that wait for their results."""
        heard, self._heard = self._heard, []
        text = joined_text(heard)
        calls = (part for part in heard if isinstance(part, ToolCallPart))
        content = (*([TextPart(text)] if text else []), *calls)
        if content:
            self.messages.append(ChatMessage("assistant", content))
        return self._open_calls

    def answer(self, results: Iterable[ToolResultPart]) -> None:
        """Answer the calls that wait, all of them; raises `LocalError` where a result fits none."""
        results = tuple(results)
        waiting = [call.tool_call_id for call in self.settle()]
        if sorted(waiting) != sorted(result.tool_call_id for result in results):
            raise LocalError(f"the calls {waiting} wait, the results are {results}")
        if results:
            self.messages.append(ChatMessage("user", results))

    @property
    def question(self) -> str | None:
        """The user's last message, None if there is none yet."""
        last = self._last_question()
        return None if last is None else self.messages[last].text

    def retry(self) -> None:
        """Take the last answer back, with all that it called for; raises `NothingSaid`."""
        last = self._last_question()
        if last is None:
            raise NothingSaid
        self._heard.clear()
        del self.messages[last + 1 :]

    def edit(self, text: str) -> None:
        """Say something else instead of the last question; raises `NothingSaid`."""
        self.retry()
        content = self.messages.pop().content
        kept = tuple(part for part in content if not isinstance(part, TextPart))
        self.messages.append(ChatMessage("user", (*kept, TextPart(text))))

    def _last_question(self) -> int | None:
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].role == "user" and self.messages[index].text:
                return index
        return None

    @property
    def _open_calls(self) -> tuple[ToolCallPart, ...]:
        if not self.messages or self.messages[-1].role != "assistant":
            return ()
        content: Sequence[Part] = self.messages[-1].content
        return tuple(part for part in content if isinstance(part, ToolCallPart))
