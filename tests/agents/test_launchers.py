from __future__ import annotations

import pytest

from agents.launchers import NODE, UV, advice_on, page_of, wants_newer_node


@pytest.mark.parametrize(
    "command", ["npx", "node", "/usr/bin/npm", "C:\\node\\npx.cmd", "C:\\node\\NODE.EXE"]
)
def test_what_comes_with_node_is_had_with_node(command: str) -> None:
    assert page_of(command) == NODE


def test_other_launchers_and_programs() -> None:
    assert page_of("uvx") == page_of("uv") == UV
    assert page_of("claude") is None
    assert page_of("npx/claude") is None


def test_advice_names_the_page() -> None:
    assert advice_on("/usr/bin/npx") == (
        "Install Node.js from https://nodejs.org/en/download, or by a package manager."
    )
    assert UV.url in advice_on("uvx")
    assert advice_on("claude") == ""


@pytest.mark.parametrize(
    "words",
    [
        "npm error code EBADENGINE",
        "npm WARN Unsupported engine",
        "Agent needs Node.js 22 or newer",
        "node is too old",
        "Node v16.3.0 is not supported.",
        "Unsupported: Node.js version 14 unsupported",
    ],
)
def test_a_node_that_is_too_old_is_known_by_what_programs_say(words: str) -> None:
    assert wants_newer_node(f"first\n{words}\nlast")


@pytest.mark.parametrize("words", ["", "node\nis too old", "no key", "Node.js v22.1.0"])
def test_other_last_words_say_nothing_of_it(words: str) -> None:
    assert not wants_newer_node(words)
