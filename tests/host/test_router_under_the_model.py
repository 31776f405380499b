"""Whatever users and hosts do, every agent knows exactly what its user sees (`world`)."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, run_state_machine_as_test

from .agent_host_machine import AgentHostMachine
from .machine import OLDER, HostMachine, pick_of, picks
from .world import World


class RouterMachine(HostMachine):
    """The router alone."""

    keeps_sessions: bool = True

    @initialize(pick=picks)
    def _begin(self, pick: int) -> None:
        self.begin(World(pick_of(self.profiles, pick), self.keeps_sessions))


class OlderHostMachine(RouterMachine):
    profiles = OLDER


class LongHostMachine(RouterMachine):
    """Only what an agent knows is held in the long run, not that no session is opened in vain."""

    keeps_sessions = False


class LongOlderHostMachine(OlderHostMachine):
    keeps_sessions = False


class LongAgentHostMachine(AgentHostMachine):
    keeps_sessions = False


def test_every_agent_knows_what_its_user_sees() -> None:
    run_state_machine_as_test(RouterMachine, settings=settings(stateful_step_count=40))


def test_every_agent_of_an_older_host_knows_what_its_user_sees() -> None:
    run_state_machine_as_test(OlderHostMachine, settings=settings(stateful_step_count=40))


def test_every_agent_of_the_agent_host_knows_what_its_user_sees() -> None:
    run_state_machine_as_test(AgentHostMachine, settings=settings(stateful_step_count=40))


@pytest.mark.slow
@pytest.mark.parametrize("machine", [LongHostMachine, LongOlderHostMachine, LongAgentHostMachine])
def test_every_agent_knows_what_its_user_sees_in_the_long_run(
    machine: type[HostMachine],
) -> None:
    many = settings(max_examples=2 * settings().max_examples, stateful_step_count=80)
    run_state_machine_as_test(machine, settings=many)
