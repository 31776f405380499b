"""What keeps an endpoint from answering, as it is told to a user; no secret is in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bridge.errors import Failure
from bridge.fixes import SetKey
from bridge.redact import HIDDEN, hide_keys

from .faults import Fault
from .retries import wanted_wait, wants_retry

_SHORTEST_SECRET = 4


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
        advice = "name your authority's file in SSL_CERT_FILE, if that is what is missing"
        return EndpointError(
            Failure(
                "Unavailable", f"{server} has a certificate that isn't trusted: {advice}.", reason
            )
        )
    text = f"{server} can't be reached. Does it run, and is the address right?"
    return EndpointError(Failure("Unavailable", text, reason), can_retry=True)


def broke_off(server: str, reason: str) -> EndpointError:
    """Return the error for a connection that ended too soon."""
    text = f"{server} broke the connection off; try again."
    return EndpointError(Failure("Unavailable", text, reason), can_retry=True)


def silent(server: str, seconds: float) -> EndpointError:
    """Return the error for an answer that doesn't go on."""
    text = (
        f"{server} said nothing for {seconds:g} seconds. Try again, or let `idleSeconds` be more "
        "if it takes that long."
    )
    return EndpointError(Failure("Unavailable", text))


def no_stream(server: str, content_type: str, start: str) -> EndpointError:
    """Return the error for an answer that is something else than it should be."""
    kind = content_type.partition(";")[0].strip() or "something"
    text = f"{server} answered with {kind} instead of a stream of events. Is `baseUrl` right?"
    return EndpointError(Failure("AgentFailed", text, start))


def untellable(reason: Exception) -> Failure:
    """Return the failure for a chat that can't be written down as its options want it."""
    return Failure("AgentFailed", f"The chat can't be told to the endpoint: {reason}.")


def no_key(variable: str) -> EndpointError:
    """Return the error for a key that isn't there."""
    text = f"The environment variable {variable} isn't set. It holds the endpoint's key."
    fixes = (SetKey(f"Set {variable}...", (variable,)),)
    return EndpointError(Failure("NoPermissions", text, fixes=fixes))


def bad_header(server: str) -> EndpointError:
    """Return the error for headers that can't be sent; which one, mustn't be said: it is secret."""
    text = f"{server} can't be asked: its key or one of its `headers` holds what no header can."
    return EndpointError(Failure("NoPermissions", text))


def bad_address(server: str) -> EndpointError:
    """Return the error for an address whose host can't even be looked up."""
    text = f"{server} can't be asked: the host in `baseUrl` is no name of a host."
    return EndpointError(Failure("NotFound", text))


def reserved_header(name: str) -> EndpointError:
    """Return the error for a header that only the HTTP client can set."""
    text = f"The endpoint can't be asked: `headers` has `{name}`, which depends on each request."
    return EndpointError(Failure("AgentFailed", text))


def bad_environment(server: str, reason: str) -> EndpointError:
    """Return the error for a variable without which no request can be sent; `reason` names it."""
    text = f"{server} can't be asked: {reason}. Change it, and start the editor again."
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
