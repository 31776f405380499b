"""Several calls of one tool, whose events come at an index that no item announced.

vLLM's harmony models count the index up before a call is done. What asks the same, next in order,
is the same call: by any ids, with its name or without it.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from .hearing import JSON, hear
from .losses import silently_lost

OSLO, ROME, BERN = ({"city": city} for city in ("Oslo", "Rome", "Bern"))
ASKED = (
    [OSLO, OSLO],
    [OSLO, ROME],
    [OSLO, OSLO, OSLO],
    [OSLO, OSLO, ROME],
    [OSLO, ROME, OSLO],
    [OSLO, ROME, BERN],
)
FAR = 100
ORDERS = ("each call whole", "all announced first", "event by event", "no items")


@attrs.frozen
class Shape:
    """How a server tells its calls: which ids, at which index, in which order."""

    order: str
    shift: int
    """What is added to the index when the arguments, or the item, are done."""
    deltas: str
    """Which id they have, none, or that they come at the shifted index; "": there are none."""
    arguments: str
    """The item id when they are done."""
    is_named: bool
    item: str
    """The id of the item that is done."""
    is_same_call: bool
    """Whether the item that is done has the call id that was announced."""
    output: str
    """The ids of the calls in the final output; "": they aren't in it. If they are those that were
    announced, so are those of the items that are done.
    """


SHAPES = [
    Shape(*values)
    for order in ORDERS
    for values in product(
        [order],
        [1, FAR] if order == ORDERS[0] else [FAR],
        ["", "announced", "other", "none", "shifted"],
        ["announced", "other", "none"],
        [True] if order == ORDERS[3] else [False, True],
        ["announced", "other", "none"],
        [False, True],
        ["", "announced", "other"],
    )
]


def named(way: str, number: int, of: str) -> dict[str, Any]:
    """Return the id of an item, or none; another one is new with each event."""
    return {} if way == "none" else {"id": f"{'fc' if way == 'announced' else of}_{number}"}


def events_of_call(
    shape: Shape, number: int, arguments: JSON, name: str = "look"
) -> list[list[JSON]]:
    """Return the events of a call: its announcement, its deltas, its arguments, its item."""
    text, index = json.dumps(arguments), number + shape.shift
    call: JSON = {"type": "function_call", "name": name}
    announced = {
        **call,
        **named("announced", number, "added"),
        "call_id": f"call_{number}",
        "arguments": "",
    }
    said: JSON = {"item_id": named(shape.deltas, number, "delta").get("id")}
    said["output_index"] = index if shape.deltas == "shifted" else number
    done: JSON = {
        "item_id": named(shape.arguments, number, "done").get("id"),
        "output_index": index,
    }
    whole = {**call, **named(shape.item, number, "item"), "arguments": text, "status": "completed"}
    whole["call_id"] = f"call_{number}" if shape.is_same_call else f"call_other_{number}"
    pieces = (text[:4], text[4:]) if shape.deltas else ()
    about = "response.function_call_arguments"
    return [
        [{"type": "response.output_item.added", "output_index": number, "item": announced}],
        [{"type": f"{about}.delta", **said, "delta": piece} for piece in pieces],
        [{"type": f"{about}.done", **done, "arguments": text}
         | ({"name": name} if shape.is_named else {})],
        [{"type": "response.output_item.done", "output_index": index, "item": whole}],
    ]  # fmt: skip


def stream(shape: Shape, asked: list[JSON], names: Sequence[str] = ()) -> list[JSON]:
    names = names or ["look"] * len(asked)
    told = [
        events_of_call(shape, number, *one)
        for number, one in enumerate(zip(asked, names, strict=True))
    ]
    if shape.order == ORDERS[3]:
        groups = [call[0] for call in told] + [group for call in told for group in call[1:3]]
    elif shape.order == ORDERS[0]:
        groups = [group for call in told for group in call]
    elif shape.order == ORDERS[1]:
        groups = [call[0] for call in told] + [group for call in told for group in call[1:]]
    else:
        groups = [group for kind in zip(*told, strict=True) for group in kind]
    is_known = shape.output == "announced"
    output = [
        {"type": "function_call", **named(shape.output, number, "end"), "name": names[number]}
        | {"call_id": f"{'call' if is_known else 'call_end'}_{number}"}
        | {"arguments": json.dumps(arguments)}
        for number, arguments in enumerate(asked)
    ]
    end = {"id": "resp_1", "status": "completed", "output": output if shape.output else []}
    events = [event for group in groups for event in group]
    return [*events, {"type": "response.completed", "response": end}]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: "-".join(one["city"] for one in asked))
@pytest.mark.parametrize("order", ORDERS)
def test_each_of_several_calls_of_a_tool_is_made_once(order: str, asked: list[JSON]) -> None:
    for shape in SHAPES:
        if shape.order == order and (shape.output != "announced" or shape.is_same_call):
            heard = hear(stream(shape, asked), tools={"look"})
            made = sorted(parameters["city"] for _, parameters in heard.calls)
            assert made == sorted(one["city"] for one in asked), shape
            assert not heard.outcome.notes, shape


@attrs.frozen
class Disorder:
    """What happens to the events of a stream on their way, but to the last."""

    seed: int = 0
    is_shuffled: bool = False
    moved: int = 0
    lost: int = 0
    doubled: int = 0

    def apply(self, events: list[JSON]) -> list[JSON]:
        chance = random.Random(self.seed)
        *body, end = events
        if self.is_shuffled:
            chance.shuffle(body)
        for _ in range(self.moved):
            body.insert(chance.randrange(len(body)), body.pop(chance.randrange(len(body))))
        for _ in range(min(self.lost, len(body) - 1)):
            del body[chance.randrange(len(body))]
        for _ in range(self.doubled):
            body.insert(chance.randrange(len(body)), copy.deepcopy(chance.choice(body)))
        return [*body, end]


disorders = st.builds(
    Disorder,
    st.integers(0, 1_000_000),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 2),
)
asked_calls = st.lists(
    st.tuples(st.sampled_from(["look", "look", "go"]), st.sampled_from([OSLO, ROME, {}])),
    min_size=1,
    max_size=3,
)
VLLM = Shape("each call whole", 1, "announced", "announced", True, "none", False, "other")
"""As vLLM's harmony models tell their calls."""


@given(asked_calls, st.sampled_from(SHAPES) | st.just(VLLM), disorders)
@example([("look", OSLO)] * 2, VLLM, Disorder(lost=1, seed=3))
@example([("look", OSLO), ("look", ROME)], VLLM, Disorder(is_shuffled=True))
def test_in_no_order_is_a_call_made_twice_or_with_arguments_of_another_or_lost_without_a_word(
    calls: list[tuple[str, JSON]], shape: Shape, disorder: Disorder
) -> None:
    """Whatever is lost, doubled and moved: an announcement, arguments, an item are those of one."""
    names = [name for name, _ in calls]
    events = disorder.apply(stream(shape, [arguments for _, arguments in calls], names))
    heard = hear(events, tools={"look", "go"})
    made = Counter(json.dumps(one) for one in heard.calls)
    assert not made - Counter(json.dumps(one) for one in calls)
    assert not silently_lost(heard, events)
