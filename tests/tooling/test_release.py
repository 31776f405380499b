"""A release is made of one version and one address, and nothing is passed over."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tooling import release

ADDRESS = "https://example.org/somebody/vscodelm"


def clean(*words: str) -> str:
    """Be git, in a tree without changes and tags."""
    assert words[0] in ("status", "tag")
    return ""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that is ready for its release."""
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nversion = "1.2.3"\n[tool.vscodelm]\nrepository = "{ADDRESS}"\n'
    )
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2026-11-26)\n\n- New.\n")
    (tmp_path / "newsfragments").mkdir()
    (tmp_path / "newsfragments/README.md").write_text("# News\n")
    (tmp_path / "extension").mkdir()
    manifest = {"version": "1.2.3", "license": "MIT", **release.addresses(ADDRESS)}
    (tmp_path / "extension/package.json").write_text(json.dumps(manifest))
    lock = {"version": "1.2.3", "packages": {"": {"version": "1.2.3"}}}
    (tmp_path / "extension/package-lock.json").write_text(json.dumps(lock))
    return tmp_path


def change(root: Path, file: str, old: str, new: str) -> None:
    path = root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_extension_and_the_python_package_have_one_version_and_one_address() -> None:
    assert release.version_faults(release.ROOT) == []
    assert release.address_faults(release.ROOT) == []


def test_what_is_ready_can_be_released(root: Path) -> None:
    assert release.release_faults(root, clean) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("pyproject.toml", ADDRESS, "", "is empty: write the repository's address there"),
        ("pyproject.toml", ADDRESS, "http://example.org/a/b", "isn't of the form https://"),
        ("pyproject.toml", ADDRESS, f"{ADDRESS}/", "isn't of the form https://"),
        ("pyproject.toml", ADDRESS, f"{ADDRESS}2", "package.json has other addresses"),
        ("extension/package.json", "1.2.3", "1.2.4", "extension/package.json has version 1.2.4"),
        ("extension/package-lock.json", "1.2.3", "1.2", "package-lock.json has version 1.2,"),
        ("CHANGELOG.md", "1.2.3", "1.2.2", "has no part about version 1.2.3"),
    ],
)
def test_each_fault_stands_in_the_way(
    root: Path, file: str, old: str, new: str, fault: str
) -> None:
    change(root, file, old, new)
    assert fault in "\n".join(release.release_faults(root, clean))


def test_news_that_waits_stands_in_the_way(root: Path) -> None:
    (root / "newsfragments/+new.feature.md").write_text("It is new.\n")
    (fault,) = release.release_faults(root, clean)
    assert fault.startswith("1 news fragments wait: `towncrier build --version 1.2.3`")


@pytest.mark.parametrize(
    ("command", "output", "fault"),
    [
        ("status", " M README.md", "some changes aren't committed"),
        ("tag", "v1.2.3", "the tag v1.2.3 is there already"),
    ],
)
def test_the_state_of_git_stands_in_the_way(
    root: Path, command: str, output: str, fault: str
) -> None:
    def git(*words: str) -> str:
        return output if words[0] == command else ""

    assert release.release_faults(root, git) == [fault]


def test_without_an_address_a_release_fails_and_says_where_it_belongs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    if release.repository(release.ROOT):
        pytest.skip("the field is filled in")
    assert release.main(["check"]) == 1
    assert f"No release yet: {release.FIELD} is empty" in capsys.readouterr().err


def test_the_package_says_nothing_of_a_repository_that_nobody_knows() -> None:
    assert release.addresses("") == {}
    assert release.flags("", "1") == [
        *("--allow-missing-repository", "--no-rewrite-relative-links"),
        *("--readme-path", "dist/README.md"),
    ]


def test_the_packaged_readme_has_pictures_only_where_they_can_be_found(root: Path) -> None:
    text = "# One\n\n![a](media/a.png)\n\nText [b](c).\n\n![d](media/d.png)\n"
    (root / "extension/README.md").write_text(text)
    (root / "extension/dist").mkdir()
    assert release.main(["readme"], root) == 0
    assert (root / "extension/dist/README.md").read_text() == text
    change(root, "pyproject.toml", ADDRESS, "")
    release.main(["readme"], root)
    assert (root / "extension/dist/README.md").read_text() == "# One\n\nText [b](c).\n\n"


def test_pictures_and_links_lead_to_the_tag_of_the_release(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.main(["flags"], root) == 0
    assert capsys.readouterr().out.split() == [
        *("--readme-path", "dist/README.md"),
        *("--baseImagesUrl", f"{ADDRESS}/raw/v1.2.3/extension"),
        *("--baseContentUrl", f"{ADDRESS}/blob/v1.2.3/extension"),
    ]


def test_the_addresses_are_written_after_the_licence_and_taken_away_again(root: Path) -> None:
    path = root / "extension/package.json"
    path.write_text('{\n  "license": "MIT",\n  "name": "ü"\n}\n', encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    release.main(["addresses"], root)
    written = path.read_text(encoding="utf-8")
    assert [*json.loads(written)] == ["license", "repository", "homepage", "bugs", "name"]
    assert release.address_faults(root) == []
    release.main(["addresses"], root)
    assert path.read_text(encoding="utf-8") == written
    change(root, "pyproject.toml", ADDRESS, "")
    release.main(["addresses"], root)
    assert path.read_text(encoding="utf-8") == before


def test_a_text_that_has_the_addresses_keeps_its_form() -> None:
    text = '{"license":   "MIT"}'
    assert release.with_addresses(text, "") == text


def test_the_wheel_and_the_package_are_collected_with_their_hashes(root: Path) -> None:
    built = root / "extension/dist"
    built.mkdir()
    for name in ("vscodelm-1.2.3-py3-none-any.whl", "vscodelm-1.2.3.vsix", "other.vsix"):
        (built / name).write_text(name)
    (root / "dist").mkdir()
    (root / "dist/vscodelm-1.2.2.vsix").write_text("old")
    assert release.main(["collect"], root) == 0
    names = {path.name for path in (root / "dist").iterdir()}
    assert names == {"vscodelm-1.2.3-py3-none-any.whl", "vscodelm-1.2.3.vsix", "SHA256SUMS"}
    for line in (root / "dist/SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((root / "dist" / name).read_bytes()).hexdigest() == digest


def test_a_person_signs_off_before_the_tag(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["sign-off"], root) == 0
    told = capsys.readouterr().out
    assert told.count("[ ]") == len(release.SIGN_OFF)
    assert "make release SIGNED=yes" in told
    assert "ovsx publish dist/vscodelm-1.2.3.vsix" in told


def test_the_commit_is_tagged(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        return subprocess.run(
            command, cwd=root, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.name", "a")
    git("config", "user.email", "a@example.org")
    git("add", ".")
    git("commit", "--quiet", "--message", "One")
    assert release.main(["check"], root) == 0
    assert release.main(["tag"], root) == 0
    assert "v1.2.3 is tagged" in capsys.readouterr().out
    assert git("tag", "--list").split() == ["v1.2.3"]
    assert release.main(["check"], root) == 1


def test_an_unknown_command_explains_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["publish"]) == 2
    assert "sign-off" in capsys.readouterr().err


def recipe(name: str) -> str:
    text = (release.ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    assert found, name
    return found[1]


def test_the_recipe_checks_before_it_builds_and_tags_only_if_it_was_signed() -> None:
    steps = [line.strip() for line in recipe("release").splitlines()]
    assert [step.partition(" ")[2] for step in steps] == [
        "tooling.release check",
        "vsix",
        "tooling.release collect",
        "tooling.release $(if $(SIGNED),tag,sign-off)",
    ]
    assert recipe("vsix").index("release readme") < recipe("vsix").index("release flags")


def workflow(name: str) -> str:
    return (release.ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")


def test_the_workflows_call_the_recipes_and_cover_what_we_support() -> None:
    wheel = workflow("wheel")
    supported = release.project(release.ROOT)["project"]["classifiers"]
    pythons = re.findall(r":: (3\.\d+)$", "\n".join(supported), re.MULTILINE)
    assert f"python: {json.dumps(pythons)}" in wheel
    assert "[ubuntu-latest, macos-latest, windows-latest]" in wheel
    assert "run: python -m tooling.wheel" in wheel
    assert "$(RUN) tooling.wheel" in recipe("test-wheel")
    assert "run: .ci/run" in workflow("check")
    assert "run: make vsix" in workflow("check")


def test_the_listing_has_an_icon_a_banner_and_words() -> None:
    listing: dict[str, Any] = release.manifest(release.ROOT)
    icon = (release.ROOT / "extension" / listing["icon"]).read_bytes()
    assert icon.startswith(b"\x89PNG")
    assert struct.unpack(">II", icon[16:24]) == (256, 256)
    assert (release.ROOT / "extension/media/icon.svg").exists()
    assert re.fullmatch(r"#[0-9a-f]{6}", listing["galleryBanner"]["color"])
    assert listing["license"] == "MIT"
    assert len(listing["keywords"]) <= 30  # the Marketplace takes no more
