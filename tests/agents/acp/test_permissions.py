"""Which option is chosen for a permission, and what the user is shown."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.calls.state import CallRecord
from agents.acp.permissions import (
    CANCELLED_OUTCOME,
    MOST_ACTION_BYTES,
    MOST_NAMED,
    PermissionQuestion,
    allows,
    approval,
    outcome,
    question_of,
)
from agents.acp.schema.content import (
    Content,
    Diff,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    Terminal,
    TextContent,
    ToolCallLocation,
    ToolCallUpdate,
)
from agents.acp.schema.methods import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)
from agents.events import AskPermission, Decision, PermissionKind
from bridge.wire import Permissions

PERMISSIONS: tuple[Permissions, ...] = get_args(Permissions)
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always", "allow_thrice")
# As measured: kinds and ids in the order in which they are sent.
REAL = {
    "fast-agent": "allow_once=allow_once allow_always=aa reject_once=ro reject_always=ra",
    "codex": "allow_once=approved allow_always=session allow_always=always reject_once=cancel",
    "gemini": "allow_always=server allow_always=tool allow_once=proceed_once reject_once=cancel",
    "claude 0.49": "allow_always=allow_always allow_once=allow reject_once=reject",
    "claude 0.100": "allow_once=allow-once allow_always=allow-with-updates reject_once=reject",
    "vibe": "allow_once=allow_once allow_always=a allow_always=permanent reject_once=reject_once",
}


def options(text: str) -> tuple[PermissionOption, ...]:
    pairs = [word.split("=") for word in text.split()]
    return tuple(PermissionOption(id_, f"Name of {id_}", kind) for kind, id_ in pairs)


def question(
    offered: str = "", record: CallRecord | None = None, **call: Any
) -> PermissionQuestion:
    request = RequestPermissionRequest("s", ToolCallUpdate("c", **call), options(offered))
    return question_of(request, "call-1", record)


def chosen(offered: str, decision: Decision, permissions: Permissions, **call: Any) -> str | None:
    match outcome(question(offered, **call), decision, permissions):
        case SelectedPermissionOutcome(option_id=option_id):
            return option_id
        case CancelledPermissionOutcome():
            return None


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("permissions", PERMISSIONS)
@pytest.mark.checklist(29, 30)
def test_approval_and_denial_are_found_by_kind_in_every_real_agent(
    agent: str, permissions: Permissions
) -> None:
    kinds = {option.kind: option.option_id for option in options(REAL[agent])}
    allowed = chosen(REAL[agent], Decision.ALLOWED, permissions)
    denied = chosen(REAL[agent], Decision.DENIED, permissions)
    assert allowed == kinds["allow_once"]
    assert denied == kinds["reject_once"]
    assert chosen(REAL[agent], Decision.ABANDONED, permissions) is None


offers = st.lists(st.sampled_from(KINDS), max_size=6).map(
    lambda kinds: " ".join(f"{kind}={at}" for at, kind in enumerate(kinds))
)


@given(offers, st.sampled_from(PERMISSIONS), st.sampled_from(["execute", "switch_mode"]))
@pytest.mark.checklist(29, 30)
def test_a_denial_is_never_an_approval_and_never_lasts(
    offered: str, permissions: Permissions, kind: str
) -> None:
    asked = question(offered, kind=kind)
    kinds = {option.option_id: option.kind for option in asked.options}
    match outcome(asked, Decision.DENIED, permissions):
        case SelectedPermissionOutcome(option_id=option_id):
            assert kinds[option_id] == "reject_once"
        case CancelledPermissionOutcome():
            assert "reject_once" not in kinds.values()


@given(offers, st.sampled_from(PERMISSIONS), st.sampled_from(["execute", "switch_mode"]))
@pytest.mark.checklist(31)
def test_an_approval_lasts_only_where_the_user_or_the_settings_know(
    offered: str, permissions: Permissions, kind: str
) -> None:
    asked = question(offered, kind=kind)
    option = approval(asked, permissions)
    answer = outcome(asked, Decision.ALLOWED, permissions)
    lasting = [one for one in asked.options if one.kind == "allow_always"]
    if option is None:
        assert answer == outcome(asked, Decision.DENIED, permissions)
        assert not any(one.kind == "allow_once" for one in asked.options)
    else:
        assert answer == SelectedPermissionOutcome(option.option_id)
        assert option.kind in ("allow_once", "allow_always")
    if option is not None and option.kind == "allow_always":
        assert not any(one.kind == "allow_once" for one in asked.options)
        by_settings = permissions == "allow" and kind != "switch_mode"
        assert by_settings or lasting == [option]
        assert by_settings or "Approving is for good" in asked.ask.details["note"]


@pytest.mark.parametrize(
    ("offered", "permissions", "expected"),
    [
        ("allow_always=a reject_once=r", "ask", "a"),
        ("allow_always=a allow_always=b reject_once=r", "ask", "r"),
        ("allow_always=a allow_always=b reject_once=r", "allow", "a"),
        ("allow_always=a reject_once=r", "read_only", "r"),
        ("allow_always=a reject_once=r", "deny", "r"),
        ("reject_once=r", "ask", "r"),
        ("reject_always=r", "ask", None),
        ("", "allow", None),
    ],
)
@pytest.mark.checklist(31)
def test_what_an_approval_chooses_without_allow_once(
    offered: str, permissions: Permissions, expected: str | None
) -> None:
    assert chosen(offered, Decision.ALLOWED, permissions) == expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [("a2", "a2"), ("a1", "a1"), ("r", "o"), ("never", "o"), ("x", "o"), ("o", "o"), (None, "o")],
)
def test_the_user_may_choose_a_lasting_approval_and_nothing_else(
    option: str | None, expected: str
) -> None:
    asked = question(
        "allow_once=o allow_always=a1 allow_always=a2 reject_once=r reject_always=never"
    )
    lasting = asked.ask.details["lasting"]
    assert [one["id"] for one in lasting] == ["a1", "a2"]
    assert lasting[0]["name"] == "Name of a1"
    answer = outcome(asked, Decision.ALLOWED, "ask", option)
    assert answer == SelectedPermissionOutcome(expected)
    denied = outcome(asked, Decision.DENIED, "ask", option)
    assert denied == SelectedPermissionOutcome("r")


def action(kind: str = "execute", **call: Any) -> str | None:
    return question(kind=kind, **call).ask.details.get("action")


def test_a_command_is_the_same_whatever_it_is_said_to_be_for() -> None:
    named = action(raw_input={"command": "ls", "cwd": "/a", "description": "List"})
    assert named == action(raw_input={"cwd": "/a", "command": "ls"}, title="Look")
    others = [
        action(raw_input={"command": "ls", "cwd": "/b"}),
        action(raw_input={"command": "ls -l", "cwd": "/a"}),
        action(raw_input={"cmd": "ls", "cwd": "/a"}),
    ]
    assert named is not None
    assert len({named, *others}) == 4


@pytest.mark.limit("agents.acp.permissions.MOST_ACTION_BYTES")
def test_a_command_of_which_only_a_part_is_shown_has_no_name() -> None:
    frame = len('{"command":""}')
    longest = "x" * (MOST_ACTION_BYTES - frame)
    asked = question(kind="execute", raw_input={"command": longest}).ask
    assert asked.details["action"]
    assert longest in asked.details["message"]
    details = question(kind="execute", raw_input={"command": longest + "x"}).ask.details
    assert not {"action", "command"} & details.keys()
    assert action(raw_input={"command": "ls", "input": longest}) is None


def test_what_is_no_command_alone_has_no_name_as_an_action() -> None:
    assert action(raw_input={"cwd": "/a"}) is None
    assert action(raw_input={"command": ""}) is None
    assert action(raw_input={"command": {"a": 1}}) is None
    assert action(raw_input="ls") is None
    assert action("edit", raw_input={"command": "ls"}) is None
    assert action(raw_input={"command": "ls"}, content=(Diff("/a", "x"),)) is None


@pytest.mark.checklist(31)
def test_a_change_of_mode_is_the_users_to_approve_for_good() -> None:
    several = "allow_always=a allow_always=b reject_once=r"
    assert chosen(several, Decision.ALLOWED, "allow", kind="switch_mode") == "r"
    assert chosen("allow_always=a", Decision.ALLOWED, "allow", kind="switch_mode") == "a"


@pytest.mark.checklist(30)
def test_where_nothing_fits_a_denial_is_cancelled_and_not_for_good() -> None:
    assert chosen("allow_once=a reject_always=r", Decision.DENIED, "ask") is None


@pytest.mark.checklist(30)
def test_abandoned_is_cancelled() -> None:
    assert outcome(question(REAL["codex"]), Decision.ABANDONED, "allow") is CANCELLED_OUTCOME


# What the user is shown.


@pytest.mark.parametrize(
    ("answered", "is_allowed"),
    [
        (SelectedPermissionOutcome("once"), True),
        (SelectedPermissionOutcome("always"), True),
        (SelectedPermissionOutcome("no"), False),
        (SelectedPermissionOutcome("unknown"), False),
        (CancelledPermissionOutcome(), False),
    ],
)
def test_what_an_answer_does_is_known_by_the_option_that_it_chooses(
    answered: RequestPermissionOutcome, is_allowed: bool
) -> None:
    kinds = {"once": "allow_once", "always": "allow_always", "no": "reject_once"}
    options = tuple(PermissionOption(key, key, kind) for key, kind in kinds.items())
    question = PermissionQuestion(AskPermission("1", "x", "other", {}), options)
    assert allows(question, answered) is is_allowed


def test_a_question_shows_what_is_needed_to_decide() -> None:
    ask = question(
        "allow_once=a reject_once=b",
        title="Edit \x1b[31mconfig.py\x1b[0m",
        kind="edit",
        raw_input={"path": "/w/config.py"},
        locations=(ToolCallLocation("/w/config.py", 3), ToolCallLocation("/w/new.py")),
        content=(
            Diff("/w/config.py", "new", "old"),
            Diff("/w/new.py", "all"),
            Content(TextContent("Why: because.")),
            Content(EmbeddedResource(ResourceContents("file:///x", "embedded"))),
            Content(EmbeddedResource(ResourceContents("file:///x", blob=b"x"))),
            Content(ImageContent(b"x", "image/png")),
            Terminal("t"),
        ),
    ).ask
    assert (ask.call_id, ask.title, ask.kind) == ("call-1", "Edit config.py", "edit")
    message = ask.details.pop("message")
    assert message.startswith("The agent asks:")
    assert all(words in message for words in ("-old\n+new", "+all", "Why: because.", "embedded"))
    assert ask.details == {
        "rawInput": {"path": "/w/config.py"},
        "diff": [
            {"path": "/w/config.py", "oldText": "old", "newText": "new"},
            {"path": "/w/new.py", "oldText": None, "newText": "all"},
        ],
        "content": ["Why: because.", "embedded"],
        "locations": ["/w/config.py:3", "/w/new.py"],
        "options": ["Name of a", "Name of b"],
    }


def test_the_question_is_asked_in_the_name_of_the_agent() -> None:
    request = RequestPermissionRequest("s", ToolCallUpdate("c", title="Dance"), ())
    (message, *_) = question_of(request, "1", agent="OpenCode").ask.details["message"].split("\n")
    assert message == "OpenCode asks: Dance"


@pytest.mark.checklist(34)
def test_what_the_request_leaves_out_is_taken_from_what_is_known() -> None:
    record = CallRecord("c")
    record.learn(ToolCallUpdate("c", title="Run tests", kind="execute", raw_input={"cmd": "make"}))
    asked = question(REAL["vibe"], record, raw_input={})
    assert asked.ask.title == "Run tests"
    assert asked.ask.kind == "execute"
    assert asked.ask.details["rawInput"] == {"cmd": "make"}


def test_what_the_request_says_anew_counts_and_the_record_is_left_as_it_was() -> None:
    record = CallRecord("c", title="old", kind="read")
    asked = question("", record, title="new", kind="delete")
    assert (asked.ask.title, asked.ask.kind) == ("new", "delete")
    assert (record.title, record.kind) == ("old", "read")


def test_a_call_that_nobody_described_has_a_title_all_the_same() -> None:
    assert question().ask.title == "Use a tool"
    assert question(name="bash").ask.title == "bash"
    assert question(title="\x1b[0m \u202e", name="bash").ask.title == "bash"


@pytest.mark.parametrize("kind", [*get_args(PermissionKind), "dance", None])
def test_a_kind_of_a_later_version_is_other(kind: str | None) -> None:
    expected = kind if kind in get_args(PermissionKind) else "other"
    assert question(kind=kind).ask.kind == expected


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        ("allow_once=a allow_always=b", None),
        ("allow_always=b reject_once=r", "Approving is for good: Name of b"),
        ("allow_always=a allow_always=b", "for good: Name of a; Name of b. Choose one of them"),
        (
            "allow_once=a allow_once=b",
            "An approval means: Name of a. For another one, choose it first: Name of",
        ),
        ("reject_once=r", "offers no way to approve"),
    ],
)
@pytest.mark.checklist(29)
def test_a_question_says_what_approving_means_where_it_isnt_once(
    offered: str, words: str | None
) -> None:
    note = question(offered).ask.details.get("note", "")
    assert words in note if words else not note


TWICE = "allow_once=o1 reject_once=r allow_always=a allow_once=o2"


@pytest.mark.parametrize(
    ("option", "expected"), [("o2", "o2"), ("a", "a"), ("o1", "o1"), (None, "o1"), ("r", "o1")]
)
def test_of_several_approvals_for_once_the_user_may_choose_another(
    option: str | None, expected: str
) -> None:
    """OpenHands offers to approve by risk from then on, as if that were for once."""
    asked = question(TWICE)
    assert [one["id"] for one in asked.ask.details["lasting"]] == ["o2", "a"]
    answer = outcome(asked, Decision.ALLOWED, "ask", option)
    assert answer == SelectedPermissionOutcome(expected)
    assert outcome(asked, Decision.DENIED, "ask", option) == SelectedPermissionOutcome("r")


@pytest.mark.limit("agents.acp.permissions.MOST_NAMED")
def test_several_approvals_for_longer_are_named_in_the_question() -> None:
    two = question("allow_once=o allow_always=a allow_always=b").ask.details["message"]
    assert two.endswith(
        "The agent also offers permissions that last longer: `Name of a`; `Name of b`"
    )
    assert "for longer" not in question("allow_once=o allow_always=a").ask.details["message"]
    many = " ".join(f"allow_always={number}" for number in range(MOST_NAMED + 3))
    assert question(f"allow_once=o {many}").ask.details["message"].endswith("`3 more`")
    assert "; 3 more. Choose one" in question(many).ask.details["note"]


def opened(**known: Any) -> CallRecord:
    call = CallRecord("other")
    call.learn(ToolCallUpdate("other", **known))
    return call


LISTING = opened(title="List", kind="execute", raw_input={"command": "ls"})
WRITING = opened(title="Write", kind="edit", content=(Diff("/w/a.py", "new"),))


def asked_beside(*calls: CallRecord, **call: Any) -> PermissionQuestion:
    request = RequestPermissionRequest("s", ToolCallUpdate("c", **call), options("allow_once=a"))
    return question_of(request, "call-1", open_calls=calls)


def test_a_question_without_details_shows_the_open_calls() -> None:
    asked = asked_beside(LISTING, WRITING, title="Confirm the actions")
    assert asked.ask.details["message"] == (
        "The agent asks: Confirm the actions\n\n"
        "It doesn't say what this is about. These calls are open:\n\n"
        "1. List\n\n```sh\nls\n```\n\n"
        "2. Write\n\nNew file `/w/a.py`:\n\n```diff\n@@ -0,0 +1,1 @@\n+new\n```"
    )


@pytest.mark.parametrize(
    "details",
    [
        {"raw_input": {"command": "pwd"}},
        {"content": (Content(TextContent("why")),)},
        {"locations": (ToolCallLocation("/a"),)},
    ],
)
def test_a_question_with_details_is_about_those_alone(details: dict[str, Any]) -> None:
    asked = asked_beside(LISTING, title="Confirm", kind="read", **details)
    assert "ls" not in asked.ask.details["message"].replace("details", "")
    assert asked.ask.kind == "read"


@pytest.mark.parametrize(
    ("kind", "calls", "expected"),
    [
        ("read", (), "read"),
        ("read", (LISTING,), "other"),
        ("execute", (LISTING,), "execute"),
        ("execute", (LISTING, WRITING), "other"),
        (None, (LISTING,), "other"),
    ],
)
def test_no_rule_for_a_kind_allows_open_calls_of_another(
    kind: str | None, calls: tuple[CallRecord, ...], expected: str
) -> None:
    assert asked_beside(*calls, title="Confirm", kind=kind).ask.kind == expected
