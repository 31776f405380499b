from __future__ import annotations

import pytest

from agents.acp.prompt.attachments import attachments, data_atom, file_block
from agents.acp.schema.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    KnownContent,
    ResourceContents,
    ResourceLink,
)
from agents.acp.schema.initialize import PromptCapabilities
from agents.tool_result import BOOKKEEPING
from bridge.wire import DataPart

NONE = PromptCapabilities()
ALL = PromptCapabilities(image=True, audio=True, embedded_context=True)
PNG = DataPart("image/png", b"abc")
WAV = DataPart("audio/wav", b"abc")


def test_images_and_sounds_are_blocks_for_agents_that_take_them() -> None:
    assert data_atom(PNG, ALL) == ImageContent(b"abc", "image/png")
    assert data_atom(WAV, ALL) == AudioContent(b"abc", "audio/wav")


def test_what_an_agent_cannot_take_is_named() -> None:
    note = "[Here is {} ({}, 3 bytes), which can't be shown to you: you don't take this kind.]"
    assert data_atom(PNG, NONE) == note.format("an image", "image/png")
    assert data_atom(WAV, NONE) == note.format("a sound", "audio/wav")
    assert data_atom(PNG, PromptCapabilities(embedded_context=True)) == note.format(
        "an image", "image/png"
    )
    pdf = DataPart("application/pdf", b"abc")
    assert data_atom(pdf, NONE) == note.format("a file", "application/pdf")


def test_other_data_is_embedded() -> None:
    block = data_atom(DataPart("application/pdf", b"\xff%PDF"), ALL)
    assert isinstance(block, EmbeddedResource)
    assert block.resource.blob == b"\xff%PDF"
    assert block.resource.mime_type == "application/pdf"
    assert block.resource.uri.startswith("attachment:///")
    assert block == data_atom(DataPart("application/pdf", b"\xff%PDF"), ALL)


@pytest.mark.parametrize("mime", ["text/plain", "application/json", "application/ld+json"])
def test_text_is_told_as_text(mime: str) -> None:
    block = data_atom(DataPart(mime, b"{}"), ALL)
    assert isinstance(block, EmbeddedResource)
    assert block.resource.text == "{}"
    assert data_atom(DataPart(mime, b"{}"), NONE) == f"[attached: {mime}]\n```\n{{}}\n```"


def test_text_that_is_none_is_data() -> None:
    block = data_atom(DataPart("text/plain", b"\xff"), ALL)
    assert isinstance(block, EmbeddedResource)
    assert block.resource.blob == b"\xff"


@pytest.mark.parametrize("mime", [*sorted(BOOKKEEPING), "Usage", " usage ;v=1"])
def test_the_hosts_bookkeeping_is_not_for_the_agent(mime: str) -> None:
    assert data_atom(DataPart(mime, b"x"), ALL) is None


def block_of(text: str, capabilities: PromptCapabilities = ALL) -> KnownContent | None:
    (attachment,) = attachments(text, 0, len(text))
    return file_block(attachment, capabilities)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/w/a b.py", "file:///w/a%20b.py"),
        (r"c:\\w\\a.py", "file:///c:/w/a.py"),
        (r"c:\w\q.py", "file:///c:/w/q.py"),
        ("vscode-remote://ssh/w/a.py", "vscode-remote://ssh/w/a.py"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ],
)
def test_an_attached_file_is_embedded_by_its_address(path: str, uri: str) -> None:
    text = f'<attachment id="a.py" filePath="{path}">\nUser\'s selection:\nx = 1\n</attachment>'
    assert block_of(text) == EmbeddedResource(ResourceContents(uri, "User's selection:\nx = 1"))


def test_a_file_without_contents_is_a_link_for_every_agent() -> None:
    text = '<attachment id="src" filePath="/w/src">\n</attachment>'
    assert block_of(text, NONE) == ResourceLink("file:///w/src", "src")
    assert block_of("<attachment filePath=/w/src></attachment>") == ResourceLink(
        "file:///w/src", "src"
    )
    assert block_of('<attachment filePath="/"></attachment>') == ResourceLink(
        "file:///", "file:///"
    )


@pytest.mark.parametrize(
    "text",
    [
        '<attachment id="a">\nx\n</attachment>',
        '<attachment id="a" filePath="src/a.py">\nx\n</attachment>',
        '<attachment id="a" filePath="/w/a.py" isSummarized="true">\nx\n</attachment>',
    ],
)
def test_an_attachment_that_says_less_or_more_stays_text(text: str) -> None:
    assert block_of(text) is None


def test_contents_stay_text_for_an_agent_that_takes_no_embedded_ones() -> None:
    assert block_of('<attachment filePath="/w/a.py">\nx\n</attachment>', NONE) is None


def test_an_attachment_that_does_not_end_is_none() -> None:
    text = "<attachment>\n</attachment>\n" + "<attachment>\n" * 10_000
    assert [found.end for found in attachments(text, 0, len(text))] == [26]
