"""fast-agent. Its own tools ask nobody, those of MCP servers ask."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tooling.real_agents import FAST_AGENT as PACKAGE
from tooling.real_agents import FOLDER

from ..real_agent import JSON, RealAgent, write


def _settings(home: Path, url: str) -> None:
    server: JSON = {"transport": "stdio", "command": sys.executable}
    server |= {"args": ["-S", "-I", str(Path(__file__).parent.parent / "shell_server.py")]}
    settings: JSON = {"mcp": {"servers": {"bench": server}}}
    write(home / "fast-agent" / "fast-agent.yaml", json.dumps(settings))


FAST_AGENT = RealAgent(
    "fast-agent",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "fast-agent",
    (
        str(FOLDER / "fast-agent" / "bin" / "fast-agent"),
        *("acp", "--model", "generic.scripted", "--servers", "bench"),
    ),
    environment=lambda home, url: {
        "FAST_AGENT_HOME": str(home / "fast-agent"),
        "GENERIC_BASE_URL": f"{url}/v1",
        "GENERIC_API_KEY": "none",
    },
    settings=_settings,
    tells_usage=False,
    lacks={
        "thinking": "it drops what such a model thinks",
        "image": "it shows images only to models that it knows",
    },
)
