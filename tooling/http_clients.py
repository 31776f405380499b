"""Install the clients of `make test-http`: `python -m tooling.http_clients`.

They come from npm into `.agents/http`. A folder that has them stays as it is.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

from .node import NoNode, find_node

FOLDER = Path(__file__).parents[1] / ".agents" / "http"
BUN = {
    ("linux", "x86_64"): "@oven/bun-linux-x64",
    ("linux", "aarch64"): "@oven/bun-linux-aarch64",
    ("darwin", "arm64"): "@oven/bun-darwin-aarch64",
    ("darwin", "x86_64"): "@oven/bun-darwin-x64",
}
"""Bun for each platform, which runs the official compliance suite."""
PACKAGES = {
    "openai": "6.49.0",
    "ai": "6.0.326",
    "@ai-sdk/openai": "3.0.141",
    "zod": "3.25.76",
}
BUN_VERSION = "1.4.5"


def packages() -> dict[str, str]:
    """Return the packages for this machine, with their versions."""
    bun = BUN.get((sys.platform, platform.machine()))
    return {**PACKAGES, **({bun: BUN_VERSION} if bun else {})}


def main() -> int:
    """Install; return the exit status."""
    wanted = json.dumps(packages(), sort_keys=True)
    stamp = FOLDER / "installed.json"
    if stamp.is_file() and stamp.read_text() == wanted:
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        node, npm = find_node()
    except NoNode as error:
        print(error, file=sys.stderr)
        return 1
    (FOLDER / "package.json").write_text('{"private": true, "type": "module"}\n')
    options = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    named = [f"{name}@{version}" for name, version in packages().items()]
    print(f"Installing the clients into {FOLDER} ...")
    done = subprocess.run([node, npm, "install", *options, *named], cwd=FOLDER, check=False)
    if done.returncode == 0:
        stamp.write_text(wanted)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
