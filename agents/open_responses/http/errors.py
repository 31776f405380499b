"""Errors of a server, in all the shapes that were seen, and what follows from each.

The same words come as the body of an HTTP error, as an `error` event, and inside `response.failed`.
The status decides first, then the code; a failure inside a 200 gets the status that would fit it.

An `EndpointError` is the user's side of it: a failure in words, without secrets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from agents.nesting import json_in, shallow
from bridge.errors import Failure, FailureKind
from bridge.fixes import SetKey
from bridge.jsonrpc import REFUSED
from bridge.redact import HIDDEN, hide_keys
from bridge.value import Value

from .retry import wanted_wait, wants_retry

_SHOWN_LENGTH = 1000
_LONGEST_WORD = 200
"""Codes and types are short; more of one isn't looked at, nor told."""
_LONGEST_WAIT = 30 * 86_400.0
"""Seconds; a server that asks for more than a month means something else."""
_SHORTEST_SECRET = 4
UNKNOWN = 500
"""The status of an error that says nothing of it."""
_RETRYABLE = frozenset({408, 409, 425, 429})
# The body says more than the status: no retry helps, even if the status allows one.
_FINAL = re.compile(
    r"insufficient_(quota|funds|credit|balance)|quota_exceeded|exceeded your current quota|billing"
    r"|credit balance is too low"
    r"|content_filter|content_policy|invalid_prompt|cyber_policy|model_not_found"
    r"|context_length|context (length|window|size)|previous_response_not_found|invalid_api_key",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"quota|rate_?limit|billing|credit|balance|content_filter|policy|too_many", re.IGNORECASE
)
_ByWords: TypeAlias = tuple[tuple[int, re.Pattern[str]], ...]
# Codes and types that mean nothing else: no retry helps, whatever the status allows.
_LASTING: _ByWords = tuple(
    (status, re.compile(words, re.IGNORECASE))
    for status, words in (
        (402, r"payment_required"),
        (403, r"usage_not_included|account_deactivated|unsupported_country"),
        (
            400,
            r"image_(file_)?too_(large|small)|image_parse_error|unsupported_image_media_type"
            r"|empty_image_file|failed_to_download_image|data_residency_mismatch"
            r"|(unsupported|unknown|missing_required)_parameter|unsupported_value"
            r"|_above_max_length",
        ),
    )
)
# In this order; the first one that finds its words is the status of a failure inside a 200.
_STATUSES: _ByWords = _LASTING + tuple(
    (status, re.compile(words, re.IGNORECASE))
    for status, words in (
        (429, r"quota|rate_?limit|too_many_requests|billing"),
        (401, r"authenticat|unauthorized|invalid_api_key"),
        (403, r"permission|forbidden"),
        (404, r"not_?found"),
        (400, r"invalid|bad_request|context_length|content_filter|policy"),
        (503, r"overload|unavailable|capacity"),
        (504, r"time_?d?_?out"),
    )
)
_STATUS = re.compile("[45][0-9]{2}")
_STATUS_SAID = re.compile(
    r"(?:(?:error|status|code|http)[: ]+){0,3}([45][0-9]{2})\b", re.IGNORECASE
)
"""A status at the beginning of a message."""
_STATUS_AMID = re.compile(
    r"\b(?:status(?:[ _]?code)?|http(?:/[0-9.]{1,3})?|code)[ :=(]{1,3}([45][0-9]{2})\b",
    re.IGNORECASE,
)
# Only words that mean nothing else: a retry must not be lost to a word that is there by chance.
_STATUS_WORDS: _ByWords = tuple(
    (status, re.compile(words, re.IGNORECASE))
    for status, words in (
        (401, r"\bunauthorized\b|\b(?:invalid|incorrect) api[ _-]key|\bnot authenticated\b"),
        (402, r"\bpayment required\b"),
        (403, r"\bforbidden\b|\bpermission denied\b"),
        (400, r"\bbad request\b"),
    )
)
"""The status by the words of a message, where it has no number."""
_HIDDEN = re.compile(r"<(script|style|head)\b", re.IGNORECASE)
_HIDDEN_ENDS = {
    name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("script", "style", "head")
}


class Fault(Value):
    """A fault of a server's: `status` is HTTP's, or the one that would fit."""

    status: int
    message: str
    code: str = ""
    param: str = ""
    type: str = ""

    @property
    def kind(self) -> FailureKind:
        """The error for the host."""
        if self.status in (401, 403):
            return "NoPermissions"
        if self.status in (402, 429) or _BLOCKED.search(f"{self.code} {self.type}"):
            return "Blocked"
        if self.status == 404:
            return "NotFound"
        if self.status in (408, 425) or self.status >= 500:
            return "Unavailable"
        return "AgentFailed"

    @property
    def is_retryable(self) -> bool:
        """Whether asking again may help: not with a quota, a key or a request that is wrong."""
        named = f"{self.code} {self.type}"
        if _FINAL.search(f"{named} {self.message}") or _status_by(_LASTING, named):
            return False
        return self.status in _RETRYABLE or self.status >= 500

    @property
    def is_unknown_response(self) -> bool:
        """Whether it says that the `previous_response_id` isn't known (any more), or not taken."""
        told = f"{self.code} {self.type} {self.message}"
        if "previous_response_not_found" in told:
            return True
        if self.param in ("previous_response_id", "response_id"):
            return self.status in (400, 404, 409, 422)
        return self.status == 404 and "response" in self.message.lower()

    def failure(self, server: str, seconds: float | None = None) -> Failure:
        """Return the words for the user; `seconds` is how long the server asks to wait."""
        match self.kind:
            case "NoPermissions":
                advice = " Check the key for it."
            case "NotFound":
                advice = " Check the address and the name of the model."
            case _:
                advice = f" Try again {_when(seconds)}." if self.is_retryable else ""
        said = self.message or f"status {self.status}"
        words = [str(self.status), *(word for word in (self.type, self.code, self.param) if word)]
        ends = "" if said.endswith((".", "!", "?")) else "."
        return Failure(self.kind, f"{server} failed: {said}{ends}{advice}", " ".join(words))


def read_fault(body: bytes, status: int) -> Fault:
    """Read the body of an HTTP answer with an error status: JSON of any known shape, text, HTML."""
    try:
        value: Any = msgspec.json.decode(body)
    except REFUSED:
        return Fault(status, _shown(_plain(body[: 64 * 1024].decode(errors="replace"))))
    return fault_of(value, status)


def _plain(text: str) -> str:
    """Return a text, or the words of a page of HTML, in one line."""
    return " ".join(_without_markup(text).split())


def _without_markup(text: str) -> str:
    """Return the words of HTML: its tags are blanks, as is what a browser doesn't show."""
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while (start := text.find("<", at)) >= 0:
        end = text.find(">", start) + 1
        hidden = _HIDDEN.match(text, start)
        name = "" if hidden is None else hidden[1].lower()
        if name in _HIDDEN_ENDS and name not in unclosed:
            closing = _HIDDEN_ENDS[name].search(text, start)
            if closing is None:
                unclosed.add(name)  # so that a missing end is searched only once
            else:
                end = closing.end()
        if not end:
            break
        kept += (text[at:start], " ")
        at = end
    return "".join((*kept, text[at:]))


def fault_of(value: Any, status: int | None = None) -> Fault:
    """Read what a server says, from JSON; without a status it gets the one that would fit.

    Seen: `{error: {message, type, param, code}}`, the same fields without `error`, `{error: text}`,
    `{detail: ...}`, and `{error: [...]}`. The code may be HTTP's status as a number. The message
    may be such an error as JSON. OpenRouter has the provider's error in `metadata`.
    """
    fields, message = _open(sole(shallow(value)))
    code, type_ = _word(fields.get("code")), _word(fields.get("type"))
    param = _word(fields.get("param"))
    if type_ in ("error", "response.failed"):
        type_ = ""  # the event's, not the error's
    if status is None:
        status = _status(fields, code, type_, message.strip())
    inner = _fault_in(message)
    if inner is not None:
        return _with_cause(Fault(status, inner.message, code, param, type_), inner)
    fault = Fault(status, _shown(message), code, param, type_)
    return _with_provider(fault, fields.get("metadata"))


def _fault_in(message: str) -> Fault | None:
    """Return the error that a message is as JSON; None if it is anything else."""
    text = message.strip()
    value = json_in(text) if text.startswith("{") else None
    fault = None if value is None else fault_of(value)
    return fault if fault is not None and fault.message else None


def _with_provider(fault: Fault, metadata: Any) -> Fault:
    """Return an error of OpenRouter's with the error of the provider that it asked."""
    match metadata:
        case {"raw": str(raw)}:
            value = json_in(raw)
            cause = fault_of(_plain(raw[: 64 * 1024]) if value is None else value)
        case {"raw": dict()}:
            cause = fault_of(cast("dict[str, Any]", metadata)["raw"])
        case _:
            return fault
    if not cause.message or cause.message in fault.message:
        return _with_cause(fault, cause)
    given = cast("dict[str, Any]", metadata).get("provider_name")
    provider = f" ({_word(given)})" if isinstance(given, str) and given else ""
    start = (fault.message or "The provider failed").rstrip(". ")
    return _with_cause(
        msgspec.structs.replace(fault, message=_shown(f"{start}{provider}: {cause.message}")), cause
    )


def _with_cause(fault: Fault, cause: Fault) -> Fault:
    """Return an error with what its cause says of itself; its status, if that says more."""
    is_vague = fault.is_retryable and (fault.status >= 500 or not cause.is_retryable)
    return msgspec.structs.replace(
        fault,
        status=cause.status if is_vague and cause.status != UNKNOWN else fault.status,
        code=cause.code or fault.code,
        param=cause.param or fault.param,
        type=cause.type or fault.type,
    )


def sole(value: Any) -> Any:
    """Return the value in a list of one; Gemini writes errors so. Any other value is returned."""
    values = cast("list[Any]", value) if isinstance(value, list) else []
    return values[0] if len(values) == 1 else cast("Any", value)


def _open(value: Any) -> tuple[dict[str, Any], str]:
    """Return the fields of an error, and what it says."""
    match value:
        case {"error": dict()} | {"error": [dict()]}:
            outer = dict(cast("dict[str, Any]", value))
            inner = sole(outer.pop("error"))
            return _open({**outer, **inner})
        case {"message": str(message)} | {"msg": str(message)}:
            return cast("dict[str, Any]", value), message
        case {"error": str(message)} | {"detail": str(message)} | {"details": str(message)}:
            return cast("dict[str, Any]", value), message
        case {"error": more} | {"detail": more} | {"errors": more} | {"message": more} if more:
            return cast("dict[str, Any]", value), _told(more)
        case dict():
            return cast("dict[str, Any]", value), ""
        case str():
            return {}, value
        case _:
            return {}, _told(value)


def _told(value: Any) -> str:
    """Return JSON of an unknown shape as text; a list of strings or messages as these."""
    if isinstance(value, list) and value:
        return "; ".join(_open(item)[1] for item in cast("list[Any]", value))
    return msgspec.json.encode(value).decode()


def _word(value: Any) -> str:
    return str(value)[:_LONGEST_WORD] if isinstance(value, str | int) else ""


def _status(fields: dict[str, Any], code: str, type_: str, message: str) -> int:
    told = (fields.get(name) for name in ("status", "status_code", "statusCode"))
    for given in (*told, code):
        if _STATUS.fullmatch(_word(given)):
            return int(_word(given))
    known = _status_by(_STATUSES, code) or _status_by(_STATUSES, type_)
    if known is not None:
        return known
    start = message[:_SHOWN_LENGTH]
    said = _STATUS_SAID.match(message) or _STATUS_AMID.search(start)
    if said is not None:
        return int(said[1])
    return _status_by(_STATUS_WORDS, start) or UNKNOWN


def _status_by(statuses: _ByWords, text: str) -> int | None:
    """Return the first status whose words are in a text."""
    return next((status for status, words in statuses if words.search(text)), None)


def _shown(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."


def _when(seconds: float | None) -> str:
    if not seconds or seconds > _LONGEST_WAIT:
        return "later"
    units = ((7200, 3600, "hour"), (120, 60, "minute"), (0, 1, "second"))
    size, name = next((size, name) for least, size, name in units if seconds >= least)
    count = math.ceil(seconds / size)
    return f"in {count} {name}{'s' * (count > 1)}"


class EndpointError(Exception):
    """A request got no answer that counts.

    `retry_after` is what the server asks for. `is_unknown_response`: it doesn't know the response
    that it was to go on from.
    """

    def __init__(
        self,
        failure: Failure,
        *,
        can_retry: bool = False,
        retry_after: float | None = None,
        is_unknown_response: bool = False,
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.can_retry = can_retry
        self.retry_after = retry_after
        self.is_unknown_response = is_unknown_response


def refused(fault: Fault, headers: Mapping[str, str], server: str) -> EndpointError:
    """Return the error for an answer with an error status."""
    told, seconds = wants_retry(headers), wanted_wait(headers)
    return EndpointError(
        fault.failure(server, seconds),
        can_retry=fault.is_retryable if told is None else told and fault.is_retryable,
        retry_after=seconds,
        is_unknown_response=fault.is_unknown_response,
    )


def out_of_reach(server: str, reason: str) -> EndpointError:
    """Return the error for a connection that couldn't be made."""
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        advice = "If your network has its own authority, name its file in SSL_CERT_FILE"
        return EndpointError(
            Failure("Unavailable", f"The certificate of {server} isn't trusted. {advice}.", reason)
        )
    text = f"{server} can't be reached. Check that it is running and that the address is right."
    return EndpointError(Failure("Unavailable", text, reason), can_retry=True)


def broke_off(server: str, reason: str) -> EndpointError:
    """Return the error for a connection that ended too soon."""
    text = f"{server} closed the connection too early. Try again."
    return EndpointError(Failure("Unavailable", text, reason), can_retry=True)


def silent(server: str, seconds: float) -> EndpointError:
    """Return the error for an answer that doesn't go on."""
    text = (
        f"{server} sent nothing for {seconds:g} seconds. Try again. If the server needs longer, "
        "set a larger `idleSeconds`."
    )
    return EndpointError(Failure("Unavailable", text))


def no_stream(server: str, content_type: str, start: str) -> EndpointError:
    """Return the error for an answer that is something else than it should be."""
    kind = content_type.partition(";")[0].strip() or "something"
    text = f"{server} answered with {kind} instead of a stream of events. Check `baseUrl`."
    return EndpointError(Failure("AgentFailed", text, start))


def untellable(reason: Exception) -> Failure:
    """Return the failure for a chat that can't be written down as its options want it."""
    return Failure("AgentFailed", f"The chat can't be sent to the endpoint: {reason}.")


def no_key(variable: str) -> EndpointError:
    """Return the error for a key that isn't there."""
    text = f"The environment variable {variable} isn't set. It holds the endpoint's key."
    fixes = (SetKey(f"Set {variable}...", (variable,)),)
    return EndpointError(Failure("NoPermissions", text, fixes=fixes))


def bad_header(server: str) -> EndpointError:
    """Return the error for headers that can't be sent; which one, mustn't be said: it is secret."""
    text = f"{server} can't be used: its key or one of its `headers` has invalid characters."
    return EndpointError(Failure("NoPermissions", text))


def bad_address(server: str) -> EndpointError:
    """Return the error for an address whose host can't even be looked up."""
    text = f"{server} can't be used: the host in `baseUrl` is not a valid name."
    return EndpointError(Failure("NotFound", text))


def reserved_header(name: str) -> EndpointError:
    """Return the error for a header that only the HTTP client can set."""
    text = (
        f"The endpoint can't be used: remove `{name}` from `headers`. It depends on each request."
    )
    return EndpointError(Failure("AgentFailed", text))


def bad_environment(server: str, reason: str) -> EndpointError:
    """Return the error for a variable without which no request can be sent; `reason` names it."""
    text = f"{server} can't be used: {reason}. Correct it, and restart the editor or server."
    return EndpointError(Failure("Unavailable", text))


def scrubbed(failure: Failure, secrets: Sequence[str]) -> Failure:
    """Return the failure without secrets, in case that a server repeats them."""
    return Failure(
        failure.kind,
        hidden(failure.message, secrets),
        hidden(failure.detail, secrets) if failure.detail else failure.detail,
        failure.stderr_tail,
        failure.fixes,
    )


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return the text without secrets, nor what looks like one."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    return hide_keys(text)
