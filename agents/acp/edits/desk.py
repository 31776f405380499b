"""Serve the files that an agent reads and writes in a session, through the editor.

A read returns the editor's buffer, so the agent sees text that isn't saved. A write becomes a call
of the editor's own edit tool, as if the model had called it. So the user can keep or undo it, and a
checkpoint takes it back. The write has succeeded when the editor shows the text and has saved it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeAlias, assert_never

import attrs
import trio
from msgspec.structs import replace

from agents.acp.rpc.news import QuestionId
from agents.acp.schema.errors import REQUEST_CANCELLED, RESOURCE_NOT_FOUND, Error
from agents.acp.schema.files import (
    FileRequest,
    FileResponse,
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from agents.events import TURN_CANCELLED
from agents.guarded import Tasks
from agents.mcp.session_tools import Toolbox
from agents.tool_result import pieces
from agents.workspace import EditorTexts, TextUnreadable
from bridge.errors import INTERNAL_ERROR, INVALID_PARAMS
from bridge.wire import Permissions

from .choice import call_for
from .known import KnownTexts
from .text_edit import Impossible, NewFile, Replacement, Unchanged, edit_for, plain

MOST_OPEN = 100
"""Requests about files that a session may have open; more are refused."""
MOST_EDITED = 1000
"""Files of a turn that are remembered as changed by the editor."""
SAVED_SECONDS = 5.0
"""Seconds that the editor may take to save an edit after its tool has returned."""
_LOOK_SECONDS = (0.0, 0.02, 0.05, 0.1, 0.2)
"""Seconds before each look whether an edit is saved; the last one repeats."""
MOST_WORDS = 500
"""Characters of a tool's result that an agent gets after a failed edit."""

NO_TURN = "Files can be written only while you answer the user. Nothing was written."
NOT_ALLOWED = "The user doesn't allow changes of files. Nothing was written."
NOTEBOOK = (
    "The editor's tools see the cells of a notebook, and not its text. Nothing was written. "
    "Use the editor's tool edit_notebook_file if you have it."
)
TAKEN_BACK = "The request was taken back."
TOO_MANY = f"{MOST_OPEN} requests about files are open already. Wait for some of them first."
READ_AGAIN = (
    "You don't know for certain what is in the file now, so nothing was written. "
    "Read the whole file again and repeat the edit."
)
NOT_MADE = "The editor didn't make the edit."
NOT_CERTAIN = (
    "The file has changed while the editor made the edit, so it isn't certain that the edit is "
    "there. Read the file again."
)
NOT_SAVED = "The editor has the text, but hasn't saved the file."

FileReply: TypeAlias = Callable[[FileResponse | Error], None]

log = logging.getLogger("vscodelm.acp")


class _Refused(Exception):
    """A request is answered with an error."""

    def __init__(self, reason: str, code: int = INTERNAL_ERROR) -> None:
        super().__init__(reason)
        self.error = Error(code, reason)


@attrs.define(eq=False, repr=False)
class _OpenFile:
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    why: Error = attrs.field(factory=lambda: Error(REQUEST_CANCELLED, TURN_CANCELLED), init=False)
    """The answer if it is cancelled."""
    after: trio.Event | None = attrs.field(default=None, init=False)
    """The end of the write of the same file that came before."""
    over: trio.Event = attrs.field(factory=trio.Event, init=False)


@attrs.define(eq=False, repr=False)
class FileDesk:
    """The files of one session. Each request is answered once, an open one also by a cancel.

    `missing_is_empty`: the agent creates a file only if a missing one reads as an empty one.
    `writes_itself`: the agent writes the disk, and its requests only report that.
    """

    texts: EditorTexts
    tools: Toolbox
    tasks: Tasks
    missing_is_empty: bool = False
    writes_itself: bool = False
    folders: Collection[str] = ()
    """The absolute paths of the folders that the agent works in."""
    is_used: bool = False
    """Whether the agent is known to write its files here, and not the disk."""
    permissions: Permissions = attrs.field(default="ask", init=False)
    """The setting of the chat's newest request."""
    edited: set[Path] = attrs.field(factory=set[Path], init=False)
    """The files that the editor has changed for the agent in the newest turn."""
    has_missed: bool = attrs.field(default=False, init=False)
    """Whether the agent was told in the newest turn that a file is missing."""
    _open: dict[QuestionId, _OpenFile] = attrs.field(
        factory=dict["QuestionId", "_OpenFile"], init=False
    )
    _known: KnownTexts = attrs.field(factory=KnownTexts, init=False)
    _writing: dict[str, trio.Event] = attrs.field(factory=dict[str, trio.Event], init=False)
    """The files that are being written, each with the end of its newest write: the next waits."""

    def begin(self, permissions: Permissions) -> None:
        """Begin a turn."""
        self.permissions = permissions
        self.edited = set()
        self.has_missed = False

    def is_open(self, id_: QuestionId) -> bool:
        """Return whether a request waits for its answer."""
        return id_ in self._open

    def serve(self, id_: QuestionId, request: FileRequest, reply: FileReply) -> None:
        """Begin to serve a request; `reply` is called once."""
        if len(self._open) >= MOST_OPEN:
            reply(Error(INTERNAL_ERROR, TOO_MANY))
            return
        opened = self._open[id_] = _OpenFile()
        path = Path(self.tools.owner.spelled(request.path))  # `x/../` stays: x may be a link
        request = replace(request, path=str(path))
        if isinstance(request, WriteTextFileRequest):
            self.is_used = not self.writes_itself
            opened.after = self._writing.get(request.path)
            self._writing[request.path] = opened.over
        self.tasks.start_soon(self._serve, id_, opened, request, reply)

    def withdraw(self, id_: QuestionId) -> None:
        """Cancel a request that the agent has taken back."""
        opened = self._open.get(id_)
        if opened is not None:
            opened.why = Error(REQUEST_CANCELLED, TAKEN_BACK)
            opened.scope.cancel()

    def cancel(self) -> None:
        """Cancel all requests, as the turn is."""
        for opened in self._open.values():
            opened.scope.cancel()

    def allows_silently(self, kind: str, paths: Collection[str]) -> bool:
        """Return whether an agent's question about an edit needs no user.

        The edit must come here: then the editor shows it, and the user can undo it. Some agents
        write the files outside of their folders by themselves.
        """
        is_allowed = self.is_used and self.permissions in ("ask", "allow")
        return is_allowed and kind == "edit" and bool(paths) and all(map(self._is_inside, paths))

    def _is_inside(self, path: str) -> bool:
        """Return whether a file is in one of the agent's folders, by its path alone.

        The folder above a link is that of its target, which the path doesn't tell.
        """
        place = Path(self.tools.owner.spelled(path))
        if not place.is_absolute() or ".." in place.parts:
            return False
        return any(place.is_relative_to(os.path.normpath(one)) for one in self.folders)

    async def _serve(
        self, id_: QuestionId, opened: _OpenFile, request: FileRequest, reply: FileReply
    ) -> None:
        answer: FileResponse | Error = opened.why
        try:
            with opened.scope:
                if opened.after is not None:
                    await opened.after.wait()
                answer = await self._answer(request)
        except _Refused as error:
            answer = error.error
        except TextUnreadable as error:
            answer = Error(INTERNAL_ERROR, str(error))
        finally:
            del self._open[id_]
            opened.over.set()
            if self._writing.get(request.path) is opened.over:
                del self._writing[request.path]
            reply(opened.why if opened.scope.cancelled_caught else answer)

    async def _answer(self, request: FileRequest) -> FileResponse:
        if not os.path.isabs(request.path):
            raise _Refused(f"The path {request.path!r} isn't absolute.", INVALID_PARAMS)
        match request:
            case ReadTextFileRequest():
                return ReadTextFileResponse(await self._text_of(request))
            case WriteTextFileRequest():
                await self._write(request.path, request.content)
                return WriteTextFileResponse()
            case _:
                assert_never(request)

    async def _text_of(self, request: ReadTextFileRequest) -> str:
        path, text = request.path, (await self.texts.read(request.path)).text
        if text is None:
            if self._known.is_uncertain(path):
                self._known.note(path, "")
            if not self.missing_is_empty:
                self.has_missed = True
                raise _Refused(f"There is no file {path}.", RESOURCE_NOT_FOUND)
            text = ""
        lines = _lines_of(request)
        self._known.note_lines(path, text, lines)
        return "\n".join(text.split("\n")[lines.start : lines.stop])

    async def _write(self, path: str, text: str) -> None:
        if self.writes_itself:
            return
        if self.permissions in ("read_only", "deny"):
            raise _Refused(NOT_ALLOWED)
        if not self.tools.calls.is_open:
            raise _Refused(NO_TURN)
        if path.lower().endswith(".ipynb"):
            raise _Refused(NOTEBOOK)
        await self._edit(path, text)
        self._known.note(path, text)
        if len(self.edited) < MOST_EDITED:
            self.edited.add(Path(path))

    async def _edit(self, path: str, text: str) -> None:
        now = await self.texts.read(path)
        buffer = now.text
        has_text = buffer is not None and plain(text) == plain(buffer)
        if has_text and now.is_dirty:
            await self._saved(path, text, None, before=buffer)
        if self._known.is_uncertain(path) and not has_text:
            raise _Refused(READ_AGAIN)
        edit = edit_for(text, self._known.of(path), buffer)
        match edit:
            case Unchanged():
                return
            case Impossible(reason=reason):
                raise _Refused(reason)
            case NewFile(text=result) | Replacement(result=result):
                name, arguments = call_for(edit, path, self.tools.names)
            case _:
                assert_never(edit)
        log.info("server=%s write tool=%s", self.tools.server, name)
        is_made = False
        try:
            answer = await self.tools.run(name, arguments)
            if answer.is_error and not self.tools.calls.is_open:
                raise _Refused(TURN_CANCELLED, REQUEST_CANCELLED)
            await self._saved(path, result, answer.result, before=buffer)
            is_made = True
        finally:
            if not is_made:
                self._known.doubt(path)  # the editor may have made it, or may still make it

    async def _saved(self, path: str, result: str, told: Any, *, before: str | None) -> None:
        """Wait until the editor shows the text and has saved it; raises `_Refused`."""
        reason = NOT_MADE
        looks = iter(_LOOK_SECONDS)
        seconds = 0.0
        with trio.move_on_after(SAVED_SECONDS):
            while True:
                seconds = next(looks, seconds)
                await trio.sleep(seconds)
                now = await self.texts.read(path)
                is_made = now.text is not None and plain(now.text) == plain(result)
                if is_made and not now.is_dirty:
                    return
                is_before = plain(now.text or "") == plain(before or "")
                reason = NOT_SAVED if is_made else NOT_MADE if is_before else NOT_CERTAIN
        words = _words(told)
        raise _Refused(f"{reason} It says: {words}" if words else reason)


def _lines_of(request: ReadTextFileRequest) -> range:
    """Return the lines that an agent asks for; the first one of a file has number 0."""
    first = max(0, (request.line or 1) - 1)
    return range(first, sys.maxsize if request.limit is None else first + max(0, request.limit))


def _words(told: Any) -> str:
    """Return the beginning of a tool's result, as far as it is text."""
    text = " ".join(piece for piece in pieces(told) if isinstance(piece, str))
    return " ".join(text.split())[:MOST_WORDS]
