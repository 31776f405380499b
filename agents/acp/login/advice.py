"""Explain a login to an agent, in words and as fixes that the user can press. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agents.acp.quirks import KnownAgent
from agents.acp.schema.initialize import AuthMethod
from agents.acp.text.markdown import title_of
from bridge.errors import Failure
from bridge.fixes import Fix, LogIn, RunCommand, SetKey
from bridge.value import Value
from bridge.wire import McpServerSpec

_RETRY = "then ask again."
_REFERENCE = "${secret:"


class _Command(Value):
    """A login in a terminal, with what its environment has beyond the definition's."""

    title: str
    argv: tuple[str, ...]
    env: dict[str, str]

    def typed(self) -> str:
        """Return what to type in a shell."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return title_of(" ".join([*variables, shlex.join(self.argv)]))

    def fix(self, spec: McpServerSpec) -> RunCommand:
        """Return what to press; the definition's environment may say where a login is kept."""
        plain = {one.name: one.value for one in spec.env if _REFERENCE not in one.value}
        command, *args = self.argv
        return RunCommand(self.title, command, tuple(args), plain | self.env, spec.cwd)


def method_to_try(
    methods: Sequence[AuthMethod], known: KnownAgent, environment: Mapping[str, str]
) -> AuthMethod | None:
    """Return the method to try on -32000 without a question; None where it isn't plain which.

    That is the one whose keys are in the agent's environment. Another may open a browser, so there
    must be no choice; and it is tried once.
    """
    ready = [method for method in methods if _has_keys(method, known, environment)]
    if ready:
        return ready[0] if len(ready) == 1 else None
    if len(methods) != 1:
        return None
    (method,) = methods
    return method if _is_agents_own(method, known) else None


def login_advice(spec: McpServerSpec, methods: Sequence[AuthMethod], known: KnownAgent) -> str:
    """Return in words what a user can do to log in to an agent."""
    commands = [command.typed() for command in _commands(spec, methods, known)]
    keys = [f"`{name}`" for method in methods for name in _keys(method, known)]
    if commands:
        run = " or ".join(f"`{command}`" for command in commands)
        instead = f" Or set {' or '.join(keys)} in its environment." if keys else ""
        return f"Run {run} in a terminal, {_RETRY}{instead}"
    if keys:
        rest = [method for method in methods if not _keys(method, known)]
        others = f" It also offers: {'; '.join(map(_way, rest))}." if rest else ""
        return f"Set {' or '.join(keys)} in its environment, {_RETRY}{others}"
    ways = "; ".join(_way(method) for method in methods)
    offer = f" It offers: {ways}." if ways else ""
    return f"Log in with its own command line, {_RETRY}{offer}"


def login_fixes(
    spec: McpServerSpec, methods: Sequence[AuthMethod], known: KnownAgent
) -> tuple[Fix, ...]:
    """Return what a user can press to log in to an agent."""
    keys = [
        SetKey(f"Set {' and '.join(names)}...", names)
        for method in methods
        if (names := _keys(method, known))
    ]
    own = [LogIn(_titled(method), method.id) for method in methods if _is_agents_own(method, known)]
    return (*(one.fix(spec) for one in _commands(spec, methods, known)), *own, *keys)


def can_authenticate(methods: Sequence[AuthMethod], method_id: str) -> bool:
    """Tell whether an agent can be asked to log in by that method: never by one in a terminal."""
    found = [method for method in methods if method.id == method_id]
    return any(_command((), method) is None for method in found)


def no_logout(spec: McpServerSpec, known: KnownAgent) -> Failure:
    """Return the failure for an agent that can't be asked to log out."""
    name = title_of(spec.name)
    if not known.logout:
        text = f"{name} can't log out from an editor. Log out with its own program."
        return Failure("NotFound", text)
    command = _Command("Log Out in a Terminal", (*_program(spec, known), *known.logout), {})
    text = f"{name} logs out in a terminal. Run `{command.typed()}`."
    return Failure("NotFound", text, fixes=(command.fix(spec),))


def _program(spec: McpServerSpec, known: KnownAgent) -> tuple[str, ...]:
    """Return what starts a known agent for something else than ACP."""
    argv = (spec.command, *spec.args)
    if known.serves and argv[-len(known.serves) :] == known.serves:
        return argv[: -len(known.serves)]  # as it was started: it may be on no PATH
    return (known.program,)


def _commands(
    spec: McpServerSpec, methods: Sequence[AuthMethod], known: KnownAgent
) -> list[_Command]:
    """Return the commands of the agent's methods, else the one that is known."""
    argv = (spec.command, *spec.args)
    found = [command for method in methods if (command := _command(argv, method)) is not None]
    if found or not known.login:
        return found
    return [_Command("Log In in a Terminal", (*_program(spec, known), *known.login), {})]


def _command(argv: tuple[str, ...], method: AuthMethod) -> _Command | None:
    """Return what to run, None if it isn't a method for a terminal.

    There are three ways of saying so: the protocol's, and two of the time before it had one.
    """
    meta = method.meta or {}
    title = _titled(method)
    match meta.get("terminal-auth"):
        case {"command": str(command)} as told:
            more = cast("dict[str, Any]", told)
            return _Command(title, (command, *_strings(more.get("args"))), _pairs(more.get("env")))
        case _:
            pass
    if method.type == "terminal":
        return _Command(title, (*argv, *method.args), method.env)
    if meta.get("type") == "terminal":
        return _Command(title, (*argv, *_strings(meta.get("args"))), {})
    return None


def _keys(method: AuthMethod, known: KnownAgent) -> tuple[str, ...]:
    """Return the variables that a method needs, none if it is about no key."""
    told = tuple(variable.name for variable in method.vars if not variable.optional)
    if method.type == "env_var" and told and all(map(_is_name, told)):
        return told
    return known.keys.get(method.id, ())


def _is_name(name: str) -> bool:
    """Tell whether a variable can have that name: it is shown in a sentence, and on a button."""
    return name.isascii() and name.isidentifier() and title_of(name) == name


def _has_keys(method: AuthMethod, known: KnownAgent, environment: Mapping[str, str]) -> bool:
    names = _keys(method, known)
    return bool(names) and all(environment.get(name) for name in names)


def _is_agents_own(method: AuthMethod, known: KnownAgent) -> bool:
    """Tell whether the agent leads the login, once it is asked to."""
    is_other = _command((), method) is not None or "gateway" in (method.meta or {})
    is_known = method.id in known.ignored_methods or method.id in known.keys
    return method.type == "agent" and not is_other and not is_known


def _titled(method: AuthMethod) -> str:
    name = title_of(method.name) or method.id
    return name if name.casefold().startswith(("log in", "login", "sign in")) else f"Log In: {name}"


def _way(method: AuthMethod) -> str:
    name = title_of(method.name) or method.id
    told = title_of(method.description or "").rstrip(".")
    return f"{name} ({told})" if told else name


def _strings(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def _pairs(value: Any) -> dict[str, str]:
    items = cast("dict[Any, Any]", value) if isinstance(value, dict) else {}
    return {k: v for k, v in items.items() if isinstance(k, str) and isinstance(v, str)}
