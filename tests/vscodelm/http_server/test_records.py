from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Generator
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from bridge.wire import ChatMessage, TextPart
from vscodelm.http_server.records import KeptResponse, ResponseRecords, open_records, raws


def kept(name: str, previous: str | None = None, *, size: int = 0) -> KeptResponse:
    asked = raws([ChatMessage("user", (TextPart(f"ask {name}"),))])
    answer = raws([ChatMessage("assistant", (TextPart(f"say {name}"),))])[0]
    return KeptResponse(name, previous, asked, answer, (Raw(b"{}"),), b"x" * size)


def texts(line: list[Raw] | None) -> list[str] | None:
    return (
        None if line is None else [bytes(raw).decode().split('"value":"')[1][:-4] for raw in line]
    )


@pytest.fixture
def records(tmp_path: Path) -> Generator[ResponseRecords]:
    one = open_records(tmp_path)
    yield one
    one.close()


async def test_a_line_has_all_that_was_said(records: ResponseRecords) -> None:
    with trio.fail_after(5):
        await records.keep(kept("a"))
        await records.keep(kept("b", "a"))
        await records.keep(kept("c", "a"))
        assert texts(await records.line("b")) == ["ask a", "say a", "ask b", "say b"]
        assert texts(await records.line("c")) == ["ask a", "say a", "ask c", "say c"]
        assert await records.line("nobody") is None


async def test_a_line_through_a_dropped_response_is_unknown(records: ResponseRecords) -> None:
    with trio.fail_after(5):
        await records.keep(kept("a"))
        await records.keep(kept("b", "a"))
        assert await records.drop("a")
        assert not await records.drop("a")
        assert await records.line("b") is None
        assert await records.find("a") is None
        assert await records.find("b") == (b"", b"[{}]")


def contents_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


async def test_a_dropped_response_leaves_no_text_in_any_file(
    records: ResponseRecords, tmp_path: Path
) -> None:
    with trio.fail_after(5):
        await records.keep(kept("a"))
        await records.keep(kept("secretive", "a", size=20_000))
        await records.drop("secretive")
        assert await records.find("a") is not None
    contents = contents_of(tmp_path)
    assert len(contents) > 1  # the log is another file
    assert not [name for name, content in contents.items() if b"secretive" in content]


async def test_a_dropped_response_takes_no_room_and_its_chain_goes_with_the_last(
    records: ResponseRecords,
) -> None:
    def sizes() -> list[int]:
        db = records._db  # pyright: ignore[reportPrivateUsage]
        return [size for (size,) in db.execute("SELECT bytes FROM chains").fetchall()]

    with trio.fail_after(5):
        await records.keep(kept("a"))
        (before,) = sizes()
        await records.keep(kept("b", "a", size=1_000))
        assert sizes()[0] > before + 1_000
        await records.drop("b")
        assert sizes() == [before]
        await records.drop("a")
        assert sizes() == []


async def test_an_answer_that_said_nothing_adds_nothing(records: ResponseRecords) -> None:
    with trio.fail_after(5):
        one = kept("a")
        silent = KeptResponse("a", None, one.asked, None, (), b"")
        await records.keep(silent)
        assert texts(await records.line("a")) == ["ask a"]


@pytest.mark.limit("vscodelm.http_server.records.MOST_KEPT_BYTES")
async def test_the_chain_that_was_not_used_for_longest_is_dropped_whole(
    records: ResponseRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(1_000))
    monkeypatch.setattr("vscodelm.http_server.records._now", lambda: next(now))
    records.most_bytes = 2_500
    with trio.fail_after(5):
        await records.keep(kept("a", size=700))
        await records.keep(kept("b", size=700))
        await records.line("a")  # a is used after b
        await records.keep(kept("c", "a", size=700))
        await records.keep(kept("d", size=700))
        assert await records.line("b") is None
        assert await records.line("c") is not None
        await records.keep(kept("e", size=9_000))  # one alone may be larger
        assert await records.line("e") is not None
        assert await records.line("c") is None


async def test_what_is_kept_outlives_the_process_and_is_the_users_alone(tmp_path: Path) -> None:
    with trio.fail_after(5):
        first = open_records(tmp_path / "state")
        await first.keep(kept("a"))
        first.close()
        second = open_records(tmp_path / "state")
        assert texts(await second.line("a")) == ["ask a", "say a"]
        second.close()
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "state/responses.db").stat().st_mode) == 0o600


async def test_a_broken_database_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "responses.db").write_bytes(b"no database" * 1_000)
    records = open_records(tmp_path)
    with trio.fail_after(5):
        await records.keep(kept("a"))
        assert await records.line("a") is not None
    records.close()
    assert (tmp_path / "responses-broken.db").read_bytes().startswith(b"no database")


async def test_without_a_folder_responses_are_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    records = open_records(tmp_path / "file")
    with trio.fail_after(5):
        await records.keep(kept("a"))
        assert await records.line("a") is not None
    records.close()


async def test_a_response_that_can_not_be_kept_breaks_nothing(
    records: ResponseRecords, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_records: ResponseRecords, _kept: KeptResponse) -> None:
        raise sqlite3.OperationalError("the disk is full")

    monkeypatch.setattr(ResponseRecords, "_keep", fail)
    with trio.fail_after(5):
        await records.keep(kept("a"))
        assert await records.line("a") is None
    assert "the disk is full" in caplog.text
