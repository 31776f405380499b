from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.wire import EnvVariable, McpServerSpec
from vscodelm.registry.index import RegistryAgent, read_index
from vscodelm.registry.launch import choose, kinds_of, launch, platform_of, program_path
from vscodelm.registry.members import BadArchive

from .entries import BINARY, NPX, UVX, index_of

LINUX = "linux-x86_64"
FOLDER = Path("cache", "agents")


def agent(entry: dict[str, Any], **ways: Any) -> RegistryAgent:
    (read,) = read_index(index_of({**entry, "distribution": ways} if ways else entry)).agents
    return read


@pytest.mark.parametrize(
    ("system", "machine", "platform"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Linux", "aarch64", "linux-aarch64"),
        ("Darwin", "arm64", "darwin-aarch64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Plan9", "mips", "plan9-mips"),
    ],
)
def test_platforms_are_named_as_the_registry_does(system: str, machine: str, platform: str) -> None:
    assert platform_of(system, machine) == platform


def test_an_npm_package_is_run_by_npx_which_asks_nobody() -> None:
    ready = launch(agent(NPX), "npx", LINUX, FOLDER)
    assert ready.spec == McpServerSpec(
        "parrot-acp",
        "npx",
        ("-y", "@birds/parrot@1.2.3", "--acp"),
        (EnvVariable("SEEDS", "many"),),
    )


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("npx", ("-y", "--package", "p@1", "prog", "x")),
        ("uvx", ("--from", "p@1", "prog", "x")),
    ],
)
def test_a_program_of_another_name_is_named(kind: Any, args: tuple[str, ...]) -> None:
    entry = agent(NPX, **{kind: {"package": "p@1", "cmd": "prog", "args": ["x"]}})
    assert launch(entry, kind, LINUX, FOLDER).spec.args == args


def test_a_python_package_is_run_by_uvx() -> None:
    entry = agent(NPX, uvx={"package": "p==1", "args": ["x"]})
    assert launch(entry, "uvx", LINUX, FOLDER).spec == McpServerSpec(
        "parrot-acp", "uvx", ("p==1", "x")
    )


def test_a_binary_is_run_from_its_folder_with_its_environment() -> None:
    ready = launch(agent(BINARY), "binary", LINUX, FOLDER)
    assert ready.spec == McpServerSpec(
        "goose", str(FOLDER / "bin" / "goose"), ("acp",), (EnvVariable("HONK", "1"),)
    )


def test_a_program_for_windows_may_be_written_with_its_slashes() -> None:
    ready = launch(agent(BINARY), "binary", "windows-x86_64", FOLDER)
    assert ready.spec.command == str(FOLDER / "bin" / "goose.exe")
    assert program_path("./dist\\goose.cmd") == ("dist", "goose.cmd")


@pytest.mark.parametrize(
    "cmd", ["../goose", "/bin/sh", "a/../../b", "..\\goose.exe", "C:\\x", "./"]
)
def test_a_program_outside_of_its_archive_is_refused(cmd: str) -> None:
    entry = agent(BINARY, binary={LINUX: {"archive": "https://example.org/a.zip", "cmd": cmd}})
    with pytest.raises(BadArchive):
        launch(entry, "binary", LINUX, FOLDER)


def test_the_ways_are_tried_in_order_and_those_of_this_machine_only() -> None:
    ways = {**BINARY["distribution"], **UVX["distribution"], **NPX["distribution"]}
    all_of_them = agent(NPX, **ways)
    assert kinds_of(all_of_them, LINUX) == ("npx", "uvx", "binary")
    assert kinds_of(all_of_them, "linux-aarch64") == ("npx", "uvx")
    assert choose(all_of_them, LINUX, lambda _: True) == "npx"
    assert choose(all_of_them, LINUX, lambda launcher: launcher == "uvx") == "uvx"
    assert choose(all_of_them, LINUX, lambda _: False) == "binary"


def test_without_its_launcher_an_agent_is_still_started_by_it() -> None:
    assert choose(agent(UVX), LINUX, lambda _: False) == "uvx"


def test_an_agent_may_have_nothing_for_this_machine() -> None:
    assert choose(agent(BINARY), "linux-aarch64", lambda _: True) is None
