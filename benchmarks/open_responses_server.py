"""An endpoint that streams as it is told: `python -m benchmarks.open_responses_server`.

It writes its port to standard output and serves until its input ends. Its requests are words.
"burst N" asks for N events of text in pieces of 16 KiB. "stamps N" asks for N events one by one,
with the time of sending as the text of each.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

CHUNK = 16 * 1024
PAUSE_SECONDS = 0.005
"""Between two single events, so that each finds everything idle."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def event(kind: str, **fields: Any) -> bytes:
    """Return an event as servers write it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def delta(number: int, text: str) -> bytes:
    """Return an event of text, of about 270 bytes."""
    return event(
        "response.output_text.delta",
        sequence_number=number,
        item_id="msg_68a1f0c2b1d48190a1e7c5a0f3f5a9d20b1c2d3e4f5a6b7c",
        output_index=0,
        content_index=0,
        delta=text,
        logprobs=[],
        obfuscation="Ahk3bQx9",
    )


def _burst(number: int) -> Iterator[bytes]:
    whole = b"".join(delta(n, f" word{n % 97}") for n in range(number))
    return (whole[at : at + CHUNK] for at in range(0, len(whole), CHUNK))


def _stamps(number: int) -> Iterator[bytes]:
    for n in range(number):
        time.sleep(PAUSE_SECONDS)
        yield delta(n, f"{time.monotonic_ns()} ")


def _serve(connection: socket.socket) -> None:
    with connection:
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65_536)
        head, _, body = request.partition(b"\r\n\r\n")
        (length,) = (
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        while len(body) < length:
            body += connection.recv(65_536)
        words, number = json.loads(body)["input"][-1]["content"].split()
        connection.sendall(_HEAD)
        for piece in _burst(int(number)) if words == "burst" else _stamps(int(number)):
            connection.sendall(piece)
        response: dict[str, object] = {"id": "resp_1", "status": "completed", "output": []}
        connection.sendall(event("response.completed", response=response))


def main() -> None:
    """Serve until the input ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
