"""VS Code's Agent Host: its side of a chat. It differs from the local harness as recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from .chat import Chat
from .script import JSON, message, result, text, user

SYSTEM = "You are an assistant in VS Code.\n{prompt}\n<session_context>\n{folder}</session_context>"
FOLDER = "Session folder: /home/me/.copilot/session-state/{session}\n"
SUB_AGENT = "As a sub-agent, complete your parent's task yourself."
EXPLORER = "You are an exploration agent. Answer as fast as possible."
SUMMARISE = (
    "Please create a detailed summary of the conversation so far. The history is being compacted "
    "so moving forward, you'll only have this summary to work from."
)
SUMMARY = (
    "Some of the conversation history has been summarized to free up context.\n\n"
    "Here is a summary of the prior context:\n<summary>\n{summary}\n</summary>\n"
)


def dated(said: str, minute: int) -> str:
    """Return what the host makes of a message."""
    return f"<current_datetime>2030-01-02T03:{minute:02}:00.000+00:00</current_datetime>\n\n{said}"


@attrs.define
class HostChat(Chat):
    """The Agent Host's side of one chat; `session` is the name that its folder has."""

    host_id: str | None = None
    history: list[JSON] = attrs.field(factory=list["JSON"])
    initiator: str | None = "core"
    opening: str | None = None
    """How the system prompt of a sub-agent begins."""
    has_folder: bool = True

    @property
    def _system(self) -> str:
        folder = FOLDER.format(session=self.session) if self.has_folder else ""
        if self.opening is not None:
            return f"{self.opening}\n\n{folder}"
        return SYSTEM.format(prompt="Be kind.", folder=folder)

    def _worded(self, said: str) -> str:
        return dated(said, len(self.script.labels) % 60)

    # What happens.

    def is_stopped_unheard(self, said: str) -> None:
        """Be stopped by the user, of which nobody hears: the answer is given to its end."""
        self.script.answer(self._open, text(said))

    def is_steered(self, said: str, *, with_results: Sequence[str]) -> int:
        """Send what the user typed while tools ran: it has no date."""
        for call_id in with_results:
            self._add(user(result(call_id)), call_id)
        return self.add_and_send(user(text(said)), said)

    def is_notified(self, said: str) -> int:
        """Begin a turn that the host begins by itself."""
        told = f"<system_notification>\n{said}\n</system_notification>"
        return self.add_and_send(user(text(told)), said)

    def sums_up(self, line: str, **how: Any) -> int:
        """Send the prompt for a summary beside the chat, without the answers."""
        asked = [one for one in self.history if one["role"] == "user"]
        kept, self.history = self.history, asked
        number = self.sends_aside(line, "compaction", SUMMARISE, **how)
        self.history = kept
        label = self.script.labels[str(number)]
        shown = sum("<current_datetime>" in one["content"][0]["value"] for one in asked)
        said = label.new_texts[-shown - 1 :]  # the summary before hides the others
        self.script.labels[str(number)] = replace(label, new_texts=said)
        return number

    def goes_on_from(self, summary: str, *, keeping: int) -> None:
        """Put a summary in place of all but the newest messages."""
        kept = self.history[-keeping:] if keeping else []
        self.history[:] = [user(text(SUMMARY.format(summary=summary))), *kept]

    def delegates(self, line: str, said: str, *, explores: bool = False) -> HostChat:
        """Begin a sub-agent, with its first request."""
        sub = HostChat(
            self.script,
            line,
            kind="sub-agent",
            session=self.session,
            opening=EXPLORER if explores else SUB_AGENT,
            has_folder=not explores,
        )
        sub.add_and_send(user(text(sub._worded(said))), said)
        return sub

    def is_forked(self, line: str, *, before: int) -> HostChat:
        """Begin a second chat with what was said before a request; its folder is another one."""
        other = HostChat(self.script, line, kind="branch")
        other.history = self.history[: self._before[before]]
        other.last = self._built_on[before]
        other._built_on, other._before = dict(self._built_on), dict(self._before)
        return other

    def moves_from(self, former: Chat) -> None:
        """Go on with a chat of the local harness, as that would be told here."""
        self.history = [
            self._retold(one) if one["role"] == "user" else one for one in former.history[1:]
        ]
        self.last, self.kind = former.last, former.kind
        self._built_on, self._before = dict(former._built_on), dict(former._before)

    def _retold(self, said: JSON) -> JSON:
        _, _, typed = said["content"][0]["value"].partition("<userRequest>\n")
        return message("user", text(dated(typed.partition("\n</userRequest>")[0], 59)))
