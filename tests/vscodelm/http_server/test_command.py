from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bridge.known_secrets import KnownSecrets
from bridge.models import Catalogue
from vscodelm.http_server import command
from vscodelm.http_server.command import HttpOptions, serve_http
from vscodelm.http_server.serving import CannotListen, ServedAddress, bound
from vscodelm.serve import ServeOptions

if TYPE_CHECKING:
    import socket


def secrets(_options: ServeOptions) -> KnownSecrets:
    """Leave the log as it is: this process is the tests'."""
    return KnownSecrets()


def catalogue(_file: Path | None) -> Catalogue:
    return Catalogue()


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """A Unix socket with a short path; a signal that nobody handles raises meanwhile."""

    def fail(*_: Any) -> None:
        raise AssertionError("the signal isn't handled")

    monkeypatch.setenv("VSCODELM_TOKEN", "token-of-this-test")
    monkeypatch.setattr(command, "begin_secrets", secrets)
    monkeypatch.setattr(command, "load_catalogue", catalogue)
    former = signal.signal(signal.SIGTERM, fail)
    with tempfile.TemporaryDirectory(prefix="v") as name:
        yield f"unix:{name}/s"
    signal.signal(signal.SIGTERM, former)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_signal_before_the_server_listens_ends_it_in_good_order(
    listen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths: list[str | None] = []

    @contextmanager
    def signalled(where: str, port: int) -> Generator[tuple[socket.socket, ServedAddress]]:
        with bound(where, port) as (listening, address):
            paths.append(address.path)
            os.kill(os.getpid(), signal.SIGTERM)
            yield listening, address

    monkeypatch.setattr(command, "bound", signalled)
    options = HttpOptions(ServeOptions(state_dir=tmp_path), listen=listen)
    assert serve_http(options) == 0
    (path,) = paths
    assert path is not None
    assert not Path(path).exists()


def test_what_can_not_be_listened_on_is_told_as_it_is(listen: str, tmp_path: Path) -> None:
    options = HttpOptions(ServeOptions(state_dir=tmp_path), listen=f"{listen}/missing/s")
    with pytest.raises(CannotListen):
        serve_http(options)
