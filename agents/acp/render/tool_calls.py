"""Decide which updates of a turn's tool calls the user sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs
from msgspec.structs import replace

from agents.acp.calls.identity import editors_tool, is_still, may_be_editors
from agents.acp.calls.state import CallRecord
from agents.acp.schema.content import (
    Content,
    Diff,
    TextContent,
    ToolCall,
    ToolCallUpdate,
)
from agents.acp.schema.plans import PlanEntry
from agents.events import OwnCall, Say
from agents.mcp.offer import Offer
from agents.mcp.tools import OfferedTool

from . import tool_markdown as tool_view
from .changes import Changes
from .paragraphs import Page
from .plans import PlanView
from .session_view import SessionView
from .todos import todo_entries


class _EndView(Protocol):
    """A function of `tool_view` that tells how a call ended."""

    def __call__(self, call: CallRecord, root: str, *, follows: bool) -> str:
        """Return it: to stand behind the call's first line (`follows`), or by itself."""
        ...


@attrs.define
class ToolCalls:
    """A turn's calls. Each is shown when it begins and when it ends, or only when it ends."""

    _page: Page
    _view: SessionView
    _root: str
    _offer: Offer | None
    """The editor's tools, if there are any."""
    _files: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The texts of files that calls changed, as read when the calls ended."""
    _plan: PlanView = attrs.field(factory=PlanView)
    """The agent's plan; a todo list is one."""
    _changes: Changes = attrs.field(factory=Changes)
    """The files that calls have changed."""
    _calls: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _held: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    _denied: dict[str, CallRecord] = attrs.field(factory=dict[str, CallRecord], init=False)
    """Denied calls whose end the agent hasn't reported since."""
    _editors: dict[str, OfferedTool] = attrs.field(factory=dict[str, OfferedTool], init=False)
    """Calls of the editor's tools that aren't over, as far as the agent says."""
    _announced: list[str] = attrs.field(factory=list[str], init=False)
    """The tools of those that are new."""

    @property
    def under_way(self) -> int:
        """Number of running calls of the editor's tools, according to the agent."""
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
        """Return the text to show for an update of a call.

        A pending call with only a title is held back. Agents announce a call as soon as the model
        begins to write it, and send its details a moment later. A call that may be of an editor's
        tool is held back, too, until its permission request.
        """
        call_id = news.tool_call_id
        if self._view.has_ended(call_id) and call_id not in self._calls:
            if isinstance(news, ToolCallUpdate):
                return ()  # late, of an earlier turn
            self._view.begin(call_id)
        call = self.learn(news)
        call.is_announced, call.said_before = True, self._page.said
        if call.is_closed:
            return ()
        entries = todo_entries(call)
        if entries is not None and not call.has_failed:
            return self._list(call, entries)
        is_told = call.is_denied and call.is_explained
        if call.is_over:
            if is_told and tool_view.has_failed(call):
                self._end(call)
                return ()
            return self._close(call, tool_view.outcome)
        if call.is_started or is_told:
            return ()
        if call.is_bare or (self._offer is not None and may_be_editors(call, self._offer)):
            self._held[call_id] = call
            return ()
        return self._start(call)

    def ask(self, news: ToolCallUpdate) -> CallRecord:
        """Take note of a question about a call. Return all that is known of the call.

        If the call was already shown, a title with only the tool's name would say less.
        """
        call = self._calls.get(news.tool_call_id)
        is_name = call is not None and call.is_started and _is_name(news.title, call.title)
        return self.learn(replace(news, title=None) if is_name else news)

    def subjects(self, call_id: str) -> Sequence[str]:
        """Return the calls of a permission request as lines. One without details covers others."""
        call = self._calls.get(call_id)
        if call is None:
            return ()
        about = self._meant(call) or (call,)
        return [tool_view.subject(one, self._root) for one in about if one.is_known]

    def _meant(self, call: CallRecord) -> Sequence[CallRecord]:
        """Return the open calls that a question is about which is about no call of its own."""
        return () if call.is_announced or not call.is_blind else self.open_calls(call.call_id)

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
        about = () if is_allowed else self._meant(call)
        for one in (call, *about):
            one.is_denied, one.is_explained = not is_allowed, is_explained
            self._denied.pop(one.call_id, None)
            if one.is_denied and not is_explained:
                self._denied[one.call_id] = one

    def _look_again(self, call: CallRecord, taken_for: OfferedTool) -> None:
        """Show a call after all where its title was that of another's tool."""
        assert self._offer is not None, "nothing is taken for what isn't offered"
        if not is_still(call, taken_for, self._offer):
            del self._editors[call.call_id]
            call.is_closed = False
            self._view.begin(call.call_id)

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
        """Return the text for calls for which the agent never reported an end.

        `is_complete`: the agent has ended its turn by itself.
        """
        left = [call for call in self._calls.values() if call.is_known and not call.is_closed]
        return [say for call in left for say in self._conclude(call, is_complete=is_complete)]

    def _conclude(self, call: CallRecord, *, is_complete: bool) -> Sequence[Say]:
        """Return how a call ended, as far as that is known.

        Nothing is said of a call that the agent only asked about. If the agent wrote to the user
        after a call, it had the call's result or needed none.
        """
        if call.is_denied:
            return self._deny(call)
        has_gone_on = is_complete and call.is_started and self._page.said > call.said_before
        is_list = todo_entries(call) is not None
        if is_list or not call.is_announced or (has_gone_on and not call.output.text):
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
        return _about(own_call(call), self._page.add(line, about=call))

    def _close(self, call: CallRecord, view: _EndView) -> Sequence[Say]:
        self._end(call)
        call.files = self._files
        if call.is_over and not tool_view.has_failed(call):
            self._changes.note(call)
            content = self._changes.beside(call.content)
            if len(content) < len(call.content):
                call.raw_output = None  # it repeats the change that the editor shows
            call.content = content
        line = tool_view.started(call, self._root)
        follows = self._page.is_about(call) and call.vague_line in ("", line)
        text = view(call, self._root, follows=follows)
        ended = own_call(call, has_ended=True)
        call.let_go()
        return _about(ended, self._page.add_behind(text) if follows else self._page.add(text))

    def _end(self, call: CallRecord) -> None:
        call.is_closed = True
        self._held.pop(call.call_id, None)
        self._denied.pop(call.call_id, None)
        self._view.end(call.call_id)


def own_call(call: CallRecord, *, has_ended: bool = False) -> OwnCall:
    """Return a call as a program reads it."""
    status = "in_progress"
    if has_ended:
        status = "completed" if call.status == "completed" else "failed"
    written = [
        part.content.text
        for part in call.content
        if isinstance(part, Content) and isinstance(part.content, TextContent)
    ]
    output = "\n".join(written) or call.output.text if has_ended else ""
    name = call.name or call.meta_name or call.kind
    return OwnCall(call.call_id, name, status, call.raw_input, output)


def _about(call: OwnCall, says: Sequence[Say]) -> Sequence[Say]:
    """Return a text that tells of a call, with the call; there is one even without a text."""
    return tuple(replace(say, call=call) for say in says) or (Say("", by_us=True, call=call),)


def _is_name(title: str | None, shown: str) -> bool:
    """Return whether a title is one word, and the one that is shown isn't."""
    return title is not None and " " not in title.strip() and " " in shown.strip()
