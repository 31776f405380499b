"""Render an agent's updates in a turn as the text that the user sees. Pure.

Text in a chat can't be changed later, so everything is written once. A tool call appears when it
begins and when it ends; a plan appears whole, then by its changes. The agent's own words are sent
as they arrive. All other text is ours and is marked with `Say.by_us`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from pathlib import PurePath
from typing import TypeAlias, assert_never

from agents.acp.calls.state import CallRecord
from agents.acp.render.usage import TurnTokens, context_usage, final_usage, newest_usage
from agents.acp.schema.content import (
    AudioContent,
    ContentBlock,
    ImageContent,
    TextContent,
    ToolCall,
    ToolCallUpdate,
    UnknownContent,
)
from agents.acp.schema.methods import Usage
from agents.acp.schema.unstable import PlanRemoved, PlanUpdate, SubagentUpdate, UnknownPlan
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    Notice,
    Plan,
    SessionInfoUpdate,
    SessionUpdate,
    UnknownUpdate,
    UsageUpdate,
    UserMessageChunk,
)
from agents.events import Attach, Say, Think
from agents.mcp.offer import Offer

from .changes import Changes
from .content import content_view
from .notices import Notices
from .paragraphs import Page
from .plans import Plans, PlanView
from .session_view import SessionView
from .tool_calls import ToolCalls

ShownEvent: TypeAlias = Say | Think | Attach
_SYSTEM_PROMPT = re.compile(r"\W*system prompt:\W*\n.{200}", re.IGNORECASE | re.DOTALL)
"""The beginning of a thought in which one agent repeats its own system prompt."""


class Renderer:
    """Renders one turn.

    Call `update` for every update of the turn, in order, and `ask` for each permission request.
    Call `begin_response` when another response to the editor begins, and `finish` when the turn is
    over. `view.take_notes()` returns the lines to log.

    `root` is the folder that paths are shown relative to. `offer` has the editor's tools: the
    editor shows the calls of those itself. `view` is the session's.

    Line numbers of a change come from its file, which this class doesn't read. `calls.changed`
    returns the files of an update; set their texts in `files`, by path, before passing the update.
    `names_commands` if the turn begins a chat: then its end names the agent's slash commands.

    The end of the turn also names the files that the agent has changed, and others that
    `changes.notice` was told of. Those in `by_editor`, which
    the editor has changed and shows, are left out, also where a call shows its changes. If nobody
    reads the end, because the turn is stopped, `keep_changes` keeps them for the next turn's begin.
    `spelled` returns the path of a file as the editor has it.
    """

    def __init__(
        self,
        view: SessionView,
        *,
        root: str = "",
        offer: Offer | None = None,
        names_commands: bool = False,
        by_editor: Container[PurePath] = (),
        spelled: Callable[[str], str] = str,
    ) -> None:
        self._view = view
        self.changes = Changes(by_editor, root, spelled)
        self._names_commands = names_commands
        self._page = Page()
        self.files: dict[str, str] = {}
        self._plan = PlanView()
        self._plans = Plans()
        self.calls = ToolCalls(self._page, view, root, offer, self.files, self._plan, self.changes)
        self._notices = Notices(self._page, view)
        self._has_told_changes = False
        self._usage: Attach | None = None
        self._context: UsageUpdate | None = None
        """The newest update that says how much is in the agent's context."""

    def begin(self) -> Sequence[ShownEvent]:
        """Return what the user must see before the agent's first words.

        That is warnings, and the files that the turn before has changed until it was stopped.
        """
        warnings = self._view.take_warnings()
        shown = [say for warning in warnings for say in self._notices.notice(warning)]
        stopped = self._view.take_stopped()
        if stopped is None:
            return shown
        self.changes.follow(stopped)
        return [*shown, *self._tell(stopped.lines_when_stopped(), stopped.record())]

    def update(self, update: SessionUpdate) -> Sequence[ShownEvent]:
        """Return the text to show for an update."""
        match update:
            case AgentMessageChunk(content=content, message_id=message_id):
                return self._message(content, message_id)
            case AgentThoughtChunk(content=content, message_id=message_id):
                text = content_view(content)
                is_shown = text and not _SYSTEM_PROMPT.match(text)
                return (self._page.think(text, message_id),) if is_shown else ()
            case ToolCall() | ToolCallUpdate():
                return self.calls.update(update)
            case Plan(entries=entries):
                return self._page.add(self._plan.show(entries))
            case UsageUpdate():
                return self._use(update)
            case Notice():
                return self._notices.notice(update)
            case PlanUpdate(plan=UnknownPlan(kind=kind)):
                self._view.note_unknown("a plan", kind)
                return ()
            case PlanUpdate(plan=plan):
                return self._page.add(self._plans.show(plan))
            case PlanRemoved(plan_id=plan_id):
                return self._page.add(self._plans.remove(plan_id))
            case SubagentUpdate():
                return self._notices.subagent(update)
            case CompactionUpdate():
                return (*self._notices.compaction(update), *self._notices.summary(update))
            case CompactionSummaryChunk():
                return self._notices.summary(update)
            case CurrentModeUpdate():
                return self._notices.mode(update)
            case ConfigOptionUpdate():
                return self._notices.options(update)
            case UnknownUpdate(kind=kind):
                self._view.note_unknown("an update", kind)
                return ()
            case (
                # Echoes of the user's words and facts about the session aren't shown.
                UserMessageChunk() | AvailableCommandsUpdate() | SessionInfoUpdate()
            ):
                return ()
            case _:
                assert_never(update)

    def ask(self, call: ToolCallUpdate) -> CallRecord:
        """Take note of a call that the agent asks permission for. Return all that is known of it.

        It shows nothing: the user is about to be asked, with all of this.
        """
        record = self.calls.ask(call)
        record.files = self.files
        return record

    def decide(
        self, call_id: str, title: str, reason: str, *, is_allowed: bool
    ) -> Sequence[ShownEvent]:
        """Take note of the answer to a question. Return its reason, where there is one."""
        self.calls.decide(call_id, is_allowed=is_allowed, is_explained=bool(reason))
        if not reason:
            return ()
        about = self.calls.subjects(call_id)
        return self._notices.decision(title, reason, about=about, is_allowed=is_allowed)

    def tell_form(self, mark: str, message: str) -> Sequence[ShownEvent]:
        """Return the line that tells what came of a question for input."""
        return self._notices.form(mark, message)

    def begin_response(self) -> None:
        """Go on in another response to the editor: nothing stands there yet."""
        self._page.turn()

    def flush(self) -> Sequence[ShownEvent]:
        """Return the lines of calls that are held, because more about them was to come.

        Text of the agent flushes them, too. Call it where an agent has said nothing for long.
        """
        return self.calls.flush()

    def tell_changes(self) -> Sequence[ShownEvent]:
        """Return the files that have changed, once."""
        if self._has_told_changes:
            return ()
        self._has_told_changes = True
        return self._tell(self.changes.lines(), self.changes.record())

    def keep_changes(self) -> None:
        """Keep the files that have changed for the next answer, as nobody reads this one."""
        self._has_told_changes = True
        self._view.keep_stopped(self.changes)

    def _tell(self, lines: Sequence[str], record: Attach | None) -> Sequence[ShownEvent]:
        says = [say for line in lines for say in self._page.add(line)]
        return says if record is None else [*says, record]

    def finish(
        self, usage: Usage | None = None, *, is_complete: bool = False
    ) -> Sequence[ShownEvent]:
        """Return the last text of the turn; `usage` comes from the prompt's response.

        `is_complete`: the agent has ended its turn by itself, and had said all.
        """
        calls = self.calls.finish(is_complete=is_complete)
        left = (*calls, *(say for text in self._plans.rest() for say in self._page.add(text)))
        left = (*left, *self.tell_changes())
        if is_complete and self._names_commands:
            left = (*left, *self._notices.commands())
        turn = None if usage is None else TurnTokens.of(usage)
        if turn is not None:
            self._view.record.add_turn(turn.prompt, turn.completion)
        record = final_usage(self._context, turn, self._view.record)
        return left if record is None else (*left, record)

    def _message(self, content: ContentBlock, message_id: str | None) -> Sequence[ShownEvent]:
        if isinstance(content, TextContent):
            if not content.text:
                return ()
            held = self.calls.flush()
            says = self._page.say(content.text, message_id)
            return (*held, *says) if held else says
        held = self.calls.flush()
        return (*held, *self._page.say_block(content_view(content)), *self._attached(content))

    def _attached(self, content: ContentBlock) -> Sequence[Attach]:
        """Return the bytes, for an editor that can show them."""
        match content:
            case ImageContent(data=data, mime_type=mime) | AudioContent(data=data, mime_type=mime):
                return (Attach(mime, data),) if data else ()
            case UnknownContent(kind=kind):
                self._view.note_unknown("content", kind)
                return ()
            case _:
                return ()

    def _use(self, update: UsageUpdate) -> Sequence[ShownEvent]:
        update = newest_usage(self._context, update)
        record = context_usage(update)
        if record is None or record == self._usage:
            return ()
        self._usage, self._context = record, update
        return (record,)
