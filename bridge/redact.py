"""Keeps secrets out of traces, logs and errors, found by their place and their form.

Values are walked without recursion, so deeply nested ones are redacted, too. The secrets of a
definition are hidden wherever they occur: see `bridge.known_secrets`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

HIDDEN = "[redacted]"

_SECRET_KEY = re.compile(
    r"api[-_]?key$|token$|secret|passw|authorization|credential|cookie", re.IGNORECASE
)
_SECRET_OPTION = re.compile(r"(?:^|[-_])(?:key|pass|pwd|auth|bearer)$", re.IGNORECASE)
_ALL_VALUES = frozenset({"headers", "env"})
_ARGUMENTS = frozenset({"args", "argv", "arguments", "command"})
_SECRETS = "secrets"
_MCP_SERVERS = "mcpServers"
_OF_SERVER = frozenset({"args", "url"})
_ADDRESS_KEY = re.compile(r"ur[il]$", re.IGNORECASE)
_SECRETS_OF_ADDRESS = re.compile(r"(?<=://)[^/?#@\s]+(?=@)|(?<=\?)[^#\s]+")

# In text. Each repetition is bounded or ends where nothing can match again, so the time is linear.
_USER_OF_ADDRESS = re.compile(r"(?<=://)[^/?#@\s\"'<>]{1,300}(?=@)")
_PARAMETER = re.compile(r"(?<=[?&])((?:key|sig|signature|auth)=)[^\s&#\"'<>]+", re.IGNORECASE)
_NAMED = re.compile(
    r"(?<![\w-])(?P<name>[\w-]{0,60}?(?:api[-_]?key|token"
    r"|(?:secret|passw|authorization|credential|cookie)[\w-]{0,20}))"
    r"(?P<between>[\"']?\s{0,8}[:=]\s{0,8}[\"']?)"
    r"(?:(?:Bearer|Basic)\s{1,8})?[^\s\"',;&]+",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?<![\w-])(?P<name>--?[A-Za-z][\w-]{0,60})(?P<between>=|\s{1,8}|[\"'],\s{0,8}[\"'])"
    r"[^\s\"',;-][^\s\"',;]*"
)
_KEYS = re.compile(r"\b(?:Bearer\s{1,8}\S+|(?:sk|hf|gsk|xai|key)[-_][A-Za-z0-9_-]{12,})")

Hide: TypeAlias = Callable[[str], str]
"""Returns a text without what is known to be secret."""


def unchanged(text: str) -> str:
    """Hide nothing."""
    return text


def redact(value: Any, hide: Hide = unchanged) -> Any:
    """Return the JSON value with secrets replaced, in a copy.

    Hidden are values of environment variables and headers, strings under keys that name a secret,
    secret arguments of commands, and secrets in addresses. Of MCP servers all arguments and
    addresses are hidden. `hide` is applied to every other string.
    """
    return _walk(value, hide, _redact_field)


def map_strings(value: Any, change: Hide) -> Any:
    """Return a copy of the JSON value in which every string, and every key, is changed."""
    return _walk(value, change, lambda _key, item: item)


def _walk(value: Any, change: Hide, field: Callable[[str, Any], Any]) -> Any:
    """Return a copy with all strings changed, after `field` has seen each item of an object."""
    whole = [value]
    todo: list[Any] = [whole]
    """Lists and objects of the copy whose items are still those of the original."""

    def own(item: Any) -> Any:
        if isinstance(item, str):
            return change(item)
        if isinstance(item, list):
            todo.append(item := list(cast("list[Any]", item)))
        elif isinstance(item, dict):
            item = {change(key): inner for key, inner in cast("dict[str, Any]", item).items()}
            todo.append(item)
        return item

    while todo:
        inner = todo.pop()
        if isinstance(inner, list):
            inner[:] = [own(item) for item in cast("list[Any]", inner)]
        else:
            for key, item in inner.items():
                inner[key] = own(field(key, item))
    return whole[0]


def is_secret(key: str) -> bool:
    """Return whether what stands under that key is a secret by its name."""
    return _SECRET_KEY.search(key) is not None


def is_secret_option(name: str) -> bool:
    """Return whether the value of a command's option is a secret by the option's name."""
    bare = name.lstrip("-")
    return is_secret(bare) or _SECRET_OPTION.search(bare) is not None


def has_all_values_secret(key: str) -> bool:
    """Return whether everything under that key is hidden: a list of variables, or of headers."""
    return key in _ALL_VALUES


def are_secrets(key: str) -> bool:
    """Return whether every text of a list under that key is secret."""
    return key == _SECRETS


def is_address(key: str) -> bool:
    """Return whether what stands under that key is an address by its name."""
    return _ADDRESS_KEY.search(key) is not None


def are_arguments(key: str) -> bool:
    """Return whether a list under that key is a command, or its arguments, by its name."""
    return key in _ARGUMENTS


def redact_arguments(arguments: Sequence[Any]) -> list[Any]:
    """Return a command's arguments without the values of its secret options and variables."""
    shown: list[Any] = []
    is_value = False
    for argument in arguments:
        if not isinstance(argument, str):
            shown.append(argument)
            is_value = False
        elif is_value and not argument.startswith("-"):
            shown.append(HIDDEN)
            is_value = False
        else:
            is_value = argument.startswith("-") and is_secret_option(argument)
            shown.append(redact_text(argument))
    return shown


def redact_text(text: str) -> str:
    """Return a text without what looks like a secret in it: for logs and errors.

    That is the user in an address, the value after a name that says secret (`api_key=`, `--token`,
    `Authorization:`), and what begins like a provider's key.
    """
    text = _USER_OF_ADDRESS.sub(HIDDEN, text)
    text = _PARAMETER.sub(rf"\1{HIDDEN}", text)
    text = _OPTION.sub(_hide_option, text)
    text = _NAMED.sub(rf"\g<name>\g<between>{HIDDEN}", text)
    return hide_keys(text)


def hide_keys(text: str) -> str:
    """Return a text without what begins like a provider's key."""
    return _KEYS.sub(HIDDEN, text)


def _hide_option(found: re.Match[str]) -> str:
    is_hidden = is_secret_option(found["name"])
    return f"{found['name']}{found['between']}{HIDDEN}" if is_hidden else found[0]


def _redact_field(key: str, value: Any) -> Any:
    if isinstance(value, str):
        if is_secret(key):
            return HIDDEN
        return _SECRETS_OF_ADDRESS.sub(HIDDEN, value) if is_address(key) else value
    if has_all_values_secret(key) and isinstance(value, list):
        return [_redact_variable(item) for item in cast("list[Any]", value)]
    if has_all_values_secret(key) and isinstance(value, dict):
        return dict.fromkeys(cast("dict[str, Any]", value), HIDDEN)
    if are_secrets(key) and isinstance(value, list):
        return _whole_hidden(cast("list[Any]", value))
    if key == _MCP_SERVERS and isinstance(value, list):
        return [_redact_server(item) for item in cast("list[Any]", value)]
    if are_arguments(key) and isinstance(value, list):
        return redact_arguments(cast("list[Any]", value))
    return value


def _redact_server(value: Any) -> Any:
    """Return an MCP server without its arguments and its address: any of them may be a secret."""
    if not isinstance(value, dict):
        return HIDDEN
    server = cast("dict[str, Any]", value)
    return {key: _whole_hidden(one) if key in _OF_SERVER else one for key, one in server.items()}


def _whole_hidden(value: Any) -> Any:
    return [HIDDEN] * len(cast("list[Any]", value)) if isinstance(value, list) else HIDDEN


def _redact_variable(value: Any) -> Any:
    if isinstance(value, dict) and "value" in value:
        return {**cast("dict[str, Any]", value), "value": HIDDEN}
    return cast("Any", value)
