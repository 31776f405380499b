"""Whatever is done, the session that answers knows exactly what its user sees (`live`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from tests.fakes.session_memory import Shelf
from tests.host.chat import Chat
from tests.host.machine import HostMachine, answers, pick_of, picks, words

from .acp_minds import AcpMinds, AcpReach
from .endpoint_minds import EndpointMinds, Keeping
from .live import LiveWorld
from .mind import Troupe
from .remembering import Reach, RememberingTroupe

Casting = Callable[[], Troupe]


class LiveMachine(HostMachine):
    """What a host can do, and what only a whole system is hit by."""

    castings: Sequence[Casting]
    """Which agents there may be."""

    @initialize(
        pick=picks,
        cast=st.integers(0, 99),
        remembers=st.booleans(),
        most=st.sampled_from([100, 2]),
    )
    def _begin(self, pick: int, cast: int, remembers: bool, most: int) -> None:
        self.troupe = pick_of(self.castings, cast)()
        profile, shelf = pick_of(self.profiles, pick), Shelf() if remembers else None
        self.live = LiveWorld(profile, self.troupe, shelf, most)
        self.begin(self.live)

    @rule(pick=picks, text=words, answer=answers)
    def talk(self, pick: int, text: str, answer: str) -> None:
        """Bring a chat on, so that there is more that can be known wrongly."""
        chat = pick_of(self.quiet(), pick) if self.quiet() else self.host.open_chat()
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.finish(chat, answer)

    @precondition(lambda self: self.quiet())
    @rule(pick=picks, text=words, answer=answers)
    def begin_and_crash(self, pick: int, text: str, answer: str) -> None:
        """Lose a session in the middle of a turn that isn't its first."""
        chat = pick_of(self.quiet(), pick)
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.text(chat, answer)
            self.live.crash(chat)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks)
    def crash(self, pick: int) -> None:
        self.live.crash(pick_of(list(self.host.streaming), pick))

    @precondition(lambda self: self._at_rest())
    @rule(pick=picks, text=words)
    def lose_and_go_on(self, pick: int, text: str) -> None:
        """Lose a session between two turns."""
        chat = pick_of(self._at_rest(), pick)
        self.live.lose(chat)
        self.host.send(chat, text)

    def _at_rest(self) -> list[Chat]:
        return [chat for chat in self.quiet() if chat in self.live.homes]

    @rule()
    def kill(self) -> None:
        self.host.reload()
        self.live.kill()

    @rule()
    def dawdle(self) -> None:
        self.troupe.dawdle()

    @rule()
    def hurry(self) -> None:
        self.live.hurry()


class RememberingMachine(LiveMachine):
    castings = tuple(partial(RememberingTroupe, *one) for one in product(Reach, (False, True)))


class AcpMachine(LiveMachine):
    castings = tuple(partial(AcpMinds, *one) for one in product(AcpReach, (False, True)))


class EndpointMachine(LiveMachine):
    castings = tuple(partial(EndpointMinds, keeping) for keeping in Keeping)


MACHINES = [(RememberingMachine, 40), (AcpMachine, 25), (EndpointMachine, 15)]
"""With how many examples there is time for among the fast tests."""


@pytest.mark.parametrize(("machine", "examples"), MACHINES)
def test_the_session_that_answers_knows_exactly_what_its_user_sees(
    machine: type[LiveMachine], examples: int
) -> None:
    few = settings(max_examples=examples, stateful_step_count=40, derandomize=True)
    run_state_machine_as_test(machine, settings=few)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [machine for machine, _ in MACHINES])
def test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run(
    machine: type[LiveMachine],
) -> None:
    many = settings(max_examples=4 * settings().max_examples, stateful_step_count=60)
    run_state_machine_as_test(machine, settings=many)
