from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.launch.ready_agents import renamed
from vscodelm.registry import index as index_module
from vscodelm.registry.index import Archive, IndexFault, Package, RegistryIndex, read_index

from .entries import BINARY, NPX, UVX, index_of

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "version", "distribution", "npx", "binary", "package"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def test_an_index_is_read_with_every_way_of_starting_an_agent() -> None:
    index = read_index(index_of(NPX, UVX, BINARY))
    parrot, owl, goose = index.agents
    assert index.notes == ()
    assert (parrot.id, parrot.name, parrot.version) == ("parrot-acp", "Parrot", "1.2.3")
    assert parrot.description == "Says it again"
    assert parrot.packages == {
        "npx": Package("@birds/parrot@1.2.3", args=("--acp",), env={"SEEDS": "many"})
    }
    assert owl.packages == {"uvx": Package("owl-agent==0.9.0", "owl", ("acp",))}
    assert goose.archives["linux-x86_64"] == Archive(
        "https://example.org/goose.tar.gz", "./bin/goose", ("acp",), {"HONK": "1"}
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "isn't JSON"),
        (b"<html>", "isn't JSON"),
        (b'{"agents": [', "isn't JSON"),
        (b'"\xff"', "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
        (b"[]", "no list `agents`"),
        (b"{}", "no list `agents`"),
        (b'{"agents": {}}', "no list `agents`"),
    ],
)
def test_what_is_no_index_is_refused_whole(data: bytes, reason: str) -> None:
    with pytest.raises(IndexFault, match=reason):
        read_index(data)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../etc"},
        {"id": "Goose"},
        {"id": "-y"},
        {"id": 3},
        {"name": ""},
        {"version": ".."},
        {"version": "1/2"},
        {"version": ".hidden"},
        {"version": "1.0\n"},
        {"version": None},
        {"distribution": []},
        {"distribution": {}},
        {"distribution": {"npx": {"package": "--version"}}},
        {"distribution": {"npx": {"package": ""}}},
        {"distribution": {"npx": {"package": "a", "env": [{"name": "A", "value": "b"}]}}},
        {"distribution": {"uvx": {"package": "a", "env": {"A=B": "c"}}}},
        {"distribution": {"uvx": {"package": "a", "args": ["a\x00"]}}},
        {"distribution": {"binary": {"linux-x86_64": {"cmd": "a"}}}},
        {"distribution": {"binary": []}},
        {"distribution": {"docker": {"image": "goose"}}},
    ],
)
def test_a_bad_entry_is_left_out_and_told_and_costs_no_other(change: dict[str, Any]) -> None:
    index = read_index(index_of({**NPX, **change}, UVX))
    assert [agent.id for agent in index.agents] == ["owl"]
    assert index.notes
    assert all(note.startswith("`agents[0]`") for note in index.notes)


@pytest.mark.parametrize("entry", [None, 7, "goose", [], {}])
def test_what_is_no_entry_at_all_is_left_out(entry: Any) -> None:
    assert [agent.id for agent in read_index(index_of(entry, UVX)).agents] == ["owl"]


def test_a_kind_that_is_not_known_is_left_out_of_an_entry_that_has_others() -> None:
    ways = {**NPX["distribution"], "docker": {"image": "parrot"}}
    index = read_index(index_of({**NPX, "distribution": ways}))
    assert list(index.agents[0].packages) == ["npx"]
    assert index.notes == ("`agents[0]`.distribution.docker is left out: its kind is unknown",)


def test_a_bad_platform_costs_no_other_platform() -> None:
    ways = {"binary": {**BINARY["distribution"]["binary"], "linux-x86_64": {"archive": 1}}}
    index = read_index(index_of({**BINARY, "distribution": ways}))
    assert list(index.agents[0].archives) == ["windows-x86_64"]
    assert "linux-x86_64" in index.notes[0]


def test_keys_that_are_not_known_are_passed_over() -> None:
    way = {"npx": {"package": "a", "colour": "green"}}
    index = read_index(index_of({**NPX, "distribution": way, "plumage": {"x": 1}}))
    assert index.notes == ()
    assert index.agents[0].packages["npx"].package == "a"


def test_a_description_that_is_none_is_empty() -> None:
    index = read_index(index_of({**NPX, "description": None}))
    assert index.agents[0].description == ""


@pytest.mark.limit("vscodelm.registry.index.MOST_AGENTS")
def test_of_too_many_entries_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "MOST_AGENTS", 2)
    assert len(read_index(index_of(NPX, UVX)).agents) == 2
    assert len(read_index(index_of(NPX, UVX, BINARY)).agents) == 2


def test_of_two_entries_with_one_id_the_first_counts() -> None:
    index = read_index(index_of(NPX, {**NPX, "name": "Impostor"}))
    assert [agent.name for agent in index.agents] == ["Parrot"]
    assert index.notes == ("`agents[1]` is left out: the id parrot-acp is used twice",)


def test_an_agent_is_found_by_its_newer_and_by_its_older_id() -> None:
    for old, new in renamed().items():
        for there, asked in ((old, new), (new, old), (old, old), (new, new)):
            found = read_index(index_of({**NPX, "id": there})).find(asked, renamed())
            assert found is not None
            assert found.id == there
    both = read_index(index_of({**NPX, "id": "claude-acp"}, {**NPX, "id": "claude-code-acp"}))
    for id_ in ("claude-acp", "claude-code-acp"):
        found = both.find(id_, renamed())
        assert found is not None
        assert found.id == id_
    assert both.find("nobody") is None


@given(st.lists(JSON_VALUES, max_size=4))
def test_whatever_the_entries_are_the_index_is_read(entries: list[Any]) -> None:
    index = read_index(index_of(*entries, UVX))
    assert index.agents[-1].id == "owl"
    assert len(index.agents) + len(index.notes) >= len(entries)


@given(st.binary(max_size=40) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_is_an_index_or_a_fault(data: bytes) -> None:
    with suppress(IndexFault):
        assert isinstance(read_index(data), RegistryIndex)
