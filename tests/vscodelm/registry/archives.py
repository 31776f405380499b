"""Archives of any members, also of those that no honest tool would make."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

Kind: TypeAlias = Literal["file", "folder", "symlink", "hardlink", "device", "fifo"]
_TAR = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "device": tarfile.CHRTYPE,
    "fifo": tarfile.FIFOTYPE,
}
_ZIP = {
    "file": stat.S_IFREG,
    "symlink": stat.S_IFLNK,
    "device": stat.S_IFCHR,
    "fifo": stat.S_IFIFO,
}


@attrs.frozen
class Item:
    """A member; `text` is what a file holds, or where a link leads."""

    name: str
    text: str = ""
    kind: Kind = "file"
    mode: int = 0o644


def tar(items: Sequence[Item], how: Literal["gz", "bz2"] = "gz") -> bytes:
    """Return a tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if how == "gz" else "w:bz2") as archive:
        for item in items:
            info = tarfile.TarInfo(item.name)
            info.type = _TAR[item.kind]
            info.mode = item.mode
            body = item.text.encode() if item.kind == "file" else b""
            info.size = len(body)
            if item.kind in ("symlink", "hardlink"):
                info.linkname = item.text
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def zipped(items: Sequence[Item]) -> bytes:
    """Return a zip archive; a hard link, which it doesn't know, is left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for item in items:
            if item.kind == "hardlink":
                continue
            if item.kind == "folder":
                archive.writestr(zipfile.ZipInfo(f"{item.name}/"), b"")
                continue
            info = zipfile.ZipInfo("placeholder")
            info.filename = item.name  # as it is, whatever the platform makes of it
            info.create_system = 3
            info.external_attr = (_ZIP[item.kind] | item.mode) << 16
            archive.writestr(info, item.text.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def all_in(folder: Path) -> set[str]:
    """Return everything in a folder, relative to it; links aren't followed."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
