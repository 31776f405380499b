"""OpenHands. Its model's answers come in one piece."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import OPENHANDS as PACKAGE

from ..real_agent import JSON, RealAgent, write

_TOOLS = ("terminal", "file_editor", "task_tracker", "task_tool_set")


def _settings(home: Path, url: str) -> None:
    model: JSON = {"model": "openai/scripted", "api_key": "none", "base_url": f"{url}/v1"}
    model |= {"model_canonical_name": "gpt-4o"}  # one that sees images
    settings: JSON = {
        "kind": "Agent",
        "llm": model | {"usage_id": "agent"},
        "tools": [{"name": name} for name in _TOOLS],
        "system_prompt_kwargs": {"cli_mode": True, "llm_security_analyzer": True},
    }
    write(home / ".openhands" / "agent_settings.json", json.dumps(settings))
    # It leaves a server of tmux behind where it finds one, so it finds one that doesn't work.
    tmux = home / "bin" / "tmux"
    write(tmux, "#!/bin/sh\nexit 1\n")
    tmux.chmod(0o755)


OPENHANDS = RealAgent(
    "openhands",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "openhands",
    (str(FOLDER / "openhands" / "bin" / "openhands"), "acp"),
    environment=lambda home, url: {
        "PATH": os.pathsep.join([str(home / "bin"), os.environ["PATH"]]),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
    },
    settings=_settings,
    asking_mode="always-ask",
    tells_usage=False,
    calls_one_by_one=True,
    asks_for_editor_tools=True,
    lacks={
        "stop in text": "it doesn't leave an answer of its model's, and never answers the prompt "
        "that it is told to stop",
        "editor tool": "it asks before each tool, whoever has it, and its question names none",
        "thinking": "it drops what such a model thinks",
        "stream": "its model answers in one piece",
        "schemas": "of an argument, its model is told the type and the description",
    },
)
