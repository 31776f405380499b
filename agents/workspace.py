"""The editor's window: its folders, files and MCP servers, and whether its user can be asked."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Protocol, TypeVar

import attrs
import msgspec
import trio
from msgspec import UNSET

from bridge.jsonrpc import REFUSED, RpcResponse, decoder_of
from bridge.methods import CHANGED_FILES, READ_TEXT_FILE, WATCH_FILES
from bridge.wire import (
    Capabilities,
    ReadTextFileParams,
    ReadTextFileResult,
    RequestId,
    UserMcpServer,
    WatchedFiles,
    WatchedFilesParams,
    WatchFilesParams,
)

log = logging.getLogger("vscodelm.workspace")

READ_SECONDS = 10.0
"""Seconds that the editor may take to return the text of a file."""
CHANGED_SECONDS = 3.0
"""Seconds that the editor may take to name the files that have changed."""
MOST_CHANGED = 100
"""Changed files that are named; further ones are counted."""
MOST_ELSEWHERE = 10_000
"""Files of other turns that are remembered in a turn; further ones are named as if nobody knew."""
MOST_REASON = 300
"""Characters of an error of the editor's that are passed on."""

T = TypeVar("T")


class TextUnreadable(Exception):
    """The editor didn't return the text of a file; the message says why."""


class WindowPort(Protocol):
    """The connection to the editor."""

    def ask(self, id_: str, method: str, params: msgspec.Struct) -> None:
        """Send a request."""
        ...

    def tell(self, method: str, params: msgspec.Struct) -> None:
        """Send a notification."""
        ...

    def forget(self, id_: str) -> None:
        """Tell the editor that an answer isn't needed any more."""
        ...


@attrs.define(eq=False, repr=False)
class _Requests:
    """Requests of one kind to the editor.

    `prefix` begins their ids. The editor's ids are another kind.
    """

    prefix: str
    port: WindowPort | None = attrs.field(default=None, init=False)
    """Set if the editor answers such requests."""
    _open: dict[RequestId, trio.MemorySendChannel[RpcResponse]] = attrs.field(
        factory=dict[RequestId, trio.MemorySendChannel[RpcResponse]], init=False
    )
    """By id, where the answer is waited for."""
    _asked: int = attrs.field(default=0, init=False)
    """The number of requests so far."""

    async def ask(
        self, port: WindowPort, method: str, params: msgspec.Struct, seconds: float
    ) -> RpcResponse | None:
        """Return the editor's answer; None if there is none in time."""
        self._asked += 1
        id_ = f"{self.prefix}{self._asked}"
        self._open[id_], answer = trio.open_memory_channel[RpcResponse](1)
        try:
            port.ask(id_, method, params)
            with trio.move_on_after(seconds):
                return await answer.receive()
        finally:
            if self._open.pop(id_, None) is not None:
                port.forget(id_)
        return None

    def answer(self, response: RpcResponse) -> bool:
        """Take in an answer of the editor's; return whether it is to one of these requests."""
        asked = None if response.id is None else self._open.pop(response.id, None)
        if asked is None:
            return False
        asked.send_nowait(response)
        return True


@attrs.define(eq=False, repr=False)
class EditorTexts:
    """The texts of files, as the editor's user sees them: an open buffer, else the disk."""

    requests: _Requests = attrs.field(factory=partial(_Requests, "read-"), init=False)

    @property
    def are_offered(self) -> bool:
        """Whether the editor returns texts."""
        return self.requests.port is not None

    async def read(self, path: str) -> ReadTextFileResult:
        """Return the text of a file, by its absolute path; raises `TextUnreadable`."""
        port = self.requests.port
        if port is None:
            raise TextUnreadable("This editor doesn't return the texts of files.")
        params = ReadTextFileParams(path)
        response = await self.requests.ask(port, READ_TEXT_FILE, params, READ_SECONDS)
        if response is None:
            reason = f"The editor didn't return the text of the file in {READ_SECONDS:.0f} s."
            raise TextUnreadable(reason)
        if response.error is not UNSET and response.result is UNSET:
            raise TextUnreadable(f"The editor couldn't read the file{_reason(response.error)}.")
        result = _result(response, ReadTextFileResult)
        if isinstance(result, str):
            reason = f"The editor's answer to {READ_TEXT_FILE} can't be used: {result}"
            raise TextUnreadable(reason)
        return result


@attrs.define(eq=False, repr=False)
class FileWatch:
    """The files that change while one turn runs; it must be ended.

    The editor doesn't say who has changed a file. If several turns run, the calls of their agents
    tell some of it.
    """

    number: int
    _requests: _Requests
    _port: WindowPort
    _running: list[FileWatch]
    """All watches that aren't over."""
    is_alone: bool = attrs.field(init=False)
    """Whether no agent has used a tool in a turn that ran meanwhile."""
    _has_called: bool = attrs.field(default=False, init=False)
    _noted: set[PurePath] = attrs.field(factory=set[PurePath], init=False)
    """The files that the turn's own calls have changed."""
    _elsewhere: set[PurePath] = attrs.field(factory=set[PurePath], init=False)
    """The files that agents have changed in other turns meanwhile."""

    def __attrs_post_init__(self) -> None:
        self.is_alone = not any(other._has_called for other in self._running)
        self._running.append(self)

    def note_calls(self, files: Collection[PurePath]) -> None:
        """Take note that the agent uses tools, and of the files that they have changed so far."""
        self._has_called = True
        new = {*files} - self._noted  # a turn that began later may have changed the others since
        self._noted |= new
        for other in self._running:
            if other is not self:
                other.is_alone = False
                if len(other._elsewhere) + len(new) <= MOST_ELSEWHERE:
                    other._elsewhere |= new

    async def changed(self) -> WatchedFiles:
        """Return what has changed so far, as far as the editor says so in time.

        Left out is what the calls of another turn have changed: the answer there names it.
        """
        params = WatchedFilesParams(self.number)
        response = await self._requests.ask(self._port, CHANGED_FILES, params, CHANGED_SECONDS)
        result = "no answer in time" if response is None else _result(response, WatchedFiles)
        if isinstance(result, str):
            log.warning("the changed files aren't known: %s", result)
            return WatchedFiles()
        paths = [
            path
            for path in dict.fromkeys(result.paths)
            if os.path.isabs(path) and PurePath(path) not in self._elsewhere
        ]
        more = max(0, result.more) + max(0, len(paths) - MOST_CHANGED)
        return WatchedFiles(tuple(paths[:MOST_CHANGED]), more)

    def end(self) -> None:
        """Let the editor stop to watch, once."""
        if self in self._running:
            self._running.remove(self)
            self._port.tell(WATCH_FILES, WatchFilesParams(self.number, is_over=True))


@attrs.define(eq=False, repr=False)
class FileWatches:
    """The turns for which the editor watches the files of its workspace."""

    requests: _Requests = attrs.field(factory=partial(_Requests, "changed-"), init=False)
    _begun: int = attrs.field(default=0, init=False)
    _running: list[FileWatch] = attrs.field(factory=list[FileWatch], init=False)

    def begin(self) -> FileWatch | None:
        """Begin to watch, if the editor can."""
        port = self.requests.port
        if port is None:
            return None
        self._begun += 1
        port.tell(WATCH_FILES, WatchFilesParams(self._begun))
        return FileWatch(self._begun, self.requests, port, self._running)


def _result(response: RpcResponse, kind: type[T]) -> T | str:
    """Return the result of an answer, or else why it can't be used."""
    result = b"null" if response.result is UNSET else response.result
    try:
        return decoder_of(kind).decode(result)
    except REFUSED as error:
        return str(error)


def _reason(error: msgspec.Raw) -> str:
    """Return the words of an error, after a colon; nothing where it has none."""
    try:
        message = msgspec.json.decode(error, type=_ErrorWords).message
    except REFUSED:
        return ""
    return f": {message[:MOST_REASON]}".rstrip(".")


class _ErrorWords(msgspec.Struct):
    message: str


@attrs.define(eq=False, repr=False)
class Workspace:
    """The window, as the editor last described it."""

    _folders: tuple[str, ...] = attrs.field(default=(), alias="folders")
    _servers: tuple[UserMcpServer, ...] = attrs.field(default=(), alias="servers")
    shows_forms: bool = False
    """Whether an agent may ask the user for input."""
    texts: EditorTexts = attrs.field(factory=EditorTexts, init=False)
    watches: FileWatches = attrs.field(factory=FileWatches, init=False)

    @property
    def folders(self) -> tuple[str, ...]:
        """Absolute paths; empty if the window has none."""
        return self._folders

    @property
    def servers(self) -> tuple[UserMcpServer, ...]:
        """The MCP servers that new sessions are given."""
        return self._servers

    def open_folders(self, folders: Iterable[str]) -> None:
        """Open these folders instead of the former ones."""
        self._folders = tuple(folders)

    def give_servers(self, servers: Iterable[UserMcpServer]) -> None:
        """Give new sessions these MCP servers instead of the former ones."""
        self._servers = tuple(servers)

    def connect(self, port: WindowPort, capabilities: Capabilities) -> None:
        """Use the connection for the requests that the editor answers."""
        self.shows_forms = capabilities.elicit
        self.texts.requests.port = port if capabilities.read_text_file else None
        self.watches.requests.port = port if capabilities.changed_files else None

    def answer(self, response: RpcResponse) -> bool:
        """Take in an answer of the editor's; return whether it is to a request of the window's."""
        return self.texts.requests.answer(response) or self.watches.requests.answer(response)

    def folder_for(self, chosen: str, *, is_set: bool) -> str:
        """Return the folder of a session: the one in the agent's definition, or else the first.

        `chosen` is that of the definition if it `is_set`, else the process's own.
        """
        return chosen if is_set or not self._folders else self._folders[0]

    def spelled(self, path: str) -> str:
        """Return the path of a file as the editor has it.

        The editor keeps the path of a folder that is a link. An agent may follow the link.
        """
        for target, folder in _links(self._folders).items():
            if PurePath(path).is_relative_to(target):
                return str(PurePath(folder, PurePath(path).relative_to(target)))
        return path

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return all folders but one, each once."""
        return tuple(one for one in dict.fromkeys(self._folders) if one != folder)


@lru_cache(maxsize=8)
def _links(folders: tuple[str, ...]) -> dict[str, str]:
    """Return the targets of the folders that are links, each with its folder."""
    targets = {os.path.realpath(folder): folder for folder in folders}
    return {target: folder for target, folder in targets.items() if target not in folders}
