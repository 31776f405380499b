"""An ACP agent with one answer: `python -S canned_agent.py FILE`; each turn says the file's lines.

It is a program of its own, so that only the bridge's work is counted in the bridge's process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SESSION = "one"
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": SESSION},
    "session/prompt": {"stopReason": "end_turn"},
}


def main() -> None:
    """Answer what is asked, until the input ends."""
    lines = Path(sys.argv[1]).read_bytes()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "session/prompt":
            sys.stdout.buffer.write(lines)
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
