"""The program that an agent starts as its MCP server: it connects the agent to the bridge.

    python -I -S relay.py unix:PATH | tcp:PORT

It needs only the standard library and runs as a script, so that it starts at once: agents drop a
slow server silently. A token in the environment names the session. The relay sends the token first,
together with its input and output. The bridge answers `mine` if it took them: then it talks to the
agent directly. It answers `ok` if the relay has to copy the bytes, or `no` with the reason if it
refuses. When either side ends, so does the relay.
"""

import _thread
import os
import socket
import sys
import time

TOKEN = "VSCODELM_MCP_TOKEN"
HANDSHAKE_SECONDS = 10.0
LAST_SECONDS = 2.0
"""Seconds in which the bridge's last messages still pass after its input is closed."""
CHUNK = 262_144
MINE = b"mine\n"
FAILED, BROKEN = 1, 2


def connect(address: str) -> socket.socket:
    """Connect to the bridge."""
    kind, _, place = address.partition(":")
    if kind == "tcp":
        return socket.create_connection(("127.0.0.1", int(place)), HANDSHAKE_SECONDS)
    if kind != "unix":
        raise ValueError(f"the bridge's address must be unix:PATH or tcp:PORT, not {address!r}")
    bridge = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bridge.settimeout(HANDSHAKE_SECONDS)
    bridge.connect(place)
    return bridge


def be_let_in(bridge: socket.socket, token: str) -> bool:
    """Show the token, and return whether the bridge took our input and output with it.

    Raises `PermissionError` if it refuses the token.
    """
    line = token.encode() + b"\n"
    if bridge.family == socket.AF_INET:
        bridge.sendall(line)
    else:
        socket.send_fds(bridge, [line], [0, 1])
    answer = b""
    while not answer.endswith(b"\n"):
        byte = bridge.recv(1)  # not one byte more: the next ones are the agent's
        if not byte:
            raise ConnectionError("the bridge closed the connection")
        answer += byte
    if answer not in (MINE, b"ok\n"):
        raise PermissionError(answer.decode(errors="replace").strip().removeprefix("no "))
    return answer == MINE


def agent_to_bridge(bridge: socket.socket) -> None:
    """Copy what the agent says, until it has said everything."""
    try:
        while chunk := os.read(0, CHUNK):
            bridge.sendall(chunk)
        bridge.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the bridge has ended; the other direction passes its last words on
    time.sleep(LAST_SECONDS)
    os._exit(0)


def bridge_to_agent(bridge: socket.socket) -> None:
    """Copy what the bridge says, until it has said everything."""
    while chunk := bridge.recv(CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(1, rest) :]


def main(arguments: list[str]) -> int:
    """Return the status to end with."""
    address = " ".join(arguments)
    try:
        token = os.environ.pop(TOKEN)
        bridge = connect(address)
        is_over_to_bridge = be_let_in(bridge, token)
    except ValueError as error:
        return fail(f"wrong arguments, {error}")
    except KeyError:
        return fail(f"the environment variable {TOKEN} is missing: the agent doesn't pass it on")
    except PermissionError as error:
        return fail(f"the bridge refused the connection: {error}")
    except OSError as error:
        return fail(f"can't reach the bridge at {address}: {error}. Does it still run?")
    bridge.settimeout(None)
    try:
        if is_over_to_bridge:
            bridge.recv(1)  # until it closes the connection
        else:
            _thread.start_new_thread(agent_to_bridge, (bridge,))
            bridge_to_agent(bridge)
    except OSError as error:
        return fail(f"the connection broke: {error}", BROKEN)
    return 0


def fail(what: str, status: int = FAILED) -> int:
    """Say what failed, where the agent keeps its logs."""
    sys.stderr.write(f"vscodelm: the editor's tools are not available: {what}\n")
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    try:
        os._exit(main(sys.argv[1:]))  # without waiting for the other thread
    except KeyboardInterrupt:
        os._exit(130)
