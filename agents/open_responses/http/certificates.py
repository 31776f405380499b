"""The certificates that endpoints are checked against: the environment may name others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

FILE, FOLDER, KEY_LOG = "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"


class BadCertificates(Exception):
    """The certificates can't be read; the message names the variable."""


def trusted_certificates() -> ssl.SSLContext:
    """Return what checks certificates, in some 20 ms of CPU; raises `BadCertificates`."""
    fault = _fault(os.environ)
    if fault is not None:
        raise BadCertificates(f"the environment variable {fault}")
    try:
        return httpx.create_ssl_context()
    except (OSError, ValueError) as error:  # ssl's errors are OSErrors, too
        raise BadCertificates(
            f"the environment variable {_blamed(os.environ, error)} can't be used: {error}"
        ) from None


def _fault(environment: Mapping[str, str]) -> str | None:
    """Return the error of the named files; reading a pipe could block for ever."""
    if file := environment.get(FILE):
        return None if os.path.isfile(file) else f"{FILE} names no file: {file}"
    folders = environment.get(FOLDER)
    if folders and not any(_is_readable(folder) for folder in folders.split(os.pathsep)):
        return f"{FOLDER} names no folder that can be read: {folders}"
    return None


def _is_readable(folder: str) -> bool:
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)


def _blamed(environment: Mapping[str, str], error: Exception) -> str:
    """Return the variable that an error is about; of them all only `KEY_LOG` names its file."""
    if isinstance(error, OSError) and error.filename:
        return KEY_LOG
    return FILE if environment.get(FILE) else FOLDER
