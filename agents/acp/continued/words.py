"""Our words to a user who wants to continue a session, and the list of sessions. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from agents.acp.schema.methods import SessionInfo
from agents.acp.text.markdown import code, escape, one_line, title_of
from bridge.wire import ListedSession

from .command import COMMAND

MOST_LISTED = 500
"""Sessions that are listed for the editor."""
MOST_NAMED = 20
"""Sessions that are named in an answer."""
GOES_ON = "*Your next message continues this session.*"
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
# An editor may read a word that begins with "#", "@" or "/" as its own.
_ID = re.compile(r"[^\W_][!-~]{0,199}", re.ASCII)


def listed(
    sessions: Iterable[SessionInfo], is_ours: Callable[[str], bool], is_open: Callable[[str], bool]
) -> list[ListedSession]:
    """Return the sessions whose folder `is_ours`, the newest first, each once.

    Those whose id `is_open` in a chat are left out, and those whose id can't be sent in a chat.
    """
    found: dict[str, ListedSession] = {}
    for one in sessions:
        can_be_named = _ID.fullmatch(one.session_id) and not is_open(one.session_id)
        if can_be_named and is_ours(one.cwd):
            updated = one.updated_at or ""
            found[one.session_id] = ListedSession(
                one.session_id,
                one.cwd,
                title_of(one.title or ""),
                updated if _TIME.fullmatch(updated) else "",
            )
    newest = sorted(found.values(), key=lambda one: one.updated_at, reverse=True)
    return newest[:MOST_LISTED]


def list_text(agent: str, sessions: Sequence[ListedSession]) -> str:
    """Return the list for the user."""
    if not sessions:
        return f"*{escape(agent)} has no earlier sessions in this folder.*"
    folders = {one.cwd for one in sessions}
    lines = [_line(one, is_one_of_several=len(folders) > 1) for one in sessions[:MOST_NAMED]]
    more = len(sessions) - MOST_NAMED
    rest = [f"*There are {more} older ones.*"] if more > 0 else []
    first = f"Earlier sessions of {escape(agent)}. To continue one, send its line:"
    return "\n\n".join([first, "\n".join(lines), *rest])


def _line(one: ListedSession, *, is_one_of_several: bool) -> str:
    facts = [time_text(one.updated_at)] if one.updated_at else []
    facts += [code(one_line(one.cwd, 200))] if is_one_of_several else []
    about = f" ({', '.join(facts)})" if facts else ""
    title = f"**{escape(one.title)}**" if one.title else "*no title*"
    return f"- {title}{about}: {code(f'{COMMAND} {one.session_id}')}"


def time_text(updated_at: str) -> str:
    """Return a time of the protocol as a person writes it."""
    found = _TIME.fullmatch(updated_at)
    if found is None:
        return ""
    day, minute, zone = found.groups()
    return f"{day} {minute}{' UTC' if zone == 'Z' else f' {zone}' if zone else ''}"


def no_list(agent: str) -> str:
    """Say that the agent lists no sessions."""
    return f"{agent} can't list its sessions. Write the id of one: {COMMAND} ID"


def failed(agent: str, session_id: str, reason: str) -> str:
    """Say why a session can't be continued."""
    why = escape(one_line(reason, 400)).rstrip(".")
    session = code(one_line(session_id, 200))
    next_ = f"Send `{COMMAND}` for a list of its sessions. Any other message begins a new one."
    return f"**{escape(agent)} didn't continue the session {session}:** {why}.\n\n{next_}"


def without_transcript(agent: str) -> str:
    """Say that the session goes on, although nothing is shown of it."""
    return f"*{escape(agent)} continues the session, but doesn't send its messages.*"
