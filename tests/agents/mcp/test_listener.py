from __future__ import annotations

import os
import socket
import struct
import sys

import pytest

from agents.mcp.listener import Kernel, kernel_of

LINUX = {"SOL_SOCKET": 1, "SO_PEERCRED": 17}
XUCRED = struct.Struct("=IIhxx16I")
"""What macOS answers: version, user, how many groups, the groups."""


def kernel(platform: str) -> Kernel:
    found = kernel_of(platform, LINUX if platform == "linux" else {})
    assert found is not None
    return found


def test_each_kernel_is_asked_in_its_own_way() -> None:
    assert kernel_of("linux", LINUX) == Kernel(1, 17, 12, says_version=False)
    assert kernel_of("linux", LINUX | {"SO_PEERCRED": 5}) == Kernel(1, 5, 12, says_version=False)
    bsd = Kernel(0, 1, 128, says_version=True)
    assert kernel_of("darwin", {"SOL_SOCKET": 0xFFFF}) == bsd
    assert kernel_of("freebsd14", {"LOCAL_PEERCRED": 1}) == bsd
    assert kernel_of("win32", {}) is None


def test_linux_says_process_user_and_group() -> None:
    assert kernel("linux").user(struct.pack("=iII", 4711, 501, 20)) == 501


def test_macos_says_the_user_after_a_version() -> None:
    answer = XUCRED.pack(0, 501, 2, 20, 12, *[0] * 14)
    assert len(answer) == 76
    assert kernel("darwin").user(answer) == 501
    assert kernel("darwin").user(XUCRED.pack(0, 2**32 - 2, 1, *[0] * 16)) == 2**32 - 2


@pytest.mark.parametrize("answer", [b"", b"\0" * 7, XUCRED.pack(1, 501, 1, *[0] * 16)])
def test_an_answer_of_another_shape_names_nobody(answer: bytes) -> None:
    assert kernel("darwin").user(answer) is None


def test_an_answer_that_is_cut_names_nobody() -> None:
    assert kernel("linux").user(b"\0" * 7) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such socket")
def test_the_kernel_of_this_machine_names_this_user() -> None:
    here = kernel_of(sys.platform, vars(socket))
    assert here is not None
    one, other = socket.socketpair()
    with one, other:
        assert here.user(one.getsockopt(here.level, here.option, here.size)) == os.geteuid()
