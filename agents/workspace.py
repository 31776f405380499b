"""The editor's window: its folders, files and MCP servers, and whether its user can be asked."""

from __future__ import annotations

from functools import cache
from typing import Protocol

import attrs
import msgspec
import trio
from msgspec import UNSET

from bridge.jsonrpc import RpcResponse
from bridge.wire import ReadTextFileParams, ReadTextFileResult, RequestId, UserMcpServer

READ_SECONDS = 10.0
"""Seconds that the editor may take to return the text of a file."""
MOST_REASON = 300
"""Characters of an error of the editor's that are passed on."""
ID_PREFIX = "read-"
"""Begins the ids of these requests of ours. The editor's ids are another kind."""


class TextUnreadable(Exception):
    """The editor didn't return the text of a file; the message says why."""


class TextPort(Protocol):
    """The connection to the editor."""

    def ask_for_text(self, id_: str, params: ReadTextFileParams) -> None:
        """Send a request for the text of a file."""
        ...

    def forget_text(self, id_: str) -> None:
        """Tell the editor that a text isn't needed any more."""
        ...


@attrs.define(eq=False, repr=False)
class _Read:
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    answer: ReadTextFileResult | TextUnreadable | None = attrs.field(default=None, init=False)


@attrs.define(eq=False, repr=False)
class EditorTexts:
    """The texts of files, as the editor's user sees them: an open buffer, else the disk."""

    port: TextPort | None = attrs.field(default=None, init=False)
    """Set if the editor returns texts."""
    _open: dict[RequestId, _Read] = attrs.field(factory=dict[RequestId, _Read], init=False)
    _asked: int = attrs.field(default=0, init=False)
    """The number of texts that were asked for."""

    @property
    def are_offered(self) -> bool:
        """Whether the editor returns texts."""
        return self.port is not None

    async def read(self, path: str) -> ReadTextFileResult:
        """Return the text of a file, by its absolute path; raises `TextUnreadable`."""
        port = self.port
        if port is None:
            raise TextUnreadable("This editor doesn't return the texts of files.")
        self._asked += 1
        id_, read = f"{ID_PREFIX}{self._asked}", _Read()
        self._open[id_] = read
        try:
            port.ask_for_text(id_, ReadTextFileParams(path))
            with trio.move_on_after(READ_SECONDS):
                await read.answered.wait()
        finally:
            if self._open.pop(id_, None) is not None:
                port.forget_text(id_)
        match read.answer:
            case ReadTextFileResult() as result:
                return result
            case TextUnreadable() as error:
                raise error
            case None:
                reason = f"The editor didn't return the text of the file in {READ_SECONDS:.0f} s."
                raise TextUnreadable(reason)

    def answer(self, response: RpcResponse) -> bool:
        """Take in an answer of the editor's; return whether it is about a text."""
        read = None if response.id is None else self._open.pop(response.id, None)
        if read is None:
            return False
        read.answer = _result(response)
        read.answered.set()
        return True


def _result(response: RpcResponse) -> ReadTextFileResult | TextUnreadable:
    if response.error is not UNSET and response.result is UNSET:
        return TextUnreadable(f"The editor couldn't read the file{_reason(response.error)}.")
    try:
        return _decoder().decode(b"null" if response.result is UNSET else response.result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return TextUnreadable(f"The editor's answer to lm/readTextFile can't be used: {error}")


def _reason(error: msgspec.Raw) -> str:
    """Return the words of an error, after a colon; nothing where it has none."""
    try:
        message = msgspec.json.decode(error, type=_ErrorWords).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return f": {message[:MOST_REASON]}".rstrip(".")


class _ErrorWords(msgspec.Struct):
    message: str


@cache
def _decoder() -> msgspec.json.Decoder[ReadTextFileResult]:
    return msgspec.json.Decoder(ReadTextFileResult)


@attrs.define(eq=False, repr=False)
class Workspace:
    """The window, as the editor last described it."""

    folders: tuple[str, ...] = ()
    """Absolute paths; empty if it names none."""
    servers: tuple[UserMcpServer, ...] = ()
    """The MCP servers that new sessions are given."""
    shows_forms: bool = False
    """Whether an agent may ask the user for input."""
    texts: EditorTexts = attrs.field(factory=EditorTexts, init=False)

    def folder_for(self, chosen: str, *, is_set: bool) -> str:
        """Return the folder of a session: the one in the agent's definition, or else the first.

        `chosen` is that of the definition if it `is_set`, else the process's own.
        """
        return chosen if is_set or not self.folders else self.folders[0]

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return all folders but one, each once."""
        return tuple(one for one in dict.fromkeys(self.folders) if one != folder)
