"""Images that a model made, as files with a link, because chats don't show images of a model's."""

from __future__ import annotations

import hashlib
import logging
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import attrs
import trio

from agents.events import Attach
from agents.files import write_whole
from agents.open_responses.stream.media import HOST_IMAGES

MOST_FILES = 200
"""Images that are kept; the oldest go first."""
MOST_BYTES = 500 * 1024 * 1024
"""Bytes of all images that are kept."""
_SMALL = 4096
"""Bytes of an image that is put into the chat, too: the host sends the chat with each request."""

log = logging.getLogger("vscodelm.open_responses")


@attrs.define(eq=False, repr=False)
class Pictures:
    """Keeps images; `find` returns the folder. Without it none is kept."""

    find: Callable[[], Path] | None = None
    _has_warned: bool = attrs.field(default=False, init=False)

    async def keep(self, image: Attach) -> Path | None:
        """Return the file of an image; None where it can't be written: the log says so once."""
        if self.find is None:
            return None
        return await trio.to_thread.run_sync(self._keep, self.find, image)

    def _keep(self, find: Callable[[], Path], image: Attach) -> Path | None:
        folder = find()
        name = hashlib.sha256(image.data).hexdigest()[:32]
        path = folder / f"{name}.{_extension(image.mime_type)}"
        try:
            write_whole(path, image.data)
            _forget_oldest(folder, path)
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                log.warning("%s can't be written: %s", path, error)
            return None
        return path


def picture_link(image: Attach, path: Path | None) -> str:
    """Return the line for an image, with the link to its file."""
    size = len(image.data)
    shown = f"{size / 1024:,.0f} KB" if size >= 1024 else f"{size} bytes"
    name = "Image" if path is None else f"[Image]({path.absolute().as_uri()})"
    line = f"\n\n🖼️ {name} *({image.mime_type}, {shown})*\n\n"
    if size > _SMALL or image.mime_type not in HOST_IMAGES:
        return line
    return f"{line}![Image](data:{image.mime_type};base64,{b64encode(image.data).decode()})\n\n"


def _extension(mime_type: str) -> str:
    kind = mime_type.removeprefix("image/")
    return {"jpeg": "jpg"}.get(kind, kind) if kind.isalnum() else "bin"


def _forget_oldest(folder: Path, newest: Path) -> None:
    files = [(path.stat(), path) for path in folder.iterdir() if path.is_file()]
    files.sort(key=lambda one: (one[1] == newest, one[0].st_mtime_ns), reverse=True)
    total = 0
    for count, (status, path) in enumerate(files, 1):
        total += status.st_size
        if path != newest and (count > MOST_FILES or total > MOST_BYTES):
            path.unlink(missing_ok=True)
