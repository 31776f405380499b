from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.launch.package import LaunchedPackage, is_older, launched_package
from agents.acp.launch.ready_agents import ready_agents

NPX = (
    *("--yes", "--loglevel=http"),
    *("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000"),
)
NOTHING = ("--", "node", "--version")


def found(*argv: str) -> tuple[str, str, str | None] | None:
    package = launched_package(argv)
    return None if package is None else (package.requirement, package.name, package.version)


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        ("npx -y @google/gemini-cli@0.61.0 --acp", ("@google/gemini-cli", "0.61.0")),
        ("npx opencode-ai acp", ("opencode-ai", None)),
        ("npx --yes --registry https://r.example --package=a@1 -- b --acp", ("a", "1")),
        ("npx -p a@1 b", ("a", "1")),
        ("npx -y --package a@1 --package c b", ("a", "1")),
        ("npm exec -- a@1", ("a", "1")),
        ("npm x a", ("a", None)),
        ("C:\\node\\npx.CMD -y a@latest", ("a", "latest")),
        ("/usr/bin/npx --cache=/tmp a@1 -c d", ("a", "1")),
        ("uvx fast-agent-mcp@1.2 acp", ("fast-agent-mcp", "1.2")),
        ("uvx --from fast-agent-mcp==0.10.48 fast-agent acp", ("fast-agent-mcp", "0.10.48")),
        ("uvx --python 3.12 --from a[b]==2 c", ("a", "2")),
        ("uv tool run --from=a c", ("a", None)),
        ("uv x a", ("a", None)),
    ],
)
def test_the_package_of_a_launcher_is_found(argv: str, package: tuple[str, str | None]) -> None:
    one = found(*argv.split())
    assert one is not None
    assert one[1:] == package


@pytest.mark.parametrize(
    "argv",
    [
        "",
        "node index.js",
        "npm start",
        "npx",
        "npx -y",
        "npx -p",
        "npx --package=",
        "npx --",
        "npx -c something a@1",
        "npx --who-knows a@1 b",
        "uv run a",
        "uvx --who-knows a",
        "my-npx a",
    ],
)
def test_what_is_no_launcher_of_one_package_is_left_alone(argv: str) -> None:
    assert found(*argv.split()) is None


@pytest.mark.parametrize(
    ("argv", "fetch"),
    [
        (("npx", "-y", "a@1", "--acp"), ("npx", *NPX, "-y", "--package", "a@1", *NOTHING)),
        (("npx", "-p", "a@1", "b", "-v"), ("npx", *NPX, "-p", "a@1", *NOTHING)),
        (("npm", "exec", "--", "a"), ("npm", "exec", *NPX, "--package", "a", *NOTHING)),
        (("uvx", "a", "acp"), ("uvx", "--from", "a", "python", "--version")),
        (("uvx", "--from", "a", "b"), ("uvx", "--from", "a", "python", "--version")),
    ],
)
def test_what_fetches_a_package_runs_nothing_of_it(
    argv: tuple[str, ...], fetch: tuple[str, ...]
) -> None:
    package = launched_package(argv)
    assert package is not None
    assert package.fetch == fetch


def test_every_ready_agent_is_found_in_its_command() -> None:
    for one in ready_agents():
        package = launched_package(("npx", "-y", one.requirement, *one.arguments))
        assert isinstance(package, LaunchedPackage)
        assert (package.name, package.version) == (one.package, one.version)


@given(st.lists(st.text(max_size=8), max_size=8))
def test_any_command_line_can_be_looked_at(argv: list[str]) -> None:
    launched_package(["npx", *argv])
    launched_package(["uvx", *argv])


def test_versions_are_compared_by_their_numbers() -> None:
    assert is_older("0.9.0", "0.10.0")
    assert not is_older("0.10.0", "0.10.0")
    assert is_older("1.0", "1.0.1")
    assert not is_older("latest", "1.0")
    assert not is_older("", "1.0")
