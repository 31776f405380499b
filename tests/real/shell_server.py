"""An MCP server on stdio with one tool, which runs a command; it needs the standard library only.

For an agent that asks for permission before it calls tools of such servers, not for its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

JSON = dict[str, Any]
SHELL: JSON = {
    "name": "shell",
    "description": "Run a command.",
    "inputSchema": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def answer(method: str, params: JSON) -> JSON | None:
    """Return the result of a request; None where there is no such method."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "shell", "version": "1"},
            }
        case "tools/list":
            return {"tools": [SHELL]}
        case "tools/call":
            command: str = params["arguments"]["command"]
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
            said = f"status {done.returncode} {done.stdout}"
            return {"content": [{"type": "text", "text": said}], "isError": done.returncode != 0}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        message: JSON = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        error = {"code": -32601, "message": "Method not found"}
        body: JSON = {"error": error} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
