"""Whatever is done, the session that answers knows exactly what its user sees (`live`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from actors.progress.pace import FIRST_SECONDS, STOPPED_SECONDS
from tests.fakes.session_memory import Shelf
from tests.host.agent_host_machine import AgentHostRules
from tests.host.chat import Chat, Ending, Mode
from tests.host.machine import HostMachine, answers, pick_of, picks, words

from .acp_minds import AcpMinds
from .acp_process import AcpReach
from .endpoint_minds import EndpointMinds, Keeping
from .live import LiveWorld
from .live_agent_host import LiveAgentHost
from .memories import Memories, Shelved, Stored
from .mind import Troupe
from .remembering import Reach, RememberingTroupe

Casting = Callable[[bool, bool], Troupe]
"""Whether they spell what they say, and whether each session takes a process for itself."""


class LiveMachine(HostMachine):
    """What a host can do, and what only a whole system is hit by."""

    windows: int = 1
    world_type: type[LiveWorld] = LiveWorld

    def new_troupe(self, spells: bool, one_session_each: bool) -> Troupe:
        """Return the agents of a world; `spells` if all that is said differs in its words."""
        raise NotImplementedError

    def new_memories(self, remembers: bool) -> Memories:
        """Return what outlives the processes of a world."""
        return Shelved(Shelf() if remembers else None)

    @initialize(
        pick=picks,
        remembers=st.booleans(),
        most=st.sampled_from([100, 2]),
        one_session_each=st.booleans(),
    )
    def _begin(self, pick: int, remembers: bool, most: int, one_session_each: bool) -> None:
        self.memories = self.new_memories(remembers)
        # By what was said alone a session is found that outlived our process.
        troupe = self.new_troupe(self.memories.remembers, one_session_each)
        profile = pick_of(self.profiles, pick)
        self.live = self.world_type(profile, troupe, self.memories, most, self.windows)
        self.begin(self.live)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "memories"):
            self.memories.close()

    # By chance alone little is said before something happens, and there is little to know.

    def _talk(self, pick: int, text: str, answer: str) -> Chat:
        self.live.hurry()
        quiet = [chat for chat in self.quiet() if chat.mode is Mode.AGENT]
        chat = pick_of(quiet, pick) if quiet else self.host.open_chat()
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.finish(chat, answer)
        return chat

    @rule(pick=picks, text=words, answer=answers)
    def talk(self, pick: int, text: str, answer: str) -> None:
        self._talk(pick, text, answer)

    @rule(pick=picks, text=words, answer=answers, retries=st.booleans())
    def crash_in_a_turn(self, pick: int, text: str, answer: str, retries: bool) -> None:
        chat = self._talk(pick, text, answer)
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.text(chat, answer)
            self.live.crash(chat)
        if retries and chat.turns[-1].ending is Ending.FAILED:
            self.host.try_again(chat)

    @rule(pick=picks, text=words, answer=answers, stops=st.booleans())
    def crash_between_turns(self, pick: int, text: str, answer: str, stops: bool) -> None:
        chat = self._talk(pick, text, answer)
        if stops:
            self.host.send(chat, text)
            if chat in self.host.streaming:
                self.live.text(chat, answer)
                self.host.stop(chat, kept=True)
        if chat in self.live.homes:
            self.live.lose(chat)
        self.host.send(chat, text)

    @rule(pick=picks, text=words, answer=answers, killed=st.booleans())
    def go_on_with_another_process(self, pick: int, text: str, answer: str, killed: bool) -> None:
        chat = self._talk(pick, text, answer)
        if killed:
            self.kill()
        else:
            self.reload(ends_us=True)
        self.host.send(chat, text)

    @rule()
    def let_a_minute_pass(self) -> None:
        """Sessions of what was left by an edit are closed then, if each takes a process."""
        self.live.let_a_minute_pass()

    @rule(pick=picks, text=words, answer=answers, later=st.booleans())
    def edit_and_go_back(self, pick: int, text: str, answer: str, later: bool) -> None:
        """Where an edit is undone, the session may be closed that is gone on with."""
        self._talk(pick, text, answer)
        chat = self._talk(pick, text, answer)
        if chat in self.host.streaming or chat.turns[-1].word is None:
            return
        self.host.edit(chat, len(chat.turns) - 1, text)
        if chat in self.host.streaming:
            self.live.finish(chat, answer)
        if later:
            self.live.let_a_minute_pass()
        if chat in self._edited() and chat in self.quiet():
            self.host.undo(chat)
            self.host.send(chat, text)
            if chat in self.host.streaming:
                self.live.finish(chat, answer)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks)
    def crash(self, pick: int) -> None:
        self.live.crash(pick_of(list(self.host.streaming), pick))

    @rule()
    def kill(self) -> None:
        self.host.reload()
        self.live.kill()

    @rule()
    def dawdle(self) -> None:
        self.live.dawdle()

    @rule()
    def hurry(self) -> None:
        self.live.hurry()


class AgentHostMachine(AgentHostRules, LiveMachine):
    """In the Agent Host, where responses are paused, and nobody tells of a stop."""

    world_type = LiveAgentHost

    @property
    def paced(self) -> LiveAgentHost:
        """The world."""
        assert isinstance(self.live, LiveAgentHost)
        return self.live

    edit_and_go_back: Any = None  # an edit can't be undone there

    @rule(seconds=st.sampled_from([3.0, 9.0, 35.0]))
    def wait(self, seconds: float) -> None:
        self.paced.pass_time(seconds)

    def _paused(self, pick: int, text: str, answer: str) -> Chat | None:
        """Return a chat whose response has ended with a call, while the host is slow."""
        self._talk(pick, text, answer)
        self.paced.is_slow = True
        chat = pick_of(self.quiet(), pick) if self.quiet() else self.host.open_chat()
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.text(chat, answer)
        self.paced.pass_time(FIRST_SECONDS + 1)
        return chat if chat.waiting else None

    @rule(pick=picks, text=words, answer=answers)
    def give_a_result_too_late(self, pick: int, text: str, answer: str) -> None:
        """The agent was told to stop, and is told to go on: nothing is lost."""
        chat = self._paused(pick, text, answer)
        if chat is not None:
            self.paced.pass_time(STOPPED_SECONDS + 1)
        self.paced.be_quick()
        if chat is not None and chat in self.host.streaming:
            self.live.finish(chat, answer)

    @rule(pick=picks, text=words, answer=answers)
    def stop_before_the_result(self, pick: int, text: str, answer: str) -> None:
        chat = self._paused(pick, text, answer)
        if chat is not None:
            self.host.stop(chat, kept=False)
            self.paced.pass_time(STOPPED_SECONDS + 1)
            assert not self.paced.is_working(chat), "nobody told the agent to stop in time"
        self.paced.be_quick()

    @rule()
    def be_slow(self) -> None:
        """The results of the progress tool are late: the agent is stopped, and then goes on."""
        self.paced.is_slow = True

    @rule()
    def be_quick(self) -> None:
        self.paced.be_quick()

    @rule(pick=picks, text=words, answer=answers, killed=st.booleans())
    def go_on_with_another_process(self, pick: int, text: str, answer: str, killed: bool) -> None:
        chat = self._talk(pick, text, answer)
        if killed:
            self.kill()
        else:
            self.restart(forgets=True)
        if chat in self.quiet():
            self.host.send(chat, text)

    @rule()
    def kill(self) -> None:
        self.host.begin_anew(forgets=False)
        self.live.kill()


class StoreMachine(LiveMachine):
    """With the store that users have."""

    def new_memories(self, remembers: bool) -> Memories:
        return Stored()


class WindowsMachine(StoreMachine):
    """With two windows that share it; what was said in them can be told apart by its words."""

    windows = 2

    def _movable(self) -> list[Chat]:
        """Chats whose next request shows which line goes on, whoever has seen the others."""
        return [chat for chat in self.quiet() if not chat.summaries]

    @precondition(lambda self: self._movable())
    @rule(pick=picks, text=words, answer=answers)
    def go_on_in_another_window(self, pick: int, text: str, answer: str) -> None:
        """The process of the window where the chat was still holds what it held."""
        self.live.hurry()
        chat = pick_of(self._movable(), pick)
        self.live.move(chat)
        self.host.send(chat, text)
        if chat in self.host.streaming:
            self.live.finish(chat, answer)


def machine(
    name: str, casting: Casting, base: type[LiveMachine] = LiveMachine
) -> type[LiveMachine]:
    def new_troupe(self: LiveMachine, spells: bool, one_session_each: bool) -> Troupe:
        return casting(spells, one_session_each)

    return type(name, (base,), {"new_troupe": new_troupe})


def _remembering(reach: Reach, forgets: bool = False) -> Casting:
    return lambda spells, one: RememberingTroupe(reach, forgets, spells, one)


def _acp(reach: AcpReach, forgets: bool = False) -> Casting:
    return lambda _, one: AcpMinds(reach, forgets, one)  # which spell anyway


def _endpoint(keeping: Keeping) -> Casting:
    return lambda _, __: EndpointMinds(keeping)  # so does it


def _kept(forgets: bool) -> str:
    return "forgets" if forgets else "keeps"


MACHINES = [
    *(
        machine(f"{reach.value}-{_kept(forgets)}", _remembering(reach, forgets))
        for reach, forgets in product(Reach, (False, True))
    ),
    *(
        machine(f"acp-{reach.value}-{_kept(forgets)}", _acp(reach, forgets))
        for reach, forgets in product(AcpReach, (False, True))
    ),
    *(machine(f"endpoint-{one.value}", _endpoint(one)) for one in Keeping),
    *(
        machine(f"agent-host-{reach.value}", _remembering(reach), AgentHostMachine)
        for reach in (Reach.NOTHING, Reach.FORK)
    ),
    machine("agent-host-acp-load", _acp(AcpReach.LOAD), AgentHostMachine),
    *(
        machine(f"stored-{reach.value}", _remembering(reach), StoreMachine)
        for reach in (Reach.RESUME, Reach.FORK)
    ),
    machine("stored-acp-load", _acp(AcpReach.LOAD), StoreMachine),
    *(
        machine(f"windows-{reach.value}", _remembering(reach), WindowsMachine)
        for reach in (Reach.RESUME, Reach.FORK)
    ),
    *(
        machine(f"windows-acp-{reach.value}", _acp(reach), WindowsMachine)
        for reach in (AcpReach.LOAD, AcpReach.FORK)
    ),
    *(
        machine(f"windows-endpoint-{one.value}", _endpoint(one), WindowsMachine)
        for one in (Keeping.ALL, Keeping.UNTIL_IT_CRASHES)
    ),
]
"""For each kind of agent and each set of what it can do."""


def _name(machine: type[LiveMachine]) -> str:
    return machine.__name__


@pytest.mark.parametrize("machine", MACHINES, ids=_name)
def test_the_session_that_answers_knows_exactly_what_its_user_sees(
    machine: type[LiveMachine],
) -> None:
    few = settings(max_examples=4, stateful_step_count=40, derandomize=True)
    run_state_machine_as_test(machine, settings=few)


@pytest.mark.long
@pytest.mark.parametrize("machine", MACHINES, ids=_name)
def test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run(
    machine: type[LiveMachine],
) -> None:
    many = settings(stateful_step_count=60)
    run_state_machine_as_test(machine, settings=many)
