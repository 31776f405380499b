"""Faults of the extension's installation, and the tests of the extension that must notice them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from tests.planted import ROOT, Fault, Ground
from tooling.node import find_node


@attrs.frozen
class ExtensionGround(Ground):
    """Where faults are planted in TypeScript: the tests are those of vitest."""

    home: ClassVar[Path] = ROOT / "extension"

    def file(self, fault: Fault) -> Path:
        """Return where in the project, or in a copy of it, a fault is planted."""
        return Path(self.package, f"{fault.module}.ts")

    def _tests(self, fault: Fault) -> list[str]:
        names = fault.tests or (fault.module,)
        return [f"{self.tests}/{name}.test.ts" for name in names]

    def _run(
        self, copy: Path, tests: Iterable[str], fault: Fault | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run tests of the copy; its packages are the real ones."""
        extension = copy / "extension"
        extension.mkdir()
        for folder in self.copied:
            shutil.copytree(ROOT / folder, copy / folder)
        for name in ("package.json", "vitest.config.ts", "tsconfig.json"):
            shutil.copy(ROOT / "extension" / name, extension)
        (extension / "node_modules").symlink_to(ROOT / "extension/node_modules")
        if fault is not None:
            (copy / self.file(fault)).write_text(self._faulty(fault), encoding="utf-8")
        node, _ = find_node()
        run = subprocess.run(
            [str(node), "node_modules/vitest/vitest.mjs", "run", "--no-color", *tests],
            cwd=extension,
            env={**os.environ, "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        # It ends with the same status where a file can't even be read.
        has_failed = re.search(r"Tests +\d+ failed", run.stdout) is not None
        failed = pytest.ExitCode.TESTS_FAILED if has_failed else pytest.ExitCode.INTERNAL_ERROR
        run.returncode = failed if run.returncode else pytest.ExitCode.OK
        return run


GROUND = ExtensionGround(
    package="extension/src/program/install",
    tests="test/program/install",
    copied=("extension/src", "extension/test", "extension/pins"),
)

FAULTS = [
    Fault(
        "the hash of uv's wheel isn't looked at",
        "uv",
        "if (sha256(wheel.body) !== file.sha256) {",
        "if (wheel.body.length === 0) {",
    ),
    Fault(
        "the index's password goes to other servers, too",
        "uv",
        "url.username || url.origin !== home.origin ? url : home",
        "url.username ? url : home",
    ),
    Fault(
        "a half-written uv is left",
        "uv",
        "    await rename(written, program);",
        "    await writeFile(program, unpacked, { mode: 0o755 });",
    ),
    Fault(
        "the files of the extension aren't compared with their hashes",
        "bundle",
        "content === undefined || sha256(content) !== sum",
        "content === undefined",
        ("environment",),
    ),
    Fault(
        "uv takes packages without looking at their hashes",
        "builder",
        '["--require-hashes", "--no-build", ',
        '["--no-build", ',
        ("environment",),
    ),
    Fault(
        "pip takes packages without looking at their hashes",
        "builder",
        '["--require-hashes", "--only-binary", ',
        '["--only-binary", ',
        ("environment",),
    ),
    Fault(
        "an update is built where the old one is",
        "environment",
        "    const folder = randomUUID();",
        "    const folder = before?.folder ?? randomUUID();",
    ),
    Fault(
        "the note of what counts is written over",
        "environment",
        "      await rename(note, this.pointer);",
        "      await writeFile(this.pointer, JSON.stringify(current));",
    ),
    Fault(
        "what works is swept before there is something else",
        "environment",
        "    await this.sweep(before, bundle);",
        "    await this.sweep(undefined, bundle);",
    ),
    Fault(
        "what failed is left lying",
        "environment",
        "      for (const left of made) {",
        "      for (const left of []) {",
    ),
    Fault(
        "a Python is downloaded without a question",
        "environment",
        'tools.kind === "none" && !mayDownload',
        'tools.kind === "none" && false',
    ),
    Fault(
        "a connection that fails isn't told as offline",
        "failure",
        '"offline",\n    /',
        '"missing",\n    /',
    ),
    Fault(
        "only the program itself is ended, and not what it has started",
        "run",
        "process.kill(-child.pid,",
        "process.kill(child.pid,",
    ),
    Fault(
        "the log has the passwords of indexes",
        "run",
        "said(withoutCredentials(line))",
        "said(line)",
    ),
    Fault(
        "a lock that couldn't be written stays",
        "lock",
        "    await rm(file, { force: true }); // on a full disk",
        "    // on a full disk",
    ),
    Fault(
        "each that needs the program asks for itself",
        "installer",
        "this.asking ??= ",
        "this.asking = ",
    ),
    Fault(
        "macOS's own Python is run",
        "pythons",
        'platform === "darwin" && ',
        "false && ",
    ),
    Fault(
        "the name of an index is part of its address",
        "package_index",
        'found.replace(NAME, "")',
        "found",
    ),
    Fault(
        "a password that is no address's is told",
        "uv",
        "if (!URL.canParse(index) || ",
        "if (URL.canParse(index) && ",
    ),
]
