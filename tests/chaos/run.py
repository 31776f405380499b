"""A run of chaos: many chats over one real `vscodelm`, while what they need breaks."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import attrs
import trio

from tests.e2e.process import Process, started
from tests.fakes import acp_program
from tests.fakes.groups import groups_of_children
from tests.fakes.responses_events import Output, Text
from tests.fakes.responses_server import Context, Plan, responses_server
from tests.fakes.waiting import until

from .agent import SCRIPT
from .people import JSON, MARK, PATIENCE, Kind, Person

KINDS: Sequence[Kind] = ("acp", "acp", "acp", "endpoint", "acp", "eliza")
PROCESSES = 3
"""Definitions of ACP agents: several people share each."""
MEMORY_BYTES = 20 * 1024 * 1024
UNBOUNDED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@attrs.frozen
class Held:
    """What a `vscodelm` holds at a moment."""

    conversations: int
    sessions: int
    processes: int
    children: int
    tasks: int
    descriptors: int
    threads: int

    def is_within(self, other: Held) -> bool:
        """Tell whether nothing of it is more."""
        ours, theirs = attrs.astuple(self), attrs.astuple(other)
        return all(one <= most for one, most in zip(ours, theirs, strict=True))


@attrs.define
class Subject:
    """The `vscodelm` that all of it happens to, and the script of the agents' processes."""

    process: Process
    script: Path

    @property
    def pid(self) -> int:
        return self.process.it.pid

    @property
    def resident_bytes(self) -> int:
        """How much of it is in memory."""
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def agents(self) -> list[int]:
        """The processes of agents that live now."""
        pids = (path for path in Path("/proc").iterdir() if path.name.isdecimal())
        return [int(path.name) for path in pids if self._is_agent(path)]

    def _is_agent(self, process: Path) -> bool:
        try:
            return os.fsencode(self.script) in (process / "cmdline").read_bytes()
        except OSError:
            return False  # it has ended meanwhile

    async def held(self) -> Held:
        """Ask what it holds."""
        file = self.script.with_name("held.json")
        file.unlink(missing_ok=True)
        stats = (await self.process.editor.request("lm/stats", {}).settled(PATIENCE)).result
        self.process.it.send_signal(signal.SIGUSR1)
        await until(file.exists, within=PATIENCE)
        told: JSON = json.loads(file.read_text())
        return Held(
            conversations=stats["liveConversations"],
            sessions=stats["sessions"],
            processes=stats["processes"],
            children=len(groups_of_children(self.pid)),
            **told,
        )

    async def rests(self, most: Held | None = None) -> Held:
        """Wait until it holds no chat any more, and no more than `most`; return what it holds."""
        held: list[Held] = []
        with trio.move_on_after(PATIENCE):
            while True:
                held.append(await self.held())
                is_empty = not held[-1].conversations + held[-1].sessions + held[-1].children
                if most is None and is_empty and held[-3:] == held[-1:] * 3:
                    return held[-1]
                if most is not None and held[-1].is_within(most):
                    return held[-1]
                await trio.sleep(0.5)
        raise AssertionError(f"it holds {held[-1]}, and held {most}")


def answer(context: Context) -> Sequence[Output] | Plan:
    """Say whose words an endpoint was ever told, and do what the last of them says."""
    marks = " ".join(dict.fromkeys(MARK.findall(" ".join(context.users))))
    words = context.users[-1].split() if context.users else []
    said = [Text(f"{marks} and so on " * 3, pieces=12)]
    match words[-1] if words else "":
        case "hang":
            return Plan(outputs=said, ending="hang")
        case "stall":
            return Plan(outputs=said, stall=2_000)
        case "cut":
            return Plan(outputs=said, cut=2_000)
        case "reset":
            return Plan(outputs=said, reset=2_000)
        case "broken":
            return Plan(500, body=b"<html>" + b"oh no " * 1000, content_type="text/html")
        case "busy":
            return Plan(429, {"retry-after": "1"}, b'{"error":{"message":"busy"}}')
        case "slow":
            return Plan(outputs=said, chunk=50)
        case _:
            return said


@attrs.define
class Chaos:
    """What breaks meanwhile."""

    subject: Subject
    chance: random.Random
    done: Counter[str] = attrs.field(factory=Counter[str])

    async def reign(self) -> None:
        """Break one thing after the other, until cancelled; then nothing stays broken."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._break_agents, nursery)
            nursery.start_soon(self._fill_the_disk)

    async def _break_agents(self, nursery: trio.Nursery) -> None:
        while True:
            await trio.sleep(self.chance.uniform(0.2, 1.5))
            agents = self.subject.agents
            if not agents:
                continue
            pid = self.chance.choice(agents)
            if self.chance.random() < 0.5:
                self._kill(pid, signal.SIGKILL)
            else:
                nursery.start_soon(self._stop, pid, self.chance.uniform(0.1, 2.5))

    async def _stop(self, pid: int, seconds: float) -> None:
        self._kill(pid, signal.SIGSTOP)
        try:
            await trio.sleep(seconds)
        finally:
            self._kill(pid, signal.SIGCONT)

    def _kill(self, pid: int, number: signal.Signals) -> None:
        if pid in self.subject.agents:
            self.done[number.name] += 1
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    async def _fill_the_disk(self) -> None:
        while True:
            await trio.sleep(self.chance.uniform(1.0, 4.0))
            if self.chance.random() < 0.5:
                self.done["RLIMIT_FSIZE"] += 1
                hard = resource.prlimit(self.subject.pid, resource.RLIMIT_FSIZE)[1]
                resource.prlimit(self.subject.pid, resource.RLIMIT_FSIZE, (2_048, hard))
                try:
                    await trio.sleep(self.chance.uniform(0.1, 1.5))
                finally:
                    resource.prlimit(self.subject.pid, resource.RLIMIT_FSIZE, (hard, hard))
            else:
                self.done["ENOSPC"] += 1
                self.subject.process.it.send_signal(signal.SIGUSR2)
                try:
                    await trio.sleep(self.chance.uniform(0.1, 1.5))
                finally:
                    self.subject.process.it.send_signal(signal.SIGUSR2)


async def run(seed: int, seconds: float, people: int = 12) -> dict[str, int]:
    """Let chaos reign so long; return what happened how often. Fails by `AssertionError`."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        script = Path(name, "agent.json")
        await trio.Path(script).write_text(json.dumps(SCRIPT))
        command = (sys.executable, "-m", "tests.chaos.program", f"{name}/held.json")
        options = ("--trace-dir", f"{name}/traces", "--state-dir", f"{name}/state")
        async with (
            responses_server(answer) as server,
            started(*options, command=command) as process,
        ):
            subject = Subject(process, script)
            crowd = [
                Person(
                    number,
                    KINDS[number % len(KINDS)],
                    _definition(KINDS[number % len(KINDS)], number, script, server.base_url),
                    process.editor,
                    random.Random(chance.random()),
                )
                for number in range(people)
            ]
            await _together(lambda one: one.chat(2, calm=True), crowd)
            before = await subject.rests()
            memory = subject.resident_bytes
            chaos = Chaos(subject, chance)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(chaos.reign)
                end = trio.current_time() + seconds
                await _together(lambda one: one.live(end), crowd)
                nursery.cancel_scope.cancel()
            await _together(lambda one: one.chat(2, calm=True), crowd)
            await subject.rests(before)
            grown = subject.resident_bytes - memory
            assert grown <= MEMORY_BYTES, f"{grown / 1e6:.1f} MB more after {dict(chaos.done)}"
            assert not process.editor.open, "left unanswered"
            happened = chaos.done + sum((one.outcomes for one in crowd), Counter[str]())
            return {**happened, "megabytes": round(grown / 1e6)}
    raise AssertionError("unreachable")


async def _together(what: Callable[[Person], Awaitable[None]], crowd: Sequence[Person]) -> None:
    async with trio.open_nursery() as nursery:
        for one in crowd:
            nursery.start_soon(what, one)


def _definition(kind: Kind, number: int, script: Path, base_url: str) -> JSON:
    match kind:
        case "acp":
            args = ["-S", acp_program.__file__, str(script)]
            name = f"chaos-{number % PROCESSES}"
            return {"acp": {"name": name, "command": sys.executable, "args": args}}
        case "endpoint":
            endpoint = {"baseUrl": base_url, "model": "m", "idleSeconds": 2.0, "retries": 1}
            return {"open_responses": endpoint}
        case "eliza":
            return {"eliza": {"deterministic": True}}


if __name__ == "__main__":
    print(trio.run(run, int(sys.argv[1]), float(sys.argv[2])))  # noqa: T201
