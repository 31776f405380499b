"""How a user logs in to an agent that wants it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .exhibit import title_of
from .known import KnownAgent
from .setup import AuthMethod

_RETRY = "then ask again."


def sole_method(methods: Sequence[AuthMethod], known: KnownAgent) -> AuthMethod | None:
    """Return the method to try on -32000 without a question; None where it isn't plain which.

    It may open a browser, so there must be no choice; and it is tried once.
    """
    if len(methods) != 1:
        return None
    (method,) = methods
    if method.type != "agent" or method.id in known.ignored_methods:
        return None
    return method if _terminal_command((), method) is None else None


def login_advice(argv: Sequence[str], methods: Sequence[AuthMethod], known: KnownAgent) -> str:
    """Return what a user can do to log in to the agent that `argv` starts."""
    found = (_terminal_command(argv, method) for method in methods)
    commands = [known.login] if known.login else [command for command in found if command]
    if commands:
        run = " or ".join(f"`{title_of(command)}`" for command in commands)
        return f"Run {run} in a terminal, {_RETRY}"
    ways = "; ".join(_way(method) for method in methods)
    if ways:
        return f"Log in with its own command line, {_RETRY} It offers: {ways}."
    return f"Log in with its own command line, {_RETRY}"


def _way(method: AuthMethod) -> str:
    name = title_of(method.name) or method.id
    told = title_of(method.description or "").rstrip(".")
    return f"{name} ({told})" if told else name


def _terminal_command(argv: Sequence[str], method: AuthMethod) -> str | None:
    """Return what to type, None if it isn't a method for a terminal.

    There are three ways of saying so: the protocol's, and two of the time before it had one.
    """
    meta = method.meta or {}
    if method.type == "terminal":
        return _typed([*argv, *method.args], method.env)
    if meta.get("type") == "terminal":
        return _typed([*argv, *_strings(meta.get("args"))])
    match meta.get("terminal-auth"):
        case {"command": str(command)} as told:
            return _typed([command, *_strings(cast("dict[str, Any]", told).get("args"))])
        case _:
            return None


def _strings(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def _typed(argv: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    variables = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    return " ".join([*variables, shlex.join(argv)])
