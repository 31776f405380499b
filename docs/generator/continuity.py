"""Pictures of what an agent gets to know of a chat, drawn from what it was really given."""

from __future__ import annotations

from collections.abc import Iterator

from agents.origin import Resumed
from bridge.recording import Happening, Parted, Requested, Settled
from bridge.replay import Replay
from bridge.telling_rows import rows
from bridge.wire import TextPart

from . import pictured_chats as chats
from .markdown import block, sections
from .pictured_chats import Given, Play, Run, played

_CASES: tuple[tuple[str, str, Play, bool], ...] = (
    (
        "A turn more",
        "Only what is new is given to the agent. It costs nothing beside that.",
        chats.extend,
        True,
    ),
    (
        "An edit, and its undo",
        "A new session is told what stands before the edit. The old one stays as it was, and is "
        "gone on with where the edit is undone.",
        chats.edit_and_undo,
        True,
    ),
    (
        "The same, with an agent that needs a process for each session",
        "The old session is closed after a minute. Going back finds it like after a reload.",
        chats.edit_and_undo_later,
        True,
    ),
    (
        "A retry",
        "The new session has never heard of the first answer, so it can't repeat or defend it.",
        chats.retry,
        True,
    ),
    (
        "Stop, and go on",
        "A question that was stopped was asked all the same, so the session knows it and is kept.",
        chats.stop_and_go_on,
        True,
    ),
    (
        "Stop, and edit",
        "Now the session knows what was taken back. It is replaced with the next request, not "
        "before: who only stops pays for nothing.",
        chats.stop_and_edit,
        True,
    ),
    (
        "A fork of a whole chat",
        "Where the agent has `session/fork`, nothing is told again.",
        chats.fork,
        True,
    ),
    (
        "The same with an agent that has no forks",
        "The copy is told what was said.",
        chats.fork,
        False,
    ),
    (
        "A compaction",
        "The session knows in full what the host sums up, so it goes on, and isn't told the "
        "summary.",
        chats.compaction,
        True,
    ),
    (
        "A reload, with an agent that resumes or loads",
        "The [store](../reference/store.md) knows the session. `session/resume` comes first, then "
        "`session/load`; what the agent says again while it loads is dropped.",
        chats.reload,
        True,
    ),
    (
        "A reload, with an agent that does neither",
        "The chat is told again, in one prompt.",
        chats.reload,
        False,
    ),
    (
        "A crash in mid-turn",
        "Nobody knows how much of the turn is in the agent's own record of the session, so that is "
        "left, and a new session is told what the chat shows.",
        chats.crash,
        True,
    ),
    (
        "A crash between turns",
        "The session was at rest, so what it knows is certain.",
        chats.crash_between_turns,
        True,
    ),
    (
        "Two windows with one chat",
        "The first one that asks has the session. The other is told the chat in one of its own.",
        chats.two_windows,
        True,
    ),
    (
        "A long silence, or too many chats",
        "A session is closed after `idleSeconds`, and the one that was used least recently when "
        "there are more than `maxSessions`. The next request finds it like after a reload.",
        chats.idle,
        True,
    ),
)


def pictures() -> str:
    """Return each case with its picture."""
    return sections(
        f"### {title}\n\n{text}\n\n{picture(played(play, is_able=is_able))}"
        for title, text, play, is_able in _CASES
    )


def picture(run: Run) -> str:
    """Draw who was given what."""
    return block("mermaid", "\n".join(_lines(run)))


def _lines(run: Run) -> Iterator[str]:
    yield "sequenceDiagram"
    yield "    participant C as the chat"
    sessions = max(event.session for event in run.events if isinstance(event, Given))
    for number in range(1, sessions + 1):
        yield f"    participant S{number} as session {number}"
    for event in run.events:
        if isinstance(event, str):
            yield f"    Note over C: {event.replace(';', ',')}"
            continue
        if event.fork_of is not None:
            yield f"    S{event.fork_of}-->>S{event.session}: is forked"
        elif isinstance(event.origin, Resumed) and not event.past:
            yield f"    Note over S{event.session}: is found again"
        if event.past:
            yield f"    Note over S{event.session}: told as past: {' / '.join(event.past)}"
        yield f"    C->>S{event.session}: {' / '.join(event.new)}"
        yield f"    S{event.session}->>C: {event.answer}"


def endpoint() -> str:
    """Return how an endpoint gets to know an edit, request by request."""
    definition = '{"open_responses":{"baseUrl":"http://127.0.0.1:8080/v1","model":"m"}}'
    told: list[str] = []
    for decision in Replay().decisions(_edit(definition)):
        asked = decision.delivered[-1].text
        pairs = rows(decision.telling)
        told.append("\n".join([f'"{asked}"', *(f"  {name:<10}{text}" for name, text in pairs)]))
    return block("text", "\n\n".join(told))


def _edit(definition: str) -> Iterator[Happening]:
    lines = (("A",), ("A", "B"), ("A", "B2"), ("A", "B", "C"))
    for number, words in enumerate(lines, 1):
        texts = [text for word in words[:-1] for text in (word, f"answer to {word}")]
        messages = ",".join(
            f'{{"role":"{role}","content":[{{"type":"text","value":"{text}"}}]}}'
            for role, text in zip(("user", "assistant") * 9, [*texts, words[-1]], strict=False)
        )
        params = f'{{"modelId":"m","agent":{definition},"messages":[{messages}]}}'
        yield Requested(number, params.encode())
        yield Parted(number, TextPart(f"answer to {words[-1]}"))
        yield Settled(number)
