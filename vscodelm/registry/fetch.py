"""Fetching over https: every wait and every size is bounded, and each redirect is looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import trio

from bridge.value import Value
from bridge.version import own_version

from .addresses import BadAddress, check, is_loopback, next_address

INDEX_SECONDS = 5.0
"""Seconds that all of fetching the index may take."""
STALL_SECONDS = 30.0
"""Seconds that a download may receive nothing."""
INDEX_BYTES = 8 * 1024 * 1024
"""The largest index that is taken."""
ARCHIVE_BYTES = 1024 * 1024 * 1024
"""The largest archive that is taken."""
MOST_REDIRECTS = 5
"""Redirects that are followed, one after the other."""
_OK, _NOT_MODIFIED = 200, 304
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Progress = Callable[[int, int | None], None]
"""Is told how many bytes have come, and how many there are, if that is known."""


class FetchError(Exception):
    """It can't be fetched; the message says why."""


class Fetched(Value):
    """The fetched index, and its entity tag for the next conditional request."""

    body: bytes
    etag: str | None


async def fetch_index(url: str, etag: str | None = None) -> Fetched | None:
    """Return what is there, None if it is still that of the tag; raises `FetchError`.

    Plain http is allowed for an address on this machine.
    """
    headers = {} if etag is None else {"If-None-Match": etag}
    body = bytearray()

    def take(chunk: bytes) -> None:
        body.extend(chunk)
        if len(body) > INDEX_BYTES:
            raise _too_large(INDEX_BYTES)

    with trio.move_on_after(INDEX_SECONDS):
        async with _opened(url, headers, loopback=is_loopback(url)) as response:
            if etag is not None and response.status_code == _NOT_MODIFIED:
                return None
            _expect_ok(response)
            await _read(response, take)
            return Fetched(bytes(body), response.headers.get("etag"))
    raise FetchError(f"it didn't come within {INDEX_SECONDS:.0f} seconds")


async def download(
    url: str, to: Path, tell: Progress, *, loopback: bool = False, most: int = ARCHIVE_BYTES
) -> None:
    """Put what is there into a new file; raises `FetchError`, and `OSError` for the file."""
    async with _opened(url, {}, loopback=loopback) as response:
        _expect_ok(response)
        length = response.headers.get("content-length", "")
        whole = int(length) if length.isdecimal() and len(length) < 20 else None
        if whole is not None and whole > most:
            raise _too_large(most)
        with to.open("xb") as file:

            def take(chunk: bytes) -> None:
                file.write(chunk)
                if file.tell() > most:
                    raise _too_large(most)
                tell(file.tell(), whole)

            await _read(response, take)


async def _read(response: httpx.Response, take: Callable[[bytes], None]) -> None:
    """Give each piece of the body to `take`.

    Leaving the loop early would leave httpx's generators open, so the loop ends itself.
    """
    failure: Exception | None = None
    with trio.CancelScope() as reading:
        async for chunk in response.aiter_bytes():
            try:
                if failure is None:
                    take(chunk)
            except Exception as error:
                failure = error
                reading.cancel()
    if failure is not None:
        raise failure


def _too_large(most: int) -> FetchError:
    return FetchError(f"it is larger than {most // 2**20} MiB")


def _expect_ok(response: httpx.Response) -> None:
    if response.status_code != _OK:
        raise FetchError(f"the server said {response.status_code} {response.reason_phrase}".strip())


@asynccontextmanager
async def _opened(
    url: str, headers: dict[str, str], *, loopback: bool
) -> AsyncGenerator[httpx.Response]:
    """Open a response that is no redirect."""
    headers = {
        "User-Agent": f"vscodelm/{own_version()}",
        "Accept-Encoding": "identity",  # so that a size is a size
        **headers,
    }
    local = loopback and is_loopback(url)  # where no proxy can help
    try:
        url = check(url, loopback=loopback)
        async with httpx.AsyncClient(timeout=STALL_SECONDS, trust_env=not local) as client:
            for _ in range(MOST_REDIRECTS + 1):
                async with client.stream("GET", url, headers=headers) as response:
                    if response.status_code not in _REDIRECTS:
                        yield response
                        return
                    url = next_address(url, response.headers.get("location", ""), loopback=loopback)
        raise FetchError(f"it was redirected more than {MOST_REDIRECTS} times")
    except BadAddress as error:
        raise FetchError(str(error)) from None
    except httpx.TimeoutException:
        raise FetchError(f"the server was silent for {STALL_SECONDS:.0f} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FetchError(str(error) or type(error).__name__) from None
