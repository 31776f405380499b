from __future__ import annotations

import pytest

from agents.events import Attach
from agents.open_responses.stream.media import attachment

PNG = b"\x89PNG\r\n\x1a\nrest"
JPEG = b"\xff\xd8\xff\xe0rest"
WEBP = b"RIFF\x00\x00\x00\x00WEBPrest"


@pytest.mark.parametrize(
    ("mime", "data", "kind"),
    [
        ("image/png", PNG, "image/png"),
        ("IMAGE/PNG; x=1", PNG, "image/png"),
        ("image/*", JPEG, "image/jpeg"),
        ("image/png", JPEG, "image/jpeg"),
        ("image/jpg", JPEG, "image/jpeg"),
        ("image/webp", WEBP, "image/webp"),
        ("image/gif", b"GIF89a", "image/gif"),
        ("image/gif", b"GIF87a", "image/gif"),
        ("image/x-ms-bmp", b"BMrest", "image/bmp"),
        ("image/png", b"<html>", "application/octet-stream"),
        ("image/*", b"?", "application/octet-stream"),
        ("image/svg+xml", b"<svg/>", "image/svg+xml"),
        ("application/pdf", b"%PDF", "application/pdf"),
        ("", b"x", "application/octet-stream"),
    ],
)
def test_a_file_has_the_type_that_it_is(mime: str, data: bytes, kind: str) -> None:
    assert attachment(mime, data) == Attach(kind, data)


@pytest.mark.parametrize(
    ("mime", "data", "out"),
    [
        ("text/plain", b"\xc3\xa4", b"\xc3\xa4"),
        ("text/plain; charset=latin-1", b"\xe4", b"\xc3\xa4"),
        ('text/plain; format=flowed; charset="ISO-8859-1"', b"\xe4", b"\xc3\xa4"),
        ("text/plain; charset=nonsense", b"a", b"a"),
        ("text/plain", b"\xe4", b"\xef\xbf\xbd"),
        ("text/csv", b"a,b", b"a,b"),
        ("application/json", b'{ "a" : 1 }', b'{"a":1}'),
        ("application/geo+json", b"[ ]", b"[]"),
        ("application/json", b"{", b"{"),
    ],
)
def test_text_and_json_are_what_every_reader_takes(mime: str, data: bytes, out: bytes) -> None:
    assert attachment(mime, data).data == out
