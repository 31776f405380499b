from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from vscodelm.registry.cache import CacheError
from vscodelm.registry.index import INDEX_URL, RegistryAgent, read_index
from vscodelm.registry.local import Registry, RegistryError, acts_unasked, ready_offers

from .entries import BINARY, NPX, UVX, index_of

BOTH = {**NPX, "distribution": {**NPX["distribution"], **BINARY["distribution"]}}


def registry(folder: Path, *launchers: str, platform: str = "linux-x86_64") -> Registry:
    return Registry(folder, "https://example.org", platform, lambda name: name in launchers)


def agent(entry: dict[str, Any]) -> RegistryAgent:
    (read,) = read_index(index_of(entry)).agents
    return read


def fill(folder: Path, *entries: Any) -> None:
    stored = {"url": "u", "fetched_at": 1.0, "index": msgspec.Raw(index_of(*entries))}
    (folder / "registry.json").write_bytes(msgspec.json.encode(stored))


def installed(folder: Path, version: str) -> None:
    program = folder / "agents" / "goose" / version / "bin" / "goose"
    program.parent.mkdir(parents=True)
    program.touch()


def test_the_options_count_then_the_environment_then_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VSCODELM_CACHE_DIR", "named")
    monkeypatch.setenv("VSCODELM_REGISTRY_URL", "https://named.example")
    given = Registry.of(tmp_path, "https://given.example")
    assert (given.folder, given.url) == (tmp_path, "https://given.example")
    named = Registry.of(None, None)
    assert (named.folder, named.url) == (Path("named"), "https://named.example")
    monkeypatch.delenv("VSCODELM_CACHE_DIR")
    monkeypatch.delenv("VSCODELM_REGISTRY_URL")
    own = Registry.of(None, None)
    assert "vscodelm" in str(own.folder)
    assert own.url == INDEX_URL


@pytest.mark.parametrize(
    ("entry", "launchers", "kind", "readiness"),
    [
        (NPX, ("npx",), "npx", "ready"),
        (NPX, (), "npx", "no launcher"),
        (UVX, ("uvx",), "uvx", "ready"),
        (BINARY, (), "binary", "not installed"),
        (BOTH, ("npx",), "npx", "ready"),
        (BOTH, (), "binary", "not installed"),
    ],
)
def test_an_offer_says_whether_it_can_be_started(
    tmp_path: Path, entry: Any, launchers: tuple[str, ...], kind: str, readiness: str
) -> None:
    offer = registry(tmp_path, *launchers).offer(agent(entry))
    assert (offer.kind, offer.readiness) == (kind, readiness)


def test_an_offer_may_be_for_other_machines(tmp_path: Path) -> None:
    here = registry(tmp_path, platform="plan9-mips")
    offer = here.offer(agent(BINARY))
    assert (offer.kind, offer.readiness) == (None, "not for this machine")
    with pytest.raises(RegistryError, match="only for linux-x86_64, windows-x86_64"):
        here.launch(agent(BINARY))


def test_what_is_installed_is_ready_and_other_versions_are_told(tmp_path: Path) -> None:
    installed(tmp_path, "1.0.0")
    offer = registry(tmp_path).offer(agent(BINARY))
    assert (offer.readiness, offer.others) == ("not installed", ("1.0.0",))
    installed(tmp_path, "2.0.0")
    offer = registry(tmp_path).offer(agent(BINARY))
    assert (offer.readiness, offer.others) == ("ready", ("1.0.0",))


def test_a_kind_can_be_chosen_if_it_is_there(tmp_path: Path) -> None:
    here = registry(tmp_path, "npx")
    assert here.launch(agent(BOTH)).kind == "npx"
    chosen = here.launch(agent(BOTH), "binary")
    assert chosen.spec.command == str(tmp_path / "agents/goose/2.0.0/bin/goose").replace(
        "goose/2.0.0", "parrot-acp/1.2.3"
    )
    with pytest.raises(
        RegistryError, match=r"has no distribution uvx here. It has: npx and binary"
    ):
        here.launch(agent(BOTH), "uvx")


def test_a_program_outside_of_its_folder_is_not_started(tmp_path: Path) -> None:
    ways = {"binary": {"linux-x86_64": {"archive": "https://a.org/x.zip", "cmd": "../../sh"}}}
    entry = agent({**BINARY, "distribution": ways})
    with pytest.raises(RegistryError, match="goose can't be started"):
        registry(tmp_path).launch(entry)
    assert registry(tmp_path).offer(entry).readiness == "not installed"


def test_an_agent_is_found_in_what_was_fetched(tmp_path: Path) -> None:
    here = registry(tmp_path)
    with pytest.raises(RegistryError, match=r"never fetched\. Run `vscodelm agents --refresh`"):
        here.find("goose")
    fill(tmp_path, BINARY)
    assert here.find("goose").name == "Goose"
    with pytest.raises(RegistryError, match="no agent 'duck'"):
        here.find("duck")
    (tmp_path / "registry.json").write_text("{")
    with pytest.raises(CacheError):
        here.find("goose")


READY = "opencode"


def test_an_agent_that_vscodelm_is_tested_with_is_there_without_an_index(tmp_path: Path) -> None:
    here = registry(tmp_path, "npx")
    (tested,) = (agent for agent in ready_offers() if agent.id == READY)
    assert here.find(READY) == tested
    assert here.launch(tested).spec.args == ("-y", f"opencode-ai@{tested.version}", "acp")
    assert here.find("claude-code-acp").id == "claude-acp", "its older id"
    fill(tmp_path, BINARY)
    assert here.find(READY) == tested


@pytest.mark.parametrize(("version", "is_taken"), [("0.0.1", False), ("99999.0", True)])
def test_the_index_counts_where_its_version_is_newer(
    tmp_path: Path, version: str, is_taken: bool
) -> None:
    fill(tmp_path, {**NPX, "id": READY, "version": version})
    (tested,) = (agent for agent in ready_offers() if agent.id == READY)
    found = registry(tmp_path).find(READY)
    assert found.version == (version if is_taken else tested.version)


def test_without_npx_or_by_another_kind_the_index_counts(tmp_path: Path) -> None:
    """A binary of the tested version, or of an older one, needs no Node."""
    fill(tmp_path, {**BINARY, "id": READY, "version": "0.0.1"})
    (tested,) = (agent for agent in ready_offers() if agent.id == READY)
    without, having = registry(tmp_path), registry(tmp_path, "npx")
    assert without.launch(without.find(READY)).kind == "binary"
    assert having.find(READY) == tested
    assert having.launch(having.find(READY, "binary"), "binary").kind == "binary"
    assert without.find(READY, "npx") == tested


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({**NPX, "id": "pi-acp"}, True),
        ({**NPX, "distribution": {"npx": {"package": "pi-acp@0.0.34"}}}, True),
        ({**NPX, "distribution": {"uvx": {"package": "fast-agent-acp==0.10.48"}}}, True),
        ({**NPX, "distribution": {"uvx": {"package": "code-puppy@0.0.946"}}}, True),
        (NPX, False),
        (BINARY, False),
    ],
)
def test_who_acts_without_asking_is_known_by_its_id_or_its_package(
    entry: dict[str, Any], expected: bool
) -> None:
    assert acts_unasked(agent(entry)) is expected
