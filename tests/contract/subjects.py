"""The agents that undergo the contract, each with the texts that bring out what it does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import attrs
import pytest
import trio

from agents.base import Agent, AgentSession
from agents.eliza.agent import ElizaAgent
from agents.events import (
    Answer,
    AskPermission,
    Await,
    Break,
    CallTool,
    ElicitAnswer,
    PermissionAnswer,
    Prompt,
    Say,
    ToolAnswer,
)
from agents.open_responses.agent import OpenResponsesAgent
from bridge.errors import Failure
from bridge.history.request_text import request_text
from bridge.wire import ElizaSpec, OpenResponsesSpec
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.http_face import TOKEN, open_face
from tests.fakes.responses_events import Call, Output, Text
from tests.fakes.responses_server import Context, Plan, remember, responses_server
from tests.fakes.scripted_agent import (
    Burst,
    Hang,
    ScriptedAgent,
    ScriptedSession,
    Step,
    Tell,
)

SKIPPED_FOR = pytest.StashKey[str]()
"""Why a test is skipped; pytest-trio raises a skip anew, without its reason."""
_TOLD_ANEW = "the client keeps the whole chat, and tells it to a new session"


@attrs.frozen
class Subject:
    """An agent and the texts that make it do things; `read_file` is the tool it is offered."""

    agent: Agent
    plain: str
    hang: str
    """Says something, then nothing more."""
    fail: str
    """Fails in a way that the session survives."""
    long: str
    """Says a thousand words at least."""
    introduce: str
    recall: str
    remembered: str
    """What the answer to `recall` holds if the session knows of `introduce`, and only then."""
    asks_permission: str | None = None
    calls_tool: str | None = None
    calls_two_tools: str | None = None
    never_asks: str = ""
    """Why it never asks."""
    no_tools: str = ""
    """Why it never calls a tool."""
    no_handle: str = ""
    """Why its sessions have no handle."""
    lacking: list[str] = attrs.field(factory=list[str], init=False)
    """Why the test is skipped."""

    @property
    def ask_permission(self) -> str:
        """Asks once, then says "allowed" or "denied"."""
        return self.asks_permission or self._skip(self.never_asks)

    @property
    def call_tool(self) -> str:
        """Calls `read_file` once, then shows the result."""
        return self.calls_tool or self._skip(self.no_tools)

    @property
    def call_two_tools(self) -> str:
        """Calls it twice at once, then shows both results."""
        return self.calls_two_tools or self._skip(self.no_tools)

    def handle_of(self, session: AgentSession) -> str:
        """Return the handle of a session."""
        return session.handle or self._skip(self.no_handle)

    def _skip(self, reason: str) -> NoReturn:
        assert reason, "whatever an agent lacks has a reason"
        self.lacking.append(reason)
        pytest.skip(reason)


# The subjects.


@asynccontextmanager
async def eliza() -> AsyncGenerator[Subject, None]:
    numbers = count()
    yield Subject(
        agent=ElizaAgent(
            ElizaSpec(deterministic=True), new_call_id=lambda: f"eliza-{next(numbers)}"
        ),
        plain="Hello!",
        calls_tool='!tool read_file {"path": "a.txt"}',
        calls_two_tools='!tool read_file {"path": "a.txt"}\n!tool read_file {"path": "b.txt"}',
        asks_permission="!permission Delete everything",
        hang="!hang",
        fail="!error",
        long="!long 1000",
        introduce="My dog ate the homework.",
        recall="Hm.",
        remembered="dog ate the homework",
        no_handle="Eliza forgets a session that ends, and is told the chat again",
    )


def in_words(answer: Answer) -> str:
    match answer:
        case ToolAnswer(result=result):
            return repr(result)
        case PermissionAnswer(decision=decision):
            return decision.value
        case ElicitAnswer(action=action):
            return action


@asynccontextmanager
async def scripted() -> AsyncGenerator[Subject, None]:
    numbers = count()

    def call() -> CallTool:
        return CallTool(f"scripted-{next(numbers)}", "read_file", {"path": "a.txt"})

    def results(session: ScriptedSession) -> str:
        return " ".join(map(in_words, session.answers.values()))

    def memory(session: ScriptedSession) -> str:
        told = [*session.prompts[0].transcript]
        told += [message for prompt in session.prompts for message in prompt.messages]
        return " / ".join(request_text(message) or "" for message in told)

    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        match request_text(prompt.messages[-1]):
            case "tool":
                return [Say("Let me see. "), call(), Await(), Tell(results)]
            case "tools":
                return [call(), call(), Await(), Tell(results)]
            case "permission":
                question = AskPermission(f"scripted-{next(numbers)}", "Delete everything")
                return [question, Await(), Tell(results)]
            case "hang":
                return [Say("Wait ..."), Hang()]
            case "fail":
                return [Say("Oh, "), Break(Failure("AgentFailed", "it failed"))]
            case "long":
                return [Burst((Say("word "),) * 100)] * 10
            case _:
                return [Tell(memory)]

    yield Subject(
        agent=ScriptedAgent(script),
        plain="hello",
        calls_tool="tool",
        calls_two_tools="tools",
        asks_permission="permission",
        hang="hang",
        fail="fail",
        long="long",
        introduce="I am called Ada",
        recall="what?",
        remembered="Ada",
    )


ACP_TURNS: dict[str, list[dict[str, Any]]] = {
    "permission": [
        {"ask": {"toolCallId": "1", "title": "Delete everything"}},
        {"await": True},
        {"outcomes": True},
    ],
    "hang": [{"say": "Wait ..."}, {"hang": True}],
    "fail": [{"say": "Oh, "}, {"error": {"code": -32603, "message": "it failed"}}],
    "long": [{"say": "word ", "times": 1000}],
    "tool": [
        {"say": "Let me see. "},
        {"call": "read_file", "with": {"path": "a.txt"}},
        {"gather": True},
        {"results": "own"},
    ],
    "tools": [
        {"call": "read_file", "with": {"path": "a.txt"}, "as": "a"},
        {"call": "read_file", "with": {"path": "b.txt"}, "as": "b"},
        {"gather": True},
        {"results": "own"},
    ],
}


def acp_subject(agent: Agent) -> Subject:
    return Subject(
        agent=agent,
        plain="hello",
        asks_permission="permission",
        hang="hang",
        fail="fail",
        long="long",
        introduce="I am called Ada",
        recall="what?",
        remembered="Ada",
        no_tools="the fake in this process doesn't start MCP servers; acp_child does",
    )


ACP_SCRIPT = {"words": ACP_TURNS, "otherwise": [{"memory": True}]}


@asynccontextmanager
async def acp() -> AsyncGenerator[Subject, None]:
    async with agent_in_process(ACP_SCRIPT) as (agent, peers):
        yield acp_subject(agent)
        assert peers.faults == []


@asynccontextmanager
async def acp_child() -> AsyncGenerator[Subject, None]:
    async with agent_as_child(ACP_SCRIPT) as (agent, child):
        yield attrs.evolve(acp_subject(agent), calls_tool="tool", calls_two_tools="tools")
        assert child.faults == []


@asynccontextmanager
async def open_responses() -> AsyncGenerator[Subject, None]:
    async with responses_subject(stateful=True) as made:
        yield made


@asynccontextmanager
async def open_responses_stateless() -> AsyncGenerator[Subject, None]:
    async with responses_subject(stateful=False) as made:
        yield made


@asynccontextmanager
async def responses_subject(*, stateful: bool) -> AsyncGenerator[Subject, None]:
    def model(context: Context) -> Sequence[Output] | Plan:
        if context.results:
            return [Text(" ".join(context.results))]
        match context.users[-1]:
            case "tool":
                return [Text("Let me see. "), Call("read_file", {"path": "a.txt"})]
            case "tools":
                return [Call("read_file", {"path": name}) for name in ("a.txt", "b.txt")]
            case "hang":
                return Plan(outputs=[Text("Wait ...")], ending="hang")
            case "fail":
                return Plan(outputs=[Text("Oh, ")], ending="failed")
            case "long":
                return [Text("word " * 1000, pieces=1000)]
            case _:
                return remember(context)

    async with responses_server(model, stateful=stateful) as server, trio.open_nursery() as nursery:
        agent = OpenResponsesAgent(OpenResponsesSpec(server.base_url, "small"), nursery)
        yield Subject(
            agent=agent,
            plain="hello",
            calls_tool="tool",
            calls_two_tools="tools",
            hang="hang",
            fail="fail",
            long="long",
            introduce="I am called Ada",
            recall="what?",
            remembered="Ada",
            never_asks="the fake server runs no tools of its own that need approval",
            no_handle=_TOLD_ANEW,
        )
        await agent.aclose()
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def served(subject: Subject) -> AsyncGenerator[Subject, None]:
    """Reach an agent by our own client through our own server."""
    with TemporaryDirectory() as folder:
        async with open_face(Path(folder), subject.agent) as face, trio.open_nursery() as nursery:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            spec = OpenResponsesSpec(face.address.url, "eliza", headers=headers)
            agent = OpenResponsesAgent(spec, nursery)
            yield attrs.evolve(
                subject,
                agent=agent,
                asks_permission=None,
                never_asks="our server asks by a call of the client's own function",
                no_handle=_TOLD_ANEW,
            )
            await agent.aclose()
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def served_eliza() -> AsyncGenerator[Subject, None]:
    async with eliza() as subject, served(subject) as made:
        yield made


@asynccontextmanager
async def served_scripted() -> AsyncGenerator[Subject, None]:
    async with scripted() as subject, served(subject) as made:
        yield made


@asynccontextmanager
async def served_acp() -> AsyncGenerator[Subject, None]:
    async with acp_child() as subject, served(subject) as made:
        yield made


SUBJECTS: list[Callable[[], AbstractAsyncContextManager[Subject]]] = [
    eliza,
    scripted,
    acp,
    acp_child,
    open_responses,
    open_responses_stateless,
    served_eliza,
    served_scripted,
    served_acp,
]
