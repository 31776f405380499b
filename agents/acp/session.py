"""A session with an ACP agent: it runs turns, and keeps messages that the agent hasn't got."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import trio
from msgspec.structs import replace

from agents.acp.prompt.build import prompt_blocks, system_to_tell
from agents.acp.render.changed_files import ChangedFileReader
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.render.turn_files import TurnFiles
from agents.acp.schema.content import ContentBlock, TextContent
from agents.acp.schema.errors import Error
from agents.acp.schema.options import values_of
from agents.base import OneTurn
from agents.events import Prompt
from agents.habits import Habits
from agents.ledger import Ledger
from agents.offered import Properties
from bridge.errors import Failure
from bridge.wire import ChatMessage, Settings, ToolSpec
from bridge.work import Work

from .connected_agent import ConnectedAgent
from .existing import can_find
from .handles import NAMELESS, SessionHandle
from .learned import Fact
from .options import NEVER_UNASKED, NONE_KNOWN, chosen
from .reopened import GOES_ON_WITHOUT, lesson
from .session_channel import SessionChannel
from .session_choices import SessionChoices
from .turn import AcpTurn
from .turn_machine import TurnMachine

IGNORED = (
    "*This agent hasn't loaded the editor's tools, so it can't use them here. Some agents ignore "
    "the MCP servers that they are given.*"
)
"""Tells the user about an agent that never asks for its tools."""
TOOL_REQUIRED = "\n\n(Use at least one of the tools of the MCP server {server} to answer this.)"
"""Tells the agent that the host demands a tool: the protocol has no field for it."""


class AcpSession(OneTurn[AcpTurn]):
    """A conversation with an agent; it satisfies `agents.base.AgentSession`.

    `root` is the folder that the agent works in, and `habits` are what any of its sessions has
    shown. `report_choices` receives the choices of the agent, and whether their defaults are those
    of a new session. `ledger` has the agent's reports about its open sessions. It `knows_history`
    if the agent had the session already. Its handle keeps the server and the folder of `named`.
    `fits` says whether a session that is opened with these tools and settings could be this one.
    `spelled` returns the path of a file as the editor has it.
    """

    def __init__(
        self,
        peer: ConnectedAgent,
        channel: SessionChannel,
        *,
        root: str,
        new_call_id: Callable[[], str],
        habits: Habits,
        report_choices: Callable[[Properties, bool], None] = lambda _, __: None,
        ledger: Ledger | None = None,
        knows_history: bool = False,
        has_own_process: bool = False,
        named: SessionHandle = NAMELESS,
        fits: Callable[[Sequence[ToolSpec], Settings], bool] = lambda _, __: True,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self.channel = channel
        self._named = named
        self._habits = habits
        self.knows_history = knows_history
        self.has_own_process = has_own_process
        self.process = peer.process.pid
        self.peer = peer
        self._fits = fits
        self._spelled = spelled
        self._root = root
        self._files = ChangedFileReader(root)
        self.new_call_id = new_call_id
        self._ledger = ledger or Ledger()
        choices = channel.choices
        is_new = not knows_history and channel.reopened is None
        mode = chosen(choices, "mode") or ""
        self._view = SessionView(mode, values_of(choices.options), channel.session_record)
        self._choices = SessionChoices(peer, channel, self._view, report_choices, is_new)
        channel.subscribe_choices(self._choices.report)
        self._should_have_tools = channel.reopened is not None and peer.facts.has(
            Fact.ASKS_FOR_TOOLS
        )
        """Whether it was opened again, and the agent asks for tools elsewhere."""
        self._told_system: Sequence[ChatMessage] | None = None
        """The host's system prompt, if the agent has got it."""
        self._untold: Prompt | None = None
        """A prompt that wasn't sent, because its turn was cancelled before."""

    @property
    def handle(self) -> str | None:
        """The agent's name for the session, if the agent can open sessions again."""
        if not can_find(self.peer.about.agent_capabilities, self.peer.facts):
            return None
        return self.name.text

    @property
    def name(self) -> SessionHandle:
        """The handle, whether or not the agent can open sessions again."""
        tools = self.channel.tools
        server = self._named.server if tools is None else tools.server
        return SessionHandle(self.channel.session_id, server, self._named.folder)

    @property
    def lost(self) -> Failure | None:
        """Why the session is of no more use."""
        if self.channel.lost is None and self.peer.process.is_ending:
            return Failure("AgentFailed", f"{self.peer.name} has ended.")
        if self.channel.lost is None and self.peer.mixes_tools:
            return Failure("AgentFailed", f"{self.peer.name} mixes up the tools of its chats.")
        if self.channel.lost is None and self._has_lost_tools:
            return Failure("AgentFailed", f"{self.peer.name} continued without the offered tools.")
        return self.channel.lost

    @property
    def _has_lost_tools(self) -> bool:
        """Whether the agent, which asks for tools elsewhere, hasn't since it had this again."""
        channel = self.channel
        if channel.reopened is None or channel.tools is None or not channel.has_answered:
            return False
        is_ignored = channel.tools.is_ignored(trio.current_time())
        return is_ignored and self.peer.facts.has(Fact.ASKS_FOR_TOOLS)

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return whether the agent can get these tools: it learns of a server only once."""
        has_server = not tools or self.channel.tools is not None
        return has_server and self._fits(tools, settings)

    async def renew(self, prompt: Prompt) -> None:
        """Tell the agent of these tools, if it has a server and they aren't the same.

        For the rest the protocol has no word before the next prompt.
        """
        if self.channel.tools is not None:
            await self.channel.tools.offer(prompt.tools)

    def run(self, prompt: Prompt) -> AcpTurn:
        """Begin a turn. The agent hears of it with the first receive."""
        self._check_over()
        if self._untold is not None:
            prompt = replace(
                prompt,
                transcript=(*self._untold.transcript, *prompt.transcript),
                messages=(*self._untold.messages, *prompt.messages),
            )
        self._untold = prompt
        self._ledger.begin_turn(self.channel.session_record)
        permissions = prompt.settings.permissions
        is_strict = permissions in NEVER_UNASKED
        self._view.forbid(self.peer.known.asking if is_strict else NONE_KNOWN)
        files = self.channel.files
        if files is not None:
            files.begin(permissions)
        self._turn = AcpTurn(
            self.channel,
            self,
            self._write(prompt),
            TurnFiles(self._files, self.peer.process.workspace.watches.begin),
            TurnMachine(
                self.channel,
                self,
                Renderer(
                    self._view,
                    root=self._root,
                    offer=self.channel.tools,
                    names_commands=self._begins_chat(prompt),
                    by_editor=() if files is None else files.edited,
                    spelled=self._spelled,
                ),
                permissions,
                self._habits,
                self.peer.name,
            ),
        )
        return self._turn

    def _begins_chat(self, prompt: Prompt) -> bool:
        """Return whether the turn is the first of a chat that a person reads."""
        is_first = not self.knows_history and not self.channel.has_answered
        return is_first and prompt.is_chat and not prompt.transcript

    async def end(self, patience: float) -> bool:
        """Close what is still open; return whether the agent has ended its turn in time.

        The time counts from when it was first told to stop.
        """
        if self.channel.reopened is not None and self._has_lost_tools:
            self.peer.facts.learn(lesson(self.channel.reopened, self.peer.facts))
        if self._turn is not None:
            self._turn.close()
        self._ledger.close(self.channel.session_record)
        self.channel.cancel(trio.current_time())
        with trio.move_on_at(self.channel.cancelled_at + patience):
            await self.channel.returned()
        return not self.channel.is_prompted

    def _write(self, prompt: Prompt) -> Work[tuple[ContentBlock, ...]]:
        tools = self.channel.tools
        blocks = yield from prompt_blocks(
            prompt,
            self.peer.about.agent_capabilities.prompt_capabilities,
            system=system_to_tell(prompt, self._told_system),
            budget=self.channel.window.record_budget,
        )
        if prompt.tool_required and tools is not None:
            return (*blocks, TextContent(TOOL_REQUIRED.format(server=tools.server)))
        return blocks

    # Called by the turn; see `TurnSession`.

    async def prepare(self) -> Failure | None:
        """Offer the tools of this turn, and make the choices of the settings and of the picker."""
        untold = self._untold
        assert untold is not None, "a prompt is prepared before it is sent"
        if self.channel.tools is not None and self.peer.known.prompts_without_tools:
            await self.channel.tools.learned()
        await self.renew(untold)
        return await self._choices.make(untold)

    async def log_in(self, error: Error) -> Failure | None:
        """Log in, as the agent demanded by `error`; return why that failed."""
        return await self.peer.authentication.log_in(error)

    def failure_of(self, error: Error) -> Failure:
        """Return an agent's error in words."""
        return self.peer.authentication.failure_of(error)

    def complaint(self, now: float) -> str | None:
        """Return, once for an agent, what the user should know where it ignores its tools."""
        tools = self.channel.tools
        if tools is None or not tools.is_ignored(now) or not tools.may_complain():
            return None
        return GOES_ON_WITHOUT if self._should_have_tools else IGNORED

    def take_notes(self) -> list[str]:
        """Return what the log should say about the session."""
        return self._view.take_notes()

    def be_told(self) -> None:
        """Note that the prompt was sent."""
        if self._untold is not None and self._untold.settings.context == "full":
            self._told_system = self._untold.system
        self._untold = None
