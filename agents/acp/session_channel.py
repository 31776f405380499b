"""The channel of one session: the agent's messages that its turn hasn't taken yet.

The reader adds news in order, and the running turn takes all of them. The agent may ask for
permission or for input while its prompt is open. Each request is answered once: with the user's
decision, or with "cancelled" between a cancel and the prompt's return, and between turns. Real
agents hang for ever without an answer.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Sequence
from functools import partial

import trio

from agents.acp.calls.sharing import Announced
from agents.acp.edits.desk import FileDesk
from agents.acp.prompt.budget import ContextWindow
from agents.acp.rpc.connection import Connection
from agents.acp.rpc.news import (
    MOST_QUESTIONS,
    InputCompleted,
    InputMissed,
    InputRequested,
    News,
    PermissionRequested,
    QuestionId,
    Returned,
    UserQuestion,
    cancelled,
)
from agents.acp.schema.content import ContentBlock, ToolCall, ToolCallUpdate
from agents.acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from agents.acp.schema.errors import Error
from agents.acp.schema.files import FileRequest
from agents.acp.schema.methods import (
    CANCEL,
    PROMPT,
    CancelNotification,
    PromptRequest,
    PromptResponse,
    RequestPermissionOutcome,
    RequestPermissionResponse,
)
from agents.acp.schema.updates import (
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionInfoUpdate,
    SessionUpdate,
    UsageUpdate,
)
from agents.acp.text.facts import note
from agents.ledger import SessionRecord
from agents.mcp.session_tools import Toolbox
from bridge.errors import INVALID_REQUEST, Failure

from .options import Choices
from .reopened import Reopened

HIGH_WATER = 512
"""News that wait for a turn that is being received; more stop the reader."""
HIGH_WATER_BYTES = 1024 * 1024
"""Bytes of news that wait for a turn that is being received; more stop the reader. The last of them
may be of any size."""
MOST_LATE = 1_000
"""News that are kept while no turn runs."""
MOST_LATE_BYTES = 4 * 1024 * 1024
"""Bytes of news that are kept while no turn runs; the last of them may be of any size."""
MOST_UNREAD_BYTES = 16 * 1024 * 1024
"""Bytes of news that wait while the user is asked; an agent that says more loses its turn. The
reader can't wait for the user: others use the same process."""
NEWS_OVERHEAD = 512
"""About what a piece of news takes beside its text."""
LATE_CALL_SECONDS = 60.0
"""Seconds after a cancel in which a call of the editor's tools may still belong to that turn."""

log = logging.getLogger("vscodelm.acp")


class SessionChannel:
    """The client's side of a session; it satisfies `agents.acp.rpc.subscribers.Subscriber`."""

    def __init__(
        self,
        connection: Connection,
        session_id: str,
        choices: Choices,
        *,
        tools: Toolbox | None = None,
        files: FileDesk | None = None,
        reopened: Reopened | None = None,
        window: ContextWindow | None = None,
        on_announced: Callable[[], None] = lambda: None,
    ) -> None:
        self.session_id = session_id
        self._choices = choices
        self.window = window or ContextWindow()
        """The context window of the agent's model, as reported in this or another session."""
        self.session_record = SessionRecord(connection.name)
        """The agent's facts about the session."""
        self.tools = tools
        """The editor's, if the session was opened with them."""
        self.files = files
        """Serves the agent's files, if the editor makes its edits."""
        self.reopened = reopened
        """The way in which the session was opened again, if it existed before."""
        self.announced = Announced()
        """The calls of the editor's tools that the agent says are under way here."""
        self.lost: Failure | None = None
        """Why the agent is gone."""
        self.is_prompted = False
        """Whether a prompt is out that wasn't answered."""
        self._is_received = False
        """Whether a turn takes what is heard, so that the reader may wait for it."""
        self.cancelled_at = -math.inf
        """When the agent was last told to stop."""
        self.has_answered = False
        """Whether a prompt was answered that wasn't cancelled."""
        self._report_choices: Callable[[], None] = lambda: None
        self._connection = connection
        self._on_announced = on_announced
        self._news: list[News] = []
        self._size = 0
        """Bytes of the news that wait."""
        self._dropped = 0
        """Updates that came late and weren't kept, since the last prompt."""
        self._asked: dict[QuestionId, UserQuestion] = {}
        """Questions that aren't answered yet."""
        self._is_stopped = False
        """Whether the newest turn was stopped: the agent was told so, or had answered already. Then
        its late updates are dropped, and its late questions are answered with "cancelled"."""
        self._changes = trio.lowlevel.ParkingLot()
        self._space = trio.lowlevel.ParkingLot()
        if tools is not None:
            tools.subscribe(self.wake)

    @property
    def choices(self) -> Choices:
        """The agent's choices, and their present values, as far as is known."""
        return self._choices

    def learn_choices(self, choices: Choices) -> None:
        """Keep the choices that the agent has now."""
        self._choices = choices

    def subscribe_choices(self, report: Callable[[], None]) -> None:
        """Have `report` called when the agent says by itself that its options have changed."""
        self._report_choices = report

    @property
    def is_unproven(self) -> bool:
        """Whether the session was opened again, and the agent may not know it."""
        return self.reopened is not None and not self.reopened.is_proven

    @property
    def has_missed_file(self) -> bool:
        """Whether the agent was told in this turn that a file is missing."""
        return self.files is not None and self.files.has_missed

    @property
    def has_turn(self) -> bool:
        """Whether a turn runs, as the agent or the editor sees it."""
        return self.is_prompted or (self.tools is not None and self.tools.calls.is_open)

    @property
    def was_just_cancelled(self) -> bool:
        """Whether the newest turn was cancelled, and something of it may come late."""
        return self._is_stopped and trio.current_time() < self.cancelled_at + LATE_CALL_SECONDS

    @property
    def is_stopping(self) -> bool:
        """Whether the agent was told to stop, and its prompt isn't answered yet."""
        return self.is_prompted and self._is_stopped

    # Called by the connection.

    def hear(self, update: SessionUpdate, size: int) -> None:
        """Take an update of `size` bytes in. Between turns it is kept, but not after a cancel."""
        known = self.session_record.window
        note(self.session_record, update)
        match update:
            case ConfigOptionUpdate(config_options=options):
                self.learn_choices(self.choices.with_options(options))
                self._report_choices()
            case CurrentModeUpdate(current_mode_id=mode):
                self.learn_choices(self.choices.with_mode(mode))
            case UsageUpdate(size=tokens) if tokens > 0:
                self.window.tokens = tokens
                window = self.session_record.window
                if window is not None and window != known:
                    self.window.report(window)
            case AvailableCommandsUpdate() | SessionInfoUpdate():
                return
            case _:
                pass
        if self.reopened is not None and self.reopened.hear(update, size):
            return
        if isinstance(update, ToolCall | ToolCallUpdate):
            self._note(update)
        if self.lost is not None:
            return  # no turn will take it
        is_late = not self.is_prompted
        if is_late and (self._is_stopped or not self._has_room(MOST_LATE, MOST_LATE_BYTES)):
            self._drop(update)
        else:
            self._put(update, size)

    def be_asked(self, id_: QuestionId, request: UserQuestion, size: int) -> None:
        """Take a question in, or answer it at once where nobody can be asked."""
        if len(self._asked) >= MOST_QUESTIONS:
            words = f"{MOST_QUESTIONS} requests wait for the user already"
            self._connection.answer(id_, Error(INVALID_REQUEST, words))
        elif self.is_prompted and not self._is_stopped:
            self._asked[id_] = request
            if isinstance(request, CreateElicitationRequest):
                self._put(InputRequested(id_, request), size)
            else:
                self._note(request.tool_call)
                self._put(PermissionRequested(id_, request), size)
        elif isinstance(request, CreateElicitationRequest) and not self._is_stopped:
            self._decline(id_, request)
        else:
            self._connection.answer(id_, cancelled(request))

    def _decline(self, id_: QuestionId, request: CreateElicitationRequest) -> None:
        """Decline what is asked between turns. The next answer says so, because it says nothing."""
        log.info("session=%s asked for input between turns: declined", self.session_id)
        self._connection.answer(id_, CreateElicitationResponse("decline"))
        if self.lost is None and self._has_room(MOST_LATE, MOST_LATE_BYTES):
            self._put(InputMissed(request.message), len(request.message))

    def _note(self, news: ToolCall | ToolCallUpdate) -> None:
        if self.announced.learn(news):
            self._on_announced()

    @property
    def serves_files(self) -> bool:
        """Whether the editor makes the agent's edits."""
        return self.files is not None

    def serve_file(self, id_: QuestionId, request: FileRequest) -> bool:
        """Serve a request about a file; return whether this session serves any."""
        if self.files is None:
            return False
        self.files.serve(id_, request, partial(self._connection.answer, id_))
        return True

    def be_unasked(self, id_: QuestionId) -> UserQuestion | None:
        """Take a question back; return it, if it isn't answered."""
        if self.files is not None:
            self.files.withdraw(id_)
        question = self._asked.pop(id_, None)
        self._changes.unpark_all()
        return question

    def complete(self, elicitation_id: str) -> bool:
        """Hear that the user has done what an address was for; return whether that was asked."""
        is_asked = any(
            isinstance(one, CreateElicitationRequest) and one.elicitation_id == elicitation_id
            for one in self._asked.values()
        )
        if is_asked:
            self._put(InputCompleted(elicitation_id))
        return is_asked

    async def room(self) -> None:
        """Wait until a turn that is being received has taken what was heard."""
        while self._is_received and not self._has_room(HIGH_WATER + 1, HIGH_WATER_BYTES):
            await self._space.park()

    def lose(self, failure: Failure) -> None:
        """Hear that the agent is gone."""
        self.lost = self.lost or failure
        self.is_prompted = False
        self._asked.clear()
        if self.reopened is not None:
            self.reopened.lose()
        self._changes.unpark_all()
        self._space.unpark_all()

    def _has_room(self, most: int, most_bytes: int) -> bool:
        return len(self._news) < most and self._size < most_bytes

    def _put(self, news: News, size: int = 0) -> None:
        is_awaiting = self.is_prompted and not self._is_received
        if is_awaiting and self._size + size + NEWS_OVERHEAD > MOST_UNREAD_BYTES:
            self._overflow()
            return
        self._news.append(news)
        self._size += size + NEWS_OVERHEAD
        if self._changes:
            self._changes.unpark_all()

    def _drop(self, update: SessionUpdate) -> None:
        """Count an update that came too late; the log says so once, the agent may go on so."""
        if not self._dropped:
            log.info("session=%s dropped late=%s", self.session_id, type(update).__name__)
        self._dropped += 1

    def _overflow(self) -> None:
        """Give the turn up, and the session with it: what the agent says can't be kept."""
        name, size = self._connection.name, MOST_UNREAD_BYTES // (1024 * 1024)
        message = (
            f"{name} sent more than {size} MiB while it waited for an answer, so its turn was "
            "cancelled. Try again."
        )
        log.warning("session=%s %s", self.session_id, message)
        self.lost = Failure("AgentFailed", message)
        self._news.clear()
        self._size = 0
        self.cancel(trio.current_time())
        self._changes.unpark_all()

    # Called by a turn.

    def prompt(self, blocks: tuple[ContentBlock, ...]) -> None:
        """Begin a turn of the agent's. Its end is `Returned`, or that the session is lost."""
        if self._dropped:
            log.info("session=%s dropped late updates=%s", self.session_id, self._dropped)
        self.is_prompted = True
        self._is_stopped, self._dropped = False, 0
        self.announced.clear()
        self._connection.call(PROMPT, PromptRequest(self.session_id, blocks), self._returned)

    def _returned(self, answer: PromptResponse | Error | Failure) -> None:
        self.is_prompted = False
        self.has_answered |= isinstance(answer, PromptResponse) and not self._is_stopped
        self._refuse_all()
        if isinstance(answer, Failure):
            self.lose(answer)
        elif self.lost is not None:
            self._changes.unpark_all()  # nobody takes it; a caller that waits for the end must wake
        else:
            self._put(Returned(answer))

    def cancel(self, now: float) -> None:
        """Tell the agent to stop, once, and answer everything that it asks."""
        if self.is_prompted and not self._is_stopped:
            self._is_stopped = True
            self.cancelled_at = now
            self._connection.notify(CANCEL, CancelNotification(self.session_id))
            self._refuse_all()
            if self.files is not None:
                self.files.cancel()

    def end_stopped(self) -> None:
        """Note that the turn has ended as a stopped one, also if the agent was never told so."""
        self._is_stopped = True

    def is_open(self, id_: QuestionId) -> bool:
        """Return whether a request waits for its answer."""
        return id_ in self._asked or (self.files is not None and self.files.is_open(id_))

    def asks(self, id_: QuestionId, question: UserQuestion) -> bool:
        """Return whether this question waits for its answer; its id may be another's since."""
        return self._asked.get(id_) is question

    def answer(
        self, id_: QuestionId, answer: RequestPermissionOutcome | CreateElicitationResponse
    ) -> None:
        """Answer a question, unless that was done."""
        if id_ in self._asked:
            del self._asked[id_]
            is_form = isinstance(answer, CreateElicitationResponse)
            self._connection.answer(id_, answer if is_form else RequestPermissionResponse(answer))
            self._changes.unpark_all()

    def _refuse_all(self) -> None:
        asked, self._asked = self._asked, {}
        for id_, question in asked.items():
            self._connection.answer(id_, cancelled(question))

    def take(self) -> list[News]:
        """Return all that was heard and not taken yet."""
        news, self._news, self._size = self._news, [], 0
        if self._space:
            self._space.unpark_all()
        return news

    @property
    def heard(self) -> Sequence[News]:
        """The news that `take` would return; it grows as more come."""
        return self._news

    def allows_edit(self, kind: str, paths: Collection[str]) -> bool:
        """Return whether an edit of these files needs no question: the editor shows it."""
        return self.files is not None and self.files.allows_silently(kind, paths)

    def record(self, words: str) -> None:
        """Write a line about this session to the log."""
        log.info("session=%s %s", self.session_id, words)

    def wake(self) -> None:
        """Wake the callers that wait for a change."""
        self._changes.unpark_all()

    async def changed(self) -> None:
        """Wait for news, for an answer, or for the end."""
        await self._changes.park()

    async def has_tools(self, seconds: float) -> bool:
        """Return whether the agent connects to its server in time."""
        with trio.move_on_after(seconds):
            while self.tools is not None and self.tools.is_awaited and self.lost is None:
                await self._changes.park()
        return self.tools is None or not self.tools.is_awaited

    async def returned(self) -> None:
        """Wait until no prompt is out."""
        while self.is_prompted:
            await self._changes.park()

    def receive(self) -> None:
        """Note that a turn takes what is heard; the reader may wait for it."""
        self._is_received = True

    def pause(self) -> None:
        """Note that nobody takes what is heard for now; the reader goes on all the same."""
        self._is_received = False
        self._space.unpark_all()
