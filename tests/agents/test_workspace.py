"""The texts of files are asked of the editor, one request each."""

from __future__ import annotations

import attrs
import msgspec
import pytest
import trio
import trio.testing
from msgspec import UNSET, Raw

from agents.workspace import MOST_REASON, EditorTexts, TextUnreadable
from bridge.jsonrpc import RpcResponse
from bridge.wire import ReadTextFileParams, ReadTextFileResult
from tests.fakes.waiting import PATIENCE


@attrs.define
class Port:
    """The connection to an editor."""

    texts: EditorTexts
    answers: list[RpcResponse] = attrs.field(factory=list[RpcResponse])
    asked: list[tuple[str, str]] = attrs.field(factory=list[tuple[str, str]])
    forgotten: list[str] = attrs.field(factory=list[str])

    def ask_for_text(self, id_: str, params: ReadTextFileParams) -> None:
        self.asked.append((id_, params.path))
        if self.answers:
            answer = self.answers.pop(0)
            assert self.texts.answer(RpcResponse(id_, answer.result, answer.error))

    def forget_text(self, id_: str) -> None:
        self.forgotten.append(id_)


def port_with(*answers: RpcResponse) -> Port:
    texts = EditorTexts()
    port = texts.port = Port(texts, list(answers))
    return port


def result(text: bytes) -> RpcResponse:
    return RpcResponse(None, Raw(text), UNSET)


async def test_the_text_and_whether_it_is_saved_are_returned() -> None:
    port = port_with(result(b'{"text": "a", "isDirty": true}'), result(b'{"text": null}'))
    with trio.fail_after(PATIENCE):
        assert await port.texts.read("/a") == ReadTextFileResult("a", is_dirty=True)
        assert await port.texts.read("/b") == ReadTextFileResult(None)
    assert [path for _, path in port.asked] == ["/a", "/b"]
    assert len({id_ for id_, _ in port.asked}) == 2
    assert not port.forgotten


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RpcResponse(None, UNSET, Raw(b'{"message": "It is binary."}')), "file: It is binary."),
        (RpcResponse(None, UNSET, Raw(b'{"code": 1}')), "couldn't read the file."),
        (RpcResponse(None, UNSET, Raw(b"7")), "couldn't read the file."),
        (RpcResponse(None, UNSET, UNSET), "can't be used"),
        (result(b'{"text": 7}'), r"\$\.text"),
        (result(b"{}"), "can't be used"),
    ],
)
async def test_another_answer_is_an_error_in_words(answer: RpcResponse, words: str) -> None:
    port = port_with(answer)
    with trio.fail_after(PATIENCE), pytest.raises(TextUnreadable, match=words):
        await port.texts.read("/a")


@pytest.mark.limit("agents.workspace.MOST_REASON")
async def test_the_words_of_an_error_are_bounded() -> None:
    error = Raw(msgspec.json.encode({"message": "x" * (MOST_REASON + 1)}))
    port = port_with(RpcResponse(None, UNSET, error))
    with trio.fail_after(PATIENCE), pytest.raises(TextUnreadable) as caught:
        await port.texts.read("/a")
    assert str(caught.value).count("x") == MOST_REASON


async def test_a_read_that_is_cancelled_is_taken_back_and_a_late_answer_is_ignored() -> None:
    port = port_with()
    with trio.move_on_after(0):
        await port.texts.read("/a")
    (id_,) = port.forgotten
    assert not port.texts.answer(RpcResponse(id_, Raw(b'{"text": "a"}'), UNSET))


@pytest.mark.limit("agents.workspace.READ_SECONDS")
async def test_an_editor_that_is_silent_is_waited_for_a_while(
    autojump_clock: trio.testing.MockClock,
) -> None:
    port = port_with()
    with trio.fail_after(60), pytest.raises(TextUnreadable, match="in 10 s"):
        await port.texts.read("/a")
    assert len(port.forgotten) == 1


async def test_an_editor_without_texts_isnt_asked() -> None:
    texts = EditorTexts()
    assert not texts.are_offered
    with pytest.raises(TextUnreadable, match="This editor"):
        await texts.read("/a")
    assert not texts.answer(RpcResponse(None, Raw(b"{}"), UNSET))
