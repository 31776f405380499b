"""Whether all items that began are done, by whatever key they are told."""

from __future__ import annotations

from agents.open_responses.stream.events import OutputItem
from agents.open_responses.stream.open_items import OpenItems


def item(item_id: str | None = None, type_: str = "message", status: str = "") -> OutputItem:
    return OutputItem(type=type_, id=item_id, status=status)


def test_an_answer_that_is_done_is_all() -> None:
    items = OpenItems()
    assert not items.are_done
    items.begin(item("a"), 0)
    assert not items.are_done
    items.finish(item("a"), 0)
    assert items.are_done
    items.is_amid = True
    assert not items.are_done


def test_an_item_that_begins_twice_is_done_once() -> None:
    items = OpenItems()
    items.begin(item("a"), 0)
    items.begin(item("a"), 0)
    items.finish(item("a"), 0)
    assert items.are_done


def test_an_item_is_found_by_its_index_or_by_the_order() -> None:
    items = OpenItems()
    for index, name in ((0, "a"), (1, "b"), (None, None)):
        items.begin(item(name), index)
    items.finish(item("other"), 1)
    items.finish(item(None), None)
    assert not items.are_done
    items.finish(item("another"), 7)
    assert items.are_done
    items.finish(item("one too many"), 8)
    assert items.are_done


def test_thoughts_alone_are_no_answer_and_a_cut_item_is_not_done() -> None:
    items = OpenItems()
    items.finish(item("a", "reasoning"), 0)
    assert not items.are_done
    items.finish(item("b", status="incomplete"), 1)
    assert not items.are_done
