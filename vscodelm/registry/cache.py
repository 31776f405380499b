"""The index as it was fetched last, on disk: what is used whenever nobody asks for a newer one."""

from __future__ import annotations

from pathlib import Path

import attrs
import msgspec
import trio

from agents.files import write_whole
from bridge.jsonrpc import REFUSED
from bridge.value import Value

from .fetch import FetchError, fetch_index
from .index import IndexFault, RegistryIndex, read_index

FILE = "registry.json"


class CacheError(Exception):
    """The copy on disk can't be used; the message says why and what to do."""


class _Stored(msgspec.Struct):
    url: str
    fetched_at: float
    index: msgspec.Raw
    etag: str | None = None


class CachedIndex(Value):
    """An index, where it is from, and when it was last known to be the newest."""

    index: RegistryIndex
    url: str
    fetched_at: float
    etag: str | None = None


@attrs.frozen
class IndexCache:
    """The file in a folder, which needn't exist."""

    folder: Path

    @property
    def file(self) -> Path:
        """The path of the cached index."""
        return self.folder / FILE

    def load(self) -> CachedIndex | None:
        """Return the index, None if it was never fetched; raises `CacheError`."""
        stored = self._read()
        return None if stored is None else self._opened(stored)

    async def refresh(self, url: str, now: float) -> CachedIndex:
        """Ask whether there is a newer index, and keep it; raises `FetchError`, `CacheError`.

        The copy on disk stays unless a newer one came.
        """
        stored = self._known(url)
        fetched = await fetch_index(url, None if stored is None else stored.etag)
        if fetched is None:
            assert stored is not None, "nothing was said to be unchanged"
            stored.fetched_at = now
        else:
            stored = _Stored(url, now, msgspec.Raw(fetched.body), fetched.etag)
        try:
            opened = self._opened(stored)
        except CacheError as error:
            raise FetchError(f"what came is no index: {error.__cause__}") from None
        await trio.to_thread.run_sync(self._write, stored)
        return opened

    def _known(self, url: str) -> _Stored | None:
        """Return what is on disk, if it is of that address and can be used."""
        try:
            stored = self._read()
            if stored is not None and stored.url == url:
                self._opened(stored)
                return stored
        except CacheError:
            pass  # the new index replaces it
        return None

    def _read(self) -> _Stored | None:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=_Stored)
        except FileNotFoundError:
            return None
        except (OSError, *REFUSED) as error:
            raise self._unusable(error) from error

    def _opened(self, stored: _Stored) -> CachedIndex:
        try:
            index = read_index(bytes(stored.index))
        except IndexFault as error:
            raise self._unusable(error) from error
        return CachedIndex(index, stored.url, stored.fetched_at, stored.etag)

    def _unusable(self, error: Exception) -> CacheError:
        return CacheError(f"{self.file} can't be used ({error}). Run `vscodelm agents --refresh`.")

    def _write(self, stored: _Stored) -> None:
        try:
            write_whole(self.file, msgspec.json.encode(stored))
        except OSError as error:
            raise CacheError(f"{self.file} can't be written ({error}).") from error
