"""Whole calls on their way to the editor."""

from __future__ import annotations

from agents.events import CallTool
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.emitted_calls import Calling
from agents.open_responses.stream.outcome import Called
from agents.open_responses.stream.tool_calls import WholeCall


def test_a_call_goes_out_under_the_editor_s_id_and_is_noted() -> None:
    calling = Calling(CallIds().outward, None)
    assert list(calling.make([WholeCall("1", "look", {"a": 1}, '{"a": 1}')])) == [
        CallTool("gw-1", "look", {"a": 1})
    ]
    assert calling.made == [Called("gw-1", "1", "look", '{"a": 1}')]
    assert calling.server_ids == {"1"}


def test_calls_within_a_call_go_out_each_with_an_id() -> None:
    calling = Calling(CallIds().outward, ["look"])
    uses = [{"recipient_name": "functions.look", "parameters": {"a": n}} for n in (1, 2)]
    made = list(calling.make([WholeCall("1", "parallel", {"tool_uses": uses}, "")]))
    assert [(one.call_id, one.parameters) for one in made] == [
        ("gw-1", {"a": 1}),
        ("gw-1~1", {"a": 2}),
    ]
    assert calling.server_ids == {"1"}
