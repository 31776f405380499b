"""Keeps the lists of the endpoints' models, which are fetched at the start and again now and then.

Until an endpoint answers, its last list is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import attrs
import msgspec
import trio

from agents.boundary import contained
from agents.guarded import GuardedTasks
from agents.open_responses.http.client import EndpointClient
from agents.open_responses.http.errors import EndpointError
from agents.trace import TapFor, untapped
from bridge.models import Catalogue, ListedModel, Listing
from bridge.wire import OpenResponsesSpec

from .cache import ModelCache
from .parse import read_models

FRESH_SECONDS = 3600.0
"""Seconds for which a list is valid."""
_FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 5.0, 300.0

log = logging.getLogger("vscodelm.open_responses")


async def keep_listing(
    catalogue: Catalogue,
    change: Callable[[Catalogue], None],
    *,
    cache: ModelCache | None = None,
    tap_for: TapFor = untapped,
) -> None:
    """Ask every endpoint; call `change` with each catalogue that is another than before."""

    def take(listing: Listing, listed: tuple[ListedModel, ...]) -> None:
        nonlocal catalogue
        changed = catalogue.with_listed(listing, listed)
        if changed != catalogue:
            catalogue = changed
            change(catalogue)

    async with trio.open_nursery() as nursery:
        tasks = GuardedTasks(nursery)
        for listing in catalogue.listings:
            tasks.start_soon(_keep, listing, take, cache or ModelCache(None), tap_for)


async def _keep(
    listing: Listing,
    take: Callable[[Listing, tuple[ListedModel, ...]], None],
    cache: ModelCache,
    tap_for: TapFor,
) -> None:
    spec = listing.agent("*").spec.open_responses
    assert spec is not msgspec.UNSET, "a listing is of an endpoint"
    lister = _Lister(spec, EndpointClient(spec, tap_for=tap_for), cache)
    await lister.run(partial(take, listing))


@attrs.define
class _Lister:
    """Asks one endpoint."""

    spec: OpenResponsesSpec
    client: EndpointClient
    cache: ModelCache
    _etag: str | None = None

    async def run(self, take: Callable[[tuple[ListedModel, ...]], None]) -> None:
        pause = _FIRST_RETRY_SECONDS
        try:
            with contained(f"models={self.client.server}"):
                await self._load(take)
            while True:
                has_answered = False
                with contained(f"models={self.client.server}"):
                    has_answered = await self._ask(take)
                if has_answered:
                    pause = _FIRST_RETRY_SECONDS
                    await trio.sleep(FRESH_SECONDS)
                else:
                    await trio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_RETRY_SECONDS)
        finally:
            with trio.CancelScope(shield=True):
                await self.client.aclose()

    async def _load(self, take: Callable[[tuple[ListedModel, ...]], None]) -> None:
        known = await self.cache.load(self.spec)
        if known is not None:
            self._etag = known.etag
            take(known.models)

    async def _ask(self, take: Callable[[tuple[ListedModel, ...]], None]) -> bool:
        """Return whether the endpoint sent its list."""
        try:
            found = await self.client.get("models", self._etag)
        except EndpointError as error:
            log.warning("%s lists no models: %s", self.client.server, error.failure.message)
            return False
        if found is None:
            return True  # the list is unchanged
        listed = read_models(found.body)
        if listed is None:
            log.warning("%s lists no models: its answer is of another kind", self.client.server)
            return False
        self._etag = found.etag
        take(listed)
        await self.cache.keep(self.spec, found.body, found.etag)
        return True
