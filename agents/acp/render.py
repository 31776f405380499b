"""What an agent sends in a turn, as what the editor's user sees of it. Pure.

The chat only grows, so everything is said once: a tool call when it begins and when it ends, a plan
whole and then what changed of it. The agent's own words go out as they come; whatever else stands
between them is ours, and says so (`Say.by_us`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from agents.events import Attach, Say, Think

from .content import (
    AudioContent,
    ContentBlock,
    ImageContent,
    TextContent,
    ToolCall,
    ToolCallUpdate,
    UnknownContent,
)
from .content_view import content_view
from .methods import Usage
from .notices import Notices
from .own_tools import Offer
from .page import Page
from .plan_view import PlanView
from .told import Told
from .tool_call import CallRecord
from .tool_calls import ToolCalls
from .updates import (
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
from .usage import context_usage, turn_usage

Shown: TypeAlias = Say | Think | Attach


class Renderer:
    """Renders one turn.

    Give it every update of the turn in order (`update`) and what asks permission (`ask`), tell it
    when another response to the editor begins (`begin_response`) and when the turn is over
    (`finish`). What there is to log is in `told.take_notes()`.

    `root` is the folder that paths are shown relative to. `offer` has the editor's tools: the
    editor shows the calls of those itself. `told` is the session's.

    Line numbers of a change come from its file, which this doesn't read: `changed` says which files
    an update is about, and `files` takes their texts, by their paths, before that update comes.
    """

    def __init__(self, told: Told, *, root: str = "", offer: Offer | None = None) -> None:
        self._told = told
        self._page = Page()
        self.files: dict[str, str] = {}
        self._plan = PlanView()
        self._calls = ToolCalls(self._page, told, root, offer, self.files, self._plan)
        self._notices = Notices(self._page, told)
        self._usage: Attach | None = None

    def changed(self, update: ToolCall | ToolCallUpdate) -> tuple[str, ...]:
        """Return the paths of the files that the agent has changed, as an update says."""
        return self._calls.changed(update)

    def to_change(self, call: ToolCallUpdate) -> tuple[str, ...]:
        """Return the paths of the files that a call would change that the agent asks about."""
        return self._calls.to_change(call)

    def update(self, update: SessionUpdate) -> Sequence[Shown]:
        """Return what there is to show of an update."""
        match update:
            case AgentMessageChunk(content=content, message_id=message_id):
                return self._message(content, message_id)
            case AgentThoughtChunk(content=content, message_id=message_id):
                text = content_view(content)
                return (self._page.think(text, message_id),) if text else ()
            case ToolCall() | ToolCallUpdate():
                return self._calls.update(update)
            case Plan(entries=entries):
                return self._page.add(self._plan.show(entries))
            case UsageUpdate():
                return self._context(update)
            case Notice():
                return self._notices.notice(update)
            case CompactionUpdate():
                return self._notices.compaction(update)
            case CurrentModeUpdate():
                return self._notices.mode(update)
            case UnknownUpdate(kind=kind):
                self._told.note_unknown("an update", kind)
                return ()
            case (
                # An echo of what the user said, and facts about the session: nothing to read.
                UserMessageChunk()
                | AvailableCommandsUpdate()
                | ConfigOptionUpdate()
                | SessionInfoUpdate()
                | CompactionSummaryChunk()
            ):
                return ()
            case _:
                assert_never(update)

    def ask(self, call: ToolCallUpdate) -> CallRecord:
        """Take note of a call that the agent asks permission for. Return all that is known of it.

        It shows nothing: the user is about to be asked, with all of this.
        """
        record = self._calls.learn(call)
        record.files = self.files
        return record

    def open_calls(self, asked: str) -> Sequence[CallRecord]:
        """Return the calls that aren't over, but the one with the id `asked`."""
        return self._calls.open_calls(asked)

    def decide(self, call_id: str, title: str, reason: str, *, is_allowed: bool) -> Sequence[Shown]:
        """Take note of the answer to a question. Return its reason, where there is one."""
        self._calls.decide(call_id, is_allowed=is_allowed, is_explained=bool(reason))
        return self._notices.decision(title, reason, is_allowed=is_allowed) if reason else ()

    @property
    def under_way(self) -> int:
        """How many calls of the editor's tools the agent says are under way."""
        return self._calls.editors

    def take_announced(self) -> Sequence[str]:
        """Return the editor's tools of which the agent has announced a call since."""
        return self._calls.take_announced()

    def begin_response(self) -> None:
        """Go on in another response to the editor: nothing stands there yet."""
        self._page.turn()

    def flush(self) -> Sequence[Shown]:
        """Return the lines of calls that are held, because more about them was to come.

        What the agent says flushes them, too. Call it where an agent has said nothing for long.
        """
        return self._calls.flush()

    def finish(self, usage: Usage | None = None, *, is_complete: bool = False) -> Sequence[Shown]:
        """Return what is left to say when the turn is over; `usage` is of the prompt's answer.

        `is_complete`: the agent has ended its turn by itself, and had said all.
        """
        left = self._calls.finish(is_complete=is_complete)
        # What is in the context (`usage_update`) is what the editor wants to know. The usage of a
        # turn is the next best: by the protocol it is of the whole session, and it isn't stable.
        record = turn_usage(usage) if usage is not None and self._usage is None else None
        return left if record is None else (*left, record)

    def _message(self, content: ContentBlock, message_id: str | None) -> Sequence[Shown]:
        if isinstance(content, TextContent):
            if not content.text:
                return ()
            held = self._calls.flush()
            says = self._page.say(content.text, message_id)
            return (*held, *says) if held else says
        held = self._calls.flush()
        return (*held, *self._page.say_block(content_view(content)), *self._attached(content))

    def _attached(self, content: ContentBlock) -> Sequence[Attach]:
        """Return the bytes, for an editor that can show them."""
        match content:
            case ImageContent(data=data, mime_type=mime) | AudioContent(data=data, mime_type=mime):
                return (Attach(mime, data),) if data else ()
            case UnknownContent(kind=kind):
                self._told.note_unknown("content", kind)
                return ()
            case _:
                return ()

    def _context(self, update: UsageUpdate) -> Sequence[Shown]:
        record = context_usage(update)
        if record is None or record == self._usage:
            return ()
        self._usage = record
        return (record,)
