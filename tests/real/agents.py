"""The real agents: how each is started with our model server behind it, and what it can't do.

No agent sees anything of this machine: its home is a folder of the test's, and its environment is
made here. What an agent lacks is told with the reason, and the tests of it are skipped visibly.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from tooling.real_agents import FAST_AGENT as FAST_AGENT_PACKAGE
from tooling.real_agents import FOLDER, MISSING, READY, TARGET, node

JSON = dict[str, Any]

MODULES = FOLDER / "npm" / "node_modules"
EXAMPLES = FOLDER / "python-sdk" / "examples"


@attrs.frozen
class RealAgent:
    """An agent that asks a model. `settings` writes what it reads from its home."""

    name: str
    version: str
    dialect: str
    """What it speaks with its model."""
    part: str
    """What must be installed for it."""
    argv: tuple[str, ...]
    environment: Callable[[Path, str], Mapping[str, str]]
    """From its home and the model server's address."""
    ready: str | None = None
    """Its id in the list of agents that vscodelm comes with."""
    settings: Callable[[Path, str], None] = lambda home, url: None
    processes_for_two: int = 1
    """How many processes two sessions need."""
    asking_mode: str | None = None
    """The mode in which it asks the user, where by itself it decides without."""
    other_model: str | None = None
    """What `settings.model` may name beside the one that it has by itself."""
    tells_usage: bool = True
    stops_when_denied: bool = False
    """Whether a denial ends its turn, rather than being told to the model."""
    tells_failures: bool = False
    """Whether a model that fails is told soon, and not tried again for a minute."""
    drops_of_schemas: frozenset[str] = frozenset()
    """Keywords in the schemas of tools that it doesn't tell its model."""
    adds_to_schemas: JSON = attrs.field(factory=dict[str, Any])
    """What it says of every tool's arguments that we don't."""
    failures: Mapping[int, str] = attrs.field(factory=dict[int, str])
    """Statuses of its model that it tells as an answer, with words of it."""
    lacks: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """Abilities, each with the reason."""

    def why_missing(self) -> str | None:
        """Return why it isn't installed, where that can't be helped."""
        reasons: dict[str, str] = json.loads(MISSING.read_text(encoding="utf-8"))
        return reasons.get(self.part)

    def definition(self, home: Path, work: Path, url: str) -> JSON:
        """Return what an editor configures for it."""
        self.settings(home, url)
        environment = self.environment(home, url)
        return {
            "acp": {
                "name": self.name,
                "command": self.argv[0],
                "args": [*self.argv[1:]],
                "env": [{"name": key, "value": value} for key, value in environment.items()],
                "cwd": str(work),
            }
        }


def bare_environment(home: Path) -> dict[str, str]:
    """Return all that a process gets to see of this machine."""
    passed = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONDONTWRITEBYTECODE")
    mine = {key: os.environ[key] for key in passed if key in os.environ}
    # Claude Code refuses to work for root, but in a sandbox.
    return mine | {"HOME": str(home), "TMPDIR": str(home), "IS_SANDBOX": "1", "COLUMNS": "500"}


# OpenCode.


def _opencode_settings(home: Path, url: str) -> None:
    model: JSON = {"name": "Scripted", "tool_call": True, "reasoning": True, "attachment": True}
    model |= {"limit": {"context": 128_000, "output": 8_192}}
    model |= {"modalities": {"input": ["text", "image"], "output": ["text"]}}
    provider: JSON = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Ours",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    settings: JSON = {
        "autoupdate": False,
        "share": "disabled",
        "model": "ours/scripted",
        "small_model": "ours/scripted",
        "enabled_providers": ["ours"],
        "permission": {"*": "ask"},
        "provider": {"ours": provider},
    }
    _write(home / ".config" / "opencode" / "opencode.json", json.dumps(settings))


# Codex.


def _codex_settings(home: Path, url: str) -> None:
    settings = f"""
        model = "scripted"
        model_provider = "ours"
        approval_policy = "on-request"
        sandbox_mode = "read-only"
        disable_response_storage = true
        check_for_update_on_startup = false
        [model_providers.ours]
        name = "ours"
        base_url = "{url}/v1"
        wire_api = "responses"
        env_key = "OUR_KEY"
        request_max_retries = 1
        stream_max_retries = 1
    """
    _write(home / "codex" / "config.toml", settings)


# fast-agent. Its own tools ask nobody, those of MCP servers ask.


def _fast_agent_settings(home: Path, url: str) -> None:
    server: JSON = {"transport": "stdio", "command": sys.executable}
    server |= {"args": ["-S", "-I", str(Path(__file__).parent / "shell_server.py")]}
    settings: JSON = {"mcp": {"servers": {"bench": server}}}
    _write(home / "fast-agent" / "fast-agent.yaml", json.dumps(settings))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


CLAUDE = RealAgent(
    "claude",
    READY["claude-acp"].version,
    "Anthropic's Messages",
    "npm",
    (str(node()), str(MODULES / "@agentclientprotocol/claude-agent-acp/dist/index.js")),
    environment=lambda home, url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    ready="claude-acp",
    asking_mode="default",
    other_model="haiku",
)
CODEX = RealAgent(
    "codex",
    READY["codex-acp"].version,
    "OpenAI's Responses",
    "npm",
    (str(node()), str(MODULES / "@agentclientprotocol/codex-acp/dist/index.js")),
    environment=lambda home, url: {
        "CODEX_HOME": str(home / "codex"),
        "OUR_KEY": "none",
    },
    settings=_codex_settings,
    ready="codex-acp",
    asking_mode="read-only",
    other_model="gpt-5.5",
    tells_failures=True,
    failures={429: "429 Too Many Requests", 500: "high demand"},
    stops_when_denied=True,  # the only refusal that it offers is an abort
    drops_of_schemas=frozenset(
        {"pattern", "format", "default", "uniqueItems", "minItems", "maxItems", "maxLength"}
        | {"minimum", "maximum", "exclusiveMinimum"}
    ),
)
OPENCODE = RealAgent(
    "opencode",
    READY["opencode"].version,
    "OpenAI's chat completions",
    "npm",
    (str(MODULES / f"opencode-{TARGET}/bin/opencode"), "acp"),
    environment=lambda home, url: {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    },
    settings=_opencode_settings,
    ready="opencode",
    stops_when_denied=True,
    processes_for_two=2,  # its sessions would share the tools that they are given
    adds_to_schemas={"additionalProperties": False},
)
FAST_AGENT = RealAgent(
    "fast-agent",
    FAST_AGENT_PACKAGE.partition("==")[2],
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
    settings=_fast_agent_settings,
    tells_usage=False,
    lacks={
        "thinking": "it drops what such a model thinks",
        "image": "it shows images only to models that it knows",
    },
)


# Gemini CLI.


def _gemini_settings(home: Path, url: str) -> None:
    settings: JSON = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini" / "settings.json", json.dumps(settings))


GEMINI = RealAgent(
    "gemini",
    READY["gemini"].version,
    "Google's Gemini API",
    "npm",
    (str(node()), str(MODULES / "@google/gemini-cli/bundle/gemini.js"), "--acp"),
    environment=lambda home, url: {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    settings=_gemini_settings,
    ready="gemini",
    tells_usage=False,
)
COPILOT = RealAgent(
    "copilot",
    READY["github-copilot-cli"].version,
    "OpenAI's chat completions",
    "npm",
    (str(MODULES / f"@github/copilot-{TARGET}/copilot"), "--acp"),
    environment=lambda home, url: {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_CACHE_HOME": str(FOLDER / "copilot"),  # it unpacks itself, which takes a while
    },
    ready="github-copilot-cli",
    stops_when_denied=True,
)
QWEN = RealAgent(
    "qwen",
    READY["qwen-code"].version,
    "OpenAI's chat completions",
    "npm",
    (
        *(str(node()), str(MODULES / "@qwen-code/qwen-code/cli-entry.js")),
        *("--acp", "--auth-type=openai"),
    ),
    environment=lambda home, url: {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
    },
    ready="qwen-code",
    stops_when_denied=True,
    asking_mode="default",
    tells_usage=False,
)
AGENTS = (CLAUDE, CODEX, OPENCODE, FAST_AGENT)
"""Those that are tested with everything."""
FURTHER_AGENTS = (GEMINI, COPILOT, QWEN)
"""Those of which only the first steps are tested."""
ALL_AGENTS = (*AGENTS, *FURTHER_AGENTS)
TYPESCRIPT_EXAMPLE = (str(node()), str(MODULES / "@agentclientprotocol/sdk/dist/examples/agent.js"))
PYTHON_EXAMPLES = {
    name: (sys.executable, str(EXAMPLES / f"{name}.py")) for name in ("agent", "echo_agent")
}
