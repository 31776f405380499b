"""Fetching from a real server on a loopback address: no clock but the machine's, and no sleeps."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import trio

from tests.fakes.registry_server import Answer, registry_server
from vscodelm.registry import fetch
from vscodelm.registry.fetch import Fetched, FetchError, download, fetch_index

from .archives import all_in

PATIENCE = 20.0


async def fetched(*answers: Answer, etag: str | None = None) -> Fetched | None:
    """Return what is fetched from a server that answers so."""
    with trio.fail_after(PATIENCE):
        async with registry_server({"/index": answers}) as server:
            return await fetch_index(server.url("/index"), etag)


async def test_the_body_comes_with_its_tag() -> None:
    assert await fetched({"body": b"{}", "headers": {"ETag": '"1"'}}) == Fetched(b"{}", '"1"')
    assert await fetched({"body": b"{}"}) == Fetched(b"{}", None)


async def test_what_has_not_changed_is_not_sent_again() -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/index": [{"status": 304}]}) as server:
            assert await fetch_index(server.url("/index"), '"1"') is None
    assert server.asked[0][1]["if-none-match"] == '"1"'


async def test_a_tag_is_only_sent_where_there_is_one() -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/index": [{"body": b"{}"}]}) as server:
            await fetch_index(server.url("/index"))
    assert "if-none-match" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 404}, "404"),
        ({"status": 500, "body": b"oh"}, "500"),
        ({"status": 304}, "304"),
        ({"status": 302}, "redirected more than"),
        ({"status": 302, "headers": {"Location": "http://example.org/x"}}, "isn't an https"),
        ({"status": 301, "headers": {"Location": "file:///etc/passwd"}}, "isn't an https"),
        ({"status": 307, "headers": {"Location": "//["}}, "no address"),
        ({"headers": {"Content-Length": "100"}, "body": b"{"}, "."),
        ({"raw": b"SSH-2.0-OpenSSH_9\r\n"}, "."),
        ({"raw": b""}, "."),
    ],
)
async def test_what_cannot_be_had_is_told(answer: Answer, reason: str) -> None:
    with pytest.raises(FetchError, match=reason):
        await fetched(answer)


async def test_a_redirect_on_this_machine_is_followed() -> None:
    routes = {"/index": [{"status": 302, "headers": {"Location": "/b"}}], "/b": [{"body": b"[]"}]}
    with trio.fail_after(PATIENCE):
        async with registry_server(routes) as server:
            assert await fetch_index(server.url("/index")) == Fetched(b"[]", None)


@pytest.mark.limit("vscodelm.registry.fetch.MOST_REDIRECTS")
async def test_redirects_have_an_end() -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server(
            {"/a": [{"status": 302, "headers": {"Location": "/a"}}]}
        ) as server:
            with pytest.raises(FetchError, match="redirected more than"):
                await fetch_index(server.url("/a"))
    assert len(server.asked) == fetch.MOST_REDIRECTS + 1


@pytest.mark.limit("vscodelm.registry.fetch.INDEX_SECONDS")
async def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "INDEX_SECONDS", 0.2)
    with pytest.raises(FetchError, match="within"):
        await fetched({"stall": True})


@pytest.mark.limit("vscodelm.registry.fetch.INDEX_BYTES")
async def test_what_is_too_large_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "INDEX_BYTES", 1000)
    monkeypatch.setattr(fetch, "INDEX_SECONDS", PATIENCE)
    with pytest.raises(FetchError, match="larger"):
        await fetched({"endless": True})


async def test_nobody_there_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and doesn't listen
        port = taken.getsockname()[1]
        with trio.fail_after(PATIENCE), pytest.raises(FetchError):
            await fetch_index(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("url", ["http://example.org/", "ftp://x/", "x", "http://[", ""])
async def test_nothing_is_asked_of_an_address_that_is_not_allowed(url: str) -> None:
    with trio.fail_after(PATIENCE), pytest.raises(FetchError, match="address"):
        await fetch_index(url)


# Downloads.


async def downloaded(
    folder: Path, *answers: Answer, loopback: bool = True, most: int = 10**6
) -> list[tuple[int, int | None]]:
    """Return what was told while a file came."""
    told: list[tuple[int, int | None]] = []
    with trio.fail_after(PATIENCE):
        async with registry_server({"/file": answers}) as server:
            await download(
                server.url("/file"),
                folder / "file",
                lambda got, whole: told.append((got, whole)),
                loopback=loopback,
                most=most,
            )
    return told


async def test_a_file_comes_whole_and_its_progress_is_told(tmp_path: Path) -> None:
    body = bytes(300_000)
    told = await downloaded(tmp_path, {"body": body})
    assert (tmp_path / "file").read_bytes() == body
    assert told[-1] == (300_000, 300_000)
    assert [got for got, _ in told] == sorted(got for got, _ in told)


async def test_http_is_for_tests_alone(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="isn't an https address"):
        await downloaded(tmp_path, {"body": b"x"}, loopback=False)
    assert all_in(tmp_path) == set()


@pytest.mark.limit("vscodelm.registry.fetch.ARCHIVE_BYTES")
@pytest.mark.parametrize(
    "answer",
    [
        {"body": b" " * 2000},
        {"raw": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * 2000},
        {"headers": {"Content-Length": "5000"}, "body": b""},
        {"endless": True},
    ],
    ids=["announced", "unannounced", "announced and never sent", "endless"],
)
async def test_a_download_has_a_largest_size(tmp_path: Path, answer: Answer) -> None:
    with pytest.raises(FetchError, match="larger"):
        await downloaded(tmp_path, answer, most=1000)


async def test_a_download_that_is_cut_short_fails(tmp_path: Path) -> None:
    with pytest.raises(FetchError):
        await downloaded(tmp_path, {"headers": {"Content-Length": "100"}, "body": b"x" * 50})


@pytest.mark.limit("vscodelm.registry.fetch.STALL_SECONDS")
async def test_a_download_that_stalls_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "STALL_SECONDS", 0.2)
    with pytest.raises(FetchError, match="silent"):
        await downloaded(tmp_path, {"stall": True})


async def test_a_download_never_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        await downloaded(tmp_path, {"body": b"theirs"})
    assert (tmp_path / "file").read_text() == "mine"
