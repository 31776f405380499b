from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from vscodelm.http_server.gate import SHORTEST_TOKEN
from vscodelm.http_server.token import VARIABLE, TokenError, find_token, make_key

GIVEN = "a-token-of-the-users"


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_token_is_made_once_and_is_the_users_alone(tmp_path: Path) -> None:
    file = tmp_path / "state" / "token"
    made = find_token(None, file)
    assert len(made.text) >= 40
    assert (made.file, made.is_chosen) == (file, False)
    assert find_token(None, file).text == made.text
    assert find_token(None, tmp_path / "other").text != made.text
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_variable_comes_first_and_is_taken_from_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f" {GIVEN}\n")
    token = find_token(tmp_path / "named", tmp_path / "default")
    assert (token.text, token.file, token.is_chosen) == (GIVEN, None, True)
    assert VARIABLE not in os.environ
    assert not [*tmp_path.iterdir()]


def test_only_a_file_that_was_there_is_the_users_choice(tmp_path: Path) -> None:
    (tmp_path / "named").write_text(f"{GIVEN}\n")
    assert find_token(tmp_path / "named", tmp_path / "default").is_chosen
    assert not find_token(tmp_path / "new", tmp_path / "default").is_chosen
    assert (tmp_path / "new").exists()


@pytest.mark.limit("vscodelm.http_server.gate.SHORTEST_TOKEN")
@pytest.mark.parametrize("token", ["short", "x" * (SHORTEST_TOKEN - 1), "ä" * 40, "x\ty" * 40])
def test_a_token_that_is_weak_or_can_not_be_sent_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv(VARIABLE, token)
    with pytest.raises(TokenError) as raised:
        find_token(None, tmp_path / "token")
    assert token not in str(raised.value)


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenError):
        find_token(tmp_path, tmp_path / "default")
    (tmp_path / "binary").write_bytes(b"\xff" * 40)
    with pytest.raises(TokenError):
        find_token(tmp_path / "binary", tmp_path / "default")


def test_a_key_stays_the_same(tmp_path: Path) -> None:
    assert make_key(tmp_path / "key") == make_key(tmp_path / "key")


def test_two_servers_that_begin_at_once_take_one_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    read = Path.read_text
    times: list[int] = []

    def late(self: Path, encoding: str | None = None) -> str:
        if not times:
            times.append(1)
            file.write_text(f"{GIVEN}\n")  # the other one's
            raise FileNotFoundError
        return read(self, encoding)

    monkeypatch.setattr(Path, "read_text", late)
    assert find_token(None, file).text == GIVEN
