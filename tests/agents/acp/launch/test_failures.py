from __future__ import annotations

import pytest

from agents.acp.launch.failures import cancelled, fetch_failure, stalled
from agents.acp.launch.package import LaunchedPackage, launched_package


def package() -> LaunchedPackage:
    found = launched_package(("npx", "-y", "cowsay@1.5.0"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("npm error   code: 'ECONNREFUSED',", "Unavailable", "can't be reached"),
        ("npm error code EAI_AGAIN", "Unavailable", "can't be reached"),
        ("npm error network request to https://r failed", "Unavailable", "can't be reached"),
        ("  Caused by: tcp connect error", "Unavailable", "can't be reached"),
        ("npm error code ETARGET", "NotFound", "no such version"),
        ("Because there is no version of cowsay==99 and", "NotFound", "no such version"),
        ("npm error code E404", "NotFound", "no such package"),
        ("Because x was not found in the package registry", "NotFound", "no such package"),
        ("npm error code ENOSPC", "Unavailable", "the disk is full"),
        ("No space left on device (os error 28)", "Unavailable", "the disk is full"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "Unavailable", "certificate isn't trusted"),
        ("invalid peer certificate: UnknownIssuer", "Unavailable", "certificate isn't trusted"),
        ("npm error code E401", "NoPermissions", "may need a login"),
        ("npm error code EACCES", "NoPermissions", "can't be written to"),
        ("who knows", "AgentFailed", "npx ended with status 1. The log has its output."),
        ("", "AgentFailed", "npx ended with status 1."),
    ],
)
def test_the_reason_is_a_sentence(said: str, kind: str, words: str) -> None:
    failure = fetch_failure("Cow 1.5.0", package(), 1, said)
    assert failure.kind == kind
    assert failure.message.startswith("Cow 1.5.0 can't be fetched: ")
    assert words in failure.message
    assert failure.stderr_tail == (said or None)
    assert failure.detail == "cowsay@1.5.0: npx ended with status 1"


def test_a_fetch_that_stalls_or_is_cancelled_says_so() -> None:
    failure = stalled("Cow 1.5.0", package(), 120.0, "last words")
    assert "nothing came for 120 seconds" in failure.message
    assert failure.stderr_tail == "last words"
    assert stalled("Cow", package(), 1.0, "").stderr_tail is None
    assert cancelled("Cow 1.5.0", package()).message == (
        "Fetching Cow 1.5.0 was cancelled. Send the message again to continue it."
    )
