"""The secrets that definitions bring: hidden wherever they occur, whatever repeats them.

An agent may print its key in an error, an endpoint may repeat it in an answer. So the values of a
definition's environment, headers, arguments and addresses are remembered. They are removed from
every text for the log, the trace or an error.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from .redact import (
    HIDDEN,
    are_arguments,
    are_secrets,
    has_all_values_secret,
    is_address,
    is_secret,
    is_secret_option,
    redact_text,
)

SHORTEST_NAMED = 6
"""Characters of a value whose name says that it is secret; a shorter one is a word like others."""
SHORTEST = 8
"""Characters of any other value of an environment or of headers."""
MOST = 1_000
"""Values that are remembered; the oldest are forgotten first."""
_FEW = 64
"""Values that are looked for one by one, which is faster for so few."""

KEPT = "VSCODELM_SECRETS"
"""The variable that names those of the keys which the editor's extension keeps."""
_REFERENCE = "${secret:"
"""Begins a reference to one of those in a definition's environment."""
PLAIN_HEADERS = frozenset({"accept", "accept-encoding", "content-type", "user-agent"})
"""Headers whose values are no secrets, in lower case."""
_PATH = re.compile(r"[/~]|[A-Za-z]:[\\/]|https?://[^?@]*\Z")
"""Matches values that are paths or addresses; they are needed in errors."""
_OPTION_NAME = re.compile(r"-[A-Za-z-]*\Z")
_ADDRESSES = re.compile(r"https?://\S+")
_WORDS = re.compile(r"[^\s=:;,\"']+")
"""Finds the words of an argument such as `--header=Authorization: Bearer KEY`."""
_PLAIN_WORD = re.compile(r"[A-Za-z-]*\Z")
"""Matches words such as those that an address or a header has anyway."""
SHORTEST_VALUE = 5
"""Characters that each value must have, so that one of the compared places lies within it."""
_STEP = 3
"""Only every third place of a text is compared, with the beginnings of the values."""
_HEAD = 64
"""Characters by which values are found; those that begin with the same are tried in turn."""


class KnownSecrets:
    """The secrets in the definitions of one process."""

    def __init__(self) -> None:
        self._values: dict[str, None] = {}
        """In the order in which they were learned."""
        self._learned: dict[bytes, None] = {}
        """Digests of the definitions whose secrets these are."""
        self._longest_first: tuple[str, ...] = ()
        self._occurrences: Occurrences | None = None
        """Finds them all at once, where they are many; made when it is needed."""

    def learn(self, definition: Any, environment: Mapping[str, str]) -> None:
        """Remember the secrets of an agent's definition, as JSON, and those that it refers to."""
        self._add(secrets_in(definition, environment))

    def learn_from(self, message: Any, environment: Mapping[str, str]) -> None:
        """Remember the secrets of the agent or the MCP servers in a message, if it has them."""
        match message:
            case {"params": {"agent": definition}}:
                self.learn(definition, environment)
            case {"params": {"mcpServers": [*servers]}}:
                self.learn(servers, environment)
                self._add(_of_servers(servers))
            case _:
                pass

    def learn_kept(self, environment: Mapping[str, str]) -> None:
        """Remember the keys that the editor keeps: `VSCODELM_SECRETS` names their variables."""
        names = environment.get(KEPT, "").split(",")
        self._add(one for name in names for one in _named(environment.get(name, "").strip()))

    def _add(self, values: Iterable[str]) -> None:
        for value in values:
            for form in _forms(value):
                self._values.pop(form, None)
                self._values[form] = None
        for value in list(self._values)[: max(0, len(self._values) - MOST)]:
            del self._values[value]
        self._longest_first = tuple(sorted(self._values, key=len, reverse=True))
        self._occurrences = None

    def learn_once(self, key: bytes, environment: Mapping[str, str]) -> None:
        """Remember the secrets of a definition, given as JSON, unless that was done lately."""
        digest = hashlib.blake2b(key, digest_size=16).digest()
        if digest not in self._learned:
            self.learn(msgspec.json.decode(key), environment)
            self._learned[digest] = None
            for old in list(self._learned)[: max(0, len(self._learned) - MOST)]:
                del self._learned[old]

    def hide(self, text: str) -> str:
        """Return a text without the secrets that are known."""
        if len(self._longest_first) > _FEW:
            self._occurrences = self._occurrences or Occurrences(self._longest_first)
            return self._occurrences.replace(text, HIDDEN)
        for value in self._longest_first:
            if value in text:
                text = text.replace(value, HIDDEN)
        return text

    def hide_all(self, text: str) -> str:
        """Return a text without the secrets that are known, nor what looks like one."""
        return redact_text(self.hide(text))


def _forms(value: str) -> Iterator[str]:
    """Yield a value, and how it reads in a log, in JSON and in an address."""
    import json  # here, because a start without secrets doesn't need it

    yield value
    # A variable of the environment may hold any bytes, which Python keeps as halves of characters.
    in_address = quote(value, safe="", errors="surrogatepass")
    for form in (repr(value)[1:-1], json.dumps(value)[1:-1], in_address):
        if form != value:
            yield form


def secrets_in(definition: Any, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of a definition that are secret; `environment` has those that it names."""
    todo: list[Any] = [definition]
    while todo:
        inner = todo.pop()
        if isinstance(inner, list):
            todo += cast("list[Any]", inner)
        elif isinstance(inner, dict):
            for key, value in cast("dict[str, Any]", inner).items():
                if not (has_all_values_secret(key) and isinstance(value, dict)):
                    todo.append(value)
                yield from _of_field(key, value, environment)


def _of_field(key: str, value: Any, environment: Mapping[str, str]) -> Iterator[str]:
    if isinstance(value, str):
        if key in ("apiKeyEnv", "api_key_env"):
            yield from _named(environment.get(value, "").strip())
        elif is_secret(key):
            yield from _named(value)
        elif is_address(key):
            yield from _of_address(value)
    elif has_all_values_secret(key):
        for name, item in _variables(value):
            yield from _of_variable(name, item)
    elif are_secrets(key) and isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _named(one) if isinstance(one, str) else ()
    elif are_arguments(key) and isinstance(value, list):
        yield from _of_arguments([one for one in cast("list[Any]", value) if isinstance(one, str)])


def _variables(value: Any) -> Iterator[tuple[str, str]]:
    """Yield names and values, which are an object or a list of objects."""
    if isinstance(value, dict):
        pairs = list(cast("dict[str, Any]", value).items())
    else:
        items = cast("list[Any]", value) if isinstance(value, list) else []
        fields = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
        pairs = [(item.get("name"), item.get("value")) for item in fields]
    for name, item in pairs:
        if isinstance(name, str) and isinstance(item, str):
            yield name, item


def _of_variable(name: str, value: str) -> Iterator[str]:
    if _REFERENCE in value:
        return  # its value is learned where it is kept
    if is_secret(name):
        yield from _named(value)
        for word in value.split()[1:]:  # after "Bearer"
            yield from _named(word)
    elif name.lower() not in PLAIN_HEADERS and not _PATH.match(value):
        yield from _long_enough(value, SHORTEST)


def _of_arguments(arguments: list[str]) -> Iterator[str]:
    for option, argument in zip(["", *arguments], arguments, strict=False):
        name, is_given, value = argument.partition("=")
        if is_given and (is_secret_option(name) if name.startswith("-") else is_secret(name)):
            yield from _named(value)
        elif option.startswith("-") and is_secret_option(option) and "=" not in option:
            yield from _named(argument)
        elif "://" in argument:
            yield from _of_address(argument)


def _of_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        queries = parse_qsl(parts.query)
    except ValueError:
        return
    user, _, _ = parts.netloc.rpartition("@")
    for part in (user, *user.partition(":")[2:]):
        yield from _named(part)
        yield from _named(unquote(part))
    for name, value in queries:
        if is_secret_option(name):
            yield from _named(value)


def _of_servers(servers: list[Any]) -> Iterator[str]:
    """Yield the arguments of MCP servers and the parts of addresses: any may be a secret."""
    fields = [cast("dict[str, Any]", one) for one in servers if isinstance(one, dict)]
    for server in fields:
        arguments = server.get("args")
        if isinstance(arguments, list):
            for one in cast("list[Any]", arguments):
                yield from _of_argument(one) if isinstance(one, str) else ()
        if isinstance(url := server.get("url"), str):
            yield from _of_whole_address(url)


def _of_argument(argument: str) -> Iterator[str]:
    """Yield an argument, and the words in it; none is a path or the name of an option."""
    for address in _ADDRESSES.findall(argument):
        yield from _of_whole_address(address)
    if not _OPTION_NAME.match(argument) and not _PATH.match(argument):
        yield from _long_enough(argument, SHORTEST)
    for word in _WORDS.findall(argument):
        if not _PLAIN_WORD.match(word) and not _PATH.match(word):
            yield from _long_enough(word, SHORTEST)


def _of_whole_address(address: str) -> Iterator[str]:
    """Yield what stands in an address before and after its host."""
    yield from _of_address(address)
    _, _, rest = address.partition("://")
    _, slash, path = rest.partition("/")
    yield from _long_enough(slash + path, SHORTEST)
    for part in re.split("[/?&=#]", path):
        if not _PLAIN_WORD.match(part):
            yield from _long_enough(part, SHORTEST)


def _named(value: str) -> Iterator[str]:
    yield from _long_enough(value, SHORTEST_NAMED)


def _long_enough(value: str, shortest: int) -> Iterator[str]:
    if len(value) >= shortest:
        yield value


class Occurrences:
    """Finds where some values occur; each has at least `SHORTEST_VALUE` characters.

    The time grows with the text, however many values there are.
    """

    def __init__(self, values: Collection[str]) -> None:
        self._offsets: dict[str, list[int]] = {}
        """The places that each piece may have in a value, from the last to the first."""
        for offset in reversed(range(_STEP)):
            for piece in {value[offset : offset + _STEP] for value in values}:
                self._offsets.setdefault(piece, []).append(offset)
        self._by_head: dict[str, list[str]] = {}
        for value in sorted(values, key=len, reverse=True):
            self._by_head.setdefault(value[:_HEAD], []).append(value)
        self._heads = sorted(self._by_head)
        self._shorter: dict[str, str] = {}
        """The longest other head that each head begins with, or no text."""
        within = [""]
        for head in self._heads:
            while not head.startswith(within[-1]):
                within.pop()
            self._shorter[head] = within[-1]
            within.append(head)

    def replace(self, text: str, by: str) -> str:
        """Return a text with every occurrence replaced; those that overlap are one."""
        parts: list[str] = []
        done = 0
        for start, end in self._spans(text):
            if start >= done:
                parts += text[done:start], by
            done = max(done, end)
        return "".join((*parts, text[done:])) if parts else text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where occurrences begin and end, in the order in which they begin."""
        known = self._offsets
        places = range(0, len(text) - _STEP + 1, _STEP)
        for place in [one for one in places if text[one : one + _STEP] in known]:
            for offset in known[text[place : place + _STEP]]:
                start = place - offset
                if start >= 0 and (length := self._longest_at(text, start)):
                    yield start, start + length

    def _longest_at(self, text: str, start: int) -> int:
        """Return the length of the longest value that stands there; 0 if none does."""
        place = bisect_right(self._heads, text[start : start + _HEAD]) - 1
        head = self._heads[place] if place >= 0 else ""
        while head:
            if text.startswith(head, start):
                for value in self._by_head[head]:
                    if text.startswith(value, start):
                        return len(value)
            head = self._shorter[head]
        return 0
