"""The server's secrets: the token that clients show, and the key that signs compaction items."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from bridge.value import Value

from .gate import SHORTEST_TOKEN

VARIABLE = "VSCODELM_TOKEN"
"""The environment variable with the token."""
_MADE_BYTES = 32


class TokenError(Exception):
    """There is no token that can be used; the message says why, without the token."""


class ServerToken(Value):
    """The token, and where it is from: a file, or the environment (None)."""

    text: str
    file: Path | None
    is_chosen: bool
    """Whether the user gave it, rather than this program."""


def find_token(named: Path | None, default: Path) -> ServerToken:
    """Return the token; a file that is missing is made. Raises `TokenError`.

    The variable is taken out of the environment: agents inherit that.
    """
    given = os.environ.pop(VARIABLE, "").strip()
    if given:
        return ServerToken(_checked(given, VARIABLE), None, is_chosen=True)
    file = named or default
    try:
        is_chosen = named is not None and file.exists()
        return ServerToken(_checked(_secret_in(file), str(file)), file, is_chosen)
    except (OSError, UnicodeDecodeError) as error:
        raise TokenError(f"the token file can't be used: {error}") from None


def _checked(token: str, place: str) -> str:
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise TokenError(
            f"the token in {place} must have at least {SHORTEST_TOKEN} printable ASCII characters"
        )
    return token


def make_key(file: Path) -> bytes:
    """Return the key in a file, which is made if it is missing; raises `OSError`."""
    return _secret_in(file).encode()


def _secret_in(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        pass
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = secrets.token_urlsafe(_MADE_BYTES)
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text(encoding="utf-8").strip()  # another server has just made it
    with os.fdopen(number, "w", encoding="utf-8") as opened:
        opened.write(made + "\n")
    return made
