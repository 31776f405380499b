from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tooling import pins

PROJECT = tomllib.loads((pins.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
PINNED = [
    (Requirement(text), hashes)
    for text, hashes in pins.requirements(pins.REQUIREMENTS.read_text(encoding="utf-8"))
]
MACHINES = [
    ("linux", "posix", "x86_64"),
    ("linux", "posix", "aarch64"),
    ("darwin", "posix", "x86_64"),
    ("darwin", "posix", "arm64"),
    ("win32", "nt", "AMD64"),
    ("win32", "nt", "ARM64"),
]


def environment(python: str, system: str, family: str, machine: str) -> dict[str, str]:
    return {
        **{name: str(value) for name, value in default_environment().items()},
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system,
        "os_name": family,
        "platform_machine": machine,
    }


@pytest.mark.parametrize("python", pins.PYTHONS)
@pytest.mark.parametrize("machine", MACHINES)
def test_each_dependency_is_pinned_once_to_a_version_in_its_range(
    python: str, machine: tuple[str, str, str]
) -> None:
    here = {**environment(python, *machine)}
    meant = [one for one, _ in PINNED if one.marker is None or one.marker.evaluate(here)]
    by_name = {canonicalize_name(one.name): one for one in meant}
    assert len(by_name) == len(meant)
    for needed in NEEDED:
        (pin,) = by_name[canonicalize_name(needed.name)].specifier
        assert pin.operator == "=="
        assert needed.specifier.contains(pin.version), f"{needed}: renew the pins with `make pins`"


def test_each_pin_has_hashes_and_names_no_place() -> None:
    for requirement, hashes in PINNED:
        assert hashes, requirement
        assert all(len(bytes.fromhex(digest)) == 32 for digest in hashes)
        assert requirement.url is None
    assert "://" not in pins.REQUIREMENTS.read_text(encoding="utf-8")


def test_what_a_pinned_package_needs_is_pinned_too() -> None:
    """The packages installed here say what they need; the pins must be closed under that."""
    from importlib.metadata import PackageNotFoundError, requires

    pinned = {canonicalize_name(requirement.name) for requirement, _ in PINNED}
    for name in pinned:
        try:
            needs = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:
            continue  # of another platform
        for need in needs:
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                assert canonicalize_name(need.name) in pinned, f"{name} needs {need}"


def test_uv_is_pinned_for_each_platform_in_one_version() -> None:
    pinned = json.loads(pins.UV.read_text(encoding="utf-8"))
    assert set(pinned["files"]) == set(pins.PLATFORMS)
    for file in pinned["files"].values():
        assert file["name"].startswith(f"uv-{pinned['version']}-py3-none-")
        assert len(bytes.fromhex(file["sha256"])) == 32


def test_the_sealed_folder_names_the_hash_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "vscodelm-1.0-py3-none-any.whl").write_bytes(b"wheel")
    (tmp_path / "extension.cjs").write_bytes(b"code")
    pins.seal(tmp_path)
    lines = (tmp_path / pins.SUMS).read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert list(sums) == ["requirements.txt", "uv.json", "vscodelm-1.0-py3-none-any.whl"]
    for name, digest in sums.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest


def test_a_requirement_is_read_with_all_its_hashes() -> None:
    one = "one==1 ; os_name == 'nt' \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\n"
    text = f"# said\n{one}two==2\n"
    assert list(pins.requirements(text)) == [
        ("one==1 ; os_name == 'nt'", ["ab", "cd"]),
        ("two==2", []),
    ]


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(SystemExit, match="seal FOLDER"):
        pins.main(["unknown"])
