"""Check, collect and tag a release: `make release`, whose recipe calls the commands below in order.

    python -m tooling.release flags       prints the options of vsce that depend on the repository
    python -m tooling.release readme      writes the README of the package
    python -m tooling.release addresses   writes the repository's addresses into package.json
    python -m tooling.release check       names everything that stands in the way of a release
    python -m tooling.release collect     puts the wheel and the VSIX into dist/, with their hashes
    python -m tooling.release sign-off    prints the steps that need a person
    python -m tooling.release tag         tags the commit

The address of the repository stands in one place: `[tool.vscodelm] repository` in pyproject.toml.
As long as it is empty the package of the extension has no addresses, and no release can be made.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[1]
FIELD = "[tool.vscodelm] repository in pyproject.toml"
README = "dist/README.md"
"""The README of the package, in the extension's folder."""
_PICTURE = re.compile(r"^!\[[^\]\n]*\]\([^)\n]*\)\n\n?", re.MULTILINE)
_ADDRESS = re.compile(r"https://[a-z0-9.-]+/[\w.-]+/[\w.-]+")
_KEYS = ("repository", "homepage", "bugs")

SIGN_OFF = (
    "`.ci/run` is green on the commit, and the workflow `wheel` on every system and Python",
    "`make test-faults` is green: each guard notices its fault",
    "`make pins` was run, and its diff was reviewed",
    "`make test-vscode` and `make test-agent-host` are green in their complete forms",
    "`make screenshots` was run, and each picture was looked at",
    "In a desktop VS Code the walkthrough of dist/*.vsix leads to an answer of Claude Code",
    "The page of the extension was looked at in VS Code: icon, README with its pictures, changelog",
    "The changelog tells a user what is new, in their words",
    "Somebody who hasn't seen the project has followed docs/how-to/five-minutes.md",
)
"""The steps of a release that need a person."""


def project(root: Path) -> dict[str, Any]:
    """Return pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def manifest(root: Path) -> dict[str, Any]:
    """Return the package.json of the extension."""
    return cast("dict[str, Any]", json.loads(_manifest_of(root).read_text(encoding="utf-8")))


def repository(root: Path) -> str:
    """Return the address of the repository, empty as long as nobody has filled it in."""
    return str(project(root)["tool"]["vscodelm"]["repository"])


def addresses(address: str) -> dict[str, Any]:
    """Return the addresses that package.json has of a repository."""
    if not address:
        return {}
    return {
        "repository": {"type": "git", "url": f"{address}.git", "directory": "extension"},
        "homepage": f"{address}#readme",
        "bugs": {"url": f"{address}/issues"},
    }


def flags(address: str, version: str) -> list[str]:
    """Return the options of `vsce package`: pictures and links of the README lead to the tag."""
    if not address:
        return [
            *("--allow-missing-repository", "--no-rewrite-relative-links"),
            *("--readme-path", README),
        ]
    return [
        *("--readme-path", README),
        *("--baseImagesUrl", f"{address}/raw/v{version}/extension"),
        *("--baseContentUrl", f"{address}/blob/v{version}/extension"),
    ]


def packaged_readme(text: str, address: str) -> str:
    """Return the README of the package. Without an address its pictures can't be found there."""
    return text if address else _PICTURE.sub("", text)


def with_addresses(text: str, address: str) -> str:
    """Return the text of package.json with the addresses of a repository, after its licence."""
    kept = {key: value for key, value in json.loads(text).items() if key not in _KEYS}
    ordered: dict[str, Any] = {}
    for key, value in kept.items():
        ordered[key] = value
        if key == "license":
            ordered.update(addresses(address))
    if ordered == json.loads(text):
        return text
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def version_faults(root: Path) -> list[str]:
    """Name the places whose version isn't that of the Python package."""
    version = project(root)["project"]["version"]
    lock = json.loads((root / "extension/package-lock.json").read_text(encoding="utf-8"))
    places = {
        "extension/package.json": manifest(root)["version"],
        "extension/package-lock.json": lock["version"],
        'extension/package-lock.json, packages[""]': lock["packages"][""]["version"],
    }
    return [
        f"{place} has version {found}, and pyproject.toml {version}"
        for place, found in places.items()
        if found != version
    ]


def address_faults(root: Path) -> list[str]:
    """Name the faults of the repository's address, and of the addresses that are made of it."""
    address = repository(root)
    if address and not _ADDRESS.fullmatch(address):
        return [f"{FIELD} isn't of the form https://HOST/OWNER/NAME: {address}"]
    given = {key: value for key, value in manifest(root).items() if key in _KEYS}
    if given != addresses(address):
        return ["extension/package.json has other addresses: `python -m tooling.release addresses`"]
    return []


def release_faults(root: Path, git: Callable[..., str]) -> list[str]:
    """Name everything that stands in the way of a release; `git` runs a command of git's."""
    version = project(root)["project"]["version"]
    news = sorted(path.name for path in (root / "newsfragments").glob("*.*.md"))
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    conditions = (
        (not repository(root), f"{FIELD} is empty: write the repository's address there"),
        (
            bool(news),
            f"{len(news)} news fragments wait: `towncrier build --version {version}` makes the "
            "changelog of them",
        ),
        (
            f"\n## {version} " not in changelog,
            f"CHANGELOG.md has no part about version {version}",
        ),
        (bool(git("status", "--porcelain")), "some changes aren't committed"),
        (bool(git("tag", "--list", f"v{version}")), f"the tag v{version} is there already"),
    )
    found = [fault for is_there, fault in conditions if is_there]
    return [*version_faults(root), *address_faults(root), *found]


def collect(root: Path) -> list[Path]:
    """Copy the wheel and the VSIX of this version into dist/, with their hashes; return them."""
    version = project(root)["project"]["version"]
    built = root / "extension/dist"
    sources = [built / f"vscodelm-{version}-py3-none-any.whl", built / f"vscodelm-{version}.vsix"]
    dist = root / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    copies = [Path(shutil.copy(source, dist)) for source in sources]
    sums = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in copies)
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return copies


def sign_off(version: str) -> str:
    """Return the list of steps that need a person, and the command that comes after them."""
    lines = [
        f"Before vscodelm {version} is tagged, a person signs off:",
        *(f"  [ ] {step}" for step in SIGN_OFF),
        "Then: make release SIGNED=yes",
        "It tags the commit. Then publish the two files in dist/:",
        f"  npx vsce publish --packagePath dist/vscodelm-{version}.vsix",
        f"  npx ovsx publish dist/vscodelm-{version}.vsix",
        f"  uv publish dist/vscodelm-{version}-py3-none-any.whl",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Run a command; return the exit status."""
    version = str(project(root)["project"]["version"])
    match arguments:
        case ["flags"]:
            _print([" ".join(flags(repository(root), version))])
        case ["readme"]:
            text = (root / "extension/README.md").read_text(encoding="utf-8")
            path = root / "extension" / README
            path.write_text(packaged_readme(text, repository(root)), encoding="utf-8")
        case ["addresses"]:
            path = _manifest_of(root)
            text = path.read_text(encoding="utf-8")
            path.write_text(with_addresses(text, repository(root)), encoding="utf-8")
        case ["check"]:
            faults = release_faults(root, lambda *words: _git(root, *words))
            sys.stderr.write("".join(f"No release yet: {fault}.\n" for fault in faults))
            return 1 if faults else 0
        case ["collect"]:
            _print(str(path.relative_to(root)) for path in collect(root))
        case ["sign-off"]:
            sys.stdout.write(sign_off(version))
        case ["tag"]:
            _git(root, "tag", "--annotate", f"v{version}", "--message", f"vscodelm {version}")
            _print([f"v{version} is tagged: git push origin v{version}"])
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


def _manifest_of(root: Path) -> Path:
    return root / "extension/package.json"


def _git(root: Path, *words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def _print(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
