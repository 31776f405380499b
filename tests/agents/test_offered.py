"""The choices that agents offer are known before they run, in each window."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from agents.files import KeptRows
from agents.offered import MOST_AGENTS, MOST_FILE_BYTES, Offered, Offering, kept_in, merged
from bridge.models import AgentChoice
from bridge.wire import ConfigurationProperty

ONE = AgentChoice.of({"acp": {"name": "one", "command": "one", "env": []}})
TWO = AgentChoice.of({"acp": {"name": "two", "command": "a-secret-in-it"}})
MODELS = {
    "model": ConfigurationProperty(
        title="Model", enum=("a", "b"), enum_item_labels=("A", "B"), default="a"
    )
}
MODES = {
    "mode": ConfigurationProperty(
        title="Mode", enum=("x",), enum_item_labels=("X",), default="x", group="navigation"
    )
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "offered.json"


def content_of(file: Path) -> bytes:
    return file.read_bytes()


def write(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)


@asynccontextmanager
async def offered_from(file: Path, tell: Callable[[Offered], None]) -> AsyncGenerator[Offered]:
    """Give the choices in a file, and tell of changes until it is read."""
    with ExitStack() as stack:
        async with trio.open_nursery() as nursery:
            offered = Offered(nursery, kept_in(lambda: file))
            stack.enter_context(offered.told_to(lambda: tell(offered)))
            yield offered


async def known(file: Path, choice: AgentChoice) -> object:
    """Return what a new window knows when it has read the file."""
    told: list[None] = []
    async with offered_from(file, lambda _: told.append(None)) as offered:
        assert offered.of(choice) == {}, "nobody waits for a file"
    assert bool(told) is bool(offered.of(choice))
    return offered.of(choice)


async def test_what_an_agent_offers_is_known_to_the_next_window(file: Path) -> None:
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: file))
        offered.learn(ONE, MODELS)
        offered.learn(TWO, MODES)
    assert await known(file, ONE) == MODELS
    assert await known(file, TWO) == MODES
    assert b"secret" not in content_of(file)


async def test_a_change_is_told_once(file: Path) -> None:
    told: list[str] = []
    async with offered_from(file, lambda _: told.append("changed")) as offered:
        offered.learn(ONE, MODELS)
        offered.learn(ONE, dict(MODELS))
        assert told == ["changed"]
        offered.learn(ONE, MODES)
        assert told == ["changed", "changed"]
    assert await known(file, ONE) == MODES


async def test_what_an_agent_says_meanwhile_is_newer_than_the_file(file: Path) -> None:
    async with trio.open_nursery() as nursery:
        Offered(nursery, kept_in(lambda: file)).learn(ONE, MODELS)
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: file))
        offered.of(ONE)
        offered.learn(ONE, MODES)
        await wait_all_tasks_blocked()
        assert offered.of(ONE) == MODES


async def test_the_size_of_the_context_is_known_to_the_next_window(file: Path) -> None:
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: file))
        offered.learn_window(ONE, 200_000)
        offered.learn_window(TWO, 1_000_000)
    told: list[int | None] = []
    async with offered_from(file, lambda offered: told.append(offered.window_of(ONE))) as offered:
        assert offered.window_of(ONE) is None, "nobody waits for a file"
    assert told == [200_000]


async def test_what_is_learned_of_an_agent_leaves_the_rest_as_the_file_has_it(file: Path) -> None:
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: file))
        offered.learn(ONE, MODELS)
        offered.learn_window(ONE, 200_000)
    async with trio.open_nursery() as nursery:  # a window that never listed its models
        Offered(nursery, kept_in(lambda: file)).learn_window(ONE, 300_000)
    async with trio.open_nursery() as nursery:
        Offered(nursery, kept_in(lambda: file)).learn(ONE, MODES)
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: file))
        offered.of(ONE)
        offered.learn_window(ONE, 400_000)
    assert (offered.of(ONE), offered.window_of(ONE)) == (MODES, 400_000)


def test_without_a_file_it_is_known_to_this_window_alone() -> None:
    offered = Offered()
    assert offered.of(ONE) == {}
    offered.learn(ONE, MODELS)
    assert offered.of(ONE) == MODELS


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b"[" * 100_000])
async def test_a_file_that_can_t_be_used_is_like_none(
    file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, content)
    assert await known(file, ONE) == {}
    assert "can't be used" in caplog.text
    async with trio.open_nursery() as nursery:
        Offered(nursery, kept_in(lambda: file)).learn(ONE, MODELS)
    assert await known(file, ONE) == MODELS


@pytest.mark.limit("agents.offered.MOST_FILE_BYTES")
async def test_a_file_that_is_too_large_is_not_read(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, b"[]" + b" " * MOST_FILE_BYTES)
    assert await known(file, ONE) == {}
    assert "too large" in caplog.text


def test_the_oldest_make_room_in_the_file_and_one_that_is_too_large_costs_no_other(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.offered.MOST_FILE_BYTES", 1_000)
    rows: tuple[Offering, ...] = ()
    for number in range(9):
        rows = merged(rows, Offering(str(number), MODES))
        assert rows[-1].agent == str(number)
    assert 1 < len(rows) < 9
    large = Offering("8", {"mode": replace(MODES["mode"], title="x" * 1_000)})
    assert merged(rows, large) == rows[:-1]
    kept = KeptRows(lambda: file, Offering, 1_000)
    kept.change(lambda _: rows)
    assert kept.read() == rows


async def test_a_folder_that_can_t_be_written_costs_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "state" / "a file in place of the folder"
    write(folder, b"")
    async with trio.open_nursery() as nursery:
        offered = Offered(nursery, kept_in(lambda: folder / "offered.json"))
        offered.learn(ONE, MODELS)
        assert offered.of(ONE) == MODELS
    assert "can't be written" in caplog.text


@pytest.mark.limit("agents.offered.MOST_AGENTS")
def test_the_agents_that_are_kept_are_bounded() -> None:
    rows: tuple[Offering, ...] = ()
    for number in range(MOST_AGENTS + 5):
        rows = merged(rows, Offering(str(number), {}))
    rows = merged(rows, Offering("7", MODELS))
    assert len(rows) == MOST_AGENTS
    assert rows[-1] == Offering("7", MODELS)
    assert [row.agent for row in rows].count("7") == 1


def test_a_session_that_existed_before_changes_no_default() -> None:
    """Its values may be what the user chose for it."""
    offered = Offered()
    mode = MODES["mode"]
    more = replace(mode, enum=("x", "y"), enum_item_labels=("X", "Y"), default="y")
    offered.learn(ONE, MODES)
    offered.learn(ONE, {"mode": more, "other": mode}, is_new=False)
    assert offered.of(ONE) == {"mode": replace(more, default="x"), "other": mode}
    offered.learn(ONE, {"mode": more})
    assert offered.of(ONE) == {"mode": more}, "a new session has this default"
    gone = replace(mode, enum=("y",), enum_item_labels=("Y",), default="y")
    offered.learn(ONE, {"mode": gone}, is_new=False)
    assert offered.of(ONE) == {"mode": gone}
    offered.learn(ONE, {"other": mode}, is_new=False)
    assert offered.of(ONE) == {"other": mode}
    offered.learn(TWO, MODES, is_new=False)
    assert offered.of(TWO) == MODES


def test_an_agent_without_choices_changes_nothing_that_is_listed() -> None:
    told: list[str] = []
    offered = Offered()
    with offered.told_to(lambda: told.append("changed")):
        offered.learn(ONE, {})
        assert told == []
        offered.learn(ONE, MODELS)
        offered.learn(ONE, {})
    assert told == ["changed", "changed"]
    offered.learn(ONE, MODELS)
    assert told == ["changed", "changed"], "nobody is told any more"
