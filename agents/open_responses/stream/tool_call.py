"""The record of one tool call."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, cast

import attrs
import msgspec

from agents.loading import load
from bridge.value import Value

from .events import OutputItem

_EMPTY = frozenset({"null", "[]", '""'})
"""The texts that servers write if a call has no arguments."""
_WRAPPED = ("{", '"')
_MOST_WRAPPINGS = 3
"""Times that an object may be written as JSON of its JSON."""


class WholeCall(Value):
    """A call that can be emitted; `arguments` is the server's text of its parameters."""

    call_id: str
    name: str
    parameters: dict[str, Any]
    arguments: str


class CallState(enum.Enum):
    """The progress of a call."""

    OPEN = enum.auto()
    SENT = enum.auto()
    TRUNCATED = enum.auto()
    """Its item is said to be incomplete."""


class CallSource(enum.Flag):
    """The parts of a stream that tell of a call, each once. But there may be many pieces."""

    NONE = 0
    ANNOUNCED = enum.auto()
    PIECES = enum.auto()
    ARGUMENTS = enum.auto()
    ITEM = enum.auto()
    END = enum.auto()


@attrs.define(eq=False, repr=False)
class FunctionCall:
    """A call; what isn't known yet is None."""

    place: int = 0
    """In the order in which calls were heard of."""
    item_id: str | None = None
    output_index: int | None = None
    call_id: str | None = None
    name: str | None = None
    deltas: list[str] = attrs.field(factory=list[str])
    done_text: str | None = None
    item_text: str | None = None
    announced_text: str | None = None
    """The arguments of its first item, which count only if nothing came later."""
    state: CallState = CallState.OPEN
    is_finished: bool = False
    """Whether its item is done."""
    digest: bytes = b""
    """Of the parameters that were sent."""
    told: CallSource = CallSource.NONE
    is_repeated: bool = False
    """Whether it was left out, because another record is the same call."""
    has_item: bool = False
    """Whether an item told of it; events of arguments may have its name alone."""
    is_heard: bool = False
    """Whether an event of its arguments came."""
    is_matched: bool = False
    """Whether it was found in the final output, or its arguments are those of another."""
    waits: bool = False
    """Whether its item came without arguments, and none that came may be its own."""
    _parsed: tuple[tuple[object, ...], tuple[dict[str, Any], str] | None, bytes] | None = None
    """The arguments as they were parsed last, as they are now, and their digest."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The sources of its arguments, the best first."""
        came = (self.item_text, self.done_text, _as_meant("".join(self.deltas)))
        given = tuple(text for text in came if text and not text.isspace())
        return given or ((self.announced_text,) if self.announced_text else ())

    @property
    def parameters(self) -> tuple[dict[str, Any], str] | None:
        """The first text that is a JSON object, but an empty one last, as that and as it is."""
        return self._parse()[0]

    @property
    def asked(self) -> bytes:
        """The digest of its parameters; where there are none, of an empty object."""
        return self._parse()[1]

    def _parse(self) -> tuple[tuple[dict[str, Any], str] | None, bytes]:
        """Parse its arguments, once as long as they are the same: they may be long."""
        now = (self.item_text, self.done_text, self.announced_text, len(self.deltas))
        if self._parsed is None or self._parsed[0] != now:
            found = _first_object(self.texts)
            self._parsed = now, found, digest_of({} if found is None else found[0])
        return self._parsed[1:]

    @property
    def is_stray(self) -> bool:
        """Whether it is nothing but arguments, and no call was found for them."""
        is_call = self.name is not None and (self.has_item or bool(self.call_id))
        return not is_call and not self.is_matched

    @property
    def is_claimed(self) -> bool:
        """Whether it is nothing but arguments, and a call was found for them."""
        return self.is_matched and not self.has_item

    @property
    def is_whole(self) -> bool:
        """Whether all of its arguments are known; they may be none."""
        return self.parameters is not None or (self.done_text is not None and not self.texts)

    @property
    def is_held(self) -> bool:
        """Whether it is whole, unless the final output has arguments for it."""
        return self.waits and self.state is CallState.OPEN and not self.texts

    @property
    def is_told(self) -> bool:
        """Whether anything of its arguments came, if only a word for none."""
        return self.is_finished or self.is_heard

    def asks(self, digest: bytes) -> bool:
        """Tell whether its parameters are, or were, those of the digest."""
        if self.state is CallState.SENT:
            return self.digest == digest
        return self.asked == digest and self.is_whole

    def learn(self, item_id: str | None, index: int | None, item: OutputItem | None = None) -> None:
        """Fill in the keys that weren't known."""
        self.item_id = self.item_id or item_id
        self.output_index = index if self.output_index is None else self.output_index
        if item is not None:
            self.has_item = True
            self.call_id = self.call_id or item.call_id
            self.name = self.name or item.name

    def clashes(self, item_id: str | None, index: int | None) -> bool:
        """Tell whether it is known to be at another place, under another id."""
        return (
            bool(self.item_id and item_id and self.item_id != item_id)
            and None not in (self.output_index, index)
            and self.output_index != index
        )


def _first_object(texts: Iterable[str]) -> tuple[dict[str, Any], str] | None:
    """Return the first text that is an object, as both; an empty one if there is no other."""
    empty = None
    for found in filter(None, map(_object_in, texts)):
        if found[0]:
            return found
        empty = empty or found
    return empty


def _object_in(text: str) -> tuple[dict[str, Any], str] | None:
    parameters = load(text.encode("utf-8", "replace"))
    return (cast("dict[str, Any]", parameters), text) if isinstance(parameters, dict) else None


def text_of(arguments: Any) -> str | None:
    """Return arguments as text; some servers write the object itself, or an empty list.

    Any other JSON is text as well, so that a call of it is refused, and a question shows it.
    """
    if arguments is None or isinstance(arguments, str):
        return None if arguments is None else _as_meant(arguments)
    return "" if arguments == [] else msgspec.json.encode(arguments).decode()


def _as_meant(text: str) -> str:
    """Return what the text of arguments means, where it is a word for none, or JSON of JSON."""
    for _ in range(_MOST_WRAPPINGS):
        bare = text.strip()
        if bare in _EMPTY:
            return ""
        inner = load(bare.encode("utf-8", "replace")) if bare.startswith('"') else None
        if isinstance(inner, str) and (not inner.strip() or inner.strip() in _EMPTY):
            return ""
        if not isinstance(inner, str) or not inner.lstrip().startswith(_WRAPPED):
            return text
        text = inner
    return text


def parse(arguments: Any) -> Any:
    """Return arguments as JSON; empty ones are an object."""
    text = text_of(arguments)
    return {} if text is None or not text.strip() else load(text.encode("utf-8", "replace"))


def digest_of(parameters: Any) -> bytes:
    """Return what is equal for equal JSON."""
    return msgspec.json.encode(parameters, order="sorted")


def announced_text(item: OutputItem) -> str | None:
    """Return the arguments of an item that begins; an empty object is where they will be."""
    text = text_of(item.arguments)
    is_empty = text is None or parse(text) == {}
    return None if is_empty and item.status != "completed" else text
