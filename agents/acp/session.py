"""A session with an ACP agent: it runs turns, and keeps what the agent hasn't been told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

import trio
from msgspec.structs import replace

from agents.events import Answer, Prompt
from agents.habits import Habits
from bridge.errors import Failure, LocalError
from bridge.wire import ChatMessage, ToolSpec
from bridge.work import Work

from .changed_files import read_changed
from .choices import Change, Kind, asking_mode, change_to, chosen
from .content import ContentBlock, TextContent
from .dialogue import Dialogue
from .existing import can_find
from .faults import Error
from .handles import SessionHandle
from .learned import Fact
from .methods import (
    SET_CONFIG_OPTION,
    SET_MODE,
    SET_MODEL,
    Empty,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModelRequest,
    SetSessionModeRequest,
)
from .peer import Peer
from .prompt import prompt_blocks, system_to_tell
from .render import Renderer
from .reopened import GOES_ON_WITHOUT, lesson
from .told import Told
from .turn import AcpTurn
from .window import ContextWindow

CHANGE_SECONDS = 30.0
"""How long an agent may take to change its model or its mode."""
TOOL_REQUIRED = "\n\n(Use at least one of the tools of the MCP server {server} to answer this.)"
"""What an agent is told where the host demands a tool: the protocol has no word for it."""


class AcpSession:
    """A conversation with an agent; it satisfies `agents.base.AgentSession`.

    `root` is the folder that the agent works in, `window` that of all its sessions, and `habits`
    are what any of them has shown. It `knows_history` where the agent had it already.
    """

    def __init__(
        self,
        peer: Peer,
        dialogue: Dialogue,
        *,
        root: str,
        new_call_id: Callable[[], str],
        window: ContextWindow,
        habits: Habits,
        knows_history: bool = False,
        has_own_process: bool = False,
    ) -> None:
        self.dialogue = dialogue
        self._habits = habits
        self._window = dialogue.window = window.with_news_of(dialogue.window)
        self.knows_history = knows_history
        self.has_own_process = has_own_process
        self.peer = peer
        self._root = root
        self._new_call_id = new_call_id
        self._told = Told(chosen(dialogue.choices, "mode") or "")
        if dialogue.tools is not None:
            dialogue.tools.wake = dialogue.wake
            dialogue.tools.titles_name_tools = peer.known.titles_name_tools
            dialogue.tools.ids_name_tools = peer.known.ids_name_tools
            if dialogue.reopened is not None and peer.facts.has(Fact.ASKS_FOR_TOOLS):
                dialogue.tools.complaint = GOES_ON_WITHOUT
        self._turn: AcpTurn | None = None
        self._told_system: Sequence[ChatMessage] | None = None
        """The host's system prompt, where the agent was told it."""
        self._untold: Prompt | None = None
        """What was to be prompted and wasn't, because its turn was cancelled before."""

    @property
    def handle(self) -> str | None:
        """What the session is found again by, if the agent says that it finds sessions."""
        if not can_find(self.peer.about.agent_capabilities, self.peer.facts):
            return None
        tools = self.dialogue.tools
        server = "" if tools is None else tools.server
        return SessionHandle(self.dialogue.session_id, server).text

    @property
    def lost(self) -> Failure | None:
        """Why the session is of no more use."""
        if self.dialogue.lost is None and self.peer.is_ending:
            return Failure("AgentFailed", f"{self.peer.name} has ended.")
        if self.dialogue.lost is None and self.peer.mixes_tools:
            return Failure("AgentFailed", f"{self.peer.name} mixes up the tools of its chats.")
        if self.dialogue.lost is None and self._has_lost_tools:
            return Failure("AgentFailed", f"{self.peer.name} went on without the editor's tools.")
        return self.dialogue.lost

    @property
    def _has_lost_tools(self) -> bool:
        """Whether the agent, which asks for tools elsewhere, hasn't since it had this again."""
        dialogue = self.dialogue
        if dialogue.reopened is None or dialogue.tools is None or not dialogue.has_answered:
            return False
        return dialogue.tools.is_ignored and self.peer.facts.has(Fact.ASKS_FOR_TOOLS)

    def can_offer(self, tools: Sequence[ToolSpec]) -> bool:
        """Return whether the agent can be given these tools: it learns of a server only once."""
        return not tools or self.dialogue.tools is not None

    async def renew(self, prompt: Prompt) -> None:
        """Tell the agent of these tools, if it has a server and they aren't the same.

        For the rest the protocol has no word before the next prompt.
        """
        if self.dialogue.tools is not None:
            await self.dialogue.tools.offer(prompt.tools)

    def run(self, prompt: Prompt) -> AcpTurn:
        """Begin a turn. The agent hears of it with the first receive."""
        if self._turn is not None and self._turn.runs:
            raise LocalError("a turn of this session still runs; receive its last event first")
        if self._untold is not None:
            prompt = replace(
                prompt,
                transcript=(*self._untold.transcript, *prompt.transcript),
                messages=(*self._untold.messages, *prompt.messages),
            )
        self._untold = prompt
        self._turn = AcpTurn(
            self.dialogue,
            self._write(prompt),
            Renderer(self._told, root=self._root, offer=self.dialogue.tools),
            prompt.settings.permissions,
            self.peer.name,
            new_call_id=self._new_call_id,
            prepare=lambda: self._prepare(prompt),
            log_in=self.peer.authentication.log_in,
            failure_of=self.peer.authentication.failure_of,
            sent=self._be_told,
            take_notes=self._told.take_notes,
            read_file=partial(read_changed, root=self._root),
            habits=self._habits,
        )
        return self._turn

    def answer(self, answer: Answer) -> None:
        """Hand over one answer."""
        if self._turn is not None:
            self._turn.answer(answer)

    async def cancel(self) -> None:
        """Ask the running turn to stop."""
        if self._turn is not None:
            self._turn.cancel()
        await trio.lowlevel.checkpoint()

    async def end(self, patience: float) -> bool:
        """Close what is still open; return whether the agent has let go of it in time.

        The time counts from when it was first told to stop.
        """
        if self.dialogue.reopened is not None and self._has_lost_tools:
            self.peer.facts.learn(lesson(self.dialogue.reopened, self.peer.facts))
        if self._turn is not None:
            self._turn.close()
        self.dialogue.cancel()
        with trio.move_on_at(self.dialogue.cancelled_at + patience):
            await self.dialogue.returned()
        return not self.dialogue.is_prompted

    def _write(self, prompt: Prompt) -> Work[tuple[ContentBlock, ...]]:
        tools = self.dialogue.tools
        blocks = yield from prompt_blocks(
            prompt,
            self.peer.about.agent_capabilities.prompt_capabilities,
            system=system_to_tell(prompt, self._told_system),
            budget=self._window.record_budget,
        )
        if prompt.tool_required and tools is not None:
            return (*blocks, TextContent(TOOL_REQUIRED.format(server=tools.server)))
        return blocks

    async def _prepare(self, prompt: Prompt) -> Failure | None:
        """Offer the tools of this turn, and choose the model and the mode of the settings.

        Without such a mode an agent that would decide by itself is put into one in which it asks,
        unless everything is allowed anyway.
        """
        if self.dialogue.tools is not None and self.peer.known.prompts_without_tools:
            await self.dialogue.tools.learned()
        await self.renew(prompt)
        mode = prompt.settings.mode
        if mode is None and prompt.settings.permissions != "allow":
            mode = asking_mode(self.dialogue.choices, self.peer.known.asking_modes)
        wanted: tuple[tuple[Kind, str | None], ...] = (
            ("model", prompt.settings.model),
            ("mode", mode),
        )
        for kind, name in wanted:
            if name is None:
                continue
            change = change_to(self.dialogue.choices, self.dialogue.session_id, kind, name)
            failure = (
                change
                if change is None or isinstance(change, Failure)
                else await self._change(change, kind)
            )
            if failure is not None:
                return failure
        return None

    async def _change(self, change: Change, kind: Kind) -> Failure | None:
        request = self.peer.connection.request
        answer: SetSessionConfigOptionResponse | Empty | Error | None = None
        changed = self.dialogue.choices.after(change)
        # The agent says it, too, but the user has chosen it, or was asked all along.
        self._told.mode = chosen(changed, "mode") or self._told.mode
        with trio.move_on_after(CHANGE_SECONDS):
            match change:
                case SetSessionConfigOptionRequest():
                    answer = await request(SET_CONFIG_OPTION, change)
                case SetSessionModeRequest():
                    answer = await request(SET_MODE, change)
                case SetSessionModelRequest():
                    answer = await request(SET_MODEL, change)
                case _:
                    assert_never(change)
        if answer is None:
            message = f"{self.peer.name} didn't change its {kind} within {CHANGE_SECONDS:.0f} s."
            return Failure("Unavailable", f"{message} Try again, or restart the agent.")
        if isinstance(answer, Error):
            return self.peer.authentication.failure_of(answer)
        self.dialogue.choices = changed
        if isinstance(answer, SetSessionConfigOptionResponse) and answer.config_options:
            self.dialogue.choices = self.dialogue.choices.with_options(answer.config_options)
        return None

    def _be_told(self) -> None:
        if self._untold is not None and self._untold.settings.context == "full":
            self._told_system = self._untold.system
        self._untold = None
