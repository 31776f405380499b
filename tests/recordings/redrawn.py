"""A recording with everything redrawn that means nothing: ids, folders, dates, words, order.

Whatever is a rule, and no accident of the one recording, holds in it just as well.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from msgspec.structs import replace

from vscodelm.replay.labels import Label, Labels

_DATE = re.compile(rb"(?<=<current_datetime>)[^<]+(?=</current_datetime>)")
_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CALL = re.compile(rb"call_[0-9a-z_]+")
_HOSTS_OWN = ("Please create a detailed summary", "<system_notification>")
"""Words in labels that are the host's, which it doesn't draw anew."""


def completed(file: str, labels: Labels) -> Labels:
    """Return the labels; two say less than those of the other harness do of the same case."""
    match file:
        case "a15-model-switch.jsonl":  # what was said before is told to the other agent, too
            texts = [text for number in "123" for text in labels[number].new_texts]
            return {**labels, "3": replace(labels["3"], new_texts=tuple(texts))}
        case "a16-compaction.jsonl":  # it is led apart, and only as a fork extends anything
            return {**labels, "3": replace(labels["3"], fork_new_from=2)}
        case _:
            return labels


def redrawn(lines: list[bytes], labels: Labels, seed: int) -> tuple[list[bytes], Labels]:
    """Return another recording of the same, with its labels."""
    random = Random(seed)
    draws: dict[bytes, bytes] = {}

    def drawn(draw: Callable[[], str]) -> Callable[[re.Match[bytes]], bytes]:
        return lambda found: draws.setdefault(found[0], draw().encode())

    words = {word for label in labels.values() for word in label.new_texts}
    words = {word for word in words if not word.startswith((*_HOSTS_OWN, "call_"))}
    typed = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))).encode())
    kinds = (
        (_DATE, lambda: f"{random.randint(2027, 2099)}-01-01T00:00:{random.random():.9f}"),
        (_UUID, lambda: "-".join(f"{random.getrandbits(4 * n):0{n}x}" for n in (8, 4, 4, 4, 12))),
        (_CALL, lambda: f"toolu_{random.getrandbits(64):x}"),
        (typed, lambda: f"{random.getrandbits(40):x} of {random.getrandbits(40):x}"),
        (re.compile(rb"/home/dev\b"), lambda: f"/users/u{random.getrandbits(20)}"),
    )

    def redraw(content: bytes) -> bytes:
        for pattern, draw in kinds:
            content = pattern.sub(drawn(draw), content)
        return content

    def place(call_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {call_id}".encode()).digest()

    def relabelled(label: Label) -> Label:
        texts = [redraw(word.encode()).decode() for word in label.new_texts]
        return replace(label, new_texts=tuple(_sorted_runs(texts, _is_call, place)))

    def _is_call(word: str) -> bool:
        return word.startswith("toolu_")

    redrawn_lines = [_reordered(redraw(line), place) for line in lines]
    return redrawn_lines, {number: relabelled(label) for number, label in labels.items()}


def _reordered(line: bytes, place: Callable[[str], bytes]) -> bytes:
    """Return a line in which the results that stand in a row are in another order."""
    happening = json.loads(line)
    if happening["kind"] != "request":
        return line
    params = happening["params"]
    params["messages"] = _sorted_runs(
        params["messages"], _is_result, lambda one: place(one["content"][0]["toolCallId"])
    )
    return json.dumps(happening).encode()


def _is_result(message: dict[str, Any]) -> bool:
    return [part["type"] for part in message["content"]] == ["tool_result"]


def _sorted_runs(
    values: list[Any], is_of_run: Callable[[Any], bool], place: Callable[[Any], bytes]
) -> list[Any]:
    """Return the values with each run of some of them sorted."""
    found: list[Any] = []
    run: list[Any] = []
    for value in values:
        if is_of_run(value):
            run.append(value)
            continue
        found += [*sorted(run, key=place), value]
        run = []
    return [*found, *sorted(run, key=place)]
