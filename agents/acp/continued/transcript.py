"""Render what was said in a session before it became this chat. Pure.

The transcript becomes a part of the chat, which the editor sends with each request. So only the
newest messages are shown, and long ones are cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from agents.acp.render.content import content_view
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.schema.updates import SessionUpdate, UserMessageChunk
from agents.acp.text.markdown import clean
from agents.events import Say
from bridge.history.request_text import request_in
from bridge.work import Work

MOST_SHOWN = 40_000
"""Characters that are shown of a session, and a few more."""
MOST_OF_MESSAGE = 10_000
"""Characters that are shown of one message, or of the answer to it."""

HEADING = "### Earlier in this session"
_OLDER = "*Older messages are left out here. The agent still knows them.*"
_CUT = "*(The beginning is left out here.)*"
_USER = "> **You**"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def transcript(updates: Iterable[SessionUpdate], root: str, *, is_cut: bool) -> Work[str]:
    """Return what was said, empty if that is nothing. Each update is a step.

    `root` is the folder that paths are shown relative to. `is_cut` if older updates are missing.
    """
    reading = _Reading(root)
    for update in updates:
        reading.add(update)
        yield
    rounds, left = reading.rounds(), MOST_SHOWN
    shown: list[str] = []
    for text in reversed(rounds):
        left -= len(text)
        if left < 0 and shown:
            break
        shown.append(text)
    if not shown:
        return ""
    older = [_OLDER] if is_cut or len(shown) < len(rounds) else []
    return "\n\n".join([HEADING, *older, *reversed(shown), "---"])


@attrs.define
class _Round:
    """Messages of the user's, and the answer to them."""

    renderer: Renderer
    user: list[str] = attrs.field(factory=list[str], init=False)
    agent: list[str] = attrs.field(factory=list[str], init=False)
    _message_id: str | None = attrs.field(default=None, init=False)

    def ask(self, chunk: UserMessageChunk) -> None:
        """Add a piece of a message of the user's."""
        if self.user and chunk.message_id != self._message_id:
            self.user.append("\n\n")
        self._message_id = chunk.message_id
        self.user.append(content_view(chunk.content))

    def say(self, events: Sequence[object]) -> None:
        """Add to the answer what can be read of it."""
        self.agent += [event.text for event in events if isinstance(event, Say)]

    def text(self) -> str:
        """Return all of it as Markdown, empty if that is nothing."""
        self.say(self.renderer.finish(is_complete=True))
        said = "".join(self.user)
        said = _bounded(clean(request_in(said) or said).strip())
        asked = [f"{_USER}\n>\n{_quoted(said)}"] if said else []
        answer = _bounded("".join(self.agent).strip("\n"))
        return "\n\n".join([*asked, *([_closed(answer)] if answer.strip() else [])])


@attrs.define
class _Reading:
    """The rounds so far."""

    root: str
    _rounds: list[_Round] = attrs.field(factory=list[_Round], init=False)

    def add(self, update: SessionUpdate) -> None:
        is_users = isinstance(update, UserMessageChunk)
        if not self._rounds or (is_users and self._rounds[-1].agent):
            self._rounds.append(_Round(Renderer(SessionView(), root=self.root)))
        if is_users:
            self._rounds[-1].ask(update)
        else:
            self._rounds[-1].say(self._rounds[-1].renderer.update(update))

    def rounds(self) -> list[str]:
        return [text for text in (one.text() for one in self._rounds) if text]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _bounded(text: str) -> str:
    """Return a text, without its beginning if it is too long."""
    if len(text) <= MOST_OF_MESSAGE:
        return text
    end = len(text) - MOST_OF_MESSAGE
    fence = _open_fence(text[:end])
    return f"{_CUT}\n\n{fence}\n{text[end:]}" if fence else f"{_CUT}\n\n{text[end:]}"


def _closed(text: str) -> str:
    """Return Markdown that ends no later than its text: a block that is left open is closed."""
    fence = _open_fence(text)
    return f"{text}\n{fence}" if fence else text


def _open_fence(text: str) -> str:
    """Return the fence of the block of code in which a text ends, empty if it ends in none."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return fence
