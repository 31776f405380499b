"""Join the pieces of an answer: keep paragraphs apart and split words together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.events import Say, Think

_GOES_ON = frozenset(".,;:!?)]}'\"`*~_-")
"""Characters that continue a sentence, besides blanks and lowercase letters."""


@attrs.define
class _Stream:
    """The end of a stream of text, as far as the next piece depends on it."""

    _ends: int = 2
    """Number of line ends at the end; two if the stream is empty or ends with an empty line."""
    _is_ended: bool = False
    """Whether the paragraph is complete, so that the next piece begins another."""
    message_id: str | None = None
    _is_aside: bool = False
    """Whether the newest text is of no message, after some that were of one."""

    def add(self, text: str, message_id: str | None) -> str:
        """Add text of a message. Return the separator before it: "" or the end of a paragraph.

        Another message begins where the id changes. Many agents send none. An agent that names its
        messages may say something between them, such as a warning, which has no name.
        """
        if message_id is None:
            is_aside = self.message_id is not None and _begins(text)
            self._is_ended = self._is_ended or (is_aside and not self._is_aside)
            self._is_aside = self._is_aside or is_aside
        else:
            is_other = self.message_id not in (None, message_id)
            self._is_ended = self._is_ended or is_other or self._is_aside
            self.message_id, self._is_aside = message_id, False
        gap = self._gap(text) if self._is_ended else ""
        self._is_ended = False
        if text[-1] != "\n":
            self._ends = 0
        else:
            ends = len(text) - len(text.rstrip("\n"))
            self._ends = min(2, ends if ends < len(text) else self._ends + len(gap) + ends)
        return gap

    def add_block(self, block: str) -> str:
        """Add a paragraph, or several. Return the separator before it."""
        gap = self._gap(block)
        self._ends = 0
        self._is_ended = True
        return gap

    def end(self) -> None:
        self._is_ended = True

    def clear(self) -> None:
        self._ends = 2

    def _gap(self, text: str) -> str:
        begins = len(text) - len(text.lstrip("\n"))
        return "\n" * max(0, 2 - self._ends - begins)


@attrs.define
class Page:
    """The answer and the thoughts of a turn, as they stand in the editor.

    Our own line can be about something, whose outcome then stands behind it, if nothing else has
    come in between.
    """

    _answer: _Stream = attrs.field(factory=_Stream, init=False)
    _thoughts: _Stream = attrs.field(factory=_Stream, init=False)
    _about: object = attrs.field(default=None, init=False)
    said: int = attrs.field(default=0, init=False)
    """Number of text pieces that the agent has sent."""

    def say(self, text: str, message_id: str | None) -> Sequence[Say]:
        """Add a piece of the agent's text, which goes out as it is."""
        gap = self._answer.add(text, message_id)
        self.said += 1
        self._interrupt()
        return (Say(gap, by_us=True), Say(text)) if gap else (Say(text),)

    def say_block(self, text: str) -> Sequence[Say]:
        """Add something of the agent's that is a paragraph of its own."""
        gap = self._answer.add_block(text)
        self.said += 1
        self._interrupt()
        return (Say(gap, by_us=True), Say(text)) if gap else (Say(text),)

    def think(self, text: str, message_id: str | None) -> Think:
        """Add a piece of the agent's reasoning."""
        self._about = None
        if self._answer.message_id is None:
            self._answer.end()  # an agent without message ids begins another message after thinking
        return Think(self._thoughts.add(text, message_id) + text, message_id)

    def end_thought(self) -> None:
        """Let the next thought begin a paragraph."""
        self._thoughts.end()

    def add(self, text: str, about: object = None) -> Sequence[Say]:
        """Add our own paragraph, nothing if it is empty."""
        if not text:
            return ()
        self._interrupt()
        self._about = about
        return (Say(self._answer.add_block(text) + text, by_us=True),)

    def add_behind(self, text: str) -> Sequence[Say]:
        """Add to our last line."""
        self._about = None
        return (Say(text, by_us=True),)

    def is_about(self, about: object) -> bool:
        """Whether the last line is our own, about this."""
        return self._about is about

    def turn(self) -> None:
        """Go on with an empty page: another response to the editor."""
        self._answer.clear()
        self._thoughts.clear()
        self._about = None

    def _interrupt(self) -> None:
        self._about = None
        self._thoughts.end()


def _begins(text: str) -> bool:
    """Return whether a text begins as a sentence does."""
    first = text[:1]
    return not (first.isspace() or first.islower() or first in _GOES_ON)
