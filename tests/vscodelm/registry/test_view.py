"""What the list of agents looks like. The page in golden/ is for a person to judge."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from bridge.models import Catalogue, parse_catalogue
from vscodelm.registry.cache import CachedIndex
from vscodelm.registry.index import RegistryIndex, read_index
from vscodelm.registry.local import Registry
from vscodelm.registry.view import Overview

from .entries import BINARY, NPX, UVX, index_of

if TYPE_CHECKING:
    import pytest

GOLDEN = Path(__file__).parent / "golden"
NOW = 1_000_000.0
CONFIG = """
[[models]]
id = "claude"
name = "Claude Code"
agent = { acp = { name = "claude", command = "claude-agent-acp", args = ["--verbose"] } }
[[models]]
id = "local"
agent = { open_responses = { baseUrl = "http://127.0.0.1:8080/v1", model = "small" } }
"""
MAC = {"archive": "https://example.org/swan.zip", "cmd": "swan"}
SWAN = {**BINARY, "id": "swan", "name": "Swan", "distribution": {"binary": {"darwin-x86_64": MAC}}}
READY = {**NPX, "id": "finch", "name": "Finch", "version": "3.1.0"}


def overview(folder: Path, index: RegistryIndex, catalogue: Catalogue | None = None) -> Overview:
    registry = Registry(folder, "https://example.org", "linux-x86_64", lambda name: name == "npx")
    offers = tuple(registry.offer(agent) for agent in index.agents)
    cached = CachedIndex(index, "https://example.org", NOW - 3 * 86_400)
    tested = tuple(registry.offer(agent) for agent in read_index(index_of(READY)).agents)
    return Overview(catalogue or Catalogue(), cached, offers, NOW, "", tested)


def shown(one: Overview) -> str:
    out = io.StringIO()
    one.show(Console(file=out, width=90, highlight=False))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_the_list_reads_well(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "agents" / "goose" / "1.9.0").mkdir(parents=True)
    index = read_index(index_of(NPX, UVX, BINARY, SWAN, {"id": 3}))
    page = shown(overview(tmp_path, index, parse_catalogue(CONFIG)))
    path = GOLDEN / "agents.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(page, encoding="utf-8", newline="\n")
    assert page == path.read_text(encoding="utf-8")


def test_what_the_index_says_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    nasty = {**NPX, "name": "Par\x1b[2Jrot [bold]"}
    page = shown(overview(tmp_path, read_index(index_of(nasty))))
    assert "\x1b" not in page
    assert "rot [bold]" in page


def test_without_an_index_the_reason_stands_there() -> None:
    one = Overview(Catalogue(), None, (), NOW, "never fetched")
    assert "never fetched" in shown(one)
    assert one.as_json()["registry"] is None
    assert one.as_json()["tested"] == []
    assert one.as_json()["problem"] == "never fetched"
