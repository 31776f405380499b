"""Whose process is at the other end of a Unix socket, in the words of each kernel. Pure.

A kernel is asked by a socket's option. Linux answers with process, user and group (`SO_PEERCRED`),
macOS and FreeBSD with a version and the user before the groups (`LOCAL_PEERCRED`): so the user is
the second number everywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from bridge.value import Value

_SOL_LOCAL = 0
"""The level of a Unix socket's own options on BSD; Python has no name for it."""
_LOCAL_PEERCRED = 1
_BEGINNING = struct.Struct("=iI")
_BSD_VERSION = 0


class Kernel(Value):
    """How to ask a kernel, and to read its answer, of at most `size` bytes."""

    level: int
    option: int
    size: int
    says_version: bool

    def user(self, answer: bytes) -> int | None:
        """Return whose process it is; None if the answer can't be understood."""
        if len(answer) < _BEGINNING.size:
            return None
        first, user = _BEGINNING.unpack_from(answer)
        return None if self.says_version and first != _BSD_VERSION else user


def kernel_of(platform: str, names: Mapping[str, Any]) -> Kernel | None:
    """Return how the kernel of a platform is asked; None where that isn't known.

    `names` are those of Python's `socket`.
    """
    if "SO_PEERCRED" in names:
        return Kernel(names["SOL_SOCKET"], names["SO_PEERCRED"], 12, says_version=False)
    if platform.startswith(("darwin", "freebsd")):
        option = names.get("LOCAL_PEERCRED", _LOCAL_PEERCRED)
        return Kernel(_SOL_LOCAL, option, 128, says_version=True)
    return None
