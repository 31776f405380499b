"""Keeps the list of the models that endpoints have: asked for at the start, and now and then."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec
import trio

from agents.tap import TapFor, untapped
from bridge.models import Catalogue, ListedModel, Listing

from .client import EndpointClient
from .model_list import read_models
from .trouble import EndpointError

FRESH_SECONDS = 3600.0
"""How long a list counts."""
_FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 5.0, 300.0

log = logging.getLogger("vscodelm.open_responses")


async def keep_listing(
    catalogue: Catalogue, change: Callable[[Catalogue], None], *, tap_for: TapFor = untapped
) -> None:
    """Ask every endpoint; call `change` with each catalogue that is another than before."""

    def take(listing: Listing, listed: tuple[ListedModel, ...]) -> None:
        nonlocal catalogue
        changed = catalogue.with_listed(listing, listed)
        if changed != catalogue:
            catalogue = changed
            change(catalogue)

    async with trio.open_nursery() as nursery:
        for listing in catalogue.listings:
            nursery.start_soon(_keep, listing, tap_for, take)


async def _keep(
    listing: Listing,
    tap_for: TapFor,
    take: Callable[[Listing, tuple[ListedModel, ...]], None],
) -> None:
    spec = listing.agent("*").spec.open_responses
    assert spec is not msgspec.UNSET, "a listing is of an endpoint"
    client = EndpointClient(spec, tap_for=tap_for)
    pause = _FIRST_RETRY_SECONDS
    try:
        while True:
            listed = await _listed(client)
            if listed is None:
                await trio.sleep(pause)
                pause = min(2 * pause, _LONGEST_RETRY_SECONDS)
            else:
                pause = _FIRST_RETRY_SECONDS
                take(listing, listed)
                await trio.sleep(FRESH_SECONDS)
    finally:
        with trio.CancelScope(shield=True):
            await client.aclose()


async def _listed(client: EndpointClient) -> tuple[ListedModel, ...] | None:
    try:
        listed = read_models(await client.get("models"))
    except EndpointError as error:
        log.warning("%s lists no models: %s", client.server, error.failure.message)
        return None
    if listed is None:
        log.warning("%s lists no models: its answer is of another kind", client.server)
    return listed
