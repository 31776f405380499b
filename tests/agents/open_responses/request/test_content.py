from __future__ import annotations

from typing import Any

import pytest

from agents.open_responses.items import InputContent, InputFile, InputImage, InputText
from agents.open_responses.request.content import (
    contents,
    joined,
    result_contents,
    simplest,
)
from agents.tool_result import BOOKKEEPING
from bridge.wire import DataPart, TextPart
from tests.agents.open_responses.words import PNG, PNG_URL, call

IMAGE = InputImage(PNG_URL)


def data(mime: str, value: bytes) -> list[InputContent]:
    return [*contents([DataPart(mime, value)])]


def test_text_and_images_are_content_and_calls_are_not() -> None:
    assert [*contents([TextPart("a"), PNG, call("x")])] == [InputText("a"), IMAGE]


@pytest.mark.parametrize("mime", [*sorted(BOOKKEEPING), "Usage", " usage ;v=1"])
def test_bookkeeping_is_nobody_elses_business(mime: str) -> None:
    assert data(mime, b"x") == []


@pytest.mark.parametrize("mime", ["odd", "a host's own", ""])
def test_what_has_no_type_stays_here(mime: str) -> None:
    assert data(mime, b"\xff") == []


@pytest.mark.parametrize(
    "mime", ["text/plain", "application/json", "application/ld+json", "image/svg+xml"]
)
def test_data_that_is_text_goes_as_text(mime: str) -> None:
    assert data(mime, b"{}") == [InputText("{}")]


def test_data_that_only_says_it_is_text_goes_as_a_file() -> None:
    assert data("text/plain; charset=latin1", b"\xe9") == [
        InputFile("attachment.bin", "data:text/plain;base64,6Q==")
    ]


def test_an_image_type_has_many_spellings() -> None:
    (one,) = data("image/jpg", b"x")
    assert isinstance(one, InputImage)
    assert one.image_url.startswith("data:image/jpeg;base64,")
    assert data("IMAGE/PNG", PNG.data) == [IMAGE]


def test_an_image_of_a_type_that_no_model_takes_is_named() -> None:
    assert data("image/tiff", b"II") == [
        InputText("[an image of the type image/tiff, which can't be shown to you]")
    ]


def test_a_file_is_a_data_url_with_its_type() -> None:
    assert data("application/pdf", b"%PDF") == [
        InputFile("attachment.pdf", "data:application/pdf;base64,JVBERg==")
    ]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, ()),
        ("", ()),
        ("done", (InputText("done"),)),
        ([{"type": "text", "value": "a"}, {"type": "text", "text": "b"}], (InputText("ab"),)),
        ({"type": "text", "value": "a"}, (InputText("a"),)),
        ([{"type": "data", "mimeType": "image/png", "data": "iVBORw=="}], (IMAGE,)),
        ([{"type": "data", "mimeType": "text/plain", "data": "not base64"}], None),
        ([{"type": "tool_result", "result": ["deep", ["er"]]}], (InputText("deeper"),)),
        ([{"type": "tool_result", "content": "deep"}], (InputText("deep"),)),
        ([{"type": "thinking", "value": "hm"}], ()),
        ({"rows": [1, 2]}, (InputText('{"rows":[1,2]}'),)),
        (7, (InputText("7"),)),
    ],
)
def test_a_result_may_be_anything(result: Any, expected: tuple[InputContent, ...] | None) -> None:
    assert result_contents(result) == ((InputText("not base64"),) if expected is None else expected)


def test_a_failed_result_says_so() -> None:
    assert result_contents([], is_error=True) == (InputText("The tool failed: "),)
    assert result_contents("x", is_error=True) == (InputText("The tool failed: x"),)


def test_text_that_stands_together_is_joined() -> None:
    parts = [InputText("a"), InputText(""), InputText("b"), IMAGE, InputText("c")]
    assert joined(parts) == (InputText("ab"), IMAGE, InputText("c"))


def test_the_simplest_form_is_a_string() -> None:
    assert simplest(()) == ""
    assert simplest((InputText("a"),)) == "a"
    assert simplest((IMAGE,)) == (IMAGE,)
