"""Streams of our own: what a server that keeps to the text of the protocol would send."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

JSON = dict[str, Any]


@attrs.frozen
class Message:
    """A message; each part is a list of deltas."""

    parts: Sequence[Sequence[str]]
    kind: str = "output_text"

    @property
    def key(self) -> str:
        """The field that has the text of a part."""
        return "refusal" if self.kind == "refusal" else "text"

    @property
    def stem(self) -> str:
        """How the names of its events begin."""
        return f"response.{self.kind}"


@attrs.frozen
class Thought:
    """Some reasoning, itself or as a summary."""

    parts: Sequence[Sequence[str]]
    is_summary: bool = False


@attrs.frozen
class Call:
    """A call; its arguments come in pieces."""

    name: str
    pieces: Sequence[str]
    call_id: str

    @property
    def arguments(self) -> str:
        """All of them, as text."""
        return "".join(self.pieces)

    @property
    def parameters(self) -> Any:
        """All of them, read."""
        return json.loads(self.arguments or "{}")


Piece = Message | Thought | Call


@attrs.define
class Script:
    """Writes the events of a response."""

    response_id: str = "resp_1"
    previous_response_id: str | None = None
    store: bool = True
    usage: JSON | None = None
    events: list[JSON] = attrs.field(factory=list[JSON])
    output: list[JSON] = attrs.field(factory=list[JSON])

    def response(self, status: str, **more: Any) -> JSON:
        """Return a snapshot."""
        return {
            "id": self.response_id,
            "object": "response",
            "status": status,
            "model": "m",
            "store": self.store,
            "previous_response_id": self.previous_response_id,
            "output": [],
            "usage": None,
            "error": None,
            "incomplete_details": None,
            **more,
        }

    def add(self, type_: str, **fields: Any) -> None:
        """Write an event."""
        self.events.append({"type": type_, "sequence_number": len(self.events), **fields})

    def begin(self) -> None:
        """Write what comes first."""
        self.add("response.created", response=self.response("in_progress"))
        self.add("response.in_progress", response=self.response("in_progress"))

    def tell(self, pieces: Iterable[Piece]) -> None:
        """Write items, one after the other."""
        for piece in pieces:
            match piece:
                case Message():
                    self._tell_message(piece)
                case Thought():
                    self._tell_thought(piece)
                case Call():
                    self.tell_calls([piece])

    def tell_calls(self, calls: Sequence[Call]) -> None:
        """Write calls at the same time: a piece of each, then the next piece of each."""
        first = len(self.output)
        items = [
            {
                "type": "function_call",
                "id": f"fc_{first + n}",
                "call_id": call.call_id,
                "name": call.name,
                "arguments": "",
                "status": "in_progress",
            }
            for n, call in enumerate(calls)
        ]
        keys = [{"item_id": item["id"], "output_index": first + n} for n, item in enumerate(items)]
        for key, item in zip(keys, items, strict=True):
            index = key["output_index"]
            self.add("response.output_item.added", output_index=index, item=dict(item))
        for turn in range(max(len(call.pieces) for call in calls)):
            for key, call in zip(keys, calls, strict=True):
                if turn < len(call.pieces):
                    delta = call.pieces[turn]
                    self.add("response.function_call_arguments.delta", **key, delta=delta)
        for key, item, call in zip(keys, items, calls, strict=True):
            arguments = call.arguments
            self.add("response.function_call_arguments.done", **key, arguments=arguments)
            item |= {"arguments": arguments, "status": "completed"}
            index = key["output_index"]
            self.add("response.output_item.done", output_index=index, item=dict(item))
            self.output.append(item)

    def complete(self) -> list[JSON]:
        """Write the end."""
        response = self.response("completed", output=self.output, usage=self.usage)
        self.add("response.completed", response=response)
        return self.events

    def _tell_message(self, message: Message) -> None:
        key = {"item_id": f"msg_{len(self.output)}", "output_index": len(self.output)}
        item: JSON = {"type": "message", "id": key["item_id"], "role": "assistant"}
        item |= {"content": [], "status": "in_progress"}
        index = key["output_index"]
        self.add("response.output_item.added", output_index=index, item=dict(item))
        content: list[JSON] = []
        for place, deltas in enumerate(message.parts):
            at = {**key, "content_index": place}
            part: JSON = {"type": message.kind, message.key: ""}
            self.add("response.content_part.added", **at, part=dict(part))
            for delta in deltas:
                self.add(f"{message.stem}.delta", **at, delta=delta)
            part[message.key] = "".join(deltas)
            self.add(f"{message.stem}.done", **at, **{message.key: part[message.key]})
            self.add("response.content_part.done", **at, part=dict(part))
            content.append(part)
        item |= {"content": content, "status": "completed"}
        self.add("response.output_item.done", output_index=index, item=dict(item))
        self.output.append(item)

    def _tell_thought(self, thought: Thought) -> None:
        key = {"item_id": f"rs_{len(self.output)}", "output_index": len(self.output)}
        place_key, kind, stem, part_stem = (
            ("summary_index", "summary_text", "reasoning_summary_text", "reasoning_summary_part")
            if thought.is_summary
            else ("content_index", "reasoning_text", "reasoning_text", "content_part")
        )
        item: JSON = {"type": "reasoning", "id": key["item_id"], "summary": [], "content": []}
        index = key["output_index"]
        self.add("response.output_item.added", output_index=index, item=dict(item))
        told: list[JSON] = []
        for place, deltas in enumerate(thought.parts):
            at = {**key, place_key: place}
            part: JSON = {"type": kind, "text": ""}
            self.add(f"response.{part_stem}.added", **at, part=dict(part))
            for delta in deltas:
                self.add(f"response.{stem}.delta", **at, delta=delta)
            part["text"] = "".join(deltas)
            self.add(f"response.{stem}.done", **at, text=part["text"])
            self.add(f"response.{part_stem}.done", **at, part=dict(part))
            told.append(part)
        item["summary" if thought.is_summary else "content"] = told
        item["encrypted_content"] = f"secret {len(self.output)}"
        self.add("response.output_item.done", output_index=index, item=dict(item))
        self.output.append(item)


def script(*pieces: Piece, **options: Any) -> list[JSON]:
    """Return the events of a response that completes."""
    written = Script(**options)
    written.begin()
    written.tell(pieces)
    return written.complete()


def say(*deltas: str) -> Message:
    """Return a message of one part."""
    return Message((deltas,))


def call(name: str = "look", arguments: str = '{"at":1}', call_id: str = "call_1") -> Call:
    """Return a call whose arguments come in two pieces."""
    middle = len(arguments) // 2
    pieces = [piece for piece in (arguments[:middle], arguments[middle:]) if piece]
    return Call(name, pieces, call_id)
