"""What models count makes the answers to `lm/provideTokenCount` better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agents.events import Counted, Say
from bridge.tokens.message import estimate_text
from tests.actors.test_session_tools import READ, reading
from tests.fakes.editor import Chat, connected, message, tool_result, tools
from tests.fakes.scripted_agent import ScriptedAgent

if TYPE_CHECKING:
    from tests.fakes.editor import FakeEditor
    from tests.fakes.scripted_agent import Step

STORY = "Once upon a time there was a baker. " * 50
TEXT = "word " * 1000
WHOLE = estimate_text(STORY)


def counted(times: float, base: int = 0) -> list[Step]:
    return [Say("Well."), Counted(base + round(WHOLE * times))]


async def ratio(editor: FakeEditor, model: str = "eliza") -> float:
    params = {"modelId": model, "text": TEXT}
    return (await editor.call("lm/provideTokenCount", params))["count"] / estimate_text(TEXT)


@pytest.mark.parametrize("is_asked_first", [True, False])
async def test_tokens_are_estimated_by_what_the_model_counted(is_asked_first: bool) -> None:
    async with connected(ScriptedAgent([counted(1.5)])) as editor:
        if is_asked_first:
            assert await ratio(editor) == 1.0
        await Chat(editor).say(STORY)
        assert await ratio(editor) == pytest.approx(1.15, abs=0.01)
        assert await ratio(editor, "other") == 1.0


async def test_a_message_is_estimated_by_it_too() -> None:
    async with connected(ScriptedAgent([counted(1.5)])) as editor:
        params = {"modelId": "eliza", "message": message("user", TEXT)}
        before = (await editor.call("lm/provideTokenCount", params))["count"]
        await Chat(editor).say(STORY)
        after = (await editor.call("lm/provideTokenCount", params))["count"]
    assert after / before == pytest.approx(1.15, abs=0.01)


async def test_what_nobody_sees_is_in_no_comparison() -> None:
    """An answer and a question come to the chat; what came before is in both counts."""
    script = [counted(1, base=100_000), counted(2.5, base=100_000)]
    async with connected(ScriptedAgent(script)) as editor:
        chat = Chat(editor)
        await chat.say(STORY)
        assert await ratio(editor) == 1.0
        await chat.say(STORY)
        assert await ratio(editor) == pytest.approx(1.15, abs=0.02)


async def test_several_counts_for_one_request_are_of_something_else() -> None:
    """A call that the editor never saw was answered between them, for instance."""
    async with connected(ScriptedAgent([[*counted(1.5), *counted(1.5)]])) as editor:
        await Chat(editor).say(STORY)
        assert await ratio(editor) == 1.0


async def test_a_count_with_what_the_user_took_back_is_of_something_else() -> None:
    script = [[Say("ok")], [Say("ok")], counted(1.5)]
    async with connected(ScriptedAgent(script)) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say(STORY)
        assert await ratio(editor) == 1.0


async def test_a_count_before_a_call_and_one_after_it_are_compared() -> None:
    script = [[Counted(5000), *reading(*counted(1.5, base=5000))]]
    async with connected(ScriptedAgent(script)) as editor:
        chat = Chat(editor, options=tools("read_file"))
        request = await chat.say("Read it.")
        assert [call["toolCallId"] for call in request.calls] == [READ.call_id]
        await chat.say(tool_result(request.calls[0], STORY))
        assert await ratio(editor) == pytest.approx(1.12, abs=0.03)
