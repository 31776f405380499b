"""A tree of shared prefixes: every live conversation is a path, found in one walk over a request.

The cost of a walk depends on the request's length, not on the number of conversations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import is_not
from typing import Generic, TypeVar

from bridge.history.message import Message

K = TypeVar("K")
"""The owner of a mark."""
M = TypeVar("M")
"""The kind of point that a mark is."""


class Node(Generic[K, M]):
    """A point in conversations: the messages from the root to here were said."""

    __slots__ = ("children", "depth", "digest", "marks", "parent")

    def __init__(self, digest: bytes, parent: Node[K, M] | None) -> None:
        self.digest = digest
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[bytes, Node[K, M]] = {}
        self.marks: dict[M, dict[K, None]] = {}

    def keys(self, mark: M) -> Iterator[K]:
        """Yield the conversations that marked this point so, the most recent first."""
        return reversed(self.marks.get(mark, {}))

    def beyond(self) -> Iterator[K]:
        """Yield owners of marks at a point that conversations reach from here."""
        node = self
        while not node.marks and node.children:
            node = next(iter(node.children.values()))
        for keys in node.marks.values():
            yield from keys

    def add(self, mark: M, key: K) -> None:
        """Mark this point, as the most recent."""
        keys = self.marks.setdefault(mark, {})
        keys.pop(key, None)
        keys[key] = None

    def discard(self, mark: M, key: K) -> None:
        """Take a mark back."""
        keys = self.marks[mark]
        del keys[key]
        if not keys:
            del self.marks[mark]


class PrefixTree(Generic[K, M]):
    """Points of conversations, marked by their owners.

    A walk or a mark mostly repeats the last path and adds a little. So the last path is kept while
    all its points exist. The next walk follows the tree only from where the two differ.
    """

    def __init__(self) -> None:
        self._root: Node[K, M] = Node(b"", None)
        self._marked: dict[K, list[tuple[Node[K, M], M]]] = {}
        self._way: list[Node[K, M]] = [self._root]
        self._said: list[Message] = []
        """The steps along it."""

    def mark(self, key: K, path: Sequence[Message], depths: Mapping[M, int]) -> None:
        """Mark the points of `path` at `depths` for `key`; its earlier marks are forgotten."""
        said = path[: max(depths.values())]
        nodes = self._begin(said)
        node = nodes[-1]
        for message in said[len(nodes) - 1 :]:
            child = node.children.get(message.digest)
            if child is None:
                child = node.children[message.digest] = Node(message.digest, node)
            nodes.append(child)
            node = child
        self._way, self._said = nodes, [*said]
        former = self._marked.pop(key, [])
        marked = [(nodes[depth], mark) for mark, depth in depths.items()]
        for node, mark in former:
            node.discard(mark, key)
        for node, mark in marked:
            node.add(mark, key)
        self._marked[key] = marked
        self._prune(node for node, _ in former)

    def forget(self, key: K) -> None:
        """Take back every mark of `key`."""
        marked = self._marked.pop(key, [])
        for node, mark in marked:
            node.discard(mark, key)
        self._prune(node for node, _ in marked)

    def walk(self, path: Sequence[Message]) -> list[Node[K, M]]:
        """Return the points that `path` goes through, the root first."""
        nodes = self._begin(path)
        node = nodes[-1]
        for message in path[len(nodes) - 1 :]:
            child = node.children.get(message.digest)
            if child is None:
                break
            nodes.append(child)
            node = child
        self._way, self._said = nodes, [*path[: len(nodes) - 1]]
        return [*nodes]

    def _begin(self, path: Sequence[Message]) -> list[Node[K, M]]:
        """Return the points that `path` and the last way have in common."""
        most = min(len(self._said), len(path))
        same = next(compress(count(), map(is_not, self._said, path)), most)
        return self._way[: same + 1]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is marked."""
        return not self._marked

    def size(self) -> int:
        """Return the number of points, the root included; a walk over all of them."""
        count, stack = 0, [self._root]
        while stack:
            count += 1
            stack.extend(stack.pop().children.values())
        return count

    def _prune(self, nodes: Iterable[Node[K, M]]) -> None:
        for leaf in nodes:
            node = leaf
            while node.parent is not None and not node.marks and not node.children:
                node.parent.children.pop(node.digest, None)
                node = node.parent
                self._way, self._said = [self._root], []
