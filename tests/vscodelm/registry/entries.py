"""Entries of an index, for tests."""

from __future__ import annotations

import json
from typing import Any

JSON = dict[str, Any]

NPX: JSON = {
    "id": "parrot-acp",
    "name": "Parrot",
    "version": "1.2.3",
    "description": "Says it again",
    "repository": "https://example.org/parrot",
    "authors": ["A. Bird"],
    "distribution": {
        "npx": {"package": "@birds/parrot@1.2.3", "args": ["--acp"], "env": {"SEEDS": "many"}}
    },
}
UVX: JSON = {
    "id": "owl",
    "name": "Owl",
    "version": "0.9.0",
    "description": "Works at night",
    "distribution": {"uvx": {"package": "owl-agent==0.9.0", "cmd": "owl", "args": ["acp"]}},
}
BINARY: JSON = {
    "id": "goose",
    "name": "Goose",
    "version": "2.0.0",
    "description": "Big bird",
    "distribution": {
        "binary": {
            "linux-x86_64": {
                "archive": "https://example.org/goose.tar.gz",
                "cmd": "./bin/goose",
                "args": ["acp"],
                "env": {"HONK": "1"},
            },
            "windows-x86_64": {"archive": "https://example.org/g.zip", "cmd": ".\\bin\\goose.exe"},
        }
    },
}


def index_of(*entries: Any) -> bytes:
    """Return an index of these entries."""
    return json.dumps({"version": "1.0.0", "agents": entries, "extensions": []}).encode()
