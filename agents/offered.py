"""The choices that agents offer, such as their models and modes, and the size of their context.

They are kept on disk, so that a picker has them before the agent runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio
from msgspec.structs import replace

from bridge.models import AgentChoice
from bridge.value import Value
from bridge.wire import ConfigurationProperty

from .files import KeptRows
from .guarded import Tasks

MOST_AGENTS = 100
"""Agents whose choices are kept; those of the least recently used are forgotten."""
MOST_FILE_BYTES = 4 * 1024 * 1024
"""Bytes of the file; a larger one isn't read."""

Properties = Mapping[str, ConfigurationProperty]


class Offering(Value):
    """The choices of one agent, and the tokens that its context has room for; None isn't known.

    The definition may hold a key, so only its digest is kept.
    """

    agent: str
    properties: dict[str, ConfigurationProperty] | None = None
    window: int | None = None

    @property
    def shown(self) -> tuple[Properties, int | None]:
        """The values in the list of models: an agent without choices is like an unknown one."""
        return self.properties or {}, self.window

    def over(self, older: Offering) -> Offering:
        """Return the offering with the values of an older one where this has none."""
        return Offering(
            self.agent,
            older.properties if self.properties is None else self.properties,
            self.window or older.window,
        )


def kept_in(find: Callable[[], Path]) -> KeptRows[Offering]:
    """Return the file of all offerings."""
    return KeptRows(find, Offering, MOST_FILE_BYTES)


def merged(offerings: Iterable[Offering], newest: Offering) -> tuple[Offering, ...]:
    """Return the offerings with this one as the newest, as many as the file has room for.

    The oldest make room. One that doesn't fit alone is left out: it would cost all others.
    """
    others: list[Offering] = []
    for one in offerings:
        if one.agent == newest.agent:
            newest = newest.over(one)
        else:
            others.append(one)
    kept = [*others, newest][-MOST_AGENTS:]
    sizes = list(map(_bytes_in_file, kept))
    if sizes[-1] > MOST_FILE_BYTES:
        return tuple(others)
    first, size = 0, sum(sizes)
    while size > MOST_FILE_BYTES:
        size -= sizes[first]
        first += 1
    return tuple(kept[first:])


def _bytes_in_file(offering: Offering) -> int:
    """Return at least how many bytes a row takes in the file."""
    return len(msgspec.json.format(msgspec.json.encode([offering]), indent=2))


@attrs.define(eq=False, repr=False)
class Offered:
    """The choices of all agents; `tasks` read and write the file. Without one, nothing is kept."""

    tasks: Tasks | None = None
    rows: KeptRows[Offering] | None = None
    _known: dict[str, Offering] = attrs.field(factory=dict[str, "Offering"], init=False)
    _was_read: bool = attrs.field(default=False, init=False)
    _writing: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _tell: Callable[[], None] | None = attrs.field(default=None, init=False)

    @contextmanager
    def told_to(self, tell: Callable[[], None]) -> Generator[None]:
        """Call `tell` when an agent offers other choices than before."""
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None

    def of(self, choice: AgentChoice) -> Properties:
        """Return the choices of an agent, as far as they are known; doesn't wait.

        The first call has the file read. Changes by the file are told, too (`told_to`).
        """
        return self._offering(choice).properties or {}

    def window_of(self, choice: AgentChoice) -> int | None:
        """Return the size of an agent's context, as far as it is known; doesn't wait."""
        return self._offering(choice).window

    def learn(self, choice: AgentChoice, properties: Properties, is_new: bool = True) -> None:
        """Note the choices that an agent offers now; doesn't wait.

        If no new session has these defaults, the former ones stay, as far as they are offered.
        """
        known = self._of(choice)
        now = dict(properties)
        before = {} if is_new or known.properties is None else known.properties
        for key, former in before.items():
            if key in now and former.default in now[key].enum:
                now[key] = replace(now[key], default=former.default)
        self._learn(replace(known, properties=now), known)

    def learn_window(self, choice: AgentChoice, window: int) -> None:
        """Note the size of an agent's context; doesn't wait."""
        known = self._of(choice)
        self._learn(replace(known, window=window), known)

    def _offering(self, choice: AgentChoice) -> Offering:
        if not self._was_read and self.tasks is not None and self.rows is not None:
            self._was_read = True
            self.tasks.start_soon(self._load, self.rows)
        return self._of(choice)

    def _of(self, choice: AgentChoice) -> Offering:
        agent = _digest(choice)
        return self._known.get(agent) or Offering(agent)

    def _learn(self, new: Offering, known: Offering) -> None:
        if new == known:
            return
        self._known[new.agent] = new
        if self.tasks is not None and self.rows is not None:
            self.tasks.start_soon(self._write, self.rows, new.agent)
        if new.shown != known.shown:
            self._changed()

    async def _load(self, rows: KeptRows[Offering]) -> None:
        offerings = await trio.to_thread.run_sync(rows.read, abandon_on_cancel=True)
        before = dict(self._known)
        for one in offerings:
            newer = self._known.get(one.agent)
            self._known[one.agent] = one if newer is None else newer.over(one)
        if self._known != before:
            self._changed()

    def _changed(self) -> None:
        if self._tell is not None:
            self._tell()

    async def _write(self, rows: KeptRows[Offering], agent: str) -> None:
        async with self._writing:
            # read here: a task that began later may have been let in earlier
            change = partial(merged, newest=self._known[agent])
            await trio.to_thread.run_sync(rows.change, change, abandon_on_cancel=True)


def _digest(choice: AgentChoice) -> str:
    return hashlib.blake2b(choice.key, digest_size=16).hexdigest()
