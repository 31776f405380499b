"""Files that an agent reads and writes through its client (`fs/*`)."""

from __future__ import annotations

from typing import TypeAlias

from bridge.wire import Wire

READ_TEXT_FILE = "fs/read_text_file"
WRITE_TEXT_FILE = "fs/write_text_file"


class ReadTextFileRequest(Wire):
    """Read a file, or up to `limit` lines of it from `line` on; the first line is 1."""

    session_id: str
    path: str
    line: int | None = None
    limit: int | None = None


class ReadTextFileResponse(Wire, omit_defaults=False):
    """The text."""

    content: str


class WriteTextFileRequest(Wire):
    """Write a file, which is made if it isn't there."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(Wire):
    """The file is written."""


FileRequest: TypeAlias = ReadTextFileRequest | WriteTextFileRequest
FileResponse: TypeAlias = ReadTextFileResponse | WriteTextFileResponse

FILE_REQUESTS: dict[str, type[FileRequest]] = {
    READ_TEXT_FILE: ReadTextFileRequest,
    WRITE_TEXT_FILE: WriteTextFileRequest,
}
