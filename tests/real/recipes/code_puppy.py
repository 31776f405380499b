"""Code Puppy. It asks nobody, unless it is told to."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import CODE_PUPPY as PACKAGE
from tooling.real_agents import FOLDER

from ..real_agent import JSON, RealAgent, write


def _settings(home: Path, url: str) -> None:
    settings = """
        [puppy]
        puppy_name = Puppy
        owner_name = Ada
        model = scripted
        yolo_mode = false
    """
    lines = (line.strip() for line in settings.splitlines())
    write(home / ".code_puppy" / "puppy.cfg", "\n".join(lines))
    endpoint = {"url": f"{url}/v1", "api_key": "none"}
    model: JSON = {"type": "custom_openai", "name": "scripted", "custom_endpoint": endpoint}
    models = {"scripted": model | {"context_length": 128_000}}
    write(home / ".code_puppy" / "extra_models.json", json.dumps(models))


CODE_PUPPY = RealAgent(
    "code-puppy",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "code-puppy",
    (str(FOLDER / "code-puppy" / "bin" / "code-puppy"), "--acp"),
    environment=lambda home, url: {},
    settings=_settings,
)
