"""The events of a response, as the specification has them: what the loopback server streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

JSON = dict[str, Any]


@attrs.frozen
class Text:
    """A message, said piece by piece."""

    text: str
    pieces: int = 3
    link: str | None = None
    """The address of a source."""

    def cut(self) -> list[str]:
        size = max(1, -(-len(self.text) // self.pieces))
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


@attrs.frozen
class Thought:
    """Reasoning: a summary, what only the server can read, and itself."""

    summary: str
    encrypted: str | None = None
    raw: str = ""


@attrs.frozen
class Call:
    """A call of a function; `call_id` None: the server gives one."""

    name: str
    arguments: JSON
    call_id: str | None = None


@attrs.frozen
class Refused:
    """A refusal."""

    text: str


Output: TypeAlias = Text | Thought | Call | Refused


def response_object(request: JSON, response_id: str, **fields: Any) -> JSON:
    """Return a response with every field that the schema wants."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": 1_700_000_000,
        "completed_at": None,
        "status": "in_progress",
        "incomplete_details": None,
        "model": request["model"],
        "previous_response_id": request.get("previous_response_id"),
        "instructions": request.get("instructions"),
        "output": [],
        "error": None,
        "tools": [{"description": None, **tool} for tool in request.get("tools", [])],
        "tool_choice": request.get("tool_choice", "auto"),
        "truncation": "disabled",
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "top_logprobs": 0,
        "temperature": request.get("temperature", 1.0),
        "reasoning": None,
        "usage": None,
        "max_output_tokens": request.get("max_output_tokens"),
        "max_tool_calls": None,
        "store": request.get("store", True),
        "background": False,
        "service_tier": "default",
        "metadata": {},
        "safety_identifier": None,
        "prompt_cache_key": None,
        **fields,
    }


USAGE: JSON = {
    "input_tokens": 30,
    "output_tokens": 12,
    "total_tokens": 42,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 4},
}


@attrs.define
class Writer:
    """Writes the events of one response; `output` is what it has by now."""

    snapshot: JSON
    new_id: Any
    output: list[JSON] = attrs.field(factory=list[JSON])
    _number: int = -1

    def begin(self, *, is_queued: bool = False) -> Iterator[JSON]:
        yield self._event("response.created", response=self.snapshot)
        if is_queued:
            yield self._event("response.queued", response={**self.snapshot, "status": "queued"})
        yield self._event("response.in_progress", response=self.snapshot)

    def say(self, output: Output) -> Iterator[JSON]:
        """Return the events of one item."""
        index = len(self.output)
        match output:
            case Text():
                yield from self._message(index, output)
            case Refused(text=text):
                yield from self._refusal(index, text)
            case Thought():
                yield from self._reasoning(index, output)
            case Call():
                yield from self._call(index, output)

    def end(self, status: str = "completed", **fields: Any) -> Iterator[JSON]:
        """Return the event that ends the response."""
        self.snapshot = {
            **self.snapshot,
            "status": status,
            "completed_at": 1_700_000_001 if status == "completed" else None,
            "output": self.output,
            "usage": USAGE,
            **fields,
        }
        yield self._event(f"response.{status}", response=self.snapshot)

    def fail(self, code: str, message: str) -> Iterator[JSON]:
        """Return what tells of a failure, which comes twice."""
        error = {"type": "server_error", "code": code, "message": message, "param": None}
        yield self._event("error", error=error)
        yield from self.end("failed", error={"code": code, "message": message})

    def _event(self, kind: str, **fields: Any) -> JSON:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    def _added(self, index: int, item: JSON) -> JSON:
        return self._event("response.output_item.added", output_index=index, item=item)

    def _done(self, index: int, item: JSON) -> JSON:
        self.output.append(item)
        return self._event("response.output_item.done", output_index=index, item=item)

    def _message(self, index: int, said: Text) -> Iterator[JSON]:
        text = said.text
        item = {"type": "message", "id": self.new_id("msg"), "role": "assistant"}
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        part: JSON = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        whole: JSON = {**part, "text": text}
        yield self._added(index, {**item, "status": "in_progress", "content": []})
        yield self._event("response.content_part.added", **at, part=part)
        for piece in said.cut():
            yield self._event("response.output_text.delta", **at, delta=piece, logprobs=[])
        if said.link is not None:
            link: JSON = {"type": "url_citation", "url": said.link, "title": "Source"}
            link |= {"start_index": 0, "end_index": len(text)}
            whole["annotations"] = [link]
            yield self._event(
                "response.output_text.annotation.added", **at, annotation_index=0, annotation=link
            )
        yield self._event("response.output_text.done", **at, text=text, logprobs=[])
        yield self._event("response.content_part.done", **at, part=whole)
        yield self._done(index, {**item, "status": "completed", "content": [whole]})

    def _refusal(self, index: int, text: str) -> Iterator[JSON]:
        item = {"type": "message", "id": self.new_id("msg"), "role": "assistant"}
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        whole = {"type": "refusal", "refusal": text}
        yield self._added(index, {**item, "status": "in_progress", "content": []})
        yield self._event("response.content_part.added", **at, part={**whole, "refusal": ""})
        yield self._event("response.refusal.delta", **at, delta=text)
        yield self._event("response.refusal.done", **at, refusal=text)
        yield self._event("response.content_part.done", **at, part=whole)
        yield self._done(index, {**item, "status": "completed", "content": [whole]})

    def _reasoning(self, index: int, thought: Thought) -> Iterator[JSON]:
        item = {"type": "reasoning", "id": self.new_id("rs"), "summary": list[JSON]()}
        at = {"item_id": item["id"], "output_index": index, "summary_index": 0}
        part = {"type": "summary_text", "text": thought.summary}
        yield self._added(index, item)
        if thought.raw:
            raw = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield self._event("response.reasoning.delta", **raw, delta=thought.raw)
            yield self._event("response.reasoning.done", **raw, text=thought.raw)
            item["content"] = [{"type": "reasoning_text", "text": thought.raw}]
        yield self._event("response.reasoning_summary_part.added", **at, part={**part, "text": ""})
        yield self._event("response.reasoning_summary_text.delta", **at, delta=thought.summary)
        yield self._event("response.reasoning_summary_text.done", **at, text=thought.summary)
        yield self._event("response.reasoning_summary_part.done", **at, part=part)
        encrypted = {"encrypted_content": thought.encrypted} if thought.encrypted else {}
        yield self._done(index, {**item, "summary": [part], **encrypted})

    def _call(self, index: int, call: Call) -> Iterator[JSON]:
        item = {
            "type": "function_call",
            "id": self.new_id("fc"),
            "call_id": self.new_id("call") if call.call_id is None else call.call_id,
            "name": call.name,
        }
        at = {"item_id": item["id"], "output_index": index}
        text = json.dumps(call.arguments)
        yield self._added(index, {**item, "status": "in_progress", "arguments": ""})
        for start in range(0, len(text), 7):
            piece = text[start : start + 7]
            yield self._event("response.function_call_arguments.delta", **at, delta=piece)
        done = {**at, "arguments": text, "name": call.name}
        yield self._event("response.function_call_arguments.done", **done)
        yield self._done(index, {**item, "status": "completed", "arguments": text})


def sse(event: JSON) -> bytes:
    """Return an event as it is written."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


DONE = b"data: [DONE]\n\n"
