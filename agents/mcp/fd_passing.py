"""The relay passes its own standard input and output with its token.

With them the bridge reads from the agent and writes to it directly. A relay that copies costs each
call the time to wake one more process, in each direction. The relay stays running all the same,
because an agent wants a process that it can end, and whose end it notices.

Only Unix sockets carry descriptors, and only descriptors that can be waited for are passed.
"""

from __future__ import annotations

import os
import socket
import stat
from array import array

import attrs
import trio

from bridge.stdio import PipeSink

_BOTH = 2
_UNIX = getattr(socket, "AF_UNIX", None)


@attrs.define(eq=False, repr=False)
class Handover:
    """The descriptors that came with a guest's message; `close` those that nobody has taken."""

    _stream: trio.SocketStream
    _fds: list[int] = attrs.field(factory=list[int], init=False)

    async def receive(self, most: int) -> bytes:
        """Return the next bytes, and keep what comes with them."""
        peer = self._stream.socket
        if peer.family != _UNIX:
            return bytes(await self._stream.receive_some(most))
        room = socket.CMSG_SPACE(_BOTH * array("i").itemsize)
        try:
            said, more, _, _ = await peer.recvmsg(most, room)
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error
        for level, kind, packed in more:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self._fds += array("i", packed)
        for fd in self._fds:
            os.set_inheritable(
                fd, False
            )  # Python does so for its own descriptors, not for received ones
        return said

    def take(self) -> trio.abc.Stream | None:
        """Return the other side of the relay, if it was handed over and can be used."""
        if len(self._fds) != _BOTH or not all(_can_wait_for(fd) for fd in self._fds):
            return None
        (source, sink), self._fds = self._fds, []
        return trio.StapledStream(PipeSink(sink), trio.lowlevel.FdStream(source))

    def close(self) -> None:
        """Close the descriptors that were not taken."""
        while self._fds:
            os.close(self._fds.pop())


def _can_wait_for(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
