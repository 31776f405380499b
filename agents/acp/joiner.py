"""Text that was cut inside a character."""

from __future__ import annotations

REPLACEMENT = "\ufffd"


class TextJoiner:
    """Joins the halves of characters that a stream of chunks was cut in; one for each message.

    JavaScript counts in UTF-16, so an agent may cut an emoji into two halves (surrogates), which no
    encoder of ours takes. What comes out has no halves: one that stays alone becomes U+FFFD.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def push(self, text: str) -> str:
        """Return what can be shown now: all, but for a first half at the end."""
        if not self._held and text.isascii():
            return text
        whole = self._held + text
        self._held = whole[-1:] if "\ud800" <= whole[-1:] <= "\udbff" else ""
        return mend(whole[: len(whole) - len(self._held)])

    def flush(self) -> str:
        """Return what is left at the end of the message."""
        held, self._held = self._held, ""
        return REPLACEMENT if held else ""


def mend(text: str) -> str:
    """Join the halves of characters; those that are alone become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
