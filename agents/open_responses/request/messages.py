"""From the messages of a chat to the items of a request.

The items follow the rules of servers. Each call has one result, right after it, and a result
without a call becomes text. Messages that say nothing are left out. The system prompt in front
becomes the `instructions`; a system message in the middle stays where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

import attrs
import msgspec

from agents.host_context import Span, marks, spans
from agents.open_responses.items import (
    BesideItem,
    CallItem,
    InputContent,
    InputText,
    Item,
    MessageItem,
    ReasoningItem,
    ResultItem,
)
from agents.open_responses.stream.call_ids import inward
from agents.open_responses.stream.reasoning import KeptReasoning, kept_in
from bridge.value import Value
from bridge.wire import ChatMessage, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from bridge.work import Work, done

from .content import (
    ElsewhereImages,
    contents,
    joined,
    result_contents,
    simplest,
    without_images,
)
from .names import NO_ID, fitting_name

SystemMessages: TypeAlias = Literal["instructions", "developer", "system"]

NO_RESULT = "No result was recorded for this call; verify before you retry."
_IMAGES = "What the tools above returned beside text:"


class ConversionOptions(Value):
    """Options of the conversion; each field comes from `OpenResponsesSpec` or from a setting."""

    context: Literal["request", "full"] = "full"
    system_messages: SystemMessages = "instructions"
    image_in_non_user_message: ElsewhereImages = "placeholder"
    result_images: Literal["result", "message"] = "result"
    call_order: Literal["grouped", "interleaved"] = "grouped"
    origin: str = ""
    """The owner whose encrypted reasoning is sent back: what was kept under this name
    (`StreamMachine`).
    """


class OpenCall(Value):
    """A call without a result: the server's id, and the tool's name."""

    server_id: str
    name: str


class Placed(Value):
    """An item, and the index of the message that it is from."""

    source: int
    item: Item


class Converted(Value):
    """The items of messages."""

    instructions: str
    placed: tuple[Placed, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items alone."""
        return tuple(one.item for one in self.placed)


def convert_messages(
    messages: Sequence[ChatMessage], options: ConversionOptions | None = None
) -> Converted:
    """Return the items of a whole chat; raises `ConversionError` where the options want that."""
    return done(conversion(messages, options or ConversionOptions()))


def conversion(
    messages: Sequence[ChatMessage],
    options: ConversionOptions,
    *,
    open_calls: Mapping[str, OpenCall] | None = None,
    server_ids: Mapping[str, str] | None = None,
    begins: bool = True,
) -> Work[Converted]:
    """Do the work of `convert_messages` in steps, one for each message.

    `open_calls` were made before, by the editor's ids, and wait for a result. `server_ids` are ids
    of calls, by the editor's, that don't follow from those. `begins`: the conversation begins with
    these messages, so that a system message in front is the prompt.
    """
    one = _Conversion(messages, options, begins, server_ids or {})
    return (yield from one.run(open_calls or {}))


def result_item(server_id: str, part: ToolResultPart, options: ConversionOptions) -> list[Item]:
    """Return the item for a result; and a message with its images, if they can't be in it."""
    found = result_contents(part.result, is_error=part.is_error)
    if options.result_images == "result":
        return [ResultItem(server_id, simplest(found))]
    beside = tuple(one for one in found if not isinstance(one, InputText))
    text = "".join(one.text for one in found if isinstance(one, InputText))
    items: list[Item] = [ResultItem(server_id, text)]
    if beside:
        items.append(BesideItem("user", (InputText(_IMAGES), *beside)))
    return items


def _told(text: str, span: Span) -> str:
    words = text[span.start : span.end]
    before, after = marks(words) if span.kind == "host" else ("", "")
    return f"{before}{words}{after}"


@attrs.define
class _Conversion:
    messages: Sequence[ChatMessage]
    options: ConversionOptions
    begins: bool
    server_ids: Mapping[str, str]
    _results: dict[str, list[tuple[int, ToolResultPart]]] = attrs.field(init=False)
    """Those that no call has yet, by the editor's ids; the first is the first call's."""
    _names: dict[str, str] = attrs.field(init=False)
    _ids: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    """The editor's id, by the server's."""
    _known: set[str] = attrs.field(factory=set[str], init=False)
    """The editor's ids."""
    _again: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    """Number of repetitions of each id of the server."""
    _instructions: list[str] = attrs.field(factory=list[str], init=False)
    _placed: list[Placed] = attrs.field(factory=list[Placed], init=False)

    def __attrs_post_init__(self) -> None:
        self._results, self._names = {}, {}
        for index, message in enumerate(self.messages):
            for part in message.content:
                match part:
                    case ToolResultPart(tool_call_id=call_id):
                        self._results.setdefault(call_id, []).append((index, part))
                    case ToolCallPart(tool_call_id=call_id, tool_name=name):
                        self._names.setdefault(call_id, name)
                    case _:
                        pass

    def run(self, open_calls: Mapping[str, OpenCall]) -> Work[Converted]:
        for call_id, call in open_calls.items():
            self._ids[call.server_id] = call_id
            self._known.add(call_id)
            self._names[call_id] = call.name
        self._answer(0, {call_id: call.server_id for call_id, call in open_calls.items()})
        for index, message in enumerate(self.messages):
            yield
            match message.role:
                case "system":
                    self._system(index, message)
                case "user":
                    self._user(index, message)
                case "assistant":
                    self._assistant(index, message)
                case _:
                    assert_never(message.role)
        return Converted("\n\n".join(self._instructions), tuple(self._placed))

    def _put(self, source: int, *items: Item) -> None:
        self._placed += [Placed(source, item) for item in items]

    def _system(self, index: int, message: ChatMessage) -> None:
        if self.options.context == "request":
            return
        text = without_images(message.content, self.options.image_in_non_user_message)
        if not text.strip():
            return
        where = self.options.system_messages
        if where == "instructions" and self.begins and not self._placed:
            self._instructions.append(text)
        else:
            self._put(index, MessageItem("system" if where == "system" else "developer", text))

    def _user(self, index: int, message: ChatMessage) -> None:
        found = joined((*self._stray(message), *contents(self._asked(message))))
        if any(not isinstance(one, InputText) or one.text.strip() for one in found):
            self._put(index, MessageItem("user", simplest(found)))

    def _asked(self, message: ChatMessage) -> Sequence[Part]:
        """Return the parts of a message; optionally without the host's own content."""
        if self.options.context == "full":
            return message.content
        text = message.text
        kept = [_told(text, span) for span in spans(text) if span.kind != "left out"]
        others = (part for part in message.content if not isinstance(part, TextPart))
        return (TextPart("".join(kept).strip("\n")), *others)

    def _assistant(self, index: int, message: ChatMessage) -> None:
        text = without_images(message.content, self.options.image_in_non_user_message)
        stray = joined(self._stray(message))
        if stray:
            self._put(index, MessageItem("user", simplest(stray)))
        named = {part.tool_call_id for part in message.content if isinstance(part, ToolCallPart)}
        thoughts = self._thoughts(message) if text.strip() or named else []
        self._put(index, *(one.item for one in thoughts if one.call_id not in named))
        if text.strip():
            self._put(index, MessageItem("assistant", text))
        led_to: dict[str, list[ReasoningItem]] = {}
        for one in thoughts:
            led_to.setdefault(one.call_id, []).append(one.item)
        calls: dict[str, str] = {}
        for part in message.content:
            if isinstance(part, ToolCallPart) and self._is_new(part.tool_call_id, calls):
                server_id = self._server_id(part.tool_call_id)
                calls[part.tool_call_id] = server_id
                self._put(index, *led_to.get(part.tool_call_id, ()))
                arguments = msgspec.json.encode(part.parameters).decode()
                self._put(index, CallItem(server_id, fitting_name(part.tool_name), arguments))
                if self.options.call_order == "interleaved":
                    self._answer(index + 1, {part.tool_call_id: server_id})
        if self.options.call_order == "grouped":
            self._answer(index + 1, calls)

    def _thoughts(self, message: ChatMessage) -> list[KeptReasoning]:
        """Return the reasoning that the server wants back with the items that followed from it."""
        parts = (part for part in message.content if isinstance(part, ThinkingPart))
        return [one for part in parts for one in kept_in(part.metadata, self.options.origin)]

    def _is_new(self, call_id: str, here: Collection[str]) -> bool:
        """Tell whether a call wasn't made before; under an old id, it has a result of its own."""
        is_again = bool(self._results.get(call_id)) and call_id not in here
        return is_again or call_id not in self._known

    def _server_id(self, call_id: str) -> str:
        server_id = self.server_ids.get(call_id) or inward(call_id) or NO_ID
        own = server_id
        while server_id in self._ids:  # an id twice, or two that differ in our prefix alone
            again = self._again[own] = self._again.get(own, 0) + 1
            server_id = f"{own}_" if again == 1 else f"{own}_{again}"
        self._ids[server_id] = call_id
        self._known.add(call_id)
        return server_id

    def _answer(self, source: int, calls: Mapping[str, str]) -> None:
        """Write down the results of calls. One that is missing comes as early as it could."""
        messages: list[Placed] = []
        for call_id, server_id in calls.items():
            found = self._results.get(call_id)
            missing = (source, ToolResultPart(call_id, NO_RESULT))
            index, part = found.pop(0) if found else missing
            first, *others = result_item(server_id, part, self.options)
            self._put(max(index, source), first)
            messages += [Placed(max(index, source), item) for item in others]
        self._placed += messages

    def _stray(self, message: ChatMessage) -> Iterator[InputContent]:
        """Return the results without a known call."""
        for part in message.content:
            if isinstance(part, ToolResultPart) and part.tool_call_id not in self._names:
                yield InputText("[The result of a tool call that isn't in the record: ")
                yield from result_contents(part.result, is_error=part.is_error)
                yield InputText("]\n")
