from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
import trio

from tests.fakes.registry_server import Answer, registry_server
from tests.fakes.waiting import until
from vscodelm.registry.index import Archive
from vscodelm.registry.install import InstallError, Shelf

from .archives import Item, all_in, tar, zipped

PATIENCE = 20.0
ITEMS = [Item("bin/goose", "honk", mode=0o755), Item("readme", "read")]
GOOD: Answer = {"body": tar(ITEMS)}


def nothing(got: int, whole: int | None) -> None:
    """Take the progress."""


async def install(
    shelf: Shelf,
    answer: Answer,
    *,
    path: str = "/goose.tar.gz",
    cmd: str = "./bin/goose",
    version: str = "1.0.0",
    sha256: str | None = None,
) -> Path:
    with trio.fail_after(PATIENCE):
        async with registry_server({path: [answer]}) as server:
            archive = Archive(server.url(path), cmd, sha256=sha256)
            return await shelf.install("goose", version, archive, nothing, loopback=True)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Give a shelf in a folder that isn't there yet."""
    return Shelf(tmp_path / "cache")


async def test_an_agent_is_there_when_it_is_installed(shelf: Shelf) -> None:
    assert shelf.versions("goose") == []
    assert not shelf.has("goose", "1.0.0", "./bin/goose")
    place = await install(shelf, GOOD)
    assert place == shelf.place("goose", "1.0.0")
    assert place.is_relative_to(shelf.folder)
    assert shelf.has("goose", "1.0.0", "./bin/goose")
    assert not shelf.has("goose", "1.0.0", "../../bin/goose")
    assert shelf.versions("goose") == ["1.0.0"]
    assert os.access(place / "bin/goose", os.X_OK)
    assert all_in(place.parent) == {"1.0.0", "1.0.0/bin", "1.0.0/bin/goose", "1.0.0/readme"}


async def test_a_zip_and_a_bare_program_are_installed_too(shelf: Shelf) -> None:
    await install(shelf, {"body": zipped(ITEMS)}, path="/goose.zip")
    place = await install(shelf, {"body": b"honk"}, path="/goose", version="2", cmd="goose")
    assert all_in(place) == {"goose"}


async def test_other_versions_are_left_alone(shelf: Shelf) -> None:
    old = await install(shelf, GOOD)
    (old / "in use").touch()
    await install(shelf, GOOD, version="1.0.1")
    assert shelf.versions("goose") == ["1.0.0", "1.0.1"]
    assert (old / "in use").exists()


async def test_a_version_that_is_there_is_not_replaced(shelf: Shelf) -> None:
    place = await install(shelf, GOOD)
    (place / "in use").touch()
    await install(shelf, GOOD)
    assert (place / "in use").exists()
    assert shelf.versions("goose") == ["1.0.0"]
    assert [path.name for path in place.parent.iterdir()] == ["1.0.0"]


async def test_what_is_in_the_way_and_no_installation_makes_room(shelf: Shelf) -> None:
    (shelf.place("goose", "1.0.0") / "half").mkdir(parents=True)
    place = await install(shelf, GOOD)
    assert all_in(place) == {"bin", "bin/goose", "readme"}


@pytest.mark.parametrize(
    ("answer", "path", "reason"),
    [
        ({"status": 404}, "/goose.tar.gz", "404"),
        ({"body": b"<html>"}, "/goose.tar.gz", "broken"),
        ({"body": b"<html>"}, "/goose.tar.bz2", "broken"),
        ({"body": b"<html>"}, "/goose.zip", "broken"),
        ({"body": tar([Item("readme")])}, "/goose.tar.gz", "isn't in it"),
        ({"body": tar([*ITEMS, Item("../x")])}, "/goose.tar.gz", "leads outside"),
        ({"body": GOOD["body"][:80]}, "/goose.tar.gz", "broken"),
        ({"headers": {"Content-Length": "9999"}, **GOOD}, "/goose.tar.gz", "downloaded"),
        ({"status": 302, "headers": {"Location": "http://a.org/"}}, "/goose.tar.gz", "https"),
        (GOOD, "/goose.dmg", "unpacked"),
    ],
)
async def test_what_fails_leaves_nothing_behind(
    shelf: Shelf, answer: Answer, path: str, reason: str
) -> None:
    with pytest.raises(InstallError, match=reason):
        await install(shelf, answer, path=path)
    assert {part.split("/")[-1] for part in all_in(shelf.folder)} <= {"agents", "goose"}


async def test_http_is_refused_before_anything_is_asked(shelf: Shelf) -> None:
    archive = Archive("http://127.0.0.1:1/goose.zip", "goose")
    with pytest.raises(InstallError, match="isn't an https address"):
        await shelf.install("goose", "1", archive, nothing)
    assert not shelf.folder.exists()


async def test_a_program_outside_of_its_folder_is_refused(shelf: Shelf) -> None:
    with pytest.raises(InstallError):
        await install(shelf, GOOD, cmd="../bin/goose")
    assert not shelf.folder.exists()


async def test_a_checksum_counts_where_the_index_has_one(shelf: Shelf) -> None:
    digest = hashlib.sha256(GOOD["body"]).hexdigest()
    await install(shelf, GOOD, sha256=digest.upper())
    with pytest.raises(InstallError, match="SHA-256"):
        await install(shelf, GOOD, version="2", sha256="0" * 64)
    assert shelf.versions("goose") == ["1.0.0"]


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(InstallError, match="can't be written"):
        await install(Shelf(tmp_path / "cache"), GOOD)


async def test_a_cancel_leaves_nothing_behind(shelf: Shelf) -> None:
    with trio.fail_after(PATIENCE):
        async with registry_server({"/goose.zip": [{"stall": True}]}) as server:
            archive = Archive(server.url("/goose.zip"), "goose")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(
                    lambda: shelf.install("goose", "1", archive, nothing, loopback=True)
                )
                await until(lambda: bool(server.asked))
                nursery.cancel_scope.cancel()
    assert all_in(shelf.folder) == {"agents", "agents/goose"}
