"""The editor port: the wire on one side, the History Actor's inbox on the other.

Reading: lines are parsed and checked, small requests are answered at once, chat requests go to the
History Actor. Writing: what the History Actor says becomes lines in the outbox. Each request that
is open is answered exactly once, and its id is free again after that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import attrs
import msgspec
import trio
from msgspec import UNSET

from agents.acp.launch.completed import completed
from agents.activities import Activities
from agents.boundary import failure_of
from agents.breather import Breather
from agents.offered import Offered
from agents.workspace import Workspace
from bridge import methods
from bridge.depth import TOO_DEEP, is_too_deep
from bridge.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Failure,
    RpcError,
)
from bridge.history.transcript import TranscriptReader, decode_message
from bridge.jsonrpc import (
    InvalidLine,
    LineSplitter,
    RpcNotification,
    RpcRequest,
    RpcResponse,
    TooLong,
    decode_params,
    error_line,
    notification_line,
    notification_lines,
    parse_line,
    request_line,
    result_line,
)
from bridge.models import (
    AgentChoice,
    Catalogue,
    Model,
    client_model,
    with_choices,
    with_permissions,
)
from bridge.redact import Hide, redact_text
from bridge.stdio import CHUNK
from bridge.tokens.gauge import Calibration, Measured
from bridge.version import own_version
from bridge.wire import (
    AgentSessionsParams,
    CancelParams,
    CancelProgressParams,
    CancelRequestParams,
    Capabilities,
    ChatParams,
    ClientInfo,
    Empty,
    InitializeParams,
    InitializeResult,
    InspectParams,
    LogInParams,
    LogOutParams,
    McpServersParams,
    ModelsParams,
    ModelsResult,
    Part,
    ProgressParams,
    RequestId,
    ResponseCompleteParams,
    ResponsePartParams,
    Settings,
    ShownModel,
    StatsParams,
    TokenCountParams,
    TokenCountResult,
    WorkspaceFoldersParams,
)
from bridge.work import Work

from .editor_face import Result
from .forms.open_forms import OpenForms, read_result
from .log import log
from .messages import (
    AccountAsked,
    Asked,
    Cancelled,
    FormAnswered,
    FromEditor,
    InspectAsked,
    Leaving,
    SessionsAsked,
    StatsAsked,
)
from .open_requests import OpenRequests
from .outbox import Outbox
from .trace import Trace, learn_nothing

REPLIES_HIGH_WATER = 16 * 1024 * 1024
"""Unread bytes at which we stop reading requests; far more than parts may wait, so that an editor
which writes a long request before it reads is still heard."""

_decode_any = msgspec.json.Decoder().decode
_decode_settings = msgspec.json.Decoder(Settings).decode
_decode_shown = msgspec.json.Decoder(ShownModel).decode
_EMPTY = Empty()


@attrs.define(eq=False, repr=False)
class EditorPort:
    """One connection to an editor."""

    outbox: Outbox
    catalogue: Catalogue
    trace: Trace
    hide: Hide = redact_text
    """Takes secrets out of the text of an error."""
    activities: Activities = attrs.field(factory=Activities)
    """The operations that the editor may cancel."""
    offered: Offered = attrs.field(factory=Offered)
    """The choices that agents offer."""
    workspace: Workspace = attrs.field(factory=Workspace)
    """Gets the folders of the editor's window, and the user's MCP servers."""
    learn_secrets: Callable[[Any], None] = learn_nothing
    """Gets a message that has secrets before anything of it is used."""
    requests: OpenRequests = attrs.field(factory=OpenRequests, init=False)
    forms: OpenForms = attrs.field(
        default=attrs.Factory(lambda self: OpenForms(self._send), takes_self=True), init=False
    )
    """The questions of agents that the editor shows."""
    _capabilities: Capabilities = attrs.field(factory=Capabilities, init=False)
    _calibration: Calibration = attrs.field(factory=Calibration, init=False)
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader, init=False)

    def _shown(self, failure: Failure) -> RpcError:
        return failure.without_secrets(self.hide).as_rpc_error()

    # From the editor.

    async def read(
        self, stream: trio.abc.ReceiveStream, inbox: trio.MemorySendChannel[FromEditor]
    ) -> None:
        """Read until the input ends."""
        splitter = LineSplitter()
        while chunk := await stream.receive_some(CHUNK):
            await self._take(splitter.feed(bytes(chunk)), inbox)
        await self._take(splitter.finish(), inbox)

    async def _take(
        self, lines: Sequence[bytes | TooLong], inbox: trio.MemorySendChannel[FromEditor]
    ) -> None:
        for line in lines:
            message = await Breather().do(self.hear(line))
            if message is not None:
                await inbox.send(message)
            await self.outbox.room(REPLIES_HIGH_WATER)

    def hear(self, line: bytes | TooLong) -> Work[FromEditor | None]:
        """Take one line in, in steps; return what the History Actor must know of it.

        An error that nobody expects is answered without an id, because none was found.
        """
        try:
            return (yield from self._hear(line))
        except Exception as error:
            failure = failure_of(error, "editor=line")
            self._send(error_line(None, self._shown(failure)))
            return None

    def _hear(self, line: bytes | TooLong) -> Work[FromEditor | None]:
        if isinstance(line, TooLong):
            message = f"Invalid request: a line of {line.size} bytes is too long"
            self._send(error_line(None, RpcError(INVALID_REQUEST, message)))
            return None
        self.trace.line("in", line)
        chat = methods.read_chat(line)
        if chat is not None:
            return (yield from self._request(chat[0], lambda: chat[1]))
        try:
            message = parse_line(line)
        except InvalidLine as invalid:
            self._send(error_line(invalid.request, invalid.error))
            return None
        match message:
            case RpcRequest():
                yield  # to open the envelope of a long line was a step of its own
                return (yield from self._call(message))
            case RpcNotification():
                return self._notice(message)
            case RpcResponse():
                return self._answered(message)

    def _answered(self, response: RpcResponse) -> FormAnswered | None:
        """Take in an answer to a request of ours. A form that can't be read is a closed one."""
        if self.workspace.answer(response):
            return None
        form = response.id
        if form is None or form not in self.forms:
            log.debug("ignored response=%s: nothing is asked by that id", form)
            return None
        result, wrong = read_result(response)
        if wrong:
            log.warning("form=%s the answer can't be used: %s", form, wrong)
        return FormAnswered(form, result)

    def _call(self, call: RpcRequest) -> Work[FromEditor | None]:
        def read_params() -> Any:
            decoder = methods.decoder(call.method) if call.method in methods.REQUESTS else None
            if decoder is None:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {call.method}")
            return decode_params(decoder, call.params)

        return self._request(call.id, read_params)

    def _request(
        self, request: RequestId, read_params: Callable[[], Any]
    ) -> Work[FromEditor | None]:
        if request in self.requests:
            text = f"Invalid request: the id {request!r} belongs to a request that is still open"
            self._send(error_line(None, RpcError(INVALID_REQUEST, text)))
            return None
        try:
            params = read_params()
            asked = yield from self._asked(request, params)
            if asked is not None:
                self.requests.begin(request)
                return asked
            self._send(result_line(request, (yield from self._result(params))))
        except RpcError as error:
            # A line that turns out not to be JSON has no id to answer to (JSON-RPC 2.0, section 5).
            self._send(error_line(None if error.code == PARSE_ERROR else request, error))
        except RecursionError:
            text = "Invalid params: something in them is nested too deeply"
            self._send(error_line(request, RpcError(INVALID_PARAMS, text)))
        except Exception as error:
            failure = failure_of(error, f"request={request}")
            self._send(error_line(request, self._shown(failure)))
        return None

    def _asked(self, request: RequestId, params: Any) -> Work[FromEditor | None]:
        """Return the message to the History Actor; None: the request is answered here."""
        match params:
            case ChatParams():
                return (yield from self._chat(request, params))
            case StatsParams():
                return StatsAsked(request)
            case InspectParams(page=page):
                return InspectAsked(request, page)
            case LogInParams(method_id=method_id):
                return AccountAsked(request, self._agent_of(params), method_id)
            case LogOutParams():
                return AccountAsked(request, self._agent_of(params), None)
            case AgentSessionsParams():
                return SessionsAsked(request, self._agent_of(params))
            case _:
                return None

    def _notice(self, notice: RpcNotification) -> Cancelled | None:
        decoder = methods.decoder(notice.method)
        if decoder is None or notice.method in methods.REQUESTS:
            log.debug("ignored notification method=%s", notice.method)
            return None
        try:
            params = decode_params(decoder, notice.params)
        except RpcError as error:
            log.warning("ignored notification method=%s reason=%s", notice.method, error)
            return None
        match params:
            case CancelParams(request_id=request) | CancelRequestParams(id=request):
                return Cancelled(request) if request in self.requests else None
            case CancelProgressParams(token=token):
                self.activities.cancel(token)
                return None
            case WorkspaceFoldersParams(workspace_folders=folders):
                self._take_folders(folders)
                return None
            case McpServersParams(mcp_servers=servers):
                self._take_servers(servers)
                return None
            case _:
                raise AssertionError(f"no notification takes {params!r}")

    def _result(self, params: Any) -> Work[Any]:
        match params:
            case InitializeParams(client_info=client, capabilities=capabilities):
                log.info("client=%s version=%s connected", client.name, client.version)
                self._capabilities = capabilities
                self.workspace.connect(self, capabilities)
                self._take_folders(params.workspace_folders)
                self._take_servers(params.mcp_servers)
                return InitializeResult(ClientInfo("vscodelm", own_version()))
            case TokenCountParams():
                return TokenCountResult((yield from self._tokens(params)))
            case ModelsParams():
                return self._models(params)
            case _:
                raise AssertionError(f"no request takes {params!r}")

    def _take_folders(self, folders: Sequence[str]) -> None:
        absolute = tuple(one for one in folders if os.path.isabs(one))
        for one in set(folders).difference(absolute):
            log.warning("ignored workspace folder=%r: it is no absolute path", one)
        self.workspace.open_folders(absolute)

    def _take_servers(self, given: Sequence[msgspec.Raw]) -> None:
        if not given:  # as mostly
            self.workspace.give_servers(())
            return
        from agents.mcp.user_servers import read_servers, values_of

        self.learn_secrets({"params": {"mcpServers": values_of(given)}})
        servers, faults = read_servers(given)
        self.workspace.give_servers(servers)
        for fault in faults:
            log.warning("%s", fault)
        names = ", ".join(repr(one.name) for one in servers)
        log.info("agents are given these MCP servers from now on: %s", names)

    def _models(self, params: ModelsParams) -> ModelsResult:
        """Return the models that the client defines itself, and those of the catalogue."""
        own: dict[str, Model] = {}
        faults: dict[str, str] = {}
        for model_id in params.agents:
            try:
                own[model_id] = _client_model(params, model_id)
            except (msgspec.ValidationError, UnicodeDecodeError) as error:
                # the other models can be used all the same
                faults[model_id] = f"The model {model_id!r} can't be used: {error}."
                log.warning("%s", faults[model_id])
        known = [one for one in self.catalogue.models if one.information.id not in own]
        models = [
            with_choices(one, self.offered.of(one.agent), self.offered.window_of(one.agent))
            for one in (*known, *own.values())
        ]
        return ModelsResult(models, faults or UNSET)

    def _tokens(self, params: TokenCountParams) -> Work[int]:
        yield  # reading a long line was a step of its own
        model = self.catalogue.find(params.model_id)
        family = model.information.family if model else params.model_id
        estimator = self._calibration.estimator(params.model_id, family)
        if isinstance(params.text, str):
            return (yield from estimator.estimating(params.text))
        assert isinstance(params.message, msgspec.Raw)  # it has one of the two
        return (yield from estimator.estimating(decode_message(params.message, "$.message")))

    def _chat(self, request: RequestId, params: ChatParams) -> Work[Asked]:
        model = self.catalogue.find(params.model_id)
        settings = model.settings if model else Settings()
        agent = self._agent_of(params)
        given = params.options
        for place, value in (
            ("modelOptions", given.model_options),
            ("modelConfiguration", given.model_configuration),
        ):
            if is_too_deep(msgspec.json.encode(value)):
                text = f"Invalid params: {TOO_DEEP} - at `$.options.{place}`"
                raise RpcError(INVALID_PARAMS, text)
        settings = settings if params.settings is UNSET else params.settings
        settings, notice = with_permissions(settings, params.options.model_configuration)
        transcript = yield from self._reader.reading(params.messages)
        return Asked(
            request,
            params.model_id,
            agent,
            transcript,
            params.options,
            settings,
            self._capabilities,
            notice,
        )

    def _agent_of(
        self, params: ChatParams | LogInParams | LogOutParams | AgentSessionsParams
    ) -> AgentChoice:
        """Return the agent that a request names, or else that of its model."""
        if params.agent is not UNSET:
            return self._agent_in(params.agent, params.model_id)
        model = self.catalogue.find(params.model_id)
        if model is not None:
            return model.agent
        known = ", ".join(m.information.id for m in self.catalogue.models)
        raise Failure(
            "NotFound",
            f"There is no model {params.model_id!r}. The models are: {known}. "
            "Name an `agent` in the request, or add the model to the configuration.",
        ).as_rpc_error()

    def _agent_in(self, definition: msgspec.Raw, model_id: str) -> AgentChoice:
        try:
            return _agent(bytes(definition), model_id)
        except msgspec.ValidationError as error:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {_at('agent', error)}") from None
        except UnicodeDecodeError as error:
            raise RpcError(PARSE_ERROR, f"Parse error: {error} - at `$.agent`") from None

    def let_go(self) -> None:
        """Hold the newest chat request no longer: its conversation has ended."""
        self._reader.let_go()

    # To the editor.

    def show(self, request: RequestId, parts: Sequence[Part]) -> None:
        """Send parts of the answer to a request."""
        self._send(
            notification_lines(
                methods.RESPONSE_PART, [ResponsePartParams(request, part) for part in parts]
            )
        )

    def settle(
        self, request: RequestId, failure: Failure | None = None, told: Failure | None = None
    ) -> None:
        """Answer a chat request: resolved, or failed; `told` is a failure that its answer tells.

        The questions that are open for it are closed.
        """
        self.requests.end(request)
        self.forms.end(request)
        if failure is not None:
            self._send(error_line(request, self._shown(failure)))
        else:
            shown = UNSET if told is None else told.without_secrets(self.hide).as_told()
            params = ResponseCompleteParams(request, shown)
            complete = notification_line(methods.RESPONSE_COMPLETE, params)
            self._send(complete + result_line(request, _EMPTY))
        self.outbox.flush()

    def ask(self, id_: str, method: str, params: msgspec.Struct) -> None:
        """Send a request; see `agents.workspace.WindowPort`."""
        self._send(request_line(id_, method, params))
        self.outbox.flush()

    def tell(self, method: str, params: msgspec.Struct) -> None:
        """Send a notification."""
        self._send(notification_line(method, params))

    def forget(self, id_: str) -> None:
        """Tell the editor that an answer isn't needed any more."""
        self._send(notification_line(methods.CANCEL_REQUEST, CancelRequestParams(id_)))

    def answer(self, request: RequestId, result: Result | Failure) -> None:
        """Answer any other request: done, or failed."""
        if isinstance(result, Failure):
            self.settle(request, result)
            return
        self.requests.end(request)
        self._send(result_line(request, result))

    def learn(self, model: str, measured: Measured) -> None:
        """Count tokens better from now on."""
        self._calibration.learn(model, measured)

    def tell_progress(self, progress: ProgressParams) -> None:
        """Say how far something is that takes long."""
        if self._capabilities.progress:
            self._send(notification_line(methods.PROGRESS, progress))

    def change_catalogue(self, catalogue: Catalogue) -> None:
        """Take other models, and say so."""
        self.catalogue = catalogue
        self.tell_models_changed()

    def tell_models_changed(self) -> None:
        """Say that the list of models is another one now."""
        self._send(notification_line(methods.MODELS_CHANGED, _EMPTY))

    def _send(self, lines: bytes) -> None:
        self.trace.lines("out", lines)
        self.outbox.put(lines)


@lru_cache(maxsize=64)
def _agent(definition: bytes, model_id: str) -> AgentChoice:
    """Return the choice that each request of a chat repeats."""
    return AgentChoice.of(completed(_decode_any(definition), model_id))


def _client_model(params: ModelsParams, model_id: str) -> Model:
    """Return a model that the client defines; the error says at which place something is wrong."""
    place = f"agents.{model_id}"
    try:
        agent = _agent(bytes(params.agents[model_id]), model_id)
        place = f"settings.{model_id}"
        settings = _decode_settings(params.settings.get(model_id, b"{}"))
        place = f"information.{model_id}"
        shown = _decode_shown(params.information.get(model_id, b"{}"))
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_at(place, error)) from None
    return client_model(model_id, agent, settings, shown)


def _at(place: str, error: msgspec.ValidationError) -> str:
    message, found, path = str(error).partition(" - at `$")
    return f"{message} - at `$.{place}{path if found else '`'}"


async def run_editor(
    port: EditorPort,
    stream: trio.abc.ReceiveStream,
    inbox: trio.MemorySendChannel[FromEditor],
    until: trio.CancelScope,
) -> None:
    """Read requests until the input ends or `until` is cancelled; then tell the History Actor."""
    async with inbox:
        with until:
            try:
                await port.read(stream, inbox)
            except trio.BrokenResourceError as error:
                log.warning("the input broke: %s", error)
        await inbox.send(Leaving())
