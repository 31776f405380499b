"""`vscodelm agents` as a real process, and a registry at a loopback address."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest
import trio
from click.testing import CliRunner

from bridge.models import parse_catalogue
from tests.fakes.registry_server import Answer, RegistryServer, registry_server
from vscodelm.cli import main
from vscodelm.registry import commands as offers
from vscodelm.registry.launch import platform_of
from vscodelm.registry.view import ago

from .archives import Item, tar
from .entries import BINARY, NPX, UVX, index_of

PATIENCE = 60.0
GOOSE = tar([Item("bin/goose", "#!/bin/sh\necho honk\n", mode=0o755)])


@attrs.frozen
class Ended:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str


@attrs.define
class Here:
    """A machine with a registry: commands run in its folder."""

    folder: Path
    server: RegistryServer
    env: dict[str, str] = attrs.field(factory=dict[str, str])

    async def run(self, *arguments: str) -> Ended:
        environment = {
            **os.environ,
            "VSCODELM_CACHE_DIR": str(self.folder / "cache"),
            "VSCODELM_CONFIG": str(self.folder / "config.toml"),
            "VSCODELM_REGISTRY_URL": self.server.url("/index"),
            "COLUMNS": "80",
            **self.env,
        }
        ended = await trio.run_process(
            [sys.executable, "-m", "vscodelm", *arguments],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env=environment,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


@asynccontextmanager
async def here(
    folder: Path, *answers: Answer, routes: Mapping[str, Any] | None = None
) -> AsyncGenerator[Here, None]:
    """Give a machine; its index is the answers, or one with three agents."""
    (folder / "config.toml").write_text('[[models]]\nid = "old"\nagent = { eliza = {} }\n')
    (folder / "bin").mkdir()
    (folder / "bin" / "npx").write_text("#!/bin/sh\n")
    (folder / "bin" / "npx").chmod(0o755)
    with trio.fail_after(PATIENCE):
        async with registry_server({"/goose.tar.gz": [{"body": GOOSE}]}) as server:
            archive = {"archive": server.url("/goose.tar.gz"), "cmd": "./bin/goose"}
            goose = {**BINARY, "distribution": {"binary": {platform_here(): archive}}}
            index = {"body": index_of(NPX, UVX, goose, {"id": 1}), "headers": {"ETag": '"1"'}}
            server.routes = {**server.routes, "/index": answers or [index], **(routes or {})}
            yield Here(folder, server, {"PATH": str(folder / "bin")})


def platform_here() -> str:
    return platform_of(platform.system(), platform.machine())


@pytest.mark.slow
async def test_nothing_is_fetched_unless_asked_for(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        ended = await machine.run("agents")
        await machine.run("agents", "--json")
        refused = await machine.run("agents", "add", "goose")
    assert machine.server.asked == []
    assert (ended.status, ended.err) == (0, "")
    assert "old" in ended.out
    assert "never fetched. Run `vscodelm agents --refresh`" in ended.out
    assert "gemini" in ended.out
    assert refused.status == 1
    assert refused.err.startswith("Error: The registry's index was never fetched")


@pytest.mark.slow
async def test_what_was_fetched_is_listed_and_used_offline(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        fresh = await machine.run("agents", "--refresh")
        listed = await machine.run("agents")
        told = json.loads((await machine.run("agents", "--json")).out)
    assert len(machine.server.asked) == 1
    assert fresh.status == listed.status == 0
    assert listed.out.splitlines() == fresh.out.splitlines()
    lines = [line.split() for line in listed.out.splitlines()]
    assert ["parrot-acp", "Parrot", "1.2.3", "npx", "ready"] in lines
    assert ["owl", "Owl", "0.9.0", "uvx", "needs", "uvx"] in lines
    assert ["goose", "Goose", "2.0.0", "binary", "not", "installed"] in lines
    assert "just now" in listed.out
    assert "note: `agents[3]` is left out" in listed.out
    assert [model["id"] for model in told["configured"]] == ["eliza", "old"]
    assert [one["readiness"] for one in told["registry"]["agents"]] == [
        "ready",
        "no launcher",
        "not installed",
    ]
    assert told["registry"]["url"] == machine.server.url("/index")
    assert told["registry"]["ageSeconds"] < PATIENCE


@pytest.mark.slow
async def test_a_failed_refresh_shows_what_there_was(tmp_path: Path) -> None:
    good: Answer = {"body": index_of(NPX)}
    async with here(tmp_path, good, {"status": 503}) as machine:
        await machine.run("agents", "--refresh")
        ended = await machine.run("agents", "--refresh")
    assert ended.status == 1
    assert "503" in ended.err
    assert "parrot-acp" in ended.out


@pytest.mark.slow
async def test_an_address_that_is_not_https_is_refused(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        ended = await machine.run("agents", "--refresh", "--registry-url", "http://example.org/")
    assert ended.status == 1
    assert "isn't an https address" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
async def test_a_corrupt_cache_is_told_and_mended(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "registry.json").write_text("garbage")
        listed = await machine.run("agents")
        added = await machine.run("agents", "add", "goose")
        mended = await machine.run("agents", "--refresh")
    assert listed.status == 0
    assert "can't be used" in listed.out
    assert added.status == 1
    assert added.err.startswith("Error: ")
    assert "parrot-acp" in mended.out


@pytest.mark.slow
async def test_an_entry_is_printed_or_written(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        printed = await machine.run("agents", "add", "parrot-acp", "--refresh")
        before = (tmp_path / "config.toml").read_text()
        written = await machine.run("agents", "add", "parrot-acp", "--write")
        again = await machine.run("agents", "add", "parrot-acp", "--write")
    assert printed.status == written.status == 0
    assert parse_catalogue(printed.out).find("parrot-acp") is not None
    assert 'id = "parrot-acp"' not in before
    catalogue = parse_catalogue((tmp_path / "config.toml").read_text())
    assert [model.information.id for model in catalogue.models] == ["eliza", "old", "parrot-acp"]
    assert again.status == 1
    assert "given twice" in again.err
    assert parse_catalogue((tmp_path / "config.toml").read_text()) == catalogue


@pytest.mark.slow
async def test_an_agent_that_acts_without_asking_is_added_with_a_warning(tmp_path: Path) -> None:
    magpie = {**NPX, "name": "Magpie", "distribution": {"npx": {"package": "pi-acp@1.0.0"}}}
    async with here(tmp_path, {"body": index_of(magpie)}) as machine:
        added = await machine.run("agents", "add", "parrot-acp", "--refresh")
        listed = await machine.run("agents", "--json")
    assert "Magpie acts without asking" in added.err
    agents = json.loads(listed.out)["registry"]["agents"]
    assert [agent["neverAsks"] for agent in agents] == [True]


@pytest.mark.slow
async def test_what_an_entry_needs_and_is_not_there_is_told(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        owl = await machine.run("agents", "add", "owl", "--refresh")
        goose = await machine.run("agents", "add", "goose")
    assert "uvx was not found" in owl.err
    assert "`vscodelm agents install goose`" in goose.err
    assert parse_catalogue(owl.out + goose.out)


@pytest.mark.slow
async def test_a_program_is_installed_with_consent_only(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        refused = await machine.run("agents", "install", "goose", "--refresh")
        asked = [path for path, _ in machine.server.asked]
        installed = await machine.run("agents", "install", "goose", "--yes")
        again = await machine.run("agents", "install", "goose")
        listed = await machine.run("agents")
        entry = await machine.run("agents", "add", "goose")
    assert refused.status == 1
    assert "--yes" in refused.err
    assert machine.server.url("/goose.tar.gz") in refused.err
    assert asked == ["/index"]
    assert installed.status == again.status == 0
    program = tmp_path / "cache" / "agents" / "goose" / "2.0.0" / "bin" / "goose"
    assert os.access(program, os.X_OK)
    assert "ready" in next(line for line in listed.out.splitlines() if "goose" in line)
    found = parse_catalogue(entry.out).find("goose")
    assert found is not None
    assert isinstance(found.agent.spec.acp, msgspec.Struct)
    assert found.agent.spec.acp.command == str(program)


@pytest.mark.slow
async def test_an_installation_that_fails_is_an_error_of_one_line(tmp_path: Path) -> None:
    routes = {"/goose.tar.gz": [{"body": b"garbage"}]}
    async with here(tmp_path, routes=routes) as machine:
        ended = await machine.run("agents", "install", "goose", "--refresh", "--yes")
    assert ended.status == 1
    assert "broken" in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err


@pytest.mark.slow
async def test_a_launcher_is_checked_where_nothing_is_to_be_installed(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        parrot = await machine.run("agents", "install", "parrot-acp", "--refresh")
        owl = await machine.run("agents", "install", "owl")
        nobody = await machine.run("agents", "install", "nobody")
        kind = await machine.run("agents", "install", "owl", "--kind", "binary")
    assert parrot.status == 0
    assert "needs no installation" in parrot.out
    assert owl.status == 1
    assert "uv" in owl.err
    assert nobody.status == kind.status == 1
    assert "no agent 'nobody'" in nobody.err
    assert "has no distribution binary" in kind.err


@pytest.mark.slow
async def test_options_may_stand_before_the_command(tmp_path: Path) -> None:
    async with here(tmp_path) as machine:
        other = str(tmp_path / "other")
        ended = await machine.run("agents", "--refresh", "--cache-dir", other, "add", "owl")
        config = await machine.run("--config", str(tmp_path / "missing.toml"), "agents")
    assert ended.status == 0
    assert os.listdir(other) == ["registry.json"]
    assert config.status == 1
    assert "missing.toml" in config.err


def test_a_user_may_say_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = {"archive": "https://example.org/goose.zip", "cmd": "goose", "sha256": "0" * 64}
    goose = {**BINARY, "distribution": {"binary": {platform_here(): archive}}}
    stored = {"url": "u", "fetched_at": 1.0, "index": msgspec.Raw(index_of(goose))}
    (tmp_path / "registry.json").write_bytes(msgspec.json.encode(stored))

    class Terminal:
        stdin = type("Stdin", (), {"isatty": staticmethod(lambda: True)})
        stdout = sys.stdout

    monkeypatch.setattr(offers, "sys", Terminal)
    result = CliRunner().invoke(
        main, ["agents", "install", "goose", "--cache-dir", str(tmp_path)], input="n\n"
    )
    assert result.exit_code == 1
    assert "Nothing was installed." in result.output
    assert "checksum is checked" in result.output
    assert os.listdir(tmp_path) == ["registry.json"]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7200, "2 hours ago"),
        (86_400 * 9, "9 days ago"),
    ],
)
def test_an_age_is_for_people(seconds: float, told: str) -> None:
    assert ago(seconds) == told


def test_an_index_that_is_old_says_so(tmp_path: Path) -> None:
    index = msgspec.Raw(index_of())
    stored = {"url": "u", "fetched_at": time.time() - 86_400 * 30, "index": index}
    (tmp_path / "registry.json").write_bytes(msgspec.json.encode(stored))
    result = CliRunner().invoke(main, ["agents", "--cache-dir", str(tmp_path)])
    assert "30 days ago; `vscodelm agents --refresh`" in result.output
