"""OpenHands. Its model's answers come in one piece."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import OPENHANDS as PACKAGE

from ..real_agent import JSON, RealAgent, write

_TOOLS = ("file_editor", "task_tracker", "task_tool_set")
# It would leave a server of tmux behind, where there is one.
_TERMINAL: JSON = {"name": "terminal", "params": {"terminal_type": "subprocess"}}


def _settings(home: Path, url: str) -> None:
    model: JSON = {"model": "openai/scripted", "api_key": "none", "base_url": f"{url}/v1"}
    model |= {"model_canonical_name": "gpt-4o"}  # one that sees images
    settings: JSON = {
        "kind": "Agent",
        "llm": model | {"usage_id": "agent"},
        "tools": [_TERMINAL, *({"name": name} for name in _TOOLS)],
        "system_prompt_kwargs": {"cli_mode": True, "llm_security_analyzer": True},
    }
    write(home / ".openhands" / "agent_settings.json", json.dumps(settings))


OPENHANDS = RealAgent(
    "openhands",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "openhands",
    (str(FOLDER / "openhands" / "bin" / "openhands"), "acp"),
    environment=lambda home, url: {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
    },
    settings=_settings,
    asking_mode="always-ask",
    tells_usage=False,
    calls_one_by_one=True,
    asks_for_editor_tools=True,
    fails={
        "quiet log": "where it doesn't stop in the middle of a text, that is worth a warning",
        "session lost": "a chat that begins without the editor's tools, and is loaded with them, "
        "gets them one message late",
        "stop in text": "it asks its model for whole answers, and doesn't leave one that it is "
        "told to stop",
        "editor tool": "it asks before each tool, whoever has it, and its question names none",
    },
    lacks={
        "thinking": "it drops what such a model thinks",
        "stream": "its model answers in one piece",
        "schemas": "of an argument, its model is told the type and the description",
    },
)
