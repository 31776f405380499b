"""The wording of user messages in VS Code's Agent Host.

The host writes the date before what was typed, the selection before the date, and attached files
after the text. There is no closing tag round the typed text, so the host's blocks are taken off
from both ends. A steering message has only the blocks after the text. Some messages are the host's
own: notifications, skills, and the reminders of Autopilot.
"""

from __future__ import annotations

import re

from bridge.value import Value

SUMMARY_BEGINS = (
    "Some of the conversation history has been summarized to free up context.",
    "The conversation history has been summarized to free up context.",
)
"""The beginning of a message that replaces earlier ones by a summary."""
NOTIFICATION = "system_notification"
"""The tag of a message that the host writes by itself, about a shell or a sub-agent."""
_OWN = re.compile(rf"\s*<({NOTIFICATION}|skill-context)[ >]")
"""The beginning of the host's own messages, which their tags mark."""
_REMINDER = re.compile(
    r"\s*You (?:have not|haven't) yet marked the task as complete\b.*\btask_complete\b", re.DOTALL
)
"""Autopilot's reminder that its task isn't finished, which has no tag."""

_LEADING = re.compile(r"\s*<(ide_selection|current_datetime|tools_changed_notice)>")
_BEFORE_DATE = re.compile(r"</ide_selection>(?=\s*<current_datetime>[^<]*</current_datetime>)")
"""The end of a selection. The selected text may contain closing tags, too."""
_SPACE = re.compile(r"\s*")
_MODE = re.compile(r"\[\[PLAN\]\] ")
_TRAILING = ("system_reminder", "tagged_files")
_IMAGE_PATH = "Image file at path "
LEFT_OUT = {
    "current_datetime": "the date, which the agent can ask its machine",
    "tools_changed_notice": "which model or tools the host's own agent has from now on",
}
"""Blocks that an agent isn't told, and why."""


class HostBlock(Value):
    """A block of the host in a message: its start and end, and whether agents get it."""

    start: int
    end: int
    is_told: bool


class HostMessage(Value):
    """The place of the words in a message, and the host's blocks before and after them.

    If nobody typed the words, they are the host's own.
    """

    before: tuple[HostBlock, ...]
    start: int
    end: int
    after: tuple[HostBlock, ...]
    is_typed: bool = True


def is_host_summary(text: str) -> bool:
    """Return whether a message is the Agent Host's summary of what was said."""
    return text.lstrip().startswith(SUMMARY_BEGINS)


def read_host_message(text: str) -> HostMessage | None:
    """Return where the words are in a message of the Agent Host; None in any other."""
    if is_marked(text):
        return HostMessage((), 0, len(text), (), is_typed=False)
    before = _leading(text)
    start = before[-1].end if before else 0
    mode = _MODE.match(text, start)
    if mode is not None and before:
        before.append(HostBlock(start, mode.end(), is_told=True))
        start = mode.end()
    end = _end(text, start)
    after = (HostBlock(end, len(text), is_told=True),) if end < len(text) else ()
    is_typed = _REMINDER.match(text, start, end) is None
    is_steering = bool(text[start:end].strip() and text[end:].strip())
    if is_typed and not (before or is_steering):
        return None
    return HostMessage(tuple(before), start, end, after, is_typed)


def is_marked(text: str) -> bool:
    """Return whether a text is the host's own, and has a tag that says so."""
    own = _OWN.match(text)
    # a skill's closing tag was seen to be written in another way than its opening one
    return own is not None and text.rstrip().endswith(
        (f"</{own[1]}>", f"</{own[1].replace('-', '_')}>")
    )


def _leading(text: str) -> list[HostBlock]:
    """Return the host's blocks at the beginning of a message. Each stands there once at most."""
    blocks: list[HostBlock] = []
    names: set[str] = set()
    start = 0
    while (block := _LEADING.match(text, start)) is not None and block[1] not in names:
        closing = f"</{block[1]}>"
        end = text.find(closing, block.end())
        if block[1] == "ide_selection" and "current_datetime" not in names:
            last = _BEFORE_DATE.search(text, block.end())
            end = end if last is None else last.start()
        if end < 0:
            break
        past = _SPACE.match(text, end + len(closing))
        assert past is not None, "there may be no space"
        names.add(block[1])
        blocks.append(HostBlock(start, past.end(), block[1] not in LEFT_OUT))
        start = past.end()
    return blocks


def _end(text: str, start: int) -> int:
    """Return where the typed text ends: before the host's last blocks and the paths of images."""
    end = len(text)
    while True:
        end = start + len(text[start:end].rstrip())
        opened = _opening(text, start, end)
        if opened is None:
            return end
        end = opened


def _opening(text: str, start: int, end: int) -> int | None:
    """Return where the host's block begins that ends at `end`, None if there is none."""
    for tag in _TRAILING:
        if text.endswith(f"</{tag}>", start, end):
            found = text.rfind(f"<{tag}>\n", start, end)
            if found >= 0 and (found == start or text[found - 1] == "\n"):
                return found
    # One line, which follows a block or an image at once.
    line = max(start, text.rfind("\n", start, end) + 1)
    found = text.find(_IMAGE_PATH, line, end)
    follows = found == line or any(text.endswith(f"</{tag}>", start, found) for tag in _TRAILING)
    return found if found >= 0 and follows else None
