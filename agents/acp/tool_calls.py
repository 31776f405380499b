"""The tool calls of a turn: which of their news the user is to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from agents.events import Say
from agents.mcp.catalogue import OfferedTool

from . import tool_view
from .content import Diff, ToolCall, ToolCallUpdate
from .own_tools import Offer, editors_tool, is_still, may_be_editors
from .page import Page
from .plan_view import PlanView
from .todos import todo_entries
from .told import Told
from .tool_call import CallRecord
from .updates import PlanEntry


class _View(Protocol):
    """A function of `tool_view` that tells how a call ended."""

    def __call__(self, call: CallRecord, root: str, *, follows: bool) -> str:
        """Return it: to stand behind the call's first line (`follows`), or by itself."""
        ...


@attrs.define
class ToolCalls:
    """A turn's calls. Each is shown when it begins and when it ends, or only when it ends."""

    _page: Page
    _told: Told
    _root: str
    _offer: Offer | None
    """The editor's tools, if there are any."""
    _files: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The texts of files that calls changed, as read when the calls ended."""
    _plan: PlanView = attrs.field(factory=PlanView)
    """The agent's plan; a todo list is one."""
    _calls: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _held: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _denied: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    """Calls that were denied, and of which the agent hasn't said since how they ended."""
    _editors: dict[str, OfferedTool] = attrs.field(factory=dict[str, OfferedTool], init=False)
    """Calls of the editor's tools that aren't over, as far as the agent says."""
    _announced: list[str] = attrs.field(factory=list[str], init=False)
    """The tools of those that are new."""

    @property
    def editors(self) -> int:
        """How many calls of the editor's tools are under way, as far as the agent says."""
        return len(self._editors)

    def open_calls(self, asked: str) -> Sequence[CallRecord]:
        """Return the calls that aren't over, the editor's too, but the one with the id `asked`."""
        return [
            call
            for call_id, call in self._calls.items()
            if call_id != asked
            and call.is_known
            and (call_id in self._editors or not (call.is_over or call.is_closed))
        ]

    def take_announced(self) -> Sequence[str]:
        """Return the editor's tools of which a call was announced since."""
        announced, self._announced = self._announced, []
        return announced

    def update(self, news: ToolCall | ToolCallUpdate) -> Sequence[Say]:
        """Return what there is to show of the news of a call.

        A call that waits, of which nothing but a title is known, is held: agents announce a call
        as soon as the model begins to write it, and fill in what it is about a moment later. So is
        one that may be of an editor's tool: the question about it tells.
        """
        call_id = news.tool_call_id
        if self._told.has_ended(call_id) and call_id not in self._calls:
            if isinstance(news, ToolCallUpdate):
                return ()  # late, of an earlier turn
            self._told.begin(call_id)
        call = self.learn(news)
        call.is_announced, call.said_before = True, self._page.said
        if call.is_closed:
            return ()
        entries = todo_entries(call)
        if entries is not None and not call.has_failed:
            return self._list(call, entries)
        if call.is_over:
            return self._close(call, tool_view.outcome)
        if call.is_started:
            return ()
        if call.is_bare or (self._offer is not None and may_be_editors(call, self._offer)):
            self._held[call_id] = call
            return ()
        return self._start(call)

    def learn(self, news: ToolCall | ToolCallUpdate) -> CallRecord:
        """Take note of the news of a call, and show nothing. Return all that is known of it."""
        call = self._calls.setdefault(news.tool_call_id, CallRecord(news.tool_call_id))
        taken_for = self._editors.get(call.call_id)
        if taken_for is None and call.is_closed:
            return call
        call.learn(news)
        call.output.learn(news.meta)
        if taken_for is not None:
            self._look_again(call, taken_for)
        elif self._offer is not None and not call.is_started:
            tool = editors_tool(call, self._offer)
            if tool is not None:
                self._editors[call.call_id] = tool
                self._end(call)  # the editor shows it itself
                if not call.is_over:
                    self._announced.append(tool.name)
        if call.is_over:
            self._editors.pop(call.call_id, None)
        return call

    def decide(self, call_id: str, *, is_allowed: bool, is_explained: bool) -> None:
        """Note the answer to the agent's question about a call.

        `is_explained`: the user is shown why it was denied.
        """
        call = self._calls.get(call_id)
        if call is None or call.is_closed:
            return
        call.is_denied, call.is_explained = not is_allowed, is_explained
        self._denied.pop(call_id, None)
        if call.is_denied and not is_explained:
            self._denied[call_id] = call

    def _look_again(self, call: CallRecord, taken_for: OfferedTool) -> None:
        """Show a call after all where its title was that of another's tool."""
        assert self._offer is not None, "nothing is taken for what isn't offered"
        if not is_still(call, taken_for, self._offer):
            del self._editors[call.call_id]
            call.is_closed = False
            self._told.begin(call.call_id)

    def changed(self, news: ToolCall | ToolCallUpdate) -> tuple[str, ...]:
        """Return the paths of the files that a call has changed, if it is done now."""
        return self.to_change(news) if news.status == "completed" else ()

    def to_change(self, news: ToolCall | ToolCallUpdate) -> tuple[str, ...]:
        """Return the paths of the files that a call changes, whether it is done or not."""
        call = self._calls.get(news.tool_call_id)
        content = news.content if call is None or news.content is not None else call.content
        return tuple({part.path: None for part in content or () if isinstance(part, Diff)})

    def flush(self) -> Sequence[Say]:
        """Return the lines of the calls that are held, and of those that were denied.

        The agent goes on. So it says nothing more of a call that was denied.
        """
        if not (self._held or self._denied):
            return ()
        says = [say for call in list(self._denied.values()) for say in self._deny(call)]
        for call in list(self._held.values()):
            is_shown = call.is_known and todo_entries(call) is None
            says += self._start(call) if is_shown else ()
        return says

    def finish(self, *, is_complete: bool = False) -> Sequence[Say]:
        """Return what is to be said of the calls of which the agent doesn't say how they ended.

        `is_complete`: the agent has ended its turn by itself.
        """
        left = [call for call in self._calls.values() if call.is_known and not call.is_closed]
        return [say for call in left for say in self._conclude(call, is_complete=is_complete)]

    def _conclude(self, call: CallRecord, *, is_complete: bool) -> Sequence[Say]:
        """Return how a call ended, as far as that is known.

        Nothing is said of a call that the agent only asked about. Where the agent has answered the
        user after a call, it had its result, or needed none.
        """
        if call.is_denied:
            return self._deny(call)
        has_gone_on = is_complete and call.is_started and self._page.said > call.said_before
        if not call.is_announced or (has_gone_on and not call.output.text):
            self._end(call)
            return ()
        return self._close(call, tool_view.unfinished)

    def _deny(self, call: CallRecord) -> Sequence[Say]:
        if call.is_explained or not call.is_known:
            self._end(call)
            return ()
        return self._close(call, tool_view.denied)

    def _list(self, call: CallRecord, entries: Sequence[PlanEntry]) -> Sequence[Say]:
        """Return a todo list, once it is written, in place of the call that writes it."""
        if not call.is_over:
            return ()
        self._end(call)
        mark = self._page.add_behind(" ✔") if self._page.is_about(call) else ()
        return (*mark, *self._page.add(self._plan.show(entries)))

    def _start(self, call: CallRecord) -> Sequence[Say]:
        self._held.pop(call.call_id, None)
        call.is_started = True
        line = tool_view.started(call, self._root)
        call.vague_line = line if call.is_bare else ""
        return self._page.add(line, about=call)

    def _close(self, call: CallRecord, view: _View) -> Sequence[Say]:
        self._end(call)
        call.files = self._files
        line = tool_view.started(call, self._root)
        follows = self._page.is_about(call) and call.vague_line in ("", line)
        text = view(call, self._root, follows=follows)
        call.let_go()
        return self._page.add_behind(text) if follows else self._page.add(text)

    def _end(self, call: CallRecord) -> None:
        call.is_closed = True
        self._held.pop(call.call_id, None)
        self._denied.pop(call.call_id, None)
        self._told.end(call.call_id)
