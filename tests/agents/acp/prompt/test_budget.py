from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.prompt.attachments import Atom
from agents.acp.prompt.budget import (
    FRAME,
    IMAGE,
    MOST_IMAGES,
    NOTE,
    USUAL_WINDOW,
    ContextWindow,
    PromptEntry,
    fitted,
    shortened,
    size_of,
)
from agents.acp.schema.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from bridge.work import done

PICTURE = ImageContent(b"abc", "image/png")
DROPPED = "\n[Here was an attachment.]\n"


def test_what_fits_is_as_it_was() -> None:
    given = [PromptEntry("user", ["a"]), PromptEntry("tool call", ["b" * 5000], can_shorten=True)]
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
    assert PromptEntry("user", [atom]).size == FRAME + 4 + size


@pytest.mark.limit("agents.acp.prompt.budget.MOST_IMAGES")
def test_only_the_newest_images_are_kept() -> None:
    given = [PromptEntry("user", [PICTURE]) for _ in range(MOST_IMAGES + 2)]
    kept, left_out = done(fitted(given, 10_000_000))
    assert left_out == 0
    assert [entry.atoms for entry in kept] == [[DROPPED]] * 2 + [[PICTURE]] * MOST_IMAGES


def test_a_file_is_shortened_before_a_word_is_left_out() -> None:
    file = EmbeddedResource(ResourceContents("a:b", text="x" * 100_000))
    given = [PromptEntry("user", ["q" * 3000]), PromptEntry("user", [file, "What is it?"])]
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
    assert done(fitted([PromptEntry("user", ["a", atom, "b"])], 1000))[0][0].atoms == [
        "a",
        DROPPED,
        "b",
    ]


def test_images_and_links_stay_while_their_entry_does() -> None:
    link = ResourceLink("a:" + "b" * 2000, "b")
    given = [PromptEntry("tool result", [PICTURE, link, "r" * 4000], can_shorten=True)]
    kept, _ = done(fitted(given, IMAGE + 4000))
    assert kept[0].atoms[:2] == [PICTURE, link]


def test_the_oldest_go_first_and_no_more_than_must() -> None:
    given = [PromptEntry("user", [f"{number}" * 100]) for number in range(10)]
    kept, left_out = done(fitted(given, 3 * given[0].size))
    assert left_out == 7
    assert kept == given[7:]


def test_of_the_last_one_pictures_go_and_then_its_middle() -> None:
    given = [PromptEntry("user", ["begin" + "x" * 5000, PICTURE, "end"])]
    kept, _ = done(fitted(given, 300))
    (text,) = kept[0].atoms
    assert isinstance(text, str)
    assert text.startswith("begin")
    assert text.endswith("end")
    assert kept[0].size <= 300
    assert done(fitted([PromptEntry("user", ["x" * 100, PICTURE])], 200))[0][0].atoms == [
        "x" * 100,
        DROPPED,
    ]


def test_what_is_given_is_not_changed() -> None:
    given = PromptEntry("tool result", ["r" * 4000], can_shorten=True)
    done(fitted([given], 10))
    assert given.atoms == ["r" * 4000]


LEFT_OUT = re.compile(r"\n\[… ([\d,]+) characters left out …\]\n")
FAMILY = "\U0001f468\N{ZERO WIDTH JOINER}\U0001f469\N{ZERO WIDTH JOINER}\U0001f467"
HAND = "\U0001f44b\U0001f3fd"
ACCENT = "e\N{COMBINING ACUTE ACCENT}"
LETTERS = st.sampled_from(["a", "é", "漢", "\U0001f600", FAMILY, HAND, ACCENT, "\r\n", "\n"])


def test_what_is_short_enough_stays() -> None:
    assert shortened("漢字", 6) == "漢字"


def test_the_beginning_is_longer_than_the_end() -> None:
    assert shortened("a" * 50 + "b" * 50, 9) == "aaaaaa\n[… 91 characters left out …]\nbbb"


def test_nothing_but_a_note_may_be_left() -> None:
    assert shortened("abc", 0) == "\n[… 3 characters left out …]\n"


@pytest.mark.parametrize("letter", [FAMILY, HAND, ACCENT, "\r\n"])
@pytest.mark.parametrize("most", range(40))
def test_what_a_reader_takes_for_one_character_is_not_cut(letter: str, most: int) -> None:
    begins, _, ends = LEFT_OUT.split(shortened(letter * 20, most))
    assert begins == letter * (len(begins) // len(letter))
    assert ends == letter * (len(ends) // len(letter))


def test_the_halves_of_a_character_stay_together() -> None:
    halves = "\ud83d\ude00" * 20
    for most in range(40):
        begins, _, ends = LEFT_OUT.split(shortened(halves, most))
        assert len(begins) % 2 == len(ends) % 2 == 0


def test_a_letter_of_another_size_counts_with_all_its_bytes() -> None:
    assert (size_of("a"), size_of("é"), size_of("漢"), size_of("\U0001f600")) == (1, 2, 3, 4)


@given(st.lists(LETTERS).map("".join), st.integers(0, 200))
def test_what_is_missing_is_counted_and_the_rest_is_as_it_was(text: str, most: int) -> None:
    told = shortened(text, most)
    found = LEFT_OUT.search(told)
    if found is None:
        assert told == text
        assert size_of(text) <= most
        return
    begins, missing, ends = (
        told[: found.start()],
        int(found[1].replace(",", "")),
        told[found.end() :],
    )
    assert text.startswith(begins)
    assert text.endswith(ends)
    assert len(begins) + missing + len(ends) == len(text)
    assert size_of(begins) + size_of(ends) <= most
    assert size_of(found[0]) <= NOTE
    assert not (ends and unicodedata.combining(ends[0]))


def test_a_record_may_take_half_of_what_there_is_room_for() -> None:
    assert ContextWindow(10_000).record_budget == 15_000
    assert ContextWindow().record_budget == USUAL_WINDOW // 2 * 3
