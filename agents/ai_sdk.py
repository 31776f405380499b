"""From the AI SDK's stream parts to what an agent says: a second adapter, for programs of others.

The parts are those of `fullStream` in versions 4 to 6 and of the providers' streams, read from
JSON. They differ only in the names of their fields. It is used as the stream machine is:

    adapter = AiSdkAdapter(outward=call_ids.outward)
    for part in parts:
        batch = adapter.feed(part)
    batch = adapter.finish()
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast
from urllib.parse import unquote_to_bytes

from agents.events import Attach, Batch, Break, CallTool, Event, Say, Stop, StopReason, Think
from agents.loading import fields_of
from agents.open_responses.http.errors import Fault, fault_of
from agents.open_responses.stream.media import UNKNOWN_TYPE, attachment
from agents.open_responses.stream.outcome import ENDED_EARLY, TokenUsage
from agents.open_responses.stream.tool_call import parse
from agents.open_responses.stream.usage import usage_record

StreamPart: TypeAlias = Mapping[str, Any]

_REASONS = {
    "length": StopReason.MAX_TOKENS,
    "content-filter": StopReason.REFUSAL,
}
_DATA_URL = re.compile(r"data:([^,]*?)(;base64)?,", re.IGNORECASE)


class AiSdkAdapter:
    """Says what a stream of parts says; the last event is one `Stop` or `Break`.

    `outward` names a call toward the editor (`CallIds.outward`). `has_reasoning`: reasoning is part
    of the stream, too. `on_unknown` gets the parts of other types, and those that can't be read.
    """

    def __init__(
        self,
        *,
        outward: Callable[[str], str],
        has_reasoning: bool = True,
        on_unknown: Callable[[StreamPart], None] | None = None,
        server: str = "The model",
    ) -> None:
        self._outward = outward
        self._has_reasoning = has_reasoning
        self._on_unknown = on_unknown
        self._server = server
        self._thought_id: str | None = None
        self._called: set[str] = set()
        self._reason: str | None = None
        self._steps = TokenUsage(0, 0, 0)
        self.usage: TokenUsage | None = None
        """The tokens of all steps by now; None until one is over, or where nothing is said."""
        self.is_over = False

    def adapt(self, parts: Iterable[StreamPart]) -> Iterator[Event]:
        """Return what a whole stream says."""
        for part in parts:
            yield from self.feed(part)
        yield from self.finish()

    def feed(self, part: StreamPart) -> Batch:
        """Take a part."""
        if self.is_over:
            return ()
        match part.get("type"):
            case "text-delta":
                text = _text(part)
                return (Say(text),) if text else ()
            case "reasoning-delta" | "reasoning":
                return self._think(part)
            case "tool-call":
                return self._call(part)
            case "file":
                return self._attach(part)
            case "error":
                return self._fail(_fault(part))
            case "finish-step" | "step-finish":
                self._count_step(part)
                return ()
            case "finish":
                return self._finish(part)
            case _:
                self._leave_out(part)
                return ()

    def finish(self) -> Batch:
        """Take the end of the stream: a failure, unless the last step told how it finished."""
        if self.is_over:
            return ()
        if self._reason is None:
            return self._fail(ENDED_EARLY)
        return self._stop()

    # Parts.

    def _think(self, part: StreamPart) -> Batch:
        text, id_ = _text(part), _str(part.get("id"))
        if not text or not self._has_reasoning:
            return ()
        if self._thought_id not in (None, id_):
            text = "\n\n" + text
        self._thought_id = id_
        return (Think(text, id=id_ or None),)

    def _call(self, part: StreamPart) -> Batch:
        """Call a tool of the host's, once; those that the provider runs are not for the host."""
        if part.get("providerExecuted") is True:
            return ()
        call_id, name = _str(part.get("toolCallId")), _str(part.get("toolName"))
        parameters = parse(part.get("input", part.get("args")))
        if not name or not isinstance(parameters, dict):
            self._leave_out(part)
            return ()
        if call_id and call_id in self._called:
            return ()
        self._called.add(call_id)
        return (CallTool(self._outward(call_id), name, cast("dict[str, Any]", parameters)),)

    def _attach(self, part: StreamPart) -> Batch:
        file = _file(part)
        if file is None:
            self._leave_out(part)
            return ()
        return (file,)

    def _count_step(self, part: StreamPart) -> None:
        self._reason = _reason(part.get("finishReason"))
        usage = read_usage(part.get("usage"))
        if usage is not None:
            self._steps = _sum(self._steps, usage)
            self.usage = self._steps

    def _finish(self, part: StreamPart) -> Batch:
        self._reason = _reason(part.get("finishReason"))
        self.usage = read_usage(part.get("totalUsage") or part.get("usage")) or self.usage
        if self._reason == "error":
            return self._fail(fault_of({"message": "The model finished with an error"}))
        return self._stop()

    # The end.

    def _stop(self) -> Batch:
        reason = _REASONS.get(self._reason or "", StopReason.END_TURN)
        return (*self._over(), Stop(reason))

    def _fail(self, fault: Fault) -> Batch:
        return (*self._over(), Break(fault.failure(self._server)))

    def _over(self) -> Batch:
        self.is_over = True
        return () if self.usage is None else (usage_record(self.usage),)

    def _leave_out(self, part: StreamPart) -> None:
        if self._on_unknown is not None:
            self._on_unknown(part)


def read_usage(value: Any) -> TokenUsage | None:
    """Read the tokens of a step, or of all: flat, with details, or each number an object."""
    fields = fields_of(value)
    taken, given = fields_of(fields.get("inputTokens")), fields_of(fields.get("outputTokens"))
    input_tokens = _count(fields.get("inputTokens"), taken.get("total"), fields.get("promptTokens"))
    output_tokens = _count(
        fields.get("outputTokens"), given.get("total"), fields.get("completionTokens")
    )
    if input_tokens is None and output_tokens is None:
        return None
    total = (input_tokens or 0) + (output_tokens or 0)
    return TokenUsage(
        input_tokens or 0,
        output_tokens or 0,
        _count(fields.get("totalTokens")) or total,
        _count(
            fields_of(fields.get("inputTokenDetails")).get("cacheReadTokens"),
            fields.get("cachedInputTokens"),
            taken.get("cacheRead"),
        ),
        _count(
            fields_of(fields.get("outputTokenDetails")).get("reasoningTokens"),
            fields.get("reasoningTokens"),
            given.get("reasoning"),
        ),
    )


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    def add(a: int | None, b: int | None) -> int | None:
        return b if a is None else a + (b or 0)

    return TokenUsage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.total_tokens + other.total_tokens,
        add(one.cached_tokens, other.cached_tokens),
        add(one.reasoning_tokens, other.reasoning_tokens),
    )


def _text(part: StreamPart) -> str:
    """Return the text of a delta, which has another name in each version."""
    return next((_str(part[key]) for key in ("text", "delta", "textDelta") if key in part), "")


def _fault(part: StreamPart) -> Fault:
    error = part.get("error", part.get("errorText"))
    return fault_of({"error": error or "The model failed, and didn't say why"})


def _reason(value: Any) -> str:
    """Return why it finished; the newest providers give an object."""
    return _str(fields_of(value).get("unified")) or _str(value) or "unknown"


def _file(part: StreamPart) -> Attach | None:
    """Return a file, which may be one level down; None if there are no bytes in it."""
    file = {**part, **fields_of(part.get("file"))}
    mime = _str(file.get("mediaType")) or _str(file.get("mimeType"))
    for key in ("uint8Array", "base64", "data", "url"):
        read = _bytes(file.get(key))
        if read is not None:
            data, found = read
            return attachment(mime or found or UNKNOWN_TYPE, data)
    return None


def _bytes(value: Any) -> tuple[bytes, str] | None:
    """Return bytes, and the type that comes with them: out of base64, a data URL, or an array."""
    try:
        match value:
            case bytes() | bytearray():
                return bytes(value), ""
            case list():
                return bytes(cast("list[int]", value)), ""
            case dict():  # a Uint8Array in JSON: {"0": 137, "1": 80}
                return bytes(cast("dict[str, int]", value).values()), ""
            case str():
                return _decode(value)
            case _:
                return None
    except (TypeError, ValueError):
        return None


def _decode(text: str) -> tuple[bytes, str] | None:
    url = _DATA_URL.match(text)
    if url is None:
        return (base64.b64decode(text, validate=True), "") if text else None
    data, mime = text[url.end() :], url[1]
    if url[2] is None:
        return unquote_to_bytes(data), mime
    return base64.b64decode(unquote_to_bytes(data), validate=True), mime


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(*values: Any) -> int | None:
    """Return the first that is a number of tokens."""
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None
