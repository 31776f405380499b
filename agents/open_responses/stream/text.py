"""The text of a response: text, refusals, links and reasoning, each emitted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from agents.events import Event, Say, Think
from agents.loading import load

from .citations import Citation, as_inline, as_list, link_of
from .events import (
    Meaning,
    OutputItem,
    StreamEvent,
    annotations_of,
    raw_reasoning_of,
    refuses,
    summaries_of,
    texts_of,
)
from .passage import FinalItem, Passage, PassagePart, Texts
from .text_parts import Passages

Annotations: TypeAlias = Literal["inline", "end", "none"]


class Speech:
    """The messages and the reasoning of one response.

    Reasoning comes itself or as a summary. Only the kind that comes first is emitted.
    """

    def __init__(self, annotations: Annotations) -> None:
        self.has_spoken = False
        self.has_refused = False
        self._annotations: Annotations = annotations
        self._messages = Passages()
        self._reasoning = Passages()
        self._channel: Meaning | None = None
        self._thinker: PassagePart | None = None
        self._links: list[Citation] = []
        """To be shown at the end of the message."""
        self._has_links = False

    @property
    def thinker_id(self) -> str | None:
        """The id of the reasoning that was emitted last."""
        return None if self._thinker is None else self._thinker.passage.item_id

    def say_more(self, event: StreamEvent, delta: str) -> tuple[Event, ...]:
        """Take a delta of a text; this is what most events are."""
        delta = self._messages.add(event.item_id, event.output_index, event.content_index, delta)
        if not delta:
            return ()
        self.has_spoken = True
        return (Say(delta),)

    def tell(self, meaning: Meaning, event: StreamEvent) -> Iterator[Event]:
        """Take an event; one that is about no part of an item says nothing."""
        item_id, index = event.item_id, event.output_index
        match meaning:
            case Meaning.TEXT_DELTA:
                yield from self.say_more(event, event.delta or "")
            case Meaning.REFUSAL_DELTA:
                self.has_refused |= bool(event.delta)
                yield from self.say_more(event, event.delta or "")
            case Meaning.TEXT_DONE:
                yield from self._say_rest(event, event.text or "")
            case Meaning.REFUSAL_DONE:
                text = event.refusal or event.text or ""
                self.has_refused |= bool(text)
                yield from self._say_rest(event, text)
            case Meaning.ANNOTATION:
                yield from self._cite(self._messages.near(item_id, index), [load(event.annotation)])
            case Meaning.REASONING_DELTA | Meaning.SUMMARY_DELTA:
                yield from self._reason(meaning, event, event.delta or "", is_whole=False)
            case Meaning.REASONING_DONE:
                text = event.text or ""
                yield from self._reason(Meaning.REASONING_DELTA, event, text, is_whole=True)
            case Meaning.SUMMARY_DONE:
                text = event.text or ""
                yield from self._reason(Meaning.SUMMARY_DELTA, event, text, is_whole=True)
            case Meaning.PART_DONE | Meaning.SUMMARY_PART_DONE:
                yield from self._finish_part(event)
            case _:
                pass

    def begin(self, item: OutputItem, index: int | None) -> None:
        """Take the beginning of an item."""
        if item.type == "message":
            self._messages.open(item.id, index)
        elif item.type == "reasoning":
            self._reasoning.open(item.id, index)

    def finish(self, item: OutputItem, index: int | None) -> Iterator[Event]:
        """Take an item that is done; one of a hosted tool, or of the server's own, says nothing."""
        if item.type == "message":
            self.has_refused |= refuses(item)
            passage = self._messages.finished(item.id, index, texts_of(item))
            for _, text in self._messages.finish(passage, texts_of(item)):
                yield self._say(text)
            yield from self._cite(passage, annotations_of(item.content))
            yield from self._list_links()
        elif item.type == "reasoning":
            texts = self._reasoning_of(item)
            passage = self._reasoning.finished(item.id, index, texts)
            for part, text in self._reasoning.finish(passage, texts):
                yield self._think(part, text)

    def conclude(self, items: Sequence[OutputItem]) -> Iterator[Event | None]:
        """Take the final output; emit the rest of it. None is the end of a step."""
        reasoning: list[FinalItem] = []
        for index, item in enumerate(items):
            if item.type == "reasoning":
                reasoning.append((item.id, index, self._reasoning_of(item)))
                yield None
        for rest in self._reasoning.conclude(reasoning):
            yield None if rest is None else self._think(*rest)
        messages = [(index, item) for index, item in enumerate(items) if item.type == "message"]
        texts: list[FinalItem] = []
        for index, item in messages:
            texts.append((item.id, index, texts_of(item)))
            yield None
        for rest in self._messages.conclude(texts):
            yield None if rest is None else self._say(rest[1])
        had_links = self._has_links
        for _, item in messages:
            self.has_refused |= refuses(item)
            if not had_links:
                yield from self._cite(Passage(), annotations_of(item.content))
            yield None
        yield from self._list_links()

    # Texts.

    def _say(self, text: str, *, by_us: bool = False) -> Say:
        self.has_spoken = True
        return Say(text, by_us)

    def _say_rest(self, event: StreamEvent, text: str) -> Iterator[Event]:
        key = event.item_id, event.output_index, event.content_index
        rest = self._messages.complete(*key, text)
        if rest:
            yield self._say(rest)

    def _finish_part(self, event: StreamEvent) -> Iterator[Event]:
        part = load(event.part)
        match part:
            case {"type": "output_text" | "text", "text": str(text)}:
                yield from self._say_rest(event, text)
                passage = self._messages.near(event.item_id, event.output_index)
                yield from self._cite(passage, annotations_of(part))
            case {"type": "refusal", "refusal": str(text)}:
                self.has_refused |= bool(text)
                yield from self._say_rest(event, text)
            case {"type": "reasoning_text", "text": str(text)}:
                yield from self._reason(Meaning.REASONING_DELTA, event, text, is_whole=True)
            case {"type": "summary_text", "text": str(text)}:
                yield from self._reason(Meaning.SUMMARY_DELTA, event, text, is_whole=True)
            case _:
                pass

    # Reasoning.

    def _reason(
        self, channel: Meaning, event: StreamEvent, text: str, *, is_whole: bool
    ) -> Iterator[Event]:
        if (self._channel or channel) is not channel:
            return
        is_summary = channel is Meaning.SUMMARY_DELTA
        place = event.summary_index if is_summary else event.content_index
        take = self._reasoning.complete if is_whole else self._reasoning.add
        text = take(event.item_id, event.output_index, place, text)
        if text:
            self._channel = channel
            yield self._think(self._reasoning.speaker, text)

    def _reasoning_of(self, item: OutputItem) -> Texts:
        """Return the reasoning of an item, told in one way only."""
        summaries, raw = summaries_of(item), raw_reasoning_of(item)
        if self._channel is None and (summaries or raw):
            self._channel = Meaning.SUMMARY_DELTA if summaries else Meaning.REASONING_DELTA
        return summaries if self._channel is Meaning.SUMMARY_DELTA else raw

    def _think(self, part: PassagePart, text: str) -> Think:
        """Return some reasoning; nothing that servers send has the blank line between its parts."""
        before, self._thinker = self._thinker, part
        # The parts of raw reasoning are numbered by some servers as they like.
        is_summary = self._channel is Meaning.SUMMARY_DELTA
        if before and (before.passage is not part.passage or (is_summary and before is not part)):
            text = "\n\n" + text
        self.has_spoken = True
        return Think(text, id=part.passage.item_id)

    # Links.

    def _cite(self, passage: Passage, annotations: Iterable[Any]) -> Iterator[Event]:
        for link in map(link_of, annotations):
            if link is None or self._annotations == "none" or link[0] in passage.links:
                continue
            passage.links.add(link[0])
            self._has_links = True
            if self._annotations == "inline":
                yield self._say(as_inline(link), by_us=True)
            else:
                self._links.append(link)

    def _list_links(self) -> Iterator[Event]:
        if self._links:
            yield self._say(as_list(self._links), by_us=True)
            self._links.clear()
