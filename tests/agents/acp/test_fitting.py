from __future__ import annotations

import pytest

from agents.acp.attachments import Atom
from agents.acp.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from agents.acp.fitting import FRAME, IMAGE, MOST_IMAGES, Entry, fitted
from bridge.work import done

PICTURE = ImageContent(b"abc", "image/png")
NOTE = "\n[Here was an attachment.]\n"


def test_what_fits_is_as_it_was() -> None:
    given = [Entry("user", ["a"]), Entry("tool call", ["b" * 5000], can_shorten=True)]
    assert done(fitted(given, 6000)) == (given, 0)
    assert done(fitted([], 0)) == ([], 0)


@pytest.mark.parametrize(
    ("atom", "size"),
    [
        ("漢", 3),
        (TextContent("é"), 2),
        (PICTURE, IMAGE),
        (AudioContent(b"12345", "audio/wav"), 5),
        (EmbeddedResource(ResourceContents("a:b", text="漢")), 6),
        (EmbeddedResource(ResourceContents("a:b", blob=b"1234")), 7),
        (ResourceLink("a:b", "name"), 7),
    ],
)
def test_everything_counts(atom: Atom, size: int) -> None:
    assert Entry("user", [atom]).size == FRAME + 4 + size


@pytest.mark.limit("agents.acp.fitting.MOST_IMAGES")
def test_only_the_newest_images_are_kept() -> None:
    given = [Entry("user", [PICTURE]) for _ in range(MOST_IMAGES + 2)]
    kept, left_out = done(fitted(given, 10_000_000))
    assert left_out == 0
    assert [entry.atoms for entry in kept] == [[NOTE]] * 2 + [[PICTURE]] * MOST_IMAGES


def test_a_file_is_shortened_before_a_word_is_left_out() -> None:
    file = EmbeddedResource(ResourceContents("a:b", text="x" * 100_000))
    given = [Entry("user", ["q" * 3000]), Entry("user", [file, "What is it?"])]
    kept, left_out = done(fitted(given, 5000))
    assert left_out == 0
    assert kept[0] == given[0]
    match kept[1].atoms:
        case [
            EmbeddedResource(resource=ResourceContents(uri="a:b", text=str(text))),
            "What is it?",
        ]:
            assert "99,000 characters left out" in text
        case other:
            pytest.fail(f"{other}")


@pytest.mark.parametrize(
    "atom",
    [
        AudioContent(b"1" * 9000, "audio/wav"),
        EmbeddedResource(ResourceContents("a:b", blob=b"1" * 9000)),
    ],
)
def test_what_has_no_middle_goes_whole(atom: Atom) -> None:
    assert done(fitted([Entry("user", ["a", atom, "b"])], 1000))[0][0].atoms == ["a", NOTE, "b"]


def test_images_and_links_stay_while_their_entry_does() -> None:
    link = ResourceLink("a:" + "b" * 2000, "b")
    given = [Entry("tool result", [PICTURE, link, "r" * 4000], can_shorten=True)]
    kept, _ = done(fitted(given, IMAGE + 4000))
    assert kept[0].atoms[:2] == [PICTURE, link]


def test_the_oldest_go_first_and_no_more_than_must() -> None:
    given = [Entry("user", [f"{number}" * 100]) for number in range(10)]
    kept, left_out = done(fitted(given, 3 * given[0].size))
    assert left_out == 7
    assert kept == given[7:]


def test_of_the_last_one_pictures_go_and_then_its_middle() -> None:
    given = [Entry("user", ["begin" + "x" * 5000, PICTURE, "end"])]
    kept, _ = done(fitted(given, 300))
    (text,) = kept[0].atoms
    assert isinstance(text, str)
    assert text.startswith("begin")
    assert text.endswith("end")
    assert kept[0].size <= 300
    assert done(fitted([Entry("user", ["x" * 100, PICTURE])], 200))[0][0].atoms == ["x" * 100, NOTE]


def test_what_is_given_is_not_changed() -> None:
    given = Entry("tool result", ["r" * 4000], can_shorten=True)
    done(fitted([given], 10))
    assert given.atoms == ["r" * 4000]
