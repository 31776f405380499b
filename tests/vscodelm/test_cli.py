"""The command line."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from click.testing import CliRunner

from vscodelm.chat import terminal
from vscodelm.chat.loop import ChatError
from vscodelm.cli import main


@pytest.fixture
def runner() -> CliRunner:
    """Give a runner of commands."""
    return CliRunner()


@pytest.fixture
def chats(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Note the chats that would begin: the server's options and the model."""
    begun: list[tuple[list[str], str]] = []

    def begin(options: list[str], model: str) -> int:
        begun.append((options, model))
        return 0

    monkeypatch.setattr(terminal, "chat_here", begin)
    return begun


def test_the_version_is_the_distributions(runner: CliRunner) -> None:
    result = runner.invoke(main, ["--version"])
    assert result.output == f"vscodelm, version {version('vscodelm')}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["chat", "--help"]])
def test_the_help_tells_of_the_shared_options(runner: CliRunner, arguments: list[str]) -> None:
    result = runner.invoke(main, arguments)
    assert result.exit_code == 0
    for option in ("--log-level", "--trace-dir", "--config", "--state-dir"):
        assert option in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--log-level", "loud"],
        ["chat", "--log-level", "loud"],
        ["--trace-dir", __file__],
        ["--config", "."],
        ["--no-such-option"],
        ["no-such-command"],
        ["chat", "--model"],
    ],
)
def test_a_wrong_value_is_a_usage_error(
    runner: CliRunner, arguments: list[str], chats: list[tuple[list[str], str]]
) -> None:
    result = runner.invoke(main, arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert chats == []


def test_a_missing_configuration_file_is_an_error_of_one_line(runner: CliRunner) -> None:
    result = runner.invoke(main, ["--config", "missing.toml"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: missing.toml: ")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "options", "model"),
    [
        (["chat"], {"--log-level": "warning"}, "eliza"),
        (["chat", "--model", "claude"], {"--log-level": "warning"}, "claude"),
        (["--log-level", "info", "chat"], {"--log-level": "info"}, "eliza"),
        (["chat", "--log-level", "info"], {"--log-level": "info"}, "eliza"),
        (
            ["--log-level", "info", "chat", "--log-level", "debug"],
            {"--log-level": "debug"},
            "eliza",
        ),
        (
            ["--trace-dir", "traces", "chat", "--config", "models.toml"],
            {"--trace-dir": "traces", "--config": "models.toml", "--log-level": "warning"},
            "eliza",
        ),
        (
            ["--state-dir", "state", "chat"],
            {"--state-dir": "state", "--log-level": "warning"},
            "eliza",
        ),
    ],
)
def test_shared_options_reach_the_server_from_before_and_after_the_command(
    runner: CliRunner,
    chats: list[tuple[list[str], str]],
    arguments: list[str],
    options: dict[str, str],
    model: str,
) -> None:
    result = runner.invoke(main, arguments)
    assert result.exit_code == 0
    [(given, chosen)] = chats
    assert dict(zip(given[::2], given[1::2], strict=True)) == options
    assert chosen == model


def test_a_chat_that_cannot_go_on_is_an_error_of_one_line(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(options: list[str], model: str) -> int:
        raise ChatError(f"There is no model {model!r}.")

    monkeypatch.setattr(terminal, "chat_here", fail)
    result = runner.invoke(main, ["chat", "--model", "nobody"])
    assert (result.exit_code, result.output) == (1, "Error: There is no model 'nobody'.\n")
