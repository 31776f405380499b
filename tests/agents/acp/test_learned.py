"""What agents have shown is remembered by name and version, in a file that may be anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from agents.acp import learned as learned_module
from agents.acp.learned import (
    MOST_AGENTS,
    MOST_CHARACTERS,
    MOST_FILE_BYTES,
    READING_SECONDS,
    Fact,
    Learned,
    Lesson,
    merged,
)
from agents.acp.schema.initialize import Implementation
from agents.files import KeptRows
from tests.fakes.acp_agents import agent_in_process

from .talk import answer_to, asking

ONE = Implementation("one", "1")
SHARES, NO_RESUME = Fact.SESSIONS_SHARE_TOOLS, Fact.RESUME_MISSING


async def shown(file: Path, about: Implementation | None = ONE) -> list[Fact]:
    """Return what a process that begins now knows of an agent."""
    async with trio.open_nursery() as nursery:
        facts = await Learned(nursery, lambda: file).of(about)
    return [fact for fact in Fact if facts.has(fact)]


async def learn(file: Path, *learnt: Fact, about: Implementation | None = ONE) -> None:
    """Have another process learn facts, and end."""
    async with trio.open_nursery() as nursery:
        facts = await Learned(nursery, lambda: file).of(about)
        for fact in learnt:
            facts.learn(fact)


def write(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)


def content_of(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "learned.json"


async def test_what_one_process_learns_the_next_one_knows(file: Path) -> None:
    await learn(file, SHARES)
    assert await shown(file) == [SHARES]
    await learn(file, NO_RESUME)
    assert await shown(file) == [SHARES, NO_RESUME]


async def test_what_others_learn_meanwhile_stays(file: Path) -> None:
    async with trio.open_nursery() as nursery:
        facts = await Learned(nursery, lambda: file).of(ONE)
        await learn(file, NO_RESUME)
        await learn(file, NO_RESUME, about=Implementation("two", "1"))
        facts.learn(SHARES)
    assert await shown(file) == [SHARES, NO_RESUME]
    assert await shown(file, Implementation("two", "1")) == [NO_RESUME]


@pytest.mark.parametrize(
    "other", [Implementation("one", "2"), Implementation("two", "1"), None], ids=str
)
async def test_it_is_of_that_name_and_version_alone(
    file: Path, other: Implementation | None
) -> None:
    await learn(file, SHARES)
    assert await shown(file, other) == []


async def test_all_processes_of_an_agent_know_it_at_once() -> None:
    async with trio.open_nursery() as nursery:
        learned = Learned(nursery)
        first, second = await learned.of(ONE), await learned.of(ONE)
        first.learn(SHARES)
        assert second.has(SHARES)


@pytest.mark.parametrize(
    "about",
    [
        None,
        Implementation("", "1"),
        Implementation("x" * (MOST_CHARACTERS + 1), "1"),
        Implementation("x", "1" * (MOST_CHARACTERS + 1)),
    ],
    ids=["none", "empty", "long name", "long version"],
)
@pytest.mark.limit("agents.acp.learned.MOST_CHARACTERS")
async def test_an_agent_that_can_t_be_told_from_others_is_not_remembered(
    file: Path, about: Implementation | None
) -> None:
    await learn(file, SHARES, about=about)
    assert await shown(file, about) == []
    assert content_of(file) == b""


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\xff", b"[" * 100_000, b'[{"name": 1}]', b'["x"]', b" " * (MOST_FILE_BYTES + 1)],
    ids=["empty", "object", "bytes", "deep", "kinds", "texts", "large"],
)
@pytest.mark.limit("agents.acp.learned.MOST_FILE_BYTES")
async def test_a_damaged_file_is_like_none_and_is_replaced(
    file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, content)
    assert await shown(file) == []
    assert "can't be used" in caplog.text
    await learn(file, SHARES)
    assert await shown(file) == [SHARES]


async def test_where_nothing_can_be_written_nothing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    file = tmp_path / "file" / "learned.json"
    await learn(file, SHARES)
    assert await shown(file) == []
    assert "can't be written" in caplog.text


async def test_a_name_that_is_no_text_fails_nothing(file: Path) -> None:
    await learn(file, SHARES, about=Implementation("\ud800", "1"))
    assert content_of(file) == b""


@pytest.mark.limit("agents.acp.learned.READING_SECONDS")
async def test_a_slow_folder_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_module, "READING_SECONDS", READING_SECONDS / 20)
    release = trio.Event()

    async def never(*_: Any, **__: Any) -> None:
        await release.wait()

    monkeypatch.setattr(trio.to_thread, "run_sync", never)
    with trio.fail_after(READING_SECONDS):
        assert await shown(Path("slow")) == []


async def test_facts_of_a_newer_program_stay(file: Path) -> None:
    newer = {"name": "one", "version": "1", "facts": ["other"], "new": 1}
    write(file, json.dumps([newer]).encode())
    await learn(file, SHARES)
    (lesson,) = KeptRows(lambda: file, Lesson, MOST_FILE_BYTES).read()
    assert lesson.facts == ("other", "sessions_share_tools")


async def test_the_agent_knows_what_its_peers_were_told(file: Path) -> None:
    await learn(file, SHARES, about=Implementation("scripted", "1"))
    async with trio.open_nursery() as nursery:
        learned = Learned(nursery, lambda: file)
        async with (
            agent_in_process({}, learned=learned) as (agent, _),
            agent.session(asking("x")) as session,
        ):
            assert await answer_to(session, "x") == "ok"
            assert session.peer.facts.has(SHARES)
            assert not session.peer.facts.has(NO_RESUME)


# The file, as values.

names = st.text("ab", max_size=2)
lessons = st.lists(st.builds(Lesson, names, names, st.lists(names, max_size=3).map(tuple)))
facts = st.sets(st.sampled_from(Fact))


@given(lessons, names, names, facts)
def test_nothing_is_lost_but_the_oldest(
    before: list[Lesson], name: str, version: str, learnt: set[Fact]
) -> None:
    after = merged(before, name, version, learnt)
    assert msgspec.json.decode(msgspec.json.encode(after), type=tuple[Lesson, ...]) == after
    *others, newest = after
    assert newest.is_about(name, version)
    own = {fact for one in before if one.is_about(name, version) for fact in one.facts}
    assert set(newest.facts) == own | {fact.value for fact in learnt}
    assert others == [one for one in before if not one.is_about(name, version)]


@pytest.mark.limit("agents.acp.learned.MOST_AGENTS")
def test_the_oldest_is_forgotten() -> None:
    many: tuple[Lesson, ...] = ()
    for number in range(MOST_AGENTS + 1):
        many = merged(many, str(number), "1", {SHARES})
    assert len(many) == MOST_AGENTS
    assert many[0].name == "1"
