"""A trace replayed says just what the server did: every decision, limit and session.

The server is asked while it works (`Server`), and so is its agent (`Sessions`): neither reads the
trace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio
from msgspec.structs import replace

from actors import history
from actors.journal import Journal
from actors.mailbox import Mailbox
from actors.messages import Began
from actors.plan import Delivery
from actors.trace import open_trace
from agents.events import Await, CallTool, Prompt, Say, Stop
from agents.origin import ForkOf, Fresh, Origin, Resumed
from bridge import methods
from bridge.chats import Chats
from bridge.errors import Failure
from bridge.history.events import Cancel, Fail, Finish, Forward, Settle
from bridge.inspection.steps import InspectionStep as Found
from bridge.inspection.steps import RequestDecision, RequestEnded, SessionBegan
from bridge.routing.chat_events import Effects, MemoryLimited, Refused, Remember, Routed, TurnEnded
from bridge.wire import TextPart, ToolCallPart
from tests.fakes.editor import (
    Chat,
    FakeEditor,
    Request,
    connected_to,
    message,
    quiet,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import Crash, Gate, Hang, ScriptedAgent, ScriptedSession, Step
from tests.fakes.session_memory import Shelf, ShelfMemory
from tests.planted import ROOT
from tests.recordings.cases import CASES, played
from vscodelm.replay.explain import explain
from vscodelm.replay.recording import (
    Happening,
    Parted,
    Requested,
    Settled,
    Stopped,
    read_recording,
)
from vscodelm.replay.run import Replay

if TYPE_CHECKING:
    from trio.testing import MockClock

SHARED = Path(os.environ.get("VSCODELM_SHARED") or ROOT.parent / "shared") / "fixtures/vscode"
MOST_BYTES = 1_200
"""So few that chats end for want of memory."""
AGENT: dict[str, Any] = {"acp": {"name": "x", "command": "x"}}
"""One that may have sessions, so that all beginnings are possible."""


@attrs.define
class Server:
    """What the server does, as it does it. A replay decides by `Chats.apply`, too."""

    effects: list[Any] = attrs.field(factory=list[Any])
    """Of every event, but for what no trace can say."""
    pasts: dict[Any, int] = attrs.field(factory=dict[Any, int])
    """For each request that is delivered: how many messages stand before what is new."""
    began: list[SessionBegan] = attrs.field(factory=list[SessionBegan])
    _requests: dict[tuple[int, int], Any] = attrs.field(factory=dict["tuple[int, int]", Any])
    _newest: Any = None
    """The request that was routed last."""

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        apply, deliver = Chats.apply, Mailbox.deliver

        def applying(chats: Chats, event: Any, now: float) -> Effects:
            effects = apply(chats, event, now)
            self.effects.extend(
                (key, comparable(effect)) for key, effect in effects if told(effect)
            )
            for key, effect in effects:
                if isinstance(effect, Routed):
                    self._requests[key, effect.turn] = self._newest = effect.request
            return effects

        def delivering(mailbox: Mailbox, delivery: Delivery) -> None:
            self.pasts[self._newest] = delivery.transcript.index(delivery.past)
            deliver(mailbox, delivery)

        def beginning(one: Began) -> None:
            request = self._requests[one.conversation, one.turn]
            how = one.start.value, one.why.value, one.told, one.process
            self.began.append(SessionBegan(request, *how))

        monkeypatch.setattr(Chats, "apply", applying)
        monkeypatch.setattr(Mailbox, "deliver", delivering)
        monkeypatch.setattr(history, "log_start", beginning)

    def is_replayed(self, folder: Path) -> list[Found]:
        """Replay the trace in a folder; fail unless just the same is decided and told."""
        effects, self.effects = self.effects, []
        assert effects, "nothing was decided"
        (file,) = folder.iterdir()
        with file.open("rb") as lines:
            found = list(Replay().steps(read_recording(lines)))
        for ours, theirs in zip(self.effects, effects, strict=False):
            assert ours == theirs
        assert len(self.effects) == len(effects)
        assert [one for one in found if isinstance(one, SessionBegan)] == self.began
        decisions = [one for one in found if isinstance(one, RequestDecision)]
        pasts = {one.request: one.telling.past for one in decisions}
        assert {request: pasts[request] for request in self.pasts} == self.pasts
        with file.open("rb") as lines:
            assert "assumed" not in explain(read_recording(lines)).lines
        return found


@attrs.define
class Sessions:
    """How each session of an agent began, as the agent sees it."""

    script: Callable[[ScriptedSession, Prompt], Sequence[Step]]
    _told: dict[int, int] = attrs.field(factory=dict[int, int], init=False)
    """By session, in order of their first prompts: how many earlier messages came with that."""

    def steps(self, session: ScriptedSession, prompt: Prompt) -> Sequence[Step]:
        self._told.setdefault(session.number, len(prompt.transcript))
        return self.script(session, prompt)

    def began_as(self, began: Sequence[SessionBegan], agent: ScriptedAgent) -> None:
        """Fail unless the agent saw just these beginnings."""
        assert [one.told for one in began] == list(self._told.values())
        for one, session in zip(began, self._told, strict=True):
            if agent.forgets:
                assert _ORIGINS[one.start] is Fresh
            else:
                assert isinstance(agent.origins[session - 1], _ORIGINS[one.start])


_ORIGINS: dict[str, type[Origin]] = {
    "fresh": Fresh,
    "replayed": Fresh,
    "resumed": Resumed,
    "forked": ForkOf,
    "stored": Resumed,
}


def told(effect: Any) -> bool:
    """Return whether an effect is compared: parts come in other portions."""
    return not isinstance(effect, Forward)


def comparable(effect: Any) -> Any:
    match effect:
        case Routed(routed=routed):
            return effect.request, effect.turn, effect.outcome, replace(routed, agent=b"")
        case Remember(record=record):
            return "remember", record
        case TurnEnded(turn=turn, how=Finish() | Cancel() | Fail() as how):
            return turn, type(how)
        case Settle(request=request, failure=failure) | Refused(request=request, failure=failure):
            return request, failure and failure.message
        case _:
            return effect


# Random chats.


def script(random: Random) -> Callable[[ScriptedSession, Prompt], list[Step]]:
    calls = iter(range(1_000_000))

    def steps(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        match random.randrange(8):
            case 0:
                return [Say("Well"), Hang()]
            case 1:
                return [CallTool(f"c{next(calls)}", "f", {}), Await(), Say("Done."), Stop()]
            case 2:
                return [Say("It b"), Crash(Failure("AgentFailed", "it fell over"))]
            case 3:
                return [Stop()]
            case _:
                return [Say(f"said {random.randrange(3)}"), Stop()]

    return steps


BUILT_IN: dict[str, Any] = {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}
"""With these, requests say whose they are, so that a copy of a chat is told from it."""


def open_chats(editor: FakeEditor, random: Random) -> list[Chat]:
    settings = {"maxSessions": random.choice([3, 9]), "idleSeconds": 60}
    options = tools("f") | ({"modelOptions": BUILT_IN} if random.random() < 0.5 else {})
    chats = [Chat(editor, agent=AGENT, options=options, settings=settings) for _ in range(5)]
    for number, chat in enumerate(chats):
        chat.history = [message("system", f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {number}\n")]
    return chats


async def act(random: Random, chats: list[Chat], newest: dict[int, Request]) -> None:
    """Do something that a user may do."""
    place = random.randrange(len(chats))
    chat, request = chats[place], newest.get(place)
    if request is not None and not request.is_settled:
        if random.random() < 0.7:
            chat.editor.cancel(request)
            await request.settled()
            chat.keep(request)
            return
        newest[place] = chat.ask("never mind")
        await quiet()
        return
    match random.randrange(10):
        case 0:
            await trio.sleep(random.choice([1, 20, 100]))
        case 1 if len(chat.history) > 3:
            chat.take_back(len(chat.history) - 3)
            newest[place] = chat.ask("edited")
        case 2 if request is not None and len(chat.history) > 2:
            chat.take_back(len(request.echo))
            for _ in range(random.randrange(7)):
                again = chat.ask()
                await quiet()
                if not again.is_settled:
                    chat.editor.cancel(again)
                    await again.settled()
        case 3:
            chat.history[1:] = random.choice(chats).history[1:]
            newest[place] = chat.ask("goes its own way")
        case _ if request is not None and request.calls:
            newest[place] = chat.ask(tool_result(request.calls[-1], "42"))
        case _:
            newest[place] = chat.ask(f"asked {random.randrange(3)}")
    await quiet()
    settled = newest.get(place)
    if settled is not None and settled is not request and settled.is_settled:
        chat.keep(settled)


def befall(random: Random, agent: ScriptedAgent, shelf: Shelf, other: ShelfMemory) -> None:
    """Let something happen to the sessions, if chance has it."""
    match random.randrange(40):
        case 0:
            agent.lose(Failure("AgentFailed", "its process ended"))
        case 1:
            for session in agent.sessions:
                session.takes_tools = False
        case 2:
            for entry in shelf.entries.values():  # another process goes on with them
                entry.holder = other
        case _:
            pass


@pytest.mark.parametrize("seed", range(16))
async def test_random_chats_are_replayed_just_as_they_went(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    random, server = Random(seed), Server()
    sessions = Sessions(script(random))
    agent = ScriptedAgent(
        sessions.steps, forgets=random.random() < 0.2, one_session_each=random.random() < 0.5
    )
    begin = Journal.begin

    def limited(self: Journal, chats: Chats) -> None:
        chats.apply(MemoryLimited(MOST_BYTES), 0.0)
        begin(self, chats)

    monkeypatch.setattr(Journal, "begin", limited)
    server.watch(monkeypatch)
    shelf = Shelf()
    trace, memory, other = open_trace(tmp_path, "run"), ShelfMemory(shelf), ShelfMemory(shelf)
    async with connected_to(lambda _: agent, memory=memory, trace=trace) as editor:
        await editor.initialize("marker").settled()
        chats, newest = open_chats(editor, random), dict[int, Request]()
        for _ in range(60):
            befall(random, agent, shelf, other)
            await act(random, chats, newest)
    trace.close()
    server.is_replayed(tmp_path)
    sessions.began_as(server.began, agent)


async def test_repeats_by_the_host_are_replayed_just_as_they_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    server, gate = Server(), Gate()
    agent = ScriptedAgent([[Say("One "), Say("two "), gate, Say("three.")]])
    server.watch(monkeypatch)
    trace = open_trace(tmp_path, "run")
    async with connected_to(lambda _: agent, memory=ShelfMemory(Shelf()), trace=trace) as editor:
        chat = Chat(editor, options={"requestInitiator": "core"})
        chat.history = [message("system", "Session folder: /home/me/session-state/0c5\n")]
        await chat.ask("Count.").shows("two ")
        await trio.sleep(600)
        newest = await chat.ask().shows("two ")
        gate.opened.set()
        await newest.settled()
        chat.keep(await chat.ask().settled())
        await chat.say("Thanks.")
    trace.close()
    ended = [step for step in server.is_replayed(tmp_path) if isinstance(step, RequestEnded)]
    assert [(step.repeat, step.answer and step.answer.text) for step in ended] == [
        (2, "One two "),
        (None, "One two three."),
        (None, "One two three."),
        (None, "ok"),
    ]


# Recorded chats.


def answers(happenings: list[Happening]) -> dict[Any, list[Step]]:
    """Return what an agent says to each request, as it is on record."""
    steps: dict[Any, list[Step]] = {}
    for happening in happenings:
        match happening:
            case Requested(request=request):
                steps[request] = [Hang()]
            case Parted(request=request, part=TextPart(value=value)):
                steps[request].insert(-1, Say(value))
            case Parted(request=request, part=ToolCallPart() as call):
                given: Any = call.parameters or {}
                one = CallTool(call.tool_call_id, call.tool_name, given)
                steps[request].insert(-1, one)
            case Settled(request=request, error=None):
                steps[request][-1] = Stop()
            case Settled(request=request, error=error) if error is not None:
                steps[request][-1] = Crash(Failure("AgentFailed", error))
            case _:
                pass
    return steps


async def serve_recording(happenings: list[Happening], folder: Path, server: Server) -> None:
    steps, newest = answers(happenings), list[list[Step]]()
    sessions = Sessions(lambda _, __: newest[-1])
    agent = ScriptedAgent(sessions.steps)
    trace = open_trace(folder, "run")
    async with connected_to(lambda _: agent, memory=ShelfMemory(Shelf()), trace=trace) as editor:
        sent: dict[Any, Request] = {}
        for happening in happenings:
            match happening:
                case Requested(request=request, params=params):
                    newest.append(steps[request])
                    asked = {"agent": AGENT} | json.loads(params)
                    sent[request] = editor.request(methods.CHAT, asked)
                case Stopped(request=request):
                    editor.cancel(sent[request])
                case _:
                    continue
            await quiet()
    trace.close()
    sessions.began_as(server.began, agent)


def recordings() -> list[Any]:
    files = sorted(SHARED.glob("*.jsonl")) if SHARED.is_dir() else []
    ours = [pytest.param(played(name), id=name) for name in CASES]
    return [*ours, *(pytest.param(file, id=file.name) for file in files)]


@pytest.mark.parametrize("recording", recordings())
async def test_recorded_chats_are_replayed_just_as_they_went(
    recording: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    server = Server()
    if isinstance(recording, Path):
        with recording.open("rb") as lines:
            happenings = list(read_recording(lines))
    else:
        happenings = list(recording.happenings())
    server.watch(monkeypatch)
    await serve_recording(happenings, tmp_path, server)
    found = server.is_replayed(tmp_path)
    assert any(isinstance(step, RequestDecision) for step in found)
