"""The folders of our sockets. One that its process couldn't remove is removed by the next process.

A process that is killed leaves its folder behind. The name has the number of the process, so a
folder is removed if that process is gone. Numbers are given again, and a container has numbers of
its own, so nobody must listen on the socket either. Other users' folders are left alone.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import stat
import tempfile
import time
from contextlib import suppress

SOCKET = "s"
"""The socket's name in its folder."""
SETTLING_SECONDS = 60.0
"""The age in seconds at which a folder may be removed: a younger one may be about to be used."""
_NAME = re.compile(r"vscodelm-([1-9][0-9]{0,9})-\w+")

log = logging.getLogger("vscodelm.mcp")


def make_folder(parent: str) -> str:
    """Return a new folder that only this user can enter."""
    return tempfile.mkdtemp(prefix=f"vscodelm-{os.getpid()}-", dir=parent)


def remove_left(parent: str) -> None:
    """Remove the folders in `parent` whose processes are gone; what can't be removed stays."""
    try:
        with os.scandir(parent) as entries:
            left = [entry.path for entry in entries if _is_left(entry)]
    except OSError as error:
        log.info("folders of sockets not looked for: %s", error)
        return
    for folder in left:
        with suppress(OSError):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, SOCKET))
            os.rmdir(folder)  # only ours has nothing else in it
            log.info("removed %s, which a killed process left", folder)


def _is_left(entry: os.DirEntry[str]) -> bool:
    named = _NAME.fullmatch(entry.name)
    if named is None:
        return False
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return False  # it is being removed
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
        return False
    if state.st_mtime > time.time() - SETTLING_SECONDS or _runs(int(named[1])):
        return False
    return not _is_listened_to(os.path.join(entry.path, SOCKET))


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # another user's
    return True


def _is_listened_to(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.setblocking(False)
        try:
            one.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # such as a socket that has no room for another connection just now
    return True
