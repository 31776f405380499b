from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vscodelm.registry import members
from vscodelm.registry.members import BadArchive, Layout, Member, path_of

NAMES = st.lists(st.sampled_from(["a", "b", "A", "..", ".", "l"]), min_size=1, max_size=4).map(
    "/".join
)
MEMBERS = st.builds(
    Member, st.sampled_from(["file", "folder", "symlink", "hardlink"]), NAMES, NAMES
)


def file(name: str) -> Member:
    return Member("file", name)


def link(name: str, target: str) -> Member:
    return Member("symlink", name, target)


def placed(*items: Member) -> list[tuple[str, ...]]:
    layout = Layout()
    return [layout.place(member) for member in items]


def test_a_name_is_taken_apart() -> None:
    assert path_of("./a//b/./c") == ("a", "b", "c")
    assert path_of("a/") == ("a",)
    assert path_of("./") == ()


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "//a",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "a\\..\\b",
        "\\a",
        "C:/a",
        "c:a",
        "a\x00b",
        "a\nb",
        "a/.. /b",
        "a/.../b",
        "a/. /b",
    ],
)
def test_a_name_that_leads_outside_is_refused(name: str) -> None:
    with pytest.raises(BadArchive):
        path_of(name)


def test_files_and_folders_go_where_they_say() -> None:
    items = (Member("folder", "./"), Member("folder", "a/"), file("a/b"), file("c/d"))
    assert placed(*items) == [(), ("a",), ("a", "b"), ("c", "d")]


def test_a_folder_may_be_named_again_and_after_what_is_in_it() -> None:
    placed(file("a/b"), Member("folder", "a"), Member("folder", "a/"))


@pytest.mark.parametrize("target", ["b", "./b", "../a/b", "../../x", "not/there", "../.."])
def test_a_link_that_stays_inside_is_taken(target: str) -> None:
    assert placed(link("a/c/l", target)) == [("a", "c", "l")]


@pytest.mark.parametrize(
    "target",
    ["", "/", "/etc/passwd", "../../..", "../../../x", "b/../..", "b/../c", "a\\b", "C:x", "a\n"],
)
def test_a_link_that_leads_outside_or_might_is_refused(target: str) -> None:
    with pytest.raises(BadArchive, match="link that leads outside"):
        placed(link("a/c/l", target))


@pytest.mark.parametrize(
    "items",
    [
        (link("l", "a"), file("l/x")),
        (link("l", "a"), file("L/x")),
        (link("l", "a"), Member("folder", "l")),
        (link("l", "a"), file("l")),
        (link("l", "a"), link("l", "b")),
        (file("l/x"), link("l", "a")),
        (file("L/x"), link("l", "a")),
        (file("l/x"), link("L", "a")),
        (Member("folder", "l"), link("l", "a")),
        (file("l"), link("l", "a")),
        (file("a"), file("a")),
        (file("a"), file("a/b")),
        (file("a/b"), file("a")),
        (Member("folder", "a"), file("a")),
        (file("a"), Member("hardlink", "a", "a")),
        (file("a"), link("l", "a"), Member("hardlink", "l", "a")),
        (link("e\u0301", "a"), file("\u00e9/x")),
    ],
)
def test_nothing_lies_beneath_a_link_or_takes_the_place_of_another(
    items: tuple[Member, ...],
) -> None:
    *before, last = items
    layout = Layout()
    for member in before:
        layout.place(member)
    with pytest.raises(BadArchive, match="twice"):
        layout.place(last)


def test_names_that_differ_by_case_alone_are_two_files() -> None:
    placed(file("readme"), file("README"))


def test_a_hard_link_leads_to_a_file_of_the_archive() -> None:
    placed(file("a"), Member("hardlink", "b", "a"), Member("hardlink", "c", "./b"))
    for target in ("x", "/etc/passwd", "../a", "l", "d"):
        with pytest.raises(BadArchive):
            placed(
                file("a"),
                link("l", "a"),
                Member("folder", "d"),
                Member("hardlink", "b", target),
            )


def test_only_a_folder_may_be_the_folder_itself() -> None:
    for kind in ("file", "symlink"):
        with pytest.raises(BadArchive):
            placed(Member(kind, "./", "a"))


@pytest.mark.limit("vscodelm.registry.members.MOST_MEMBERS")
def test_the_number_of_members_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    with pytest.raises(BadArchive, match="more than 2"):
        placed(file("a"), file("b"), file("c"))


@given(st.lists(MEMBERS, max_size=8))
def test_where_links_lead_is_inside_through_whatever_links(items: list[Member]) -> None:
    """Follows every link part by part, as the system does, through the links that were placed."""
    layout = Layout()
    links: dict[tuple[str, ...], str] = {}
    for member in items:
        try:
            path = layout.place(member)
        except BadArchive:
            continue
        assert ".." not in path
        if member.kind == "symlink":
            links[path] = member.target
    for path in links:
        _follow(path, links)


def _follow(path: tuple[str, ...], links: dict[tuple[str, ...], str]) -> None:
    here: list[str] = []
    ahead = list(reversed(path))
    for _ in range(100):  # a loop is an error of its own
        if not ahead:
            return
        part = ahead.pop()
        if part == "..":
            assert here, "it has left the folder"
            here.pop()
        elif part != ".":
            here.append(part)
            if tuple(here) in links:
                ahead += reversed(links[tuple(here)].split("/"))
                here.pop()
