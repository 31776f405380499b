"""Images that models make are files, of which so many are kept."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from agents.events import Attach, Say
from agents.open_responses.pictures import MOST_BYTES, MOST_FILES, Pictures, picture_link
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import agent_at, alone

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 5_000


async def test_an_image_is_a_file_under_a_name_that_follows_from_it(tmp_path: Path) -> None:
    pictures = Pictures(lambda: tmp_path / "made" / "pictures")
    path = await pictures.keep(Attach("image/png", PNG))
    assert path is not None
    assert path.read_bytes() == PNG
    assert path.suffix == ".png"
    assert await pictures.keep(Attach("image/png", PNG)) == path
    jpeg = await pictures.keep(Attach("image/jpeg", b"\xff\xd8\xff"))
    odd = await pictures.keep(Attach("image/svg+xml", b"<svg/>"))
    assert [path and path.suffix for path in (jpeg, odd)] == [".jpg", ".bin"]


async def test_an_image_that_can_not_be_kept_is_told_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    pictures = Pictures(lambda: tmp_path / "file")
    assert await pictures.keep(Attach("image/png", PNG)) is None
    assert await pictures.keep(Attach("image/png", PNG)) is None
    assert len(caplog.records) == 1
    assert await Pictures().keep(Attach("image/png", PNG)) is None
    assert picture_link(Attach("image/x", b"12"), None) == "\n\n🖼️ Image *(image/x, 2 bytes)*\n\n"


@pytest.mark.limit("agents.open_responses.pictures._SMALL")
def test_only_a_small_image_is_put_into_the_chat_itself() -> None:
    small = picture_link(Attach("image/png", b"x" * 4096), None)
    assert small.startswith("\n\n🖼️ Image *(image/png, 4 KB)*\n\n![Image](data:image/png;base64,")
    assert "data:" not in picture_link(Attach("image/png", b"x" * 4097), None)
    assert "data:" not in picture_link(Attach("image/svg+xml", b"<svg/>"), None)


@pytest.mark.limit("agents.open_responses.pictures.MOST_FILES")
async def test_the_oldest_images_go_first(tmp_path: Path) -> None:
    for number in range(MOST_FILES):
        (tmp_path / f"{number}.png").write_bytes(b"x")
        os.utime(tmp_path / f"{number}.png", (number, number))
    kept = await Pictures(lambda: tmp_path).keep(Attach("image/png", PNG))
    assert kept is not None
    names = set(os.listdir(tmp_path))
    assert names == {kept.name, *(f"{number}.png" for number in range(1, MOST_FILES))}


@pytest.mark.limit("agents.open_responses.pictures.MOST_BYTES")
async def test_all_images_have_so_many_bytes(tmp_path: Path) -> None:
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(MOST_BYTES)
    kept = await Pictures(lambda: tmp_path).keep(Attach("image/png", PNG))
    assert kept is not None
    assert os.listdir(tmp_path) == [kept.name]


async def test_an_image_of_an_endpoint_is_shown_and_linked(tmp_path: Path) -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
    drawn["result"] = base64.b64encode(PNG).decode()
    event = {"type": "response.completed", "response": {"status": "completed", "output": [drawn]}}
    pictures = Pictures(lambda: tmp_path / "a folder (mine)")
    async with responses_server() as server, agent_at(server, pictures=pictures) as agent:
        server.plans.append(Plan(body=b"data: %s\n\n" % json.dumps(event).encode()))
        events = await alone(agent)
    (image,) = (event for event in events if isinstance(event, Attach))
    assert image == Attach("image/png", PNG)
    (name,) = os.listdir(tmp_path / "a folder (mine)")
    path = tmp_path / "a folder (mine)" / name
    link = events[events.index(image) + 1]
    assert isinstance(link, Say)
    assert link.by_us
    assert f"({path.as_uri()})" in link.text
    assert "%20folder%20%28mine%29" in link.text
