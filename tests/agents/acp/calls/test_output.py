from __future__ import annotations

from typing import Any

import pytest

from agents.acp.calls.output import MOST_CHARACTERS, CallOutput, exit_status, is_exit_status


def wrote(*pieces: str, key: str = "terminal_output_delta") -> CallOutput:
    output = CallOutput()
    for piece in pieces:
        output.learn({key: {"terminal_id": "t", "data": piece}})
    return output


@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
def test_the_pieces_of_an_output_are_joined(key: str) -> None:
    assert wrote("one\nt", "wo\n", key=key).text == "one\ntwo\n"


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {"terminal_info": {"terminal_id": "t", "cwd": "/"}},
        {"terminal_output": "text"},
        {"terminal_output": {"data": 7}},
        {"terminal_exit": None},
        {"terminal_exit": {"exit_code": 0, "signal": None}},
        {"terminal_exit": {"exit_code": None, "signal": None}},
    ],
)
def test_what_says_nothing_adds_nothing(meta: dict[str, Any] | None) -> None:
    output = wrote("a")
    output.learn(meta)
    assert (output.text, output.status) == ("a", "")


def test_the_last_piece_may_come_with_the_exit_status() -> None:
    output = wrote("a")
    output.learn({"terminal_output": {"data": "b"}, "terminal_exit": {"exit_code": 2}})
    output.learn({"terminal_output": {"data": "c"}})
    assert (output.text, output.status) == ("abc", "exit code 2")


@pytest.mark.limit("agents.acp.calls.output.MOST_CHARACTERS")
@pytest.mark.parametrize("size", [99, 4_096, MOST_CHARACTERS, 10 * MOST_CHARACTERS])
def test_a_long_output_keeps_its_beginning_and_its_end(size: int) -> None:
    whole = "".join(f"{number:09}\n" for number in range(MOST_CHARACTERS // 2))
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    output = wrote(*pieces)
    half, left_out = MOST_CHARACTERS // 2, len(whole) - MOST_CHARACTERS
    gap = f"\n… {left_out:,} characters left out …\n"
    assert output.text == whole[:half] + gap + whole[-half:]
    assert len(repr(output)) < 4 * MOST_CHARACTERS


@pytest.mark.parametrize("length", [MOST_CHARACTERS // 2, MOST_CHARACTERS])
def test_an_output_that_just_fits_is_whole(length: int) -> None:
    assert wrote("x" * (length - 1), "y").text == "x" * (length - 1) + "y"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"exit_code": 2}, "exit code 2"),
        ({"exitCode": -1, "stdout": "a"}, "exit code -1"),
        ({"exit_code": None, "signal": "SIGTERM"}, "ended by SIGTERM"),
        ({"exit_code": 0}, ""),
        ({"exit_code": None}, ""),
        ({"exit_code": True}, ""),
        ({"exit_code": "2"}, ""),
        ({"signal": "green"}, ""),
        ({"exit_code": 1, "signal": 9}, "exit code 1"),
        ([2], ""),
        (None, ""),
    ],
)
def test_an_exit_status_is_told_as_a_person_reads_it(given: Any, status: str) -> None:
    assert exit_status(given) == status


@pytest.mark.parametrize(
    ("given", "is_status"),
    [
        ({"exit_code": 0}, True),
        ({"exitCode": 1, "signal": None}, True),
        ({"exit_code": 0, "stdout": ""}, False),
        ({"signal": "green"}, False),
        ({}, False),
        ("0", False),
    ],
)
def test_an_exit_status_alone_is_no_result(given: Any, is_status: bool) -> None:
    assert is_exit_status(given) is is_status
