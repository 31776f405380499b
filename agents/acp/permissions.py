"""Word an agent's permission request for the user, and choose one of its options.

Options are chosen by their kind, never by their position or name, and a denial never becomes an
approval. Three rules guard the user:

- Once means once. If an agent offers no `allow_once`, an approval is for good. Then the question
  says so, and only the user's approval, or `permissions: "allow"`, chooses it. A yes can't tell
  several options of that kind apart, so a user's yes chooses none of them.
- No option is chosen silently from several of its kind: the question names them, and the user may
  choose another one by its id. Of several `allow_once` a yes chooses the first, and says which.
- A question without details is about the calls that are open, so it shows those. So does a second
  question about one call: some agents name the last call of several in the question about each.
- A denial is `reject_once`. `reject_always` would stay, and `cancelled` ends the turn in real
  agents. So `cancelled` is used only if nothing else is offered, or if the user has moved on.
- A change of mode (`switch_mode`, such as from planning to doing) is no ordinary tool: the user
  decides, under "allow", too. `actors.permissions.decide` makes that decision by the kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never, cast, get_args

import attrs
import msgspec

from agents.acp.calls.state import CallRecord, command_in
from agents.acp.render.question import DESCRIPTION, question_message, texts_of
from agents.acp.schema.methods import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)
from agents.acp.text.markdown import MOST_ITEMS, TITLE_LENGTH, Exhibit, title_of
from agents.events import ALWAYS_ASKED, AskPermission, Decision, PermissionKind
from bridge.history.message import canonical_json
from bridge.value import Value
from bridge.wire import Permissions

MOST_ACTION_BYTES = 10_000
"""Bytes of JSON of a command that a rule may allow: of a longer one a question may show a part."""
MOST_NAMED = 10
"""Options of one kind that a question names."""
CANCELLED_OUTCOME = CancelledPermissionOutcome()
_KINDS: frozenset[str] = frozenset(get_args(PermissionKind))
Options: TypeAlias = tuple[PermissionOption, ...]


class PermissionQuestion(Value):
    """A permission request: `ask` is for the user, `options` are the agent's."""

    ask: AskPermission
    options: Options


def question_of(
    request: RequestPermissionRequest,
    call_id: str,
    record: CallRecord | None = None,
    *,
    agent: str = "",
    open_calls: Sequence[CallRecord] = (),
    is_again: bool = False,
) -> PermissionQuestion:
    """Return the question in a request of an agent, by the agent's name.

    `record` is what is known of the tool call besides: the request may hold nothing but its id.
    `open_calls` are the session's other calls that aren't over. `is_again` says that a question
    about the same call waits for its answer, so one of the two is about another call.
    """
    call = CallRecord(request.tool_call.tool_call_id) if record is None else attrs.evolve(record)
    call.learn(request.tool_call)
    about = open_calls if is_again or call.is_blind else ()
    kind = cast("PermissionKind", call.kind if call.kind in _KINDS else "other")
    if any(one.kind != kind for one in about):
        kind = "other"  # no rule for a kind is one for all of them
    title = title_of(call.title) or title_of(call.name) or "Use a tool"
    ask = AskPermission(call_id, title, kind, _details(call, request.options, agent, about))
    return PermissionQuestion(ask, request.options)


def approval(question: PermissionQuestion, permissions: Permissions) -> PermissionOption | None:
    """Return what an approval chooses, None if the agent offers nothing that it may choose.

    `permissions` is the setting: under "ask", the user has read the question. If this is None for
    a user, the question has said so, and an approval is answered like a denial.
    """
    option = once(question.options)
    if option is not None:
        return option
    lasting = _find(question.options, "allow_always")
    if permissions == "ask" or question.ask.kind in ALWAYS_ASKED:
        return lasting[0] if len(lasting) == 1 else None
    return lasting[0] if lasting and permissions == "allow" else None


def once(options: Options) -> PermissionOption | None:
    """Return the option that allows a thing once."""
    return next(iter(_find(options, "allow_once")), None)


def outcome(
    question: PermissionQuestion,
    decision: Decision,
    permissions: Permissions,
    chosen: str | None = None,
) -> RequestPermissionOutcome:
    """Return what to answer the agent; `permissions` as for `approval`.

    `chosen` is the id of another approval of the agent's own, where the user chose one.
    """
    match decision:
        case Decision.ALLOWED:
            others = (one for one in _others(question.options) if one.option_id == chosen)
            option = next(others, None) or approval(question, permissions) or _denial(question)
        case Decision.DENIED:
            option = _denial(question)
        case Decision.ABANDONED:
            option = None
        case _:
            assert_never(decision)
    return CANCELLED_OUTCOME if option is None else SelectedPermissionOutcome(option.option_id)


def allows(question: PermissionQuestion, answered: RequestPermissionOutcome) -> bool:
    """Return whether an answer allows what is asked."""
    if not isinstance(answered, SelectedPermissionOutcome):
        return False
    chosen = (one for one in question.options if one.option_id == answered.option_id)
    return any(option.kind.startswith("allow") for option in chosen)


def _denial(question: PermissionQuestion) -> PermissionOption | None:
    return next(iter(_find(question.options, "reject_once")), None)


def _others(options: Options) -> Options:
    """Return the approvals that a yes doesn't choose where it can choose one for once."""
    shown = options[:MOST_ITEMS]
    return (*_find(shown, "allow_once")[1:], *_find(shown, "allow_always"))


def _action(call: CallRecord) -> str | None:
    """Return what names this very action, None if not all of it can be named.

    Only a command can: it is the same where all that the tool is given is the same, but for the
    words that a model finds for it.
    """
    given = call.raw_input
    if call.kind != "execute" or not isinstance(given, dict) or call.diffs:
        return None
    fields = cast("dict[str, Any]", given)
    if command_in(fields)[0] is None:
        return None
    told = {key: value for key, value in fields.items() if key != DESCRIPTION}
    if len(msgspec.json.encode(told)) > MOST_ACTION_BYTES:
        return None
    return hashlib.sha256(canonical_json(told)).hexdigest()


def _command(call: CallRecord) -> str:
    """Return the command that an action is, on a line, to know it by."""
    return title_of(command_in(call.raw_input)[1])


def _find(options: Options, kind: str) -> Options:
    return tuple(option for option in options if option.kind == kind)


def _details(
    call: CallRecord, options: Options, agent: str, about: Sequence[CallRecord]
) -> dict[str, Any]:
    """Return what a person needs to decide, in the order in which it matters; bounded.

    `message` is the question as Markdown, made of all the rest.
    """
    exhibit = Exhibit()
    note = _note(options)
    action = _action(call)
    lasting = _find(options, "allow_always")
    choices = _names(lasting) if note is None and len(lasting) > 1 else ()
    shown = {
        "message": question_message(call, agent, note, about=about, choices=choices),
        "note": note,
        "rawInput": exhibit.value(call.raw_input),
        "diff": [
            {
                "path": exhibit.text(part.path),
                "oldText": None if part.old_text is None else exhibit.text(part.old_text),
                "newText": exhibit.text(part.new_text),
            }
            for part in call.diffs[:MOST_ITEMS]
        ],
        "content": [exhibit.text(text) for text in texts_of(call.content[:MOST_ITEMS])],
        "locations": [
            exhibit.text(place.path if place.line is None else f"{place.path}:{place.line}")
            for place in call.locations[:MOST_ITEMS]
        ],
        "options": [title_of(option.name) for option in options[:MOST_ITEMS]],
        "lasting": [
            {"id": option.option_id, "name": title_of(option.name)}
            for option in _others(options)
            if len(option.option_id) <= TITLE_LENGTH
        ],
        "action": action,
        "command": None if action is None else _command(call),
    }
    return {key: value for key, value in shown.items() if value not in (None, "", [], {})}


def _note(options: Options) -> str | None:
    first, *more = _find(options, "allow_once") or (None,)
    if first is not None:
        if not more:
            return None
        return (
            "The agent offers several ways to approve this once. An approval means: "
            f"{title_of(first.name)}. For another one, choose it first: {'; '.join(_names(more))}."
        )
    match _find(options, "allow_always"):
        case ():
            return "The agent offers no way to approve this: the answer will be a denial."
        case (option,):
            return (
                "The agent doesn't offer to approve this once. "
                f"Approving is for good: {title_of(option.name)}"
            )
        case several:
            return (
                "The agent doesn't offer to approve this once, only several ways to approve for "
                f"good: {'; '.join(_names(several))}. Choose one of them first. Otherwise the "
                "action is denied, even if you approve it."
            )


def _names(options: Sequence[PermissionOption]) -> tuple[str, ...]:
    """Return what to call options, the first of many."""
    named = tuple(title_of(option.name) for option in options[:MOST_NAMED])
    more = len(options) - MOST_NAMED
    return (*named, f"{more} more") if more > 0 else named
