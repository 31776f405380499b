"""Explain in a sentence why fetching an agent failed, from the output of npx or uvx. Pure."""

from __future__ import annotations

import re

from bridge.errors import Failure, FailureKind

from .package import LaunchedPackage

_REASONS: tuple[tuple[re.Pattern[str], FailureKind, str], ...] = (
    (
        re.compile(r"\bENOSPC\b|No space left on device", re.IGNORECASE),
        "Unavailable",
        "the disk is full. Make room, and send the message again.",
    ),
    (
        re.compile(
            r"\bETARGET\b|\bnotarget\b|no version of "
            r"|only the following versions of|no matching version",
            re.IGNORECASE,
        ),
        "NotFound",
        "the registry has no such version of it. Check the version in the agent's definition.",
    ),
    (
        re.compile(
            r"\bE404\b|not found in the (?:package )?registry",
            re.IGNORECASE,
        ),
        "NotFound",
        "the registry has no such package. Check its name in the agent's definition.",
    ),
    (
        re.compile(
            r"SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)_|CERT_(?:HAS_EXPIRED|UNTRUSTED)"
            r"|invalid peer certificate|certificate verify failed",
            re.IGNORECASE,
        ),
        "Unavailable",
        "the registry's certificate isn't trusted. Behind a proxy that inspects connections, set "
        "NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its certificate.",
    ),
    (
        re.compile(r"\bE401\b|\bE403\b|401 Unauthorized|403 Forbidden", re.IGNORECASE),
        "NoPermissions",
        "the registry refuses access. It may need a login: see the settings of npm or uv.",
    ),
    (
        re.compile(
            r"\bENOTFOUND\b|\bEAI_AGAIN\b|\bE(?:CONN|NET|HOST)[A-Z]{4,}\b|\bETIMEDOUT\b"
            r"|\bERR_SOCKET_TIMEOUT\b|\bENOTCACHED\b|network request to|dns error"
            r"|tcp connect error|error sending request|operation timed out|network was disabled",
            re.IGNORECASE,
        ),
        "Unavailable",
        "the registry can't be reached. Check the network and the proxy, and send the message "
        "again.",
    ),
    (
        re.compile(r"\bEACCES\b|\bEPERM\b|\bEROFS\b|Permission denied|Read-only file system"),
        "NoPermissions",
        "its folder can't be written to. Check who owns the cache of npm or uv.",
    ),
)


def fetch_failure(
    title: str, package: LaunchedPackage, status: int | None, last_words: str
) -> Failure:
    """Return the failure for a launcher that couldn't fetch a package; `title` is the agent's."""
    said = f"{package.requirement}: {package.tool} ended with status {status}"
    for words, kind, sentence in _REASONS:
        if words.search(last_words):
            return Failure(kind, f"{title} can't be fetched: {sentence}", said, last_words or None)
    message = (
        f"{title} can't be fetched: {package.tool} ended with status {status}. "
        "The log has its output."
    )
    return Failure("AgentFailed", message, said, last_words or None)


def stalled(title: str, package: LaunchedPackage, seconds: float, last_words: str) -> Failure:
    """Return the failure for a fetch that makes no progress any more."""
    return Failure(
        "Unavailable",
        f"{title} can't be fetched: nothing came for {seconds:.0f} seconds. "
        "Check the network, and send the message again: finished downloads are kept.",
        package.requirement,
        last_words or None,
    )


def cancelled(title: str, package: LaunchedPackage) -> Failure:
    """Return the failure for a fetch that the user cancelled."""
    message = f"Fetching {title} was cancelled. Send the message again to continue it."
    return Failure("Unavailable", message, package.requirement)
