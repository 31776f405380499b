"""Chooses the parts of a user's message for an agent that has instructions of its own.

VS Code's agent renders a message as blocks in tags, what was typed comes last. An ACP agent brings
its own system prompt, tools and memory, so what tells VS Code's agent how to work would only
mislead it. The table says which blocks those are; everything else is kept, above all what nobody
has heard of. Messages of the Agent Host have other blocks (`bridge.history.agent_host`). Messages
with neither weren't rendered by VS Code's agent, and are kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from bridge.history.agent_host import (
    NOTIFICATION,
    is_host_summary,
    is_marked,
    read_host_message,
)
from bridge.history.request_text import BOILERPLATE, REQUEST_TAGS
from bridge.value import Value

LEFT_OUT = {
    "environment_info": "the agent runs on the machine, and sees it",
    "workspace_info": "the same; its working directory is the workspace",
    "userMemory": "the notes of a memory tool that the agent doesn't have",
    "sessionMemory": "the same",
    "repoMemory": "the same",
    "memory": "the same, in other versions",
    "memories": "the same, in other versions",
    "context": "date, terminals, to-do list: of the host's agent and its tools",
    "todoList": "the to-do list of a tool that the agent doesn't have",
    "repoContext": "branch and owner, which the agent can ask git",
    "reminderInstructions": "how to use the host's editing tools",
    "notebookFormatInstructions": "the same, for notebooks",
    "toolUseInstructions": "the same, for tools at large",
    "skills": "instructions that only the host's tools can load",
    "agents": "sub-agents that only the host's tools can start",
}
"""Tags of blocks that an agent isn't told, and why."""

KEPT = {
    "attachments": "what the user attached",
    "attachment": "the same, by itself",
    "editorContext": "the file and the selection that the user is looking at",
    "toolReferences": "the tools that the user named",
    "instructions": "the user's own instructions",
    "modeInstructions": "the same, of a mode",
    "conversation-summary": "all that is left of what was said",
}
"""Tags of blocks that are passed on unchanged, with the reason; a tag in neither table is passed
on, too.
"""

_BLOCK = re.compile(
    rf"^<({'|'.join([*LEFT_OUT, *KEPT, *REQUEST_TAGS])})(?:\s[^<>]*)?>", re.MULTILINE
)


TextKind: TypeAlias = Literal["request", "host", "kept", "left out"]
"""The typed text; the host's own words in place of it, which `marks` encloses; the other text that
is passed on; the text that isn't.
"""


class Span(Value):
    """A stretch of a message's text."""

    start: int
    end: int
    kind: TextKind


def spans(text: str) -> list[Span]:
    """Return the stretches of a user message's text, from its beginning to its end."""
    if is_host_summary(text):
        return [Span(0, len(text), "kept")]
    of_agent_host = _of_agent_host(text)
    if of_agent_host:
        return of_agent_host
    found = list(_spans(text))
    if any(span.kind == "request" for span in found) or text.lstrip().startswith(BOILERPLATE):
        return found
    return [Span(0, len(text), "request")]


def marks(words: str) -> tuple[str, str]:
    """Return the marks round the host's own words that name the host as their author.

    They are the host's own tag. If the words have a tag already, there is no other.
    """
    if is_marked(words):
        return "", ""
    return f"<{NOTIFICATION}>\n", f"\n</{NOTIFICATION}>"


def _of_agent_host(text: str) -> list[Span]:
    """Return the stretches of a message that the Agent Host wrote; none of any other."""
    host = read_host_message(text)
    if host is None:
        return []
    before, after = (
        [Span(one.start, one.end, "kept" if one.is_told else "left out") for one in blocks]
        for blocks in (host.before, host.after)
    )
    words = Span(host.start, host.end, "request" if host.is_typed else "host")
    return [*before, words, *after]


def _spans(text: str) -> Iterator[Span]:
    at = 0
    inline: set[str] = set()
    """Tags that close nowhere at the beginning of a line from here on, so that each is looked for
    there in vain but once."""
    while (block := _BLOCK.search(text, at)) is not None:
        tag = block[1]
        closing = f"</{tag}>"
        start = _past_line_end(text, block.end())
        # The typed text may contain any tag, and ends with the host's last closing tag.
        is_request = tag in REQUEST_TAGS
        end = (
            text.rfind(closing, block.end())
            if is_request
            else _closed(text, block.end(), closing, inline)
        )
        if end < 0:
            break
        yield Span(at, block.start(), "kept")
        at = _past_line_end(text, end + len(closing))
        if is_request:
            last = max(start, end - 1 if text[end - 1] == "\n" else end)
            yield Span(block.start(), start, "left out")
            yield Span(start, last, "request")
            yield Span(last, at, "left out")
            break
        yield Span(block.start(), at, "left out" if tag in LEFT_OUT else "kept")
    yield Span(at, len(text), "kept")


def _past_line_end(text: str, at: int) -> int:
    return at + 1 if text.startswith("\n", at) else at


def _closed(text: str, start: int, closing: str, inline: set[str]) -> int:
    """Return where a block ends: at a closing tag that begins a line, else at any."""
    if text.startswith(closing, start):
        return start
    at_line = -1 if closing in inline else text.find(f"\n{closing}", start)
    if at_line >= 0:
        return at_line + 1
    inline.add(closing)
    return text.find(closing, start)
