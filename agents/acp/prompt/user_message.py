"""A user's message as text and blocks, in the order in which the host wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from agents.acp.schema.initialize import PromptCapabilities
from agents.acp.text.markdown import one_line
from agents.host_context import marks, spans
from bridge.wire import ChatMessage, DataPart, TextPart, UnknownPart

from .attachments import Atom, attachments, data_atom, file_block


@attrs.define
class UserMessage:
    """The typed text (`request`), and the kept content before and after it."""

    before: list[Atom] = attrs.field(factory=list[Atom])
    request: list[Atom] = attrs.field(factory=list[Atom])
    after: list[Atom] = attrs.field(factory=list[Atom])

    @property
    def atoms(self) -> list[Atom]:
        """All of it, in order."""
        return [*self.before, *self.request, *self.after]


def whole(message: ChatMessage, capabilities: PromptCapabilities) -> list[Atom]:
    """Return all that a message says, as it is. Its calls and results are no part of that."""
    walk = _Walk.of(message, capabilities)
    return list(walk.take(len(walk.text)))


def asked(message: ChatMessage, capabilities: PromptCapabilities) -> UserMessage:
    """Return the user's request in a message, without the host's own content (`context`)."""
    walk = _Walk.of(message, capabilities)
    found = UserMessage()
    for span in spans(walk.text):
        side = found.after if found.request else found.before
        if span.kind == "request":
            found.request += walk.take(span.end)
        elif span.kind == "host":
            before, after = marks(walk.text[span.start : span.end])
            side += [before, *walk.take(span.end), after]
        elif span.kind == "kept":
            side += _with_files(walk, span.end, capabilities)
        else:
            side += walk.skip(span.end)
    return found


def _with_files(walk: _Walk, end: int, capabilities: PromptCapabilities) -> Iterator[Atom]:
    """Take a stretch, in which attached files become blocks where they can."""
    for attachment in attachments(walk.text, walk.at, end):
        block = file_block(attachment, capabilities)
        if block is not None and not walk.is_interrupted(attachment.end):
            yield from walk.take(attachment.start)
            yield block
            yield from walk.skip(attachment.end)
    yield from walk.take(end)


@attrs.define
class _Walk:
    """A walk through a message's text that skips other parts (`between`, with their places)."""

    text: str
    between: Sequence[tuple[int, Atom]]
    at: int = 0
    _next: int = 0

    @classmethod
    def of(cls, message: ChatMessage, capabilities: PromptCapabilities) -> _Walk:
        texts: list[str] = []
        between: list[tuple[int, Atom]] = []
        length = 0
        for part in message.content:
            match part:
                case TextPart(value=value):
                    texts.append(value)
                    length += len(value)
                case DataPart():
                    atom = data_atom(part, capabilities)
                    if atom is not None:
                        between.append((length, f"\n{atom}\n" if isinstance(atom, str) else atom))
                case UnknownPart(kind=kind):
                    note = f"\n[Here is something of the kind {one_line(kind, 60)}.]\n"
                    between.append((length, note))
                case _:
                    pass  # calls and results are in `record`; thoughts are never sent
        return cls("".join(texts), between)

    def is_interrupted(self, end: int) -> bool:
        """Whether something stands in between before `end`."""
        return self._next < len(self.between) and self.between[self._next][0] < end

    def take(self, end: int) -> Iterator[Atom]:
        """Walk on to `end`. Return text and the parts in between."""
        while self._next < len(self.between) and self.between[self._next][0] <= end:
            place, atom = self.between[self._next]
            yield from self._text(place)
            self._next += 1
            yield atom
        yield from self._text(end)

    def skip(self, end: int) -> Iterator[Atom]:
        """Walk on to `end`. Return only the parts between: a tag is the host's, an image isn't."""
        while self._next < len(self.between) and self.between[self._next][0] <= end:
            yield self.between[self._next][1]
            self._next += 1
        self.at = end

    def _text(self, end: int) -> Iterator[str]:
        if end > self.at:
            yield self.text[self.at : end]
        self.at = end
