from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agents.acp.launch import cache as download_cache
from agents.acp.launch.cache import Growth, growth, is_cached
from agents.acp.launch.package import LaunchedPackage, launched_package

COWSAY = "ca5a7826f0bb9617"
"""As npm 10 and 11 name the folder of `cowsay@1.5.0`."""


def package(*argv: str) -> LaunchedPackage:
    found = launched_package(argv)
    assert found is not None
    return found


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("requirement", "about", "is_there"),
    [
        ("cowsay@1.5.0", {"version": "1.5.0"}, True),
        ("cowsay@1.5.0", {"version": "1.4.0"}, False),
        ("cowsay@1.5.0", [], False),
        ("cowsay@1.5.0", None, False),
        ("cowsay@latest", {"version": "1.5.0"}, False),
        ("cowsay", {"version": "1.5.0"}, False),
    ],
)
def test_npx_has_a_package_where_its_folder_has_that_version(
    tmp_path: Path, requirement: str, about: object, is_there: bool
) -> None:
    if about is not None:
        file = tmp_path / "_npx" / COWSAY / "node_modules" / "cowsay" / "package.json"
        put(file, json.dumps(about))
    environment = {"npm_config_cache": str(tmp_path)}
    assert is_cached(package("npx", "-y", requirement), environment) is is_there


def test_what_uvx_has_is_not_known(tmp_path: Path) -> None:
    assert not is_cached(package("uvx", "cowsay@6.1"), {"UV_CACHE_DIR": str(tmp_path)})


def test_the_cache_of_npm_grows_by_what_comes_and_what_is_unpacked(tmp_path: Path) -> None:
    npx, environment = package("npx", "cowsay"), {"NPM_CONFIG_CACHE": str(tmp_path)}
    assert growth(npx, environment) == Growth()
    put(tmp_path / "_cacache" / "tmp" / "a", "12345")
    put(tmp_path / "_cacache" / "tmp" / "deep" / "b", "678")
    assert growth(npx, environment) == Growth(8)
    put(tmp_path / "_npx" / "1" / "node_modules" / "x" / "index.js", "")
    unpacked = growth(npx, environment)
    put(tmp_path / "_npx" / "1" / "node_modules" / "y" / "index.js", "")
    assert growth(npx, environment).in_place > unpacked.in_place > 0


def test_the_cache_of_uv_grows_by_what_comes_and_what_is_unpacked(tmp_path: Path) -> None:
    uvx, environment = package("uvx", "cowsay"), {"UV_CACHE_DIR": str(tmp_path)}
    put(tmp_path / ".tmpAb1" / "wheel", "12345")
    put(tmp_path / "simple-v24" / "x", "other")
    assert growth(uvx, environment) == Growth(5)
    put(tmp_path / "archive-v0" / "1" / "x.py", "")
    assert growth(uvx, environment).in_place > 0


@pytest.mark.skipif(sys.platform == "win32", reason="the folders are others there")
def test_the_caches_are_in_the_home_unless_named(tmp_path: Path) -> None:
    put(tmp_path / ".npm" / "_cacache" / "tmp" / "a", "1")
    put(tmp_path / ".cache" / "uv" / ".tmp1" / "a", "12")
    put(tmp_path / "xdg" / "uv" / ".tmp1" / "a", "123")
    home = {"HOME": str(tmp_path)}
    assert growth(package("npx", "a"), home) == Growth(1)
    assert growth(package("uvx", "a"), home) == Growth(2)
    assert growth(package("uvx", "a"), home | {"XDG_CACHE_HOME": str(tmp_path / "xdg")}) == Growth(
        3
    )


@pytest.mark.limit("agents.acp.launch.cache.MOST_ENTRIES")
def test_of_a_large_cache_only_some_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_cache, "MOST_ENTRIES", 3)
    for number in range(10):
        put(tmp_path / "_cacache" / "tmp" / str(number), "1")
        put(tmp_path / "_npx" / str(number) / "package.json", "")
    assert growth(package("npx", "a"), {"npm_config_cache": str(tmp_path)}) == Growth(3, 6)
