"""Turn an agent's error into a message for the user.

The error codes of the protocol say little. Many agents answer nearly every error with -32603, and
lost sessions have been seen under four codes. So the words count, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from agents.acp.schema.errors import AUTH_REQUIRED, REQUEST_CANCELLED, RESOURCE_NOT_FOUND, Error
from agents.acp.schema.initialize import PROTOCOL_VERSION
from agents.acp.text.markdown import Exhibit
from agents.launchers import NODE, wants_newer_node
from bridge.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Failure,
    FailureKind,
)
from bridge.fixes import Fix
from bridge.wire import McpServerSpec

_DETAIL_LENGTH = 1000
_LEGACY_NOT_FOUND = -32001
_UNSUPPORTED_VERSION = -32022
_REASON_FIELDS = ("details", "detail", "reason", "message", "error", "cause")
"""Fields of an error's data that may have the agent's own reason."""

_NO_SESSION = re.compile(
    r"\b(unknown|invalid|no such|no previous|missing|expired|nonexistent) session"
    r"|\bsession\b[^.\n]{0,80}\b(not found|does(n't| not) exist|is unknown|expired|is closed)"
    r"|\bno session\b[^.\n]{0,40}\b(found|with|for)\b"
    r"|\bnot find (the )?session\b",
    re.IGNORECASE,
)
_ABORTED = re.compile(
    r"(?<!connection )\babort(ed|error)?\b|\bcancel(l?ed|l?ation|lederror)\b"
    r"|\b(interrupted|stopped) by (the )?user\b|\bkeyboardinterrupt\b",
    re.IGNORECASE,
)
_OUR_FAULTS = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS})
"""Codes of errors that say that a request was wrong."""
# In the order in which they are tried; the first one that finds its words names the kind.
_KINDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (
        "NoPermissions",
        re.compile(
            r"\b(401|403|unauthori[sz]ed|unauthenticated|authentication (is )?required"
            r"|(not|please) (logged|log|sign|signed) in|(invalid|missing|no) api[ _-]?key)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "Blocked",
        re.compile(
            r"\b(429|quota|rate.?limit(ed|s)?|usage limit|insufficient (credit|fund|balance)s?"
            r"|billing|content (filter|policy))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "Unavailable",
        re.compile(
            r"\b(50[0234]|529|overloaded|high demand|time[d ]?.?out|ECONN\w+|ENOTFOUND|EAI_AGAIN"
            r"|(connection|network) (error|refused|reset)|fetch failed|service unavailable)\b",
            re.IGNORECASE,
        ),
    ),
)


def is_auth_required(error: Error) -> bool:
    """Tell whether the agent wants a login first; any method may be answered so."""
    return error.code == AUTH_REQUIRED


def is_lost_session(error: Error, *, may_be_file: bool = False) -> bool:
    """Tell whether the agent doesn't know the session that a request was about.

    Its code says so, unless it `may_be_file`: the agent was told that a file is missing, and some
    agents pass that error on as their own. Then the words must say it.
    """
    is_missing = error.code in (RESOURCE_NOT_FOUND, _LEGACY_NOT_FOUND)
    if is_missing and not may_be_file:
        return True
    if not is_missing and error.code not in (INVALID_PARAMS, INTERNAL_ERROR):
        return False
    return any(_NO_SESSION.search(text) for text in _texts(error))


def is_cancelled(error: Error) -> bool:
    """Tell whether a prompt that *we* cancelled was answered with this for it.

    Any other error may leave the session with a turn that never ends.
    """
    if error.code == REQUEST_CANCELLED:
        return True
    return error.code not in _OUR_FAULTS and any(_ABORTED.search(t) for t in _texts(error))


def refused(
    agent: str,
    error: Error,
    *,
    advice: str = "",
    fixes: tuple[Fix, ...] = (),
    last_words: str = "",
) -> Failure:
    """Return the failure for an error that a request was answered with.

    `advice` and `fixes` are how to log in (`agents.acp.login`), `last_words` the end of stderr.
    """
    words = words_of(error)
    detail = f"{error.code} {words}"
    if is_auth_required(error):
        message = f"{agent} needs a login. {advice}".rstrip()
        return Failure("NoPermissions", message, detail, last_words or None, fixes)
    if error.code == _UNSUPPORTED_VERSION:
        return wrong_version(agent, detail)
    kind = _kind(words)
    ways = fixes if kind == "NoPermissions" else ()
    return Failure(kind, f"{agent} failed: {words}", detail, last_words or None, ways)


def _kind(words: str) -> FailureKind:
    for kind, found in _KINDS:
        if found.search(words):
            return kind
    return "AgentFailed"


def unknown_session(agent: str) -> Failure:
    """Return the failure for a session that was to be gone on with, and that the agent refuses."""
    message = (
        f"{agent} has lost the session of this chat. Send your message again: {agent} then gets "
    )
    return Failure("AgentFailed", f"{message}the whole chat.")


def wrong_version(agent: str, answer: object) -> Failure:
    """Return the failure for an agent that speaks another version than ours."""
    return Failure(
        "AgentFailed",
        f"{agent} doesn't support version {PROTOCOL_VERSION} of the Agent Client Protocol, which "
        f"vscodelm needs. Install another release of {agent}. (It answered: {answer})",
    )


def cannot_be_given(spec: McpServerSpec, reason: ValueError) -> Failure:
    """Return the failure for a program that can't get its arguments unchanged."""
    advice = "Start the program behind it directly, such as node.exe with the script's path."
    return Failure("AgentFailed", f"{spec.name} can't be started: {reason}. {advice}")


def exited(agent: str, status: int | None, last_words: str) -> Failure:
    """Return the failure for a process that has ended; `status` as Python tells it, if known."""
    how = _how(status)
    message = f"{agent} ended ({how}). The next request restarts it."
    return Failure("AgentFailed", message, how, last_words or None)


def ended_early(agent: str, status: int | None, last_words: str, *, said: str = "") -> Failure:
    """Return the failure for a process that has ended before it was ready.

    `said` is what it wrote on stdout instead of messages: some say there why they end.
    """
    how = _how(status)
    if status == 127:  # a launcher's word for it: env, a shell script
        message = f"{agent} can't be started: a command that it needs was not found ({how})."
        return Failure("NotFound", message, how, last_words or None)
    message = f"{agent} ended before it was ready ({how}).{_quoted(said)}"
    if status != 0 or not said:
        message += (
            " Run its command in a terminal to see the reason. "
            "A launcher such as npx or uvx needs the network and a recent Node or Python."
        )
    fixes = (NODE,) if wants_newer_node(last_words) else ()
    return Failure("AgentFailed", message, how, last_words or None, fixes)


def silent(agent: str, seconds: float, last_words: str, *, said: str = "") -> Failure:
    """Return the failure for an agent that runs, and didn't introduce itself in time."""
    message = (
        f"{agent} didn't answer `initialize` within {seconds:g} seconds.{_quoted(said)} "
        "Run its command in a terminal to see the reason."
    )
    return Failure("Unavailable", message, stderr_tail=last_words or None)


def _quoted(said: str) -> str:
    words = " ".join(said.split())
    return f' It said: "{Exhibit(_DETAIL_LENGTH).text(words)}".' if words else ""


def _how(status: int | None) -> str:
    if status is None:
        return "it closed its output"
    return f"signal {-status}" if status < 0 else f"status {status}"


def words_of(error: Error) -> str:
    """Return what an error says: often "Internal error", with the true reason in its data."""
    said = Exhibit(_DETAIL_LENGTH)
    words = said.text(error.message.strip()) or "no reason given"
    if error.data in (None, "", {}, []):
        return words
    reasons = list(_reasons(error.data)) or [msgspec.json.encode(error.data).decode()]
    more = next((reason for reason in reasons if reason not in words), None)
    return words if more is None else f"{words} ({said.text(more)})"


def _reasons(data: Any) -> Iterator[str]:
    """Yield the texts in an error's data that are a reason, the most telling first."""
    match data:
        case str(text):
            yield text
        case dict():
            fields = cast("dict[str, Any]", data)
            for name in _REASON_FIELDS:
                match fields.get(name):
                    case str(text) | {"message": str(text)} if text.strip():
                        yield text
                    case _:
                        pass
        case _:
            pass


def _texts(error: Error) -> Iterator[str]:
    yield error.message
    yield from _strings(error.data)


def _strings(value: Any, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _strings(item, depth - 1)
    elif depth and isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _strings(item, depth - 1)
