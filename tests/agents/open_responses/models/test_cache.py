"""Lists of models on disk: found again, or like none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from agents.open_responses.models.cache import CachedModels, ModelCache
from bridge.models import ListedModel
from bridge.wire import OpenResponsesSpec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = OpenResponsesSpec("https://host/v1?api-key=hunter1", "*", headers={"x": "hunter2"})
BODY = b' {"data": [{"id": "small"}]}\n'
KEPT = CachedModels((ListedModel("small"),), "1")


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


async def test_a_list_that_was_kept_is_found_again(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "new" / "folder")
    assert await cache.load(SPEC) is None
    await cache.keep(SPEC, BODY, "1")
    assert await cache.load(SPEC) == KEPT
    await cache.keep(SPEC, b'{"data": []}', None)
    assert await cache.load(SPEC) == CachedModels((), None)


@pytest.mark.parametrize(
    "fields", [{"base_url": "https://other/v1"}, {"api_key_env": "KEY"}, {"headers": {"y": "1"}}]
)
async def test_another_endpoint_has_another_list(tmp_path: Path, fields: Any) -> None:
    cache = ModelCache(tmp_path)
    await cache.keep(SPEC, BODY, "1")
    assert await cache.load(replace(SPEC, **fields)) is None


async def test_no_secret_of_an_endpoint_is_on_disk(tmp_path: Path) -> None:
    await ModelCache(tmp_path).keep(SPEC, BODY, None)
    file = only_file(tmp_path)
    assert "hunter" not in file.name + file.read_text()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"list": 5}', b'{"etag": "1"}', b"[" * 100_000]
)
async def test_a_file_that_can_not_be_used_is_like_none(tmp_path: Path, content: bytes) -> None:
    cache = ModelCache(tmp_path)
    await cache.keep(SPEC, BODY, "1")
    only_file(tmp_path).write_bytes(content)
    assert await cache.load(SPEC) is None
    await cache.keep(SPEC, BODY, "1")
    assert await cache.load(SPEC) == KEPT


async def test_a_folder_that_can_not_be_written_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    cache = ModelCache(tmp_path / "file")
    await cache.keep(SPEC, BODY, "1")
    assert await cache.load(SPEC) is None
    assert "can't be written" in caplog.text


async def test_without_a_folder_nothing_is_kept() -> None:
    cache = ModelCache(None)
    await cache.keep(SPEC, BODY, "1")
    assert await cache.load(SPEC) is None
