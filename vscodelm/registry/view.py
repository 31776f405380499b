"""Shows the configured models, and the agents of the registry."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import attrs
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bridge.models import Catalogue, Model
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec
from vscodelm.chat.answer_view import printable

from .cache import CachedIndex
from .local import RegistryOffer, acts_unasked

_WIDTH = 110
_OLD_SECONDS = 7 * 24 * 3600
"""An index that is older should be refreshed."""
_STYLES = {"ready": "green", "no launcher": "yellow", "not installed": "yellow"}


def console() -> Console:
    """Return the console for standard output."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=_WIDTH)


@attrs.frozen
class Overview:
    """Everything that `vscodelm agents` tells; `problem` is why there is no index.

    `tested` are offers, too: those that vscodelm is tested with, which need no index.
    """

    catalogue: Catalogue
    cached: CachedIndex | None
    offers: tuple[RegistryOffer, ...]
    now: float
    problem: str = ""
    tested: tuple[RegistryOffer, ...] = ()

    def show(self, out: Console) -> None:
        """Show it to a person."""
        out.print(Text("Configured", style="bold"))
        rows = [(m.information.id, m.information.name, how(m)) for m in self.catalogue.models]
        out.print(_table(rows))
        out.print()
        if self.tested:
            out.print(Text("Known agents, in the versions that are tested", style="bold"))
            out.print(_offers(self.tested))
            out.print()
        if self.cached is None:
            out.print(Text("The registry of ACP agents", style="bold"))
            out.print(Text(printable(self.problem), style="yellow"))
            return
        out.print(Text(f"The registry of ACP agents, {self._age(self.cached)}", style="bold"))
        out.print(_offers(self.offers))
        for note in self.cached.index.notes:
            out.print(Text(printable(f"note: {note}"), style="dim"))
        out.print(
            Text(
                "\n`vscodelm agents add ID` tells how to configure one, `vscodelm doctor ID` "
                "tries it.",
                style="dim",
            )
        )

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        registry: dict[str, Any] | None = None
        if self.cached is not None:
            registry = {
                "url": self.cached.url,
                "fetchedAt": self.cached.fetched_at,
                "ageSeconds": max(0, round(self.now - self.cached.fetched_at)),
                "agents": [_offer_json(offer) for offer in self.offers],
                "notes": list(self.cached.index.notes),
            }
        models = [
            {"id": m.information.id, "name": m.information.name, "agent": how(m)}
            for m in self.catalogue.models
        ]
        tested = [_offer_json(offer) for offer in self.tested]
        told: dict[str, Any] = {"configured": models, "tested": tested, "registry": registry}
        return told | ({"problem": self.problem} if self.problem else {})

    def _age(self, cached: CachedIndex) -> str:
        seconds = max(0.0, self.now - cached.fetched_at)
        old = "; `vscodelm agents --refresh` updates it" if seconds > _OLD_SECONDS else ""
        return f"as it was {ago(seconds)}{old}"


def ago(seconds: float) -> str:
    """Return a time that has gone by, for a person."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


def readiness(offer: RegistryOffer) -> str:
    """Return whether an agent can be started, in words."""
    told = f"needs {offer.kind}" if offer.readiness == "no launcher" else offer.readiness
    others = f" (there is {', '.join(offer.others)})" if offer.others else ""
    return told + others


def how(model: Model) -> str:
    """Return how a model's agent is had."""
    match model.agent.spec.definition:
        case McpServerSpec(command=command, args=arguments):
            return " ".join((command, *arguments))
        case OpenResponsesSpec(base_url=url):
            return url
        case ElizaSpec():
            return "in this process"


def _offer_json(offer: RegistryOffer) -> dict[str, Any]:
    agent = offer.agent
    return {
        "id": agent.id,
        "name": agent.name,
        "version": agent.version,
        "description": agent.description,
        "kind": offer.kind,
        "kinds": [*agent.packages, *(["binary"] if agent.archives else [])],
        "platforms": list(agent.archives),
        "readiness": offer.readiness,
        "neverAsks": acts_unasked(agent),
        "otherVersions": list(offer.others),
        "packages": msgspec.to_builtins(agent.packages),
    }


def _offers(offers: Sequence[RegistryOffer]) -> Table:
    return _table(
        [
            (
                offer.agent.id,
                offer.agent.name,
                offer.agent.version,
                offer.kind or "",
                Text(readiness(offer), style=_STYLES.get(offer.readiness, "dim")),
            )
            for offer in offers
        ]
    )


def _table(rows: Sequence[Sequence[str | Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for row in rows:
        cells = (cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row)
        table.add_row("", *cells)
    return table
