"""JSON-RPC with an agent, over any two streams.

One task reads and one writes. The reader decodes inline and in order, and passes each message to
its session at once. All messages of one read are therefore one batch there, except very long lines.
A session that can't keep up stops the reader. Outgoing messages go into a buffer, which never
waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from typing import TypeAlias, TypeVar

import msgspec
import trio
from msgspec import UNSET, Raw, UnsetType

from agents.acp.schema import elicitation, methods
from agents.acp.schema.elicitation import (
    CREATE_ELICITATION,
    CompleteElicitationNotification,
    CreateElicitationRequest,
    CreateElicitationResponse,
)
from agents.acp.schema.errors import Error, ProtocolFault
from agents.acp.schema.files import FILE_REQUESTS, FileRequest, FileResponse
from agents.acp.schema.methods import (
    CANCEL_REQUEST,
    REQUEST_PERMISSION,
    UPDATE,
    CancelRequestNotification,
    Method,
    RequestPermissionRequest,
    RequestPermissionResponse,
    is_extension,
)
from agents.acp.transport.stderr import Tail
from agents.base import AgentError
from agents.boundary import contained
from agents.breather import Breather
from bridge.errors import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Failure
from bridge.jsonrpc import LineSplitter, notification_line, request_line
from bridge.wire import RequestId
from bridge.work import Work

from .decode import Envelope, decode_lines, decode_params, decode_result, decode_update
from .encode import response_line
from .news import QuestionId, UserQuestion, cancelled
from .subscribers import Subscribers
from .writer import Speaker

CHUNK = 64 * 1024
"""Bytes per read."""
BROKEN_SECONDS = 0.25
"""Seconds to keep reading from an agent whose input has failed: it may report the reason."""
MOST_UNSENT_BYTES = 16 * 1024 * 1024
"""Bytes of answers that an agent may leave unread; one that asks more then is ended."""
NOISE_LINES = 5
"""Lines of an agent that are no messages, and are shown where it fails at its start."""
_MOST_TOLD = 100
"""Kinds of oddities of an agent that are logged."""

_QUESTIONS: dict[str, type[UserQuestion]] = {
    REQUEST_PERMISSION: RequestPermissionRequest,
    CREATE_ELICITATION: CreateElicitationRequest,
}
"""The requests of an agent that its user answers."""
ClientResponse: TypeAlias = (
    RequestPermissionResponse | CreateElicitationResponse | FileResponse | Error
)
"""Our answer to a request of the agent."""

log = logging.getLogger("vscodelm.acp")

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


class Connection:
    """The client's side of a conversation with one agent process."""

    def __init__(
        self, name: str, source: trio.abc.ReceiveStream, sink: trio.abc.SendStream
    ) -> None:
        self.name = name
        self._source = source
        self._speaker = Speaker(sink)
        self._ids = count(1)
        self._pending: dict[RequestId, Callable[[Raw | UnsetType | Error | Failure], None]] = {}
        self.subscribers = Subscribers()
        """The subscribers of its sessions."""
        self.failure: Failure | None = None
        """Why nothing more is said."""
        self._running = trio.CancelScope()
        self._noise = Tail()
        """Lines of the agent that are no message."""
        self._told: set[str] = set()
        self._breather = Breather()

    # Outgoing messages. Nothing of this waits.

    @property
    def noise(self) -> str:
        """The last lines that the agent wrote which are no messages."""
        return self._noise.text(NOISE_LINES)

    @property
    def unread_answers(self) -> int:
        """Bytes of responses that the agent hasn't read yet."""
        return self._speaker.unread_answers

    @property
    def unanswered(self) -> int:
        """Number of our requests that the agent may still answer."""
        return len(self._pending)

    def call(
        self, method: Method[P, R], params: P, then: Callable[[R | Error | Failure], None]
    ) -> RequestId:
        """Send a request; the reader calls `then` with the response, in message order."""

        def decode(answer: Raw | UnsetType | Error | Failure) -> None:
            if not isinstance(answer, Error | Failure):
                try:
                    then(decode_result(method, answer))
                    return
                except ProtocolFault as fault:
                    answer = Error(INTERNAL_ERROR, str(fault))
            then(answer)

        id_ = next(self._ids)
        if self.failure is not None:
            then(self.failure)
        else:
            self._pending[id_] = decode
            self._send(request_line(id_, method.name, params))
        return id_

    def forget(self, id_: RequestId) -> None:
        """Tell the agent that an answer isn't needed any more, and ignore it if it comes."""
        if self._pending.pop(id_, None) is not None:
            self.notify(CANCEL_REQUEST, CancelRequestNotification(id_))

    def notify(self, method: str, params: msgspec.Struct) -> None:
        """Say something that isn't answered."""
        self._send(notification_line(method, params))

    def answer(self, id_: QuestionId, response: ClientResponse) -> None:
        """Answer a request of the agent, unless too many answers are unread.

        An agent that asks and doesn't read would have us keep answers without end. Its prompts
        don't count: one may be large, and is the user's.
        """
        if self._speaker.unread_answers < MOST_UNSENT_BYTES:
            self._send(response_line(id_, response), is_answer=True)
            return
        size = MOST_UNSENT_BYTES // (1024 * 1024)
        message = (
            f"{self.name} sends requests, but doesn't read the answers: {size} MiB wait. "
            "It was ended."
        )
        self.fail(Failure("AgentFailed", message))
        self._running.cancel()

    def forget_quietly(self, id_: RequestId) -> None:
        """Ignore an answer, and let the agent give it all the same."""
        self._pending.pop(id_, None)

    def _send(self, line: bytes, *, is_answer: bool = False) -> None:
        if self.failure is None:
            self._speaker.say(line, is_answer=is_answer)

    async def request(self, method: Method[P, R], params: P) -> R | Error:
        """Ask something and wait for the answer; raises `AgentError` where the agent is gone."""
        answered, answers = trio.open_memory_channel[R | Error | Failure](1)
        id_ = self.call(method, params, answered.send_nowait)
        try:
            answer = await answers.receive()
        finally:
            self.forget(id_)  # has no effect on one that is answered
        if isinstance(answer, Failure):
            raise AgentError(answer)
        return answer

    # Sessions.

    def open(
        self, method: Method[P, R], params: P, then: Callable[[R | Error | Failure], None]
    ) -> None:
        """Ask for a session, as `call` does; `then` attaches it.

        It can't be dropped: the agent would keep a session without an owner.
        """

        def opened(answer: R | Error | Failure) -> None:
            then(answer)
            self.subscribers.expect_less()

        self.subscribers.expect_more()
        self.call(method, params, opened)

    # Incoming messages.

    async def run(self) -> None:
        """Speak with the agent until one of its streams ends."""
        with self._running:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._speak, nursery.cancel_scope)
                await self._read()
                nursery.cancel_scope.cancel()

    def fail(self, failure: Failure) -> None:
        """Fail all pending requests because the agent is gone, and all later ones at once."""
        if self.failure is not None:
            return
        self.failure = failure
        pending, self._pending = self._pending, {}
        for then in pending.values():
            with contained(f"agent={self.name}"):
                then(failure)
        self.subscribers.lose(failure)

    async def _speak(self, running: trio.CancelScope) -> None:
        await self._speaker.run()
        log.info("agent=%s hears nothing any more", self.name)
        running.deadline = trio.current_time() + BROKEN_SECONDS

    async def _read(self) -> None:
        splitter = LineSplitter()
        while True:
            try:
                chunk = await self._source.receive_some(CHUNK)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                chunk = b""
            await self._breather.do(self._take(splitter, bytes(chunk)))
            if not chunk:
                return
            await self.subscribers.room()

    def _take(self, splitter: LineSplitter, chunk: bytes) -> Work[None]:
        for message in decode_lines(splitter.feed(chunk) if chunk else splitter.finish()):
            if isinstance(message, Envelope) and _size(message.params) > CHUNK:
                yield  # a line this long has taken its time
            if not isinstance(message, Envelope):
                self._noise.feed(f"{message.text}\n".encode(errors="replace"))
                self._tell_once(f"skipped: {message.reason}")
                log.debug("agent=%s skipped reason=%s %r", self.name, message.reason, message.text)
            elif message.method == UPDATE:
                self._update(message.params)
            elif message.method is None:
                self._response(message)
            elif message.id is UNSET:
                self._notification(message.method, message.params)
            else:
                self._request(message.id, message.method, message.params)

    def _update(self, params: Raw | UnsetType) -> None:
        try:
            notification = decode_update(params)
        except ProtocolFault as fault:
            self._tell_once(str(fault))
            return
        if not self.subscribers.hear(notification.session_id, notification.update, _size(params)):
            self._tell_once("too many updates of unknown sessions")

    def _response(self, envelope: Envelope) -> None:
        id_ = envelope.id
        if id_ is None or id_ is UNSET or id_ not in self._pending:
            log.debug("agent=%s response=%s nobody waits for it", self.name, id_)
            return
        self._pending[id_](envelope.error or envelope.result)
        self._pending.pop(
            id_, None
        )  # only now: if that failed, `fail` still tells the waiting caller

    def _notification(self, method: str, params: Raw | UnsetType) -> None:
        try:
            match method:
                case methods.CANCEL_REQUEST:
                    id_ = decode_params(CancelRequestNotification, params, method).request_id
                    question = self.subscribers.be_unasked(id_)
                    if question is not None:
                        self.answer(id_, cancelled(question))
                case elicitation.COMPLETE_ELICITATION:
                    told = decode_params(CompleteElicitationNotification, params, method)
                    if not self.subscribers.complete(told.elicitation_id):
                        log.debug("agent=%s complete, though nothing is asked", self.name)
                case _:
                    self._tell_unknown("notification", method)
        except ProtocolFault as fault:
            self._tell_once(str(fault))

    def _request(self, id_: QuestionId, method: str, params: Raw | UnsetType) -> None:
        files = FILE_REQUESTS if self.subscribers.serve_files else {}
        type_ = _QUESTIONS.get(method) or files.get(method)
        if type_ is None:
            self._refuse_unknown(id_, method)
            return
        try:
            request = decode_params(type_, params, method)
            if isinstance(request, CreateElicitationRequest) and request.fault is not None:
                raise ProtocolFault(f"{method}: {request.fault}")
        except ProtocolFault as fault:
            self._tell_once(str(fault))
            self.answer(id_, Error(INVALID_PARAMS, str(fault)))
            return
        if self.subscribers.is_open(id_):
            self._tell_once("an id of a request that is open is used again")
            words = "This id is another request's, which isn't answered yet"
            self.answer(id_, Error(INVALID_REQUEST, words))
            return
        if isinstance(request, FileRequest):
            if not self.subscribers.serve_file(id_, request):
                self._refuse_unknown(id_, method)
            return
        if self.subscribers.be_asked(id_, request, _size(params)):
            return
        # Its session is closed, or has yet to be prompted, or there is none.
        if isinstance(request, CreateElicitationRequest):
            log.info("agent=%s asked for input outside of a chat: declined", self.name)
            self.answer(id_, CreateElicitationResponse("decline"))
        else:
            self.answer(id_, cancelled(request))

    def _refuse_unknown(self, id_: QuestionId, method: str) -> None:
        self._tell_unknown("request", method)
        self.answer(id_, Error(METHOD_NOT_FOUND, f"Method not found: {method}"))

    def _tell_unknown(self, what: str, method: str) -> None:
        """Log a method that we don't know. An extension of the protocol is nothing odd."""
        if is_extension(method):
            log.debug("agent=%s %s of an extension: %s", self.name, what, method)
        else:
            self._tell_once(f"unknown {what} {method}")

    def _tell_once(self, what: str) -> None:
        """Log an odd message of an agent once: it may send it a thousand times."""
        if what not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(what)
            log.warning("agent=%s %s", self.name, what)


def _size(params: Raw | UnsetType) -> int:
    return len(params) if isinstance(params, Raw) else 0
