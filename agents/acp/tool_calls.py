"""The tool calls of a turn: which of their news the user is to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from agents.events import Say

from . import tool_view
from .content import ToolCall, ToolCallUpdate
from .page import Page
from .told import Told
from .tool_call import CallRecord


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
    _editor_server: str
    _calls: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _held: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _editors: set[str] = attrs.field(factory=set[str], init=False)
    """Calls of the editor's tools that aren't over, as far as the agent says."""

    @property
    def editors(self) -> int:
        """How many calls of the editor's tools are under way, as far as the agent says."""
        return len(self._editors)

    def update(self, news: ToolCall | ToolCallUpdate) -> Sequence[Say]:
        """Return what there is to show of the news of a call.

        A call that waits, of which nothing but a title is known, is held: agents announce a call
        as soon as the model begins to write it, and fill in what it is about a moment later.
        """
        call_id = news.tool_call_id
        if self._told.has_ended(call_id) and call_id not in self._calls:
            if isinstance(news, ToolCallUpdate):
                return ()  # late, of an earlier turn
            self._told.begin(call_id)
        call = self.learn(news)
        if call.is_closed:
            return ()
        if call.is_over:
            return self._close(call, tool_view.outcome)
        if call.is_started:
            return ()
        if call.is_bare:
            self._held[call_id] = call
            return ()
        return self._start(call)

    def learn(self, news: ToolCall | ToolCallUpdate) -> CallRecord:
        """Take note of the news of a call, and show nothing. Return all that is known of it."""
        call = self._calls.setdefault(news.tool_call_id, CallRecord(news.tool_call_id))
        is_editors = call.call_id in self._editors
        if is_editors or not call.is_closed:
            call.learn(news)
        if is_editors and call.is_over:
            self._editors.remove(call.call_id)
        if not (call.is_closed or call.is_started) and self._is_editors(call):
            self._end(call)  # the editor shows it itself
            if not call.is_over:
                self._editors.add(call.call_id)
        return call

    def _is_editors(self, call: CallRecord) -> bool:
        return bool(self._editor_server) and call.mentions(self._editor_server)

    def flush(self) -> Sequence[Say]:
        """Return the lines of the calls that are held."""
        if not self._held:
            return ()
        return [
            say for call in list(self._held.values()) if call.is_known for say in self._start(call)
        ]

    def finish(self) -> Sequence[Say]:
        """Return what is to be said of the calls of which nobody says how they ended."""
        left = [call for call in self._calls.values() if call.is_known and not call.is_closed]
        return [say for call in left for say in self._close(call, tool_view.unfinished)]

    def _start(self, call: CallRecord) -> Sequence[Say]:
        self._held.pop(call.call_id, None)
        call.is_started = True
        return self._page.add(tool_view.started(call, self._root), about=call)

    def _close(self, call: CallRecord, view: _View) -> Sequence[Say]:
        self._end(call)
        if self._page.is_about(call):
            return self._page.add_behind(view(call, self._root, follows=True))
        return self._page.add(view(call, self._root, follows=False))

    def _end(self, call: CallRecord) -> None:
        call.is_closed = True
        self._held.pop(call.call_id, None)
        self._told.end(call.call_id)
