"""Draw the messages that an agent gets in each case, from a run of the real code."""

from __future__ import annotations

from collections.abc import Iterator

from agents.origin import Resumed
from bridge.inspection.telling_rows import rows
from bridge.wire import TextPart
from vscodelm.replay.recording import Happening, Parted, Requested, Settled
from vscodelm.replay.run import Replay

from . import pictured_chats as chats
from .markdown import block, sections
from .pictured_chats import Given, Play, Run, played

_CASES: tuple[tuple[str, str, Play, bool], ...] = (
    (
        "A turn more",
        "The agent gets only the new message.",
        chats.extend,
        True,
    ),
    (
        "An edit, and its undo",
        "A new session gets the messages before the edit. The old one stays as it was, and "
        "continues if the user undoes the edit.",
        chats.edit_and_undo,
        True,
    ),
    (
        "The same, with an agent that needs a process for each session",
        "The old session is closed after a minute. After an undo it is found like after a reload.",
        chats.edit_and_undo_later,
        True,
    ),
    (
        "A retry",
        "The new session doesn't know the first answer, so it can't repeat or defend it.",
        chats.retry,
        True,
    ),
    (
        "Stop, and go on",
        "The user still sees the stopped question, and the session knows it. So it is kept.",
        chats.stop_and_go_on,
        True,
    ),
    (
        "Stop, and edit",
        "Now the session knows a withdrawn message. It is replaced with the next request, and not "
        "before that: a stop alone costs nothing.",
        chats.stop_and_edit,
        True,
    ),
    (
        "A fork of a whole chat",
        "If the agent has `session/fork`, no message is sent again.",
        chats.fork,
        True,
    ),
    (
        "The same with an agent that has no forks",
        "The copy's session gets the earlier messages.",
        chats.fork,
        False,
    ),
    (
        "A compaction",
        "The session knows all messages that the editor sums up. So it continues, and doesn't get "
        "the summary.",
        chats.compaction,
        True,
    ),
    (
        "A reload, with an agent that resumes or loads",
        "The [store](../reference/store.md) knows the session. `session/resume` comes first, then "
        "`session/load`. Old messages that the agent sends again are dropped.",
        chats.reload,
        True,
    ),
    (
        "A reload, with an agent that does neither",
        "A new session gets all messages in one prompt.",
        chats.reload,
        False,
    ),
    (
        "A crash in mid-turn",
        "It is uncertain how much of the turn the agent's session contains. So a new session gets "
        "the messages that the chat shows.",
        chats.crash,
        True,
    ),
    (
        "A crash between turns",
        "The session was at rest, so its knowledge is certain.",
        chats.crash_between_turns,
        True,
    ),
    (
        "Two windows with one chat",
        "The first window that asks gets the session. The other one gets a new session.",
        chats.two_windows,
        True,
    ),
    (
        "A long silence, or too many chats",
        "A session is closed after `idleSeconds`. If there are more than `maxSessions`, the least "
        "recently used one is closed. The next request finds it like after a reload.",
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
    """Draw the messages of each session."""
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
            yield f"    Note over S{event.session}: sent again: {' / '.join(event.past)}"
        yield f"    C->>S{event.session}: {' / '.join(event.new)}"
        yield f"    S{event.session}->>C: {event.answer}"


def endpoint() -> str:
    """Return the requests to an endpoint around an edit."""
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
