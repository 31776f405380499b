"""The pictures in the docs are those that tests in a real editor take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tooling import screenshots
from tooling.screenshots import IMAGES, OUTPUT, PICTURES

_PAGES = IMAGES.parent
_TESTS = OUTPUT.parent


def test_every_picture_of_the_docs_is_taken_by_a_test_and_shown_on_a_page() -> None:
    assert {path.name for path in IMAGES.iterdir()} == PICTURES.keys()
    pages = "\n".join(page.read_text(encoding="utf-8") for page in _PAGES.glob("*.md"))
    assert set(re.findall(r"\]\(images/([^)]+)\)", pages)) == PICTURES.keys()


@pytest.mark.parametrize("source", PICTURES.values())
def test_the_test_that_takes_a_picture_exists(source: str) -> None:
    run, _, name = source.partition("/")
    code = (_TESTS / f"{run.replace('-', '_')}.test.ts").read_text(encoding="utf-8")
    taken = re.findall(r'(?:^test\(|shoot\(page, "[^"]+", )"([^"]+)"', code, re.MULTILINE)
    slugs = {re.sub(r"[^a-z0-9]+", "-", title.lower()) for title in taken}
    assert name.removesuffix(".png") in slugs


def test_every_picture_is_copied_to_its_place(tmp_path: Path) -> None:
    output, images = tmp_path / "output", tmp_path / "images"
    images.mkdir()
    assert screenshots.missing(output) == [*PICTURES.values()]
    for source in PICTURES.values():
        (output / source).parent.mkdir(parents=True, exist_ok=True)
        (output / source).write_text(source)
    assert screenshots.missing(output) == []
    screenshots.refresh(output, images)
    assert {path.name: path.read_text() for path in images.iterdir()} == PICTURES


def test_without_pictures_it_says_how_they_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screenshots, "OUTPUT", tmp_path)
    monkeypatch.setattr(screenshots, "IMAGES", tmp_path / "nowhere")
    assert screenshots.main() == 1
    assert "`make test-vscode` takes them" in capsys.readouterr().err
