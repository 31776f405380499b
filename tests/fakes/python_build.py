"""Pack this Python as uv's server has them: `python -m tests.fakes.python_build FOLDER URL`.

It writes `python.tar.gz`, and `downloads.json`, by which uv finds that archive under the URL.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
import tarfile
from pathlib import Path

# Not needed for a program to run, and most of what there is.
_LEFT_OUT = {"test", "tests", "site-packages", "dist-packages", "__pycache__", "idlelib", "tkinter"}


def pack(folder: Path, url: str) -> None:
    """Write both files into the folder."""
    major, minor, patch = sys.version_info[:3]
    name = f"python{major}.{minor}"
    archive = folder / "python.tar.gz"
    program = Path(sys.base_prefix, "bin", name).resolve()
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(program, f"python/bin/{name}")
        link = tarfile.TarInfo("python/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, name
        tar.addfile(link)
        tar.add(sysconfig.get_paths()["stdlib"], f"python/lib/{name}", filter=_needed)
    system = {"Linux": "linux", "Darwin": "darwin"}[platform.system()]
    libc = "gnu" if system == "linux" else "none"
    machine = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    build = {
        "name": "cpython",
        "arch": {"family": machine, "variant": None},
        "os": system,
        "libc": libc,
        "major": major,
        "minor": minor,
        "patch": patch,
        "prerelease": "",
        "url": f"{url}/{archive.name}",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "variant": None,
        "build": "20260101",
    }
    key = f"cpython-{major}.{minor}.{patch}-{system}-{machine}-{libc}"
    (folder / "downloads.json").write_text(json.dumps({key: build}), encoding="utf-8")


def _needed(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    names = Path(member.name).parts
    is_static = any(name.startswith("config-") for name in names)
    return None if is_static or _LEFT_OUT.intersection(names) else member


if __name__ == "__main__":
    pack(Path(sys.argv[1]), sys.argv[2])
