from __future__ import annotations

from agents.acp.prompt.attachments import Atom
from agents.acp.prompt.user_message import asked, whole
from agents.acp.schema.content import EmbeddedResource, ImageContent, ResourceContents
from agents.acp.schema.initialize import PromptCapabilities
from bridge.wire import ChatMessage, DataPart, Part, TextPart, ThinkingPart, UnknownPart

ALL = PromptCapabilities(image=True, audio=True, embedded_context=True)
IMAGE = DataPart("image/png", b"abc")
BLOCK = ImageContent(b"abc", "image/png")


def message(*parts: Part | str) -> ChatMessage:
    return ChatMessage("user", tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def atoms(*parts: Part | str, capabilities: PromptCapabilities = ALL) -> list[Atom]:
    return asked(message(*parts), capabilities).atoms


def test_an_image_keeps_its_place_among_the_attachments() -> None:
    found = atoms(
        "<attachments>\n", IMAGE, "\n</attachments>\n<context>\ndate\n</context>\n"
        "<userRequest>\nLook\n</userRequest>\n",
    )  # fmt: skip
    assert found == ["<attachments>\n", BLOCK, "\n</attachments>\n", "Look"]


def test_an_image_in_the_request_keeps_its_place_too() -> None:
    found = asked(message("<userRequest>\n", IMAGE, "Look\n</userRequest>"), ALL)
    assert found.atoms == [BLOCK, "Look"]
    found = asked(message("<userRequest>\nThis ", IMAGE, "and that\n</userRequest>"), ALL)
    assert found.request == ["This ", BLOCK, "and that"]


def test_an_image_that_stands_where_the_host_speaks_is_kept() -> None:
    found = atoms("<context>\n", IMAGE, "\n</context>\n<userRequest>\nLook\n</userRequest>")
    assert found == [BLOCK, "Look"]


def test_only_an_image_is_something() -> None:
    assert atoms(IMAGE) == [BLOCK]


def test_what_an_agent_cannot_take_is_named_in_its_place() -> None:
    first, note, last = atoms("a", IMAGE, "b", capabilities=PromptCapabilities())
    assert (first, last) == ("a", "b")
    assert isinstance(note, str)
    assert note.startswith("\n[Here is an image")


def test_bookkeeping_and_thoughts_are_left_out_and_what_is_unknown_is_named() -> None:
    found = atoms(
        "a", DataPart("cache_control", b"x"), ThinkingPart("hm"), UnknownPart("dance", b"{}")
    )
    assert found == ["a", "\n[Here is something of the kind dance.]\n"]


FILE = '<attachment id="a" filePath="/w/a.py">\nx\n</attachment>\n'


def test_attached_files_become_blocks_in_their_place() -> None:
    found = atoms(f"<attachments>\n{FILE}{FILE}</attachments>\n<userRequest>\nLook\n</userRequest>")
    block = EmbeddedResource(ResourceContents("file:///w/a.py", "x"))
    assert found == ["<attachments>\n", block, "\n", block, "\n</attachments>\n", "Look"]


def test_an_attached_file_with_an_image_in_it_stays_text() -> None:
    start, end = FILE.split("x")
    found = atoms(
        f"<attachments>\n{start}",
        IMAGE,
        f"{end}</attachments>\n<userRequest>\nLook\n</userRequest>",
    )
    assert found[:3] == [f"<attachments>\n{start}", BLOCK, f"{end}</attachments>\n"]


def test_files_that_cannot_be_blocks_stay_text() -> None:
    text = f"<attachments>\n{FILE}</attachments>\n"
    found = atoms(f"{text}<userRequest>\nLook\n</userRequest>", capabilities=PromptCapabilities())
    assert found[0] == text


def test_an_empty_request_asks_nothing() -> None:
    assert asked(message("<userRequest>\n\n</userRequest>"), ALL).request == []
    assert asked(message(), ALL).request == []


def test_the_whole_message_is_all_of_it() -> None:
    text = "<context>\ndate\n</context>\n<userRequest>\nLook\n</userRequest>\n"
    assert whole(message(text, IMAGE), ALL) == [text, BLOCK]
