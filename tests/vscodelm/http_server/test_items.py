from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest
from msgspec import Raw

from bridge.wire import (
    ChatMessage,
    DataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from bridge.work import Work, done
from tests.growth import assert_linear
from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.items import (
    CALL_ID_CHARACTERS,
    MOST_ITEMS,
    check_number,
    check_results,
    messages_of,
)

CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"a": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "done"}


def unfold(kind: str, named: str) -> Work[Sequence[ChatMessage]]:
    yield
    return [ChatMessage("assistant", (TextPart(f"{kind} {named}"),))]


def read(*items: Any) -> list[ChatMessage]:
    return done(messages_of([Raw(json.dumps(item).encode()) for item in items], unfold))


def refusal(*items: Any) -> str | None:
    with pytest.raises(ApiError) as raised:
        read(*items)
    assert raised.value.status == 400
    return raised.value.param


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_a_text_is_a_message_of_the_user() -> None:
    assert done(messages_of("Hello", unfold)) == [ChatMessage("user", (TextPart("Hello"),))]


def test_items_of_one_answer_become_one_message() -> None:
    spoken = [{"type": "output_text", "text": "b"}, {"type": "refusal", "refusal": "c"}]
    said = {"role": "assistant", "content": "a"}
    own = {"type": "vscodelm:tool_call", "id": "tc_1"}
    reasoning: dict[str, object] = {"type": "reasoning", "summary": []}
    messages = read(user("q"), reasoning, said, own, {**said, "content": spoken}, CALL, RESULT)
    assert messages == [
        ChatMessage("user", (TextPart("q"),)),
        ChatMessage(
            "assistant",
            (
                TextPart("a"),
                TextPart("b"),
                TextPart("c"),
                ToolCallPart("c1", "read", {"a": 1}),
            ),
        ),
        ChatMessage("user", (ToolResultPart("c1", [{"type": "text", "value": "done"}]),)),
    ]


def test_results_in_a_row_become_one_message_and_messages_of_the_user_stay_apart() -> None:
    second = {**RESULT, "call_id": "c2", "output": None}
    messages = read(RESULT, second, user("a"), user("b"))
    assert [len(message.content) for message in messages] == [2, 1, 1]


def test_a_developer_is_the_system() -> None:
    messages = read({"role": "developer", "content": "x"}, {"role": "system", "content": None})
    assert [(one.role, one.text) for one in messages] == [("system", "x"), ("system", "")]


def test_a_compaction_and_a_reference_stand_for_messages() -> None:
    compaction = {"type": "compaction", "encrypted_content": "x"}
    reference = {"type": "item_reference", "id": "msg_1"}
    (message,) = read(compaction, reference)
    assert message.text == "compaction xitem_reference msg_1"


def test_images_and_files_of_data_urls_are_data() -> None:
    image = {"type": "input_image", "image_url": "data:image/PNG;base64,AAAA"}
    nested = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    plain = {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}
    pdf = {"type": "input_file", "file_data": "aGk="}
    (message,) = read(user([image, nested, plain, pdf]))
    assert message.content == (
        DataPart("image/png", b"\0\0\0"),
        DataPart("image/png", b"\0\0\0"),
        TextPart('<file name="a.txt">\nhi\n</file>'),
        DataPart("application/octet-stream", b"hi"),
    )


def test_addresses_are_not_fetched_but_told() -> None:
    image = {"type": "input_image", "image_url": "http://169.254.169.254/secret"}
    file = {"type": "input_file", "filename": "a.pdf", "file_url": "https://example.org/a.pdf"}
    video = {"type": "input_video", "video_url": "https://example.org/v"}
    (message,) = read(user([image, file, video]))
    assert message.text == (
        "[image: http://169.254.169.254/secret][a.pdf: https://example.org/a.pdf]"
        "[file: https://example.org/v]"
    )


def test_a_result_may_have_parts() -> None:
    parts = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]
    (message,) = read({**RESULT, "output": parts})
    (part,) = message.content
    assert isinstance(part, ToolResultPart)
    assert part.result == [
        {"type": "text", "value": "see"},
        {"type": "data", "mimeType": "image/png", "data": "AAAA"},
    ]


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"role": "nobody", "content": "x"}, "input[0].role"),
        ({"role": 5}, "input[0].role"),
        ({**CALL, "call_id": ""}, "input[0].call_id"),
        ({**CALL, "call_id": "x" * (CALL_ID_CHARACTERS + 1)}, "input[0].call_id"),
        ({**CALL, "arguments": "[]"}, "input[0].arguments"),
        ({**CALL, "arguments": "{"}, "input[0].arguments"),
        ({**CALL, "arguments": "[" * 500 + "]" * 500}, "input[0].arguments"),
        ({"type": "compaction"}, "input[0].encrypted_content"),
        ({"type": "item_reference"}, "input[0].id"),
        (user([{"type": "input_audio"}]), "input[0].content[0]"),
        (user([{"image_url": "data:image/png;base64,!"}]), "input[0].content[0]"),
        (user([{"image_url": {"no": "url"}}]), "input[0].content[0]"),
    ],
)
def test_a_refusal_names_the_place(item: dict[str, Any], param: str) -> None:
    assert refusal(item) == param


def test_a_call_without_arguments_has_none() -> None:
    (message,) = read({**CALL, "arguments": " "})
    assert message.content == (ToolCallPart("c1", "read", {}),)


@pytest.mark.limit("vscodelm.http_server.items.MOST_ITEMS")
def test_too_many_items_are_refused() -> None:
    check_number(MOST_ITEMS)
    with pytest.raises(ApiError) as raised:
        check_number(MOST_ITEMS + 1)
    assert raised.value.param == "input"


def calls(number: int) -> list[Raw]:
    return [Raw(json.dumps({**CALL, "call_id": f"c{index}"}).encode()) for index in range(number)]


def test_a_run_of_one_voice_takes_linear_time() -> None:
    assert_linear(calls, lambda raws: done(messages_of(raws, unfold)), 4_000)


def test_each_item_is_a_step_of_its_own() -> None:
    assert len([*messages_of(calls(100), unfold)]) == 100


@pytest.mark.limit("vscodelm.http_server.items.CALL_ID_CHARACTERS")
def test_an_id_may_be_that_long() -> None:
    assert read({**CALL, "call_id": "x" * CALL_ID_CHARACTERS})


def test_a_result_needs_its_call_before_it() -> None:
    done(check_results(read(CALL, RESULT)))
    with pytest.raises(ApiError) as raised:
        done(check_results(read(RESULT, CALL)))
    assert raised.value.code == "tool_call_not_found"


OTHER_CALL = {**CALL, "call_id": "c2"}
OTHER_RESULT = {**RESULT, "call_id": "c2"}
ANSWER = {"role": "assistant", "content": "So it is."}


@pytest.mark.parametrize(
    "items",
    [
        (CALL, OTHER_CALL, OTHER_RESULT, RESULT),
        (CALL, RESULT, OTHER_CALL, OTHER_RESULT),
        (CALL, OTHER_CALL, user("Never mind.")),
        (CALL, OTHER_CALL, RESULT, ANSWER, user("Go on.")),
    ],
    ids=["any order", "one by one", "a new question", "long ago"],
)
def test_calls_need_all_their_results_or_none(items: tuple[Any, ...]) -> None:
    done(check_results(read(*items)))


@pytest.mark.parametrize("more", [(), (user("Go on."),)])
@pytest.mark.parametrize(("result", "missing"), [(RESULT, "c2"), (OTHER_RESULT, "c1")])
def test_a_call_whose_result_is_missing_is_named(
    more: tuple[Any, ...], result: Any, missing: str
) -> None:
    with pytest.raises(ApiError) as raised:
        done(check_results(read(CALL, OTHER_CALL, result, *more)))
    error = raised.value
    assert (error.status, error.param, error.code) == (400, "input", "tool_output_not_found")
    assert error.message == f"No tool output found for function call {missing}."


def test_repeating_a_call_makes_no_other_one_answered() -> None:
    with pytest.raises(ApiError, match="call c2"):
        done(
            check_results(read(CALL, OTHER_CALL, ANSWER, CALL, OTHER_CALL, user("x"), CALL, RESULT))
        )
    done(check_results(read(CALL, OTHER_CALL, user("x"), CALL, RESULT, OTHER_CALL, OTHER_RESULT)))


@pytest.mark.limit("vscodelm.http_server.items._MOST_NAMED")
def test_an_error_names_only_some_of_many_missing_results() -> None:
    calls = [{**CALL, "call_id": f"c{number}"} for number in range(1, 12)]
    with pytest.raises(ApiError) as raised:
        done(check_results(read(*calls, RESULT)))
    assert raised.value.message.endswith("call c2, c3, c4, c5, c6, c7, c8, c9, and 2 more.")


PIECE = 1024 * 1024


def image(encoded: str) -> Raw:
    url = f"data:image/png;base64,{encoded}"
    return Raw(json.dumps(user([{"type": "input_image", "image_url": url}])).encode())


@pytest.mark.limit("vscodelm.http_server.items._PIECE_CHARACTERS")
@pytest.mark.parametrize("more", [0, 1, 2, 3])
def test_a_large_image_is_decoded_in_several_steps(more: int) -> None:
    data = bytes(range(256)) * 9216 + b"x" * more
    work = messages_of([image(b64encode(data).decode())], unfold)
    steps = 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            (message,) = end.value
            break
        steps += 1
    assert message.content == (DataPart("image/png", data),)
    assert steps == ceil(len(b64encode(data)) / PIECE) + 1  # the item itself is one


@pytest.mark.parametrize(
    "encoded",
    [
        "A" * (PIECE - 2) + "==" + "AAAA",
        "A" * PIECE + "!AAA",
        "A" * PIECE + "AAA",
    ],
    ids=["ends in the middle", "no base64 at the end", "cut"],
)
def test_a_large_image_that_is_no_base64_is_refused(encoded: str) -> None:
    with pytest.raises(ApiError) as raised:
        done(messages_of([image(encoded)], unfold))
    assert (raised.value.status, raised.value.param) == (400, "input[0].content[0]")
