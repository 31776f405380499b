"""Find faults in the definition of an agent, and name the field.

`definition_fault` finds values that no system accepts, before anything is started. `cannot_start`
explains the system's error after a try. Pure: nothing here looks at the disk.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping

import msgspec

from agents.acp.text.markdown import title_of
from agents.launchers import page_of
from bridge.errors import Failure
from bridge.fixes import ChangeSettings, Fix
from bridge.wire import McpServerSpec

_SETTINGS = ChangeSettings("Open Settings")
_NO_ROOM = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""The errors of a system without more processes, open files or memory."""


def definition_fault(spec: McpServerSpec) -> Failure | None:
    """Return why a definition can't be used by any system; None if nothing is known."""
    for field, text in _fields(spec):
        reason = _odd(text)
        if reason is None and field == "command" and not text:
            reason = "is empty"
        if reason is None and field.endswith("].name") and (not text or "=" in text):
            reason = "is empty" if not text else "has a `=`, which ends the name of a variable"
        if reason is not None:
            return _failure(spec, f"`{field}` in its definition {reason}.")
    return None


def cannot_start(
    spec: McpServerSpec, error: OSError | ValueError, environment: Mapping[str, str] | None = None
) -> Failure:
    """Return the failure for a command that couldn't be run in an environment."""
    if not isinstance(error, OSError):
        return _failure(spec, f"its definition can't be used ({type(error).__name__}).", str(error))
    if error.errno == errno.E2BIG:
        return _failure(spec, _too_long(spec, environment or {}), str(error))
    if error.errno in _NO_ROOM:
        text = f"{title_of(spec.name)} can't be started now: {_reason(error)}. Try again later."
        return Failure("Unavailable", text, str(error))
    if spec.cwd and error.filename not in (None, spec.command):
        return no_folder(spec, error)
    command = title_of(spec.command)
    if error.errno == errno.ENOENT:
        words = f"the command {command} was not found. Is it installed, and on PATH?"
        failure = _failure(spec, words, str(error))
        return msgspec.structs.replace(failure, fixes=missing_fixes(spec.command))
    return _failure(spec, f"the command {command} can't be run ({_reason(error)}).", str(error))


def missing_fixes(command: str) -> tuple[Fix, ...]:
    """Return what to do where a command isn't there."""
    page = page_of(command)
    return (_SETTINGS,) if page is None else (page, _SETTINGS)


def no_folder(spec: McpServerSpec, error: OSError | ValueError) -> Failure:
    """Return the failure for a folder that no agent can work in."""
    reason = _reason(error)
    if not spec.cwd:
        words = f"the folder of vscodelm itself can't be used ({reason}). Name another as `cwd`."
    else:
        words = f"its working directory {title_of(spec.cwd)} can't be used ({reason}): see `cwd`."
    return _failure(spec, words, str(error))


def _fields(spec: McpServerSpec) -> Iterator[tuple[str, str]]:
    """Return every text that the system gets, with its field."""
    yield "command", spec.command
    for index, argument in enumerate(spec.args):
        yield f"args[{index}]", argument
    for index, variable in enumerate(spec.env):
        yield f"env[{index}].name", variable.name
        yield f"env[{index}].value", variable.value
    if spec.cwd is not None:
        yield "cwd", spec.cwd


def _odd(text: str) -> str | None:
    if "\x00" in text:
        return "has a NUL character, which ends every text of the system"
    try:
        text.encode("utf-8", "surrogateescape")  # as bytes that aren't UTF-8 are kept in Python
    except UnicodeEncodeError:
        return "has an incomplete character"
    return None


def _too_long(spec: McpServerSpec, environment: Mapping[str, str]) -> str:
    """Name the longest text that a process gets."""
    own = {variable.name for variable in spec.env}
    texts = {f"`{field}` in its definition": text for field, text in _fields(spec)}
    texts |= {
        f"the environment variable {title_of(name)}": value
        for name, value in environment.items()
        if name not in own
    }
    field, text = max(texts.items(), key=lambda one: len(one[1]))
    return f"its arguments and its environment are too long. The longest is {field}: {len(text):,}."


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _failure(spec: McpServerSpec, words: str, detail: str = "") -> Failure:
    message = f"{title_of(spec.name)} can't be started: {words}"
    return Failure("NotFound", message, detail, fixes=(_SETTINGS,))
