"""Pin the packages that the extension installs: `python -m tooling.pins`, or `seal FOLDER`.

Without arguments it writes `extension/pins` anew, from `pyproject.toml` and the package index. The
pins have one version of every package that vscodelm needs, and the wheels of uv, all with their
hashes. `seal` puts the pins beside the wheel that goes into the extension, with the hashes of all
of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINS = ROOT / "extension/pins"
REQUIREMENTS = PINS / "requirements.txt"
UV = PINS / "uv.json"
SUMS = "SHA256SUMS"

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# The names of a platform: Node's, uv's, and that of the wheels of uv.
PLATFORMS = {
    "linux-x64": ("x86_64-manylinux_2_28", "manylinux_2_17_x86_64"),
    "linux-arm64": ("aarch64-manylinux_2_28", "manylinux_2_17_aarch64"),
    "linux-x64-musl": ("x86_64-unknown-linux-musl", "musllinux_1_1_x86_64"),
    "linux-arm64-musl": ("aarch64-unknown-linux-musl", "musllinux_1_1_aarch64"),
    "darwin-x64": ("x86_64-apple-darwin", "macosx_11_0_x86_64"),
    "darwin-arm64": ("aarch64-apple-darwin", "macosx_11_0_arm64"),
    "win32-x64": ("x86_64-pc-windows-msvc", "win_amd64"),
    "win32-arm64": ("aarch64-pc-windows-msvc", "win_arm64"),
}


def write() -> None:
    """Resolve the packages, look whether every platform can have them, and pin uv."""
    PINS.mkdir(exist_ok=True)
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
    if uv is None:
        raise SystemExit("uv isn't here: `make` installs it with the other tools.")
    _resolve(uv)
    for python in PYTHONS:
        for platform, _ in PLATFORMS.values():
            _try(uv, python, platform)
    version = _output(uv, "--version").split()[1]
    files = {name: _wheel_of_uv(version, tag) for name, (_, tag) in PLATFORMS.items()}
    text = json.dumps({"version": version, "files": files}, indent=2)
    UV.write_text(text + "\n", encoding="utf-8")


def _resolve(uv: str) -> None:
    command = "pip compile --quiet --universal --upgrade --no-build --generate-hashes --no-header"
    lean = ("--no-emit-index-url", "--no-annotate", "--python-version", PYTHONS[0])
    source, target = str(ROOT / "pyproject.toml"), str(REQUIREMENTS)
    _output(uv, *command.split(), *lean, source, "--output-file", target)


def _try(uv: str, python: str, platform: str) -> None:
    """Fail where a platform lacks a wheel: nobody notices before they install there."""
    with tempfile.TemporaryDirectory() as target:
        place = ("--python-version", python, "--python-platform", platform, "--target", target)
        strictly = ("--require-hashes", "--no-build", "--no-deps", "--dry-run", "--quiet")
        _output(uv, "pip", "install", *strictly, *place, "--requirements", str(REQUIREMENTS))


def _wheel_of_uv(version: str, tag: str) -> dict[str, str]:
    """Ask pip, which reads the user's own settings of indexes, and doesn't install anything."""
    with tempfile.TemporaryDirectory() as target:
        what = ("--only-binary", ":all:", "--platform", tag, "--target", target, f"uv=={version}")
        quietly = ("--disable-pip-version-check", "-qq", "--dry-run", "--no-deps", "--report", "-")
        pip = (sys.executable, "-m", "pip", "install")
        report: dict[str, Any] = json.loads(_output(*pip, *quietly, *what))
    found = report["install"][0]["download_info"]
    name = found["url"].rsplit("/", 1)[1]
    return {"name": name, "sha256": found["archive_info"]["hashes"]["sha256"]}


def _output(*command: str) -> str:
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {run.returncode}.")
    return run.stdout


def seal(folder: Path) -> None:
    """Put the pins beside the wheel, and list the hash of each file: it names what is installed."""
    for file in (REQUIREMENTS, UV):
        shutil.copy(file, folder)
    names = sorted([REQUIREMENTS.name, UV.name, *(wheel.name for wheel in folder.glob("*.whl"))])
    lines = "".join(f"{_hash(folder / name)}  {name}\n" for name in names)
    (folder / SUMS).write_text(lines, encoding="utf-8")


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def requirements(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each requirement of a pinned file, with its hashes."""
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = line.split(" --hash=sha256:")
        if requirement.strip() and not requirement.startswith("#"):
            yield requirement.strip(), [digest.strip() for digest in hashes]


def main(arguments: list[str]) -> None:
    """Do what the arguments say."""
    match arguments:
        case []:
            write()
        case ["seal", folder]:
            seal(Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
