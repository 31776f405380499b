"""A program for tests in other languages says when it is ready, keeps a log, and ends by itself."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_an_endpoint_is_ready_keeps_what_it_is_asked_and_ends_with_its_input(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "tests.fakes.responses_program", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        address = program.stdout.readline().decode().strip()
        with urllib.request.urlopen(f"{address}/models", timeout=30) as response:
            assert json.load(response) == {"object": "list", "data": []}
        assert json.loads(log.read_text()) == {"path": "/v1/models", "body": {}}
        program.communicate(timeout=30)
    assert program.returncode == 0
