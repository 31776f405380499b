"""Remedies for a failure, for a program that shows them as buttons. Pure.

A failure says the same in words, for hosts that show nothing else.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec

from .redact import Hide, redact_arguments
from .wire import Wire


class OpenPage(Wire, tag_field="type", tag="page"):
    """Read a page, such as that of a program which has to be installed."""

    title: str
    url: str


class SetKey(Wire, tag_field="type", tag="key"):
    """Store a key: `variables` are the environment variables that the agent reads it from."""

    title: str
    variables: tuple[str, ...]


class RunCommand(Wire, tag_field="type", tag="terminal"):
    """Run a command in a terminal, where it can ask; without `cwd`, in the folder of vscodelm."""

    title: str
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    cwd: str | None = None


class LogIn(Wire, tag_field="type", tag="login"):
    """Send `lm/logIn` with this method: the agent logs in by itself, often in a browser."""

    title: str
    method_id: str


class ChangeSettings(Wire, tag_field="type", tag="settings"):
    """Correct the agent's definition."""

    title: str


Fix: TypeAlias = OpenPage | SetKey | RunCommand | LogIn | ChangeSettings


def without_secrets(fixes: tuple[Fix, ...], hide: Hide) -> tuple[Fix, ...]:
    """Return the fixes that can be given without a secret, with `hide` applied to their titles.

    A variable that holds a secret is left out. A command that holds one can't be given at all.
    """
    return tuple(
        msgspec.structs.replace(shown, title=hide(shown.title))
        for fix in fixes
        if (shown := _shown(fix, hide)) is not None
    )


def _shown(fix: Fix, hide: Hide) -> Fix | None:
    match fix:
        case RunCommand(command=command, args=args, env=env, cwd=cwd):
            words = [command, *args]
            if [hide(word) for word in words] != words or redact_arguments(words) != words:
                return None
            shown = {name: value for name, value in env.items() if hide(value) == value}
            folder = cwd if cwd is None or hide(cwd) == cwd else None
            return msgspec.structs.replace(fix, env=shown, cwd=folder)
        case OpenPage() | SetKey() | LogIn() | ChangeSettings():
            return fix
        case _:
            assert_never(fix)
