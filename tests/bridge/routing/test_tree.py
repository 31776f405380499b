"""The tree of prefixes, against a naive list of marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import attrs
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.message import Message
from bridge.routing.tree import Node, PrefixTree
from tests.strategies import user

Mark: TypeAlias = Literal["head", "asked"]
Path: TypeAlias = tuple[Message, ...]
Tree: TypeAlias = PrefixTree[int, Mark]

WORDS = [user(word) for word in "abc"]
A, B, C = WORDS
paths = st.lists(st.sampled_from(WORDS), max_size=4).map(tuple)


@attrs.frozen
class Marking:
    key: int
    path: Path
    depths: dict[Mark, int]


@attrs.frozen
class Forgetting:
    key: int


@st.composite
def markings(draw: st.DrawFn) -> Marking:
    path = draw(paths)
    marks: st.SearchStrategy[Mark] = st.sampled_from(["head", "asked"])
    depths = st.dictionaries(marks, st.integers(0, len(path)), min_size=1)
    return Marking(draw(st.integers(1, 3)), path, draw(depths))


steps = st.lists(markings() | st.builds(Forgetting, st.integers(1, 3)), max_size=12)


@attrs.define
class NaiveTree:
    """Everything that is marked, in order; whatever is asked is looked for in all of it."""

    markings: list[Marking] = attrs.field(factory=list[Marking])

    def take(self, step: Marking | Forgetting) -> None:
        self.markings = [marking for marking in self.markings if marking.key != step.key]
        if isinstance(step, Marking):
            self.markings.append(step)

    def marked(self) -> Iterator[tuple[int, Mark, Path]]:
        for marking in self.markings:
            for mark, depth in marking.depths.items():
                yield marking.key, mark, marking.path[:depth]

    def points(self) -> set[Path]:
        ends = [path for _, _, path in self.marked()]
        return {(), *(path[:depth] for path in ends for depth in range(len(path) + 1))}

    def keys(self, point: Path, mark: Mark) -> list[int]:
        return [key for key, kind, path in self.marked() if (kind, path) == (mark, point)][::-1]


def planted(steps: list[Marking | Forgetting]) -> tuple[Tree, NaiveTree]:
    tree: Tree = PrefixTree()
    naive = NaiveTree()
    for step in steps:
        naive.take(step)
        match step:
            case Marking(key=key, path=path, depths=depths):
                tree.mark(key, path, depths)
            case Forgetting(key=key):
                tree.forget(key)
    return tree, naive


@given(steps, paths)
def test_a_walk_finds_what_a_naive_search_finds(
    steps: list[Marking | Forgetting], path: Path
) -> None:
    tree, naive = planted(steps)
    points = naive.points()
    nodes = tree.walk(path)
    known = [path[:depth] for depth in range(len(path) + 1) if path[:depth] in points]
    assert [node.depth for node in nodes] == [len(point) for point in known]
    for node, point in zip(nodes, known, strict=True):
        assert list(node.keys("head")) == naive.keys(point, "head")
        assert list(node.keys("asked")) == naive.keys(point, "asked")


@given(steps)
def test_there_are_just_the_points_that_lead_to_a_mark(
    steps: list[Marking | Forgetting],
) -> None:
    tree, naive = planted(steps)
    assert tree.size() == len(naive.points())


@given(steps)
def test_nothing_is_left_once_everything_is_forgotten(
    steps: list[Marking | Forgetting],
) -> None:
    tree, _ = planted([*steps, *(Forgetting(key) for key in (1, 2, 3))])
    assert tree.size() == 1
    assert tree.is_empty


@given(steps)
def test_a_tree_is_empty_just_when_nobody_is_in_it(
    steps: list[Marking | Forgetting],
) -> None:
    tree, naive = planted(steps)
    assert tree.is_empty is not bool(naive.markings)


@given(steps, paths)
def test_beyond_a_point_are_those_whom_conversations_reach_from_it(
    steps: list[Marking | Forgetting], path: Path
) -> None:
    """Somebody is found wherever there is anybody, and nobody who isn't there."""
    tree, naive = planted(steps)
    point = tree.walk(path)[-1]
    here = path[: point.depth]
    there = {key for key, _, marked in naive.marked() if marked[: point.depth] == here}
    found = set(point.beyond())
    assert found <= there
    assert bool(found) is bool(there)


def test_who_is_reached_first_is_who_stands_beyond() -> None:
    tree: Tree = PrefixTree()
    tree.mark(1, (A, B), {"head": 2})
    tree.mark(2, (A, B), {"head": 2, "asked": 1})
    tree.mark(3, (A, B, C), {"head": 3})
    (root, *_, last) = tree.walk((A, B))
    assert list(last.beyond()) == [1, 2]
    assert list(root.beyond()) == [2], "at the first point that is marked"


@given(steps)
def test_every_point_knows_the_way_back(steps: list[Marking | Forgetting]) -> None:
    tree, naive = planted(steps)
    for point in naive.points():
        node: Node[int, Mark] | None = tree.walk(point)[-1]
        way: list[bytes] = []
        while node is not None:
            way.append(node.digest)
            node = node.parent
        assert way[::-1] == [b"", *(message.digest for message in point)]


def test_a_walk_ends_where_no_conversation_goes_on() -> None:
    tree: Tree = PrefixTree()
    tree.mark(1, (A, B, C), {"head": 3, "asked": 1})
    assert [node.depth for node in tree.walk((A, B, A, C))] == [0, 1, 2]
    assert [node.depth for node in tree.walk((B,))] == [0]
    assert list(tree.walk((A,))[-1].keys("asked")) == [1]


def test_who_marked_a_point_last_comes_first() -> None:
    tree: Tree = PrefixTree()
    for key in (1, 2, 3, 1):
        tree.mark(key, (A,), {"head": 1})
    assert list(tree.walk((A,))[-1].keys("head")) == [1, 3, 2]


def test_marking_anew_forgets_where_a_key_was() -> None:
    tree: Tree = PrefixTree()
    tree.mark(1, (A, B), {"head": 2, "asked": 2})
    tree.mark(1, (A,), {"head": 1})
    assert tree.size() == 2
    assert list(tree.walk((A,))[-1].keys("head")) == [1]


def test_one_key_may_go_without_the_others() -> None:
    tree: Tree = PrefixTree()
    tree.mark(1, (A, B), {"head": 2})
    tree.mark(2, (A, B, C), {"head": 3})
    tree.forget(2)
    tree.forget(2)
    assert tree.size() == 3
    assert list(tree.walk((A, B, C))[-1].keys("head")) == [1]


def test_marking_one_point_twice_keeps_it_once() -> None:
    node: Node[int, Mark] = Node(b"", None)
    node.add("head", 1)
    node.add("head", 2)
    node.add("head", 1)
    assert list(node.keys("head")) == [1, 2]
    node.discard("head", 1)
    node.discard("head", 2)
    assert list(node.keys("head")) == []
