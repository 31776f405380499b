"""The pictures in the docs are those that tests in a real editor take."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tooling import screenshots
from tooling.screenshots import DOCS, LISTING, OUTPUT, PICTURES, ROOT

_TESTS = OUTPUT.parent
_WINDOW = (1400, 900)
_SHOWN = re.compile(r"!\[[^\]]+\]\(((?!https:)[^)]+\.png)\)")
_PAGES = [
    ROOT / "README.md",
    ROOT / "extension/README.md",
    *(ROOT / "extension/media").glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
]


def test_every_picture_is_taken_by_a_test_and_shown_on_a_page() -> None:
    folders = (ROOT / DOCS, ROOT / LISTING)
    there = {path.relative_to(ROOT).as_posix() for folder in folders for path in folder.iterdir()}
    assert there == PICTURES.keys()
    shown = {
        (page.parent / picture).resolve().relative_to(ROOT).as_posix()
        for page in _PAGES
        for picture in _SHOWN.findall(page.read_text(encoding="utf-8"))
    }
    assert shown == PICTURES.keys()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_cropped_to_what_it_shows(name: str) -> None:
    width, height = struct.unpack(">II", (ROOT / name).read_bytes()[16:24])
    assert (width, height) < (_WINDOW[0], 0)
    assert height < _WINDOW[1]


@pytest.mark.parametrize("source", PICTURES.values())
def test_the_test_that_takes_a_picture_exists(source: str) -> None:
    run, _, name = source.partition("/")
    code = (_TESTS / f"{run.replace('-', '_')}.test.ts").read_text(encoding="utf-8")
    taken = re.findall(r'(?:^test\(|(?:shoot|crop)\(page, "[^"]+", )"([^"]+)"', code, re.MULTILINE)
    slugs = {re.sub(r"[^a-z0-9]+", "-", title.lower()) for title in taken}
    assert name.removesuffix(".png") in slugs


def test_every_picture_is_copied_to_its_place(tmp_path: Path) -> None:
    output, root = tmp_path / "output", tmp_path / "root"
    assert screenshots.missing(output) == [*PICTURES.values()]
    for source in PICTURES.values():
        (output / source).parent.mkdir(parents=True, exist_ok=True)
        (output / source).write_text(source)
    assert screenshots.missing(output) == []
    screenshots.refresh(output, root)
    assert {name: (root / name).read_text() for name in PICTURES} == PICTURES


def test_without_pictures_it_says_how_they_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screenshots, "OUTPUT", tmp_path)
    monkeypatch.setattr(screenshots, "ROOT", tmp_path / "nowhere")
    assert screenshots.main() == 1
    assert "`make test-vscode` takes them" in capsys.readouterr().err
