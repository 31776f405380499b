"""Whose call it is that comes to a session's server: laws, and the cases one by one."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agents.acp.calls.sharing import MOST_ANNOUNCED, Announced, ServedCall, Stray, Sure, judge
from agents.acp.schema.content import ToolCall, ToolCallUpdate
from tests.agents.acp.offered import Offered

A, B, C = "vscaaaaaa", "vscbbbbbb", "vsccccccc"
READ, EDIT = "read_file", "edit"


@attrs.define(eq=False)
class Chat:
    tools: Offered | None
    has_turn: bool = True
    was_just_cancelled: bool = False
    announced: Announced = attrs.field(factory=Announced)

    def announces(self, server: str, call_id: str = "1", **given: int) -> bool:
        return self.announced.learn(ToolCall(call_id, f"{server}_{READ}", raw_input=dict(given)))


def chat(server: str | None, *, has_turn: bool = True, just_cancelled: bool = False) -> Chat:
    tools = None if server is None else Offered.of(server, READ, EDIT)
    return Chat(tools, has_turn, just_cancelled)


def verdict(own: Chat, *others: Chat, **given: int) -> Sure | Stray:
    """Return whose call it is that has come to the server of `own`."""
    assert own.tools is not None
    return judge(ServedCall(READ, dict(given)), own.tools, own, others)


def test_a_call_is_own_where_nobody_else_has_a_turn() -> None:
    assert verdict(chat(A)) is Sure.OWN
    assert verdict(chat(A), chat(B, has_turn=False)) is Sure.OWN
    assert verdict(chat(A, has_turn=False), chat(B, has_turn=False)) is Sure.OWN


def test_an_idle_chat_asks_for_nothing() -> None:
    assert verdict(chat(A, has_turn=False), chat(B)) == Stray(B, is_evidence=True)
    assert B in Stray(B, is_evidence=True).words


def test_who_made_a_stray_call_may_not_be_known() -> None:
    for others in ((chat(B), chat(C)), (chat(None),)):
        found = verdict(chat(A, has_turn=False), *others)
        assert found == Stray("", is_evidence=True)
    assert "another chat" in Stray("", is_evidence=True).words
    assert "try again" in Stray("", is_evidence=True).words


def test_a_session_that_is_not_open_yet_asks_for_nothing() -> None:
    found = judge(ServedCall(READ, {}), Offered.of(A, READ), None, [chat(B)])
    assert found == Stray(B, is_evidence=True)


def test_after_a_cancel_a_late_call_is_refused_and_proves_nothing() -> None:
    late = chat(A, has_turn=False, just_cancelled=True)
    assert verdict(late, chat(B)) == Stray(B, is_evidence=False)
    cancelled = chat(B, has_turn=False, just_cancelled=True)
    assert verdict(chat(A, has_turn=False), cancelled) == Stray(B, is_evidence=False)


def test_a_call_of_a_chat_that_was_just_cancelled_is_not_taken_for_another_s() -> None:
    cancelled = chat(B, has_turn=False, just_cancelled=True)
    assert verdict(chat(A), cancelled) is Sure.UNKNOWN


def test_what_may_be_of_either_is_unsure_until_one_announces_it() -> None:
    for who, expected in ((0, Sure.OWN), (1, Stray(B, is_evidence=True))):
        chats = chat(A), chat(B)
        assert verdict(*chats) is Sure.UNKNOWN
        assert chats[who].announces(A)
        assert verdict(*chats) == expected


def test_what_another_chat_announced_is_its_own_whatever_happened_to_its_turn() -> None:
    other = chat(B, has_turn=False)
    other.announces(A)
    assert verdict(chat(A), other) == Stray(B, is_evidence=True)


def test_a_chat_that_announces_its_call_after_its_turn_is_believed() -> None:
    own = chat(A, has_turn=False)
    own.announces(A)
    assert verdict(own, chat(B)) is Sure.OWN


def test_each_announcement_is_of_one_call() -> None:
    own, other = chat(A), chat(B)
    other.announces(A)
    assert isinstance(verdict(own, other), Stray)
    assert verdict(own, other) is Sure.UNKNOWN
    other.announced.learn(ToolCallUpdate("1", status="in_progress"))
    assert verdict(own, other) is Sure.UNKNOWN, "news of the same call is no other call"


@pytest.mark.parametrize(
    ("announced", "is_it"),
    [
        (ToolCall("1", f"{A}_{READ}", raw_input={"n": 1}), True),
        (ToolCall("1", f"{A}_{READ}", raw_input={}), True),
        (ToolCall("1", f"{A}_{READ}"), True),
        (ToolCall("1", "Read it", name=f"mcp__{A}__{READ}", raw_input={"n": 1}), True),
        (ToolCall("1", "x", meta={"claudeCode": {"toolName": f"mcp__{A}__{READ}"}}), True),
        (
            ToolCall("1", "x", raw_input={"server": A, "tool": READ, "arguments": {"n": 1}}),
            True,
        ),
        (ToolCall("1", f"{A}_{READ}", raw_input={"n": 2}), False),
        (ToolCall("1", f"{A}_{EDIT}", raw_input={"n": 1}), False),
        (ToolCall("1", f"{C}_{READ}", raw_input={"n": 1}), False),
        (ToolCall("1", f"{A}_{READ}", status="completed"), False),
        (ToolCall("1", f"grep {A}"), False),
        (ToolCall("1", READ, raw_input={"n": 1}), False),
    ],
)
def test_an_announcement_is_of_one_server_one_tool_and_one_input(
    announced: ToolCall, is_it: bool
) -> None:
    other = chat(B)
    other.announced.learn(announced)
    assert isinstance(verdict(chat(A), other, n=1), Stray) is is_it


def test_what_is_told_piece_by_piece_is_one_announcement() -> None:
    other = chat(B)
    assert not other.announced.learn(ToolCall("1", "", status="pending"))
    assert other.announced.learn(ToolCallUpdate("1", title=f"{A}_{READ}"))
    assert other.announced.learn(ToolCallUpdate("1", title="Reading", raw_input={"n": 1}))
    assert verdict(chat(A), other, n=2) is Sure.UNKNOWN
    assert isinstance(verdict(chat(A), other, n=1), Stray)


def test_what_is_over_and_what_an_earlier_turn_announced_is_forgotten() -> None:
    failed, earlier = chat(B), chat(B)
    for other in (failed, earlier):
        other.announces(A)
    failed.announced.learn(ToolCallUpdate("1", status="failed"))
    earlier.announced.clear()
    assert verdict(chat(A), failed, earlier) is Sure.UNKNOWN


@pytest.mark.limit("agents.acp.calls.sharing.MOST_ANNOUNCED")
def test_the_oldest_announcement_is_forgotten() -> None:
    other = chat(B)
    for number in range(MOST_ANNOUNCED + 1):
        other.announces(A, call_id=str(number), n=number)
    assert verdict(chat(A), other, n=0) is Sure.UNKNOWN
    assert isinstance(verdict(chat(A), other, n=1), Stray)


@given(st.booleans(), st.booleans(), st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3))
def test_without_an_announcement_only_the_turns_decide(
    has_turn: bool, was_cancelled: bool, others: list[tuple[bool, bool]]
) -> None:
    own = chat(A, has_turn=has_turn, just_cancelled=was_cancelled)
    found = verdict(own, *(chat(B, has_turn=one, just_cancelled=two) for one, two in others))
    if not any(one or two for one, two in others):
        assert found is Sure.OWN
    elif has_turn:
        assert found is Sure.UNKNOWN
    else:
        assert isinstance(found, Stray)
        assert found.is_evidence == (not was_cancelled and any(one for one, _ in others))


class Process(RuleBasedStateMachine):
    """Chats of a process that share every server; each call is announced, sooner or later."""

    def __init__(self) -> None:
        super().__init__()
        self.chats = {server: chat(server, has_turn=False) for server in (A, B, C)}
        self.calls = 0

    servers = st.sampled_from([A, B, C])

    @rule(server=servers)
    def begin(self, server: str) -> None:
        one = self.chats[server]
        one.has_turn, one.was_just_cancelled = True, False
        one.announced.clear()

    @rule(server=servers, is_cancelled=st.booleans())
    def end(self, server: str, is_cancelled: bool) -> None:
        one = self.chats[server]
        one.was_just_cancelled = one.has_turn and is_cancelled
        one.has_turn = False

    @precondition(lambda self: any(one.has_turn for one in self.chats.values()))
    @rule(caller=servers, at=servers, is_announced_first=st.booleans())
    def call(self, caller: str, at: str, is_announced_first: bool) -> None:
        one, own = self.chats[caller], self.chats[at]
        if not one.has_turn:
            return
        self.calls += 1
        given, call_id = {"n": self.calls}, str(self.calls)
        others = [other for other in self.chats.values() if other is not own]
        if is_announced_first:
            one.announces(at, call_id=call_id, **given)
        found = verdict(own, *others, **given)
        if found is Sure.UNKNOWN:
            one.announces(at, call_id=call_id, **given)
            found = verdict(own, *others, **given)
        if caller == at:
            assert found is Sure.OWN, "a chat's own call is carried out"
        else:
            assert isinstance(found, Stray), "no call is carried out in another chat"
            assert found.is_evidence or own.was_just_cancelled

    @invariant()
    def nothing_piles_up(self) -> None:
        for one in self.chats.values():
            assert len(one.announced._calls) <= MOST_ANNOUNCED  # pyright: ignore[reportPrivateUsage]


TestProcess = Process.TestCase


@pytest.mark.parametrize("title", ["[" * 100_000, '{"vsc": "\ud800"}', "{vsc"])
def test_an_odd_title_is_no_fault(title: str) -> None:
    """It is looked at where the agent is listened to, for all chats."""
    call = ToolCall("1", title, raw_input={"a": 1})
    assert Announced().learn(call) is ("vsc" in title)
