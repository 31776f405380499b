"""What stands for npx: it fetches a package slowly, without end, or not at all, and starts agents.

    python npx_program.py FOLDER AGENT... -- what npx is given

FOLDER has its cache, and `fetching`: the ids of the processes that fetch, a line each. AGENT is the
command line that every package starts. The package's name says how it is fetched: `endless-agent`
without end, `away-agent` not at all, and any other in eight seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CHUNK = b"x" * 3_000_000
OFFLINE = """\
npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.npmjs.org/{name} failed
npm error network This is a problem related to network connectivity.
"""


def fetch(folder: Path, requirement: str) -> int:
    """Fetch a package as npm does: bytes on their way, and then a folder of its own."""
    name, _, version = requirement.partition("@")
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (folder / "fetching").write_text(f"{os.getpid()}\n{worker.pid}\n")
    if name == "away-agent":
        sys.stderr.write(OFFLINE.format(name=name))
        worker.kill()
        return 1
    coming = folder / "cache/_cacache/tmp" / name
    coming.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1_000 if name == "endless-agent" else 16):
        with coming.open("ab") as file:
            file.write(CHUNK if number < 16 else b"x")
        sys.stderr.write(f"npm http fetch GET 200 .../{name}-{number}.tgz\n")
        time.sleep(0.5)
    worker.kill()
    digest = hashlib.sha512(requirement.encode()).hexdigest()[:16]
    place = folder / "cache/_npx" / digest / "node_modules" / name
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"name": name, "version": version}))
    coming.unlink()
    sys.stdout.write("v24.0.0\n")
    return 0


def main() -> int:
    """Do what npx would."""
    at = sys.argv.index("--")
    folder, agent, given = Path(sys.argv[1]), sys.argv[2:at], sys.argv[at + 1 :]
    if given[-3:] == ["--", "node", "--version"]:
        return fetch(folder, given[given.index("--package") + 1])
    os.execv(agent[0], agent)


if __name__ == "__main__":
    sys.exit(main())
