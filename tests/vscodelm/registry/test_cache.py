from __future__ import annotations

from pathlib import Path

import pytest
import trio

from tests.fakes.registry_server import Answer, registry_server
from vscodelm.registry import fetch
from vscodelm.registry.cache import CacheError, IndexCache
from vscodelm.registry.fetch import FetchError

from .entries import NPX, UVX, index_of

PATIENCE = 20.0
FIRST: Answer = {"body": index_of(NPX), "headers": {"ETag": '"1"'}}
SECOND: Answer = {"body": index_of(NPX, UVX), "headers": {"ETag": '"2"'}}


@pytest.fixture
def cache(tmp_path: Path) -> IndexCache:
    """Give a cache in a folder that isn't there yet."""
    return IndexCache(tmp_path / "not" / "yet")


def test_what_was_never_fetched_is_not_there(cache: IndexCache) -> None:
    assert cache.load() is None
    assert not cache.folder.exists()


async def test_what_was_fetched_is_there_without_a_server(cache: IndexCache) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST]}) as server:
            fetched = await cache.refresh(server.url("/i"), 100.0)
    assert cache.load() == fetched
    assert (fetched.fetched_at, fetched.etag, fetched.url) == (100.0, '"1"', server.url("/i"))
    assert [agent.id for agent in fetched.index.agents] == ["parrot-acp"]
    assert list(cache.folder.iterdir()) == [cache.file]


async def test_what_has_not_changed_is_as_new_as_the_question(cache: IndexCache) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST, {"status": 304}]}) as server:
            await cache.refresh(server.url("/i"), 100.0)
            again = await cache.refresh(server.url("/i"), 200.0)
    assert server.asked[1][1]["if-none-match"] == '"1"'
    assert again.fetched_at == 200.0
    assert cache.load() == again
    assert [agent.id for agent in again.index.agents] == ["parrot-acp"]


async def test_what_has_changed_takes_the_place_of_the_old(cache: IndexCache) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST, SECOND]}) as server:
            await cache.refresh(server.url("/i"), 100.0)
            newer = await cache.refresh(server.url("/i"), 200.0)
    assert newer.etag == '"2"'
    assert cache.load() == newer
    assert len(newer.index.agents) == 2


async def test_the_tag_of_one_registry_is_not_shown_to_another(cache: IndexCache) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST], "/other": [SECOND]}) as server:
            await cache.refresh(server.url("/i"), 100.0)
            await cache.refresh(server.url("/other"), 200.0)
    assert "if-none-match" not in server.asked[1][1]


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 500},
        {"body": b"<html>"},
        {"body": b"{}"},
        {"body": b""},
        {"stall": True},
        {"headers": {"Content-Length": "9999"}, "body": FIRST["body"]},
    ],
)
async def test_what_is_there_stays_when_nothing_better_comes(
    cache: IndexCache, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST, answer]}) as server:
            kept = await cache.refresh(server.url("/i"), 100.0)
            monkeypatch.setattr(fetch, "INDEX_SECONDS", 0.3)
            with pytest.raises(FetchError):
                await cache.refresh(server.url("/i"), 200.0)
    assert cache.load() == kept


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"\xff"',
        b'{"url":"u","fetched_at":1,"index":{}}',
        b'{"url":"u","fetched_at":1,"index":{"agents":[]',
        b"[" * 100_000,
    ],
)
async def test_a_file_that_is_none_is_told_and_can_be_fetched_anew(
    cache: IndexCache, content: bytes
) -> None:
    cache.folder.mkdir(parents=True)
    cache.file.write_bytes(content)
    with pytest.raises(CacheError, match=r"Run `vscodelm agents --refresh`"):
        cache.load()
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST]}) as server:
            fetched = await cache.refresh(server.url("/i"), 1.0)
    assert "if-none-match" not in server.asked[0][1]
    assert cache.load() == fetched


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = IndexCache(tmp_path / "file")
    with trio.fail_after(PATIENCE):
        async with registry_server({"/i": [FIRST]}) as server:
            with pytest.raises(CacheError, match="can't be written"):
                await cache.refresh(server.url("/i"), 1.0)
