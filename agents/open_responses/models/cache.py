"""The models that endpoints listed last, on disk: what can be picked before they answer.

A file holds the list as the server wrote it, and the tag by which to ask whether it has changed.
Its name is a digest of what decides which list it is; no key and no address is in it.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import attrs
import msgspec
import trio

from agents.files import write_whole
from bridge.jsonrpc import REFUSED
from bridge.models import ListedModel
from bridge.wire import OpenResponsesSpec

from .parse import read_models

log = logging.getLogger("vscodelm.open_responses")


class _Stored(msgspec.Struct):
    list: msgspec.Raw
    etag: str | None = None


@attrs.frozen
class CachedModels:
    """A list, and its tag."""

    models: tuple[ListedModel, ...]
    etag: str | None


@attrs.frozen
class ModelCache:
    """The files in a folder, which needn't exist; None: nothing is kept."""

    folder: Path | None

    async def load(self, spec: OpenResponsesSpec) -> CachedModels | None:
        """Return what an endpoint listed last; a file that can't be used is like none."""
        if self.folder is None:
            return None
        file = _file(self.folder, spec)
        try:
            stored = msgspec.json.decode(await trio.Path(file).read_bytes(), type=_Stored)
        except FileNotFoundError:
            return None
        except (OSError, *REFUSED) as error:
            log.warning("%s can't be used: %s", file, error)
            return None
        models = read_models(bytes(stored.list))
        return None if models is None else CachedModels(models, stored.etag)

    async def keep(self, spec: OpenResponsesSpec, body: bytes, etag: str | None) -> None:
        """Keep a list, which is JSON; where that can't be done, it will be asked for again."""
        if self.folder is None:
            return
        file = _file(self.folder, spec)
        content = msgspec.json.encode(_Stored(msgspec.Raw(body.strip()), etag))
        try:
            await trio.to_thread.run_sync(write_whole, file, content)
        except OSError as error:
            log.warning("%s can't be written: %s", file, error)


def _file(folder: Path, spec: OpenResponsesSpec) -> Path:
    identity = msgspec.json.encode([spec.base_url, spec.api_key_env, sorted(spec.headers)])
    return folder / f"models-{hashlib.blake2b(identity, digest_size=16).hexdigest()}.json"
