"""State that all sessions with one endpoint share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import msgspec

from agents.events import Prompt
from agents.open_responses.http.client import EndpointClient
from agents.open_responses.request.messages import ConversionOptions
from agents.open_responses.stream.call_ids import CallIds
from bridge.wire import OpenResponsesSpec

from .checkpoints import Points
from .pictures import Pictures
from .response_chain import ResponseChain


@attrs.frozen
class Endpoint:
    """An endpoint: its definition, with the keys (`further`) that aren't ours, and what is known.

    `chance` is in [0, 1).
    """

    spec: OpenResponsesSpec
    further: Mapping[str, Any]
    client: EndpointClient
    call_ids: CallIds
    chance: Callable[[], float]
    points: Points
    pictures: Pictures

    @property
    def origin(self) -> str:
        """The owner of the encrypted reasoning: another address or model can't read it."""
        named = f"{self.spec.base_url} {self.spec.model}".encode()
        return hashlib.blake2b(named, digest_size=8).hexdigest()

    def chain(self) -> ResponseChain:
        """Return the chain of a new conversation."""
        return ResponseChain(self.points)

    def options(self, prompt: Prompt) -> ConversionOptions:
        """Return how what is said next is written down."""
        spec = self.spec
        return ConversionOptions(
            prompt.settings.context or "full",
            spec.system_messages,
            spec.image_in_non_user_message,
            spec.result_images,
            spec.call_order,
            self.origin,
        )

    def setup(self, chain: ResponseChain, tools: Mapping[str, Any]) -> bytes:
        """Return what must stay the same for a request to go on from a response."""
        system = [chain.instructions, chain.lead]
        said = msgspec.json.encode([self.spec.model, system, tools.get("tools")])
        return hashlib.blake2b(said, digest_size=16).digest()
