"""Example lines of the wire, made by the code that makes them when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from bridge import methods, wire
from bridge.jsonrpc import (
    RpcNotification,
    RpcRequest,
    RpcResponse,
    decode_params,
    notification_line,
    parse_line,
    request_line,
    result_line,
)

_encode = msgspec.json.Encoder().encode

PARTS: Mapping[type[msgspec.Struct], wire.Part] = {
    wire.TextPart: wire.TextPart("How do you do."),
    wire.ToolCallPart: wire.ToolCallPart("call_1", "read_file", {"path": "a.txt"}),
    wire.ToolResultPart: wire.ToolResultPart("call_1", [wire.TextPart("the file's text")]),
    wire.ThinkingPart: wire.ThinkingPart("Probably he wants to be heard.", id="t1"),
    wire.DataPart: wire.DataPart("image/png", b"\x89PNG"),
}

_HELLO = wire.ChatMessage("user", (wire.TextPart("Hello"),))
_CLAUDE = Raw(_encode({"registry": "claude-code-acp"}))
_MODEL = wire.ConfigurationProperty(
    title="Model",
    enum=("sonnet", "opus"),
    enum_item_labels=("Sonnet", "Opus"),
    default="sonnet",
    group="navigation",
)
_TOOL = wire.ToolSpec(
    "read_file",
    "Read a file.",
    Raw(_encode({"type": "object", "properties": {"path": {"type": "string"}}})),
)

_PARAMS: Mapping[str, msgspec.Struct] = {
    methods.INITIALIZE: wire.InitializeParams(
        wire.ClientInfo("my-editor", "1.0"), wire.Capabilities(thinking=True)
    ),
    methods.MODELS: wire.ModelsParams(silent=True, agents={"claude": _CLAUDE}),
    methods.CHAT: wire.ChatParams(
        "claude",
        [Raw(_encode(_HELLO))],
        _CLAUDE,
        wire.ChatOptions(tools=(_TOOL,), model_configuration={"model": "opus"}),
        wire.Settings(permissions="deny"),
    ),
    methods.TOKENS: wire.TokenCountParams("eliza", text="How many tokens is this?"),
    methods.STATS: wire.StatsParams(),
    methods.INSPECT: wire.InspectParams(),
    methods.LOG_IN: wire.LogInParams("codex", "chatgpt"),
    methods.LOG_OUT: wire.LogOutParams("codex"),
    methods.AGENT_SESSIONS: wire.AgentSessionsParams("codex"),
    methods.CANCEL: wire.CancelParams(1),
    methods.CANCEL_REQUEST: wire.CancelRequestParams(1),
    methods.RESPONSE_PART: wire.ResponsePartParams(1, wire.TextPart("How ")),
    methods.RESPONSE_COMPLETE: wire.ResponseCompleteParams(1),
    methods.PROGRESS: wire.ProgressParams(1, "Fetching Gemini CLI 0.61.0", "34 MB, 12 s"),
    methods.CANCEL_PROGRESS: wire.CancelProgressParams(1),
    methods.FOLDERS_CHANGED: wire.WorkspaceFoldersParams(("/home/me/app", "/home/me/lib")),
    methods.MCP_SERVERS_CHANGED: wire.McpServersParams(
        (
            Raw(_encode(wire.UserMcpServer("files", command="/usr/bin/npx", args=("-y", "files")))),
            Raw(_encode(wire.UserMcpServer("wiki", "http", url="https://wiki.example/mcp"))),
        )
    ),
    methods.MODELS_CHANGED: wire.Empty(),
    methods.READ_TEXT_FILE: wire.ReadTextFileParams("/home/me/app/main.py"),
    methods.WATCH_FILES: wire.WatchFilesParams(1),
    methods.CHANGED_FILES: wire.WatchedFilesParams(1),
    methods.ELICIT: wire.ElicitParams(
        1,
        "Which branch shall I use?",
        {"type": "object", "properties": {"branch": {"type": "string", "title": "Branch"}}},
    ),
}

_RESULTS: Mapping[str, msgspec.Struct] = {
    methods.INITIALIZE: wire.InitializeResult(wire.ClientInfo("vscodelm", "1.0.0")),
    methods.MODELS: wire.ModelsResult(
        [
            wire.ModelInformation("eliza", "Eliza", "eliza", "1966", 1_000_000, 64_000),
            wire.ModelInformation(
                "claude",
                "Claude Code",
                "claude",
                "1",
                191_808,
                8_192,
                200_000,
                configuration_schema=wire.ConfigurationSchema(properties={"model": _MODEL}),
            ),
        ]
    ),
    methods.CHAT: wire.Empty(),
    methods.TOKENS: wire.TokenCountResult(7),
    methods.STATS: wire.Stats(
        requests_by_class={"main": 3},
        requests_by_harness={"agentHost": 3},
        matches_by_rule={"extends": 2},
        misses_by_reason={"new": 1},
        live_conversations=1,
        sessions=1,
        processes=1,
        newest_request=wire.NewestRequest("agentHost", True),
        agent_processes=[wire.AgentProcess("OpenCode", 4711, 2, 524_288_000)],
        agent_sessions=[
            wire.SessionUsage(
                agent="OpenCode",
                turns=2,
                title="Mend the add function",
                used_tokens=64_000,
                context_window=200_000,
                cost=wire.Cost(0.12, "USD"),
                commands=[wire.AgentCommand("review", "Review the changes.")],
            )
        ],
    ),
    methods.INSPECT: wire.InspectResult(
        [
            wire.InspectedRequest(
                request=7,
                conversation=1,
                model="claude",
                request_class="main",
                reason="extends",
                at=12.5,
                extends=4,
                facts=[wire.InspectedFact("agent", "continues in its session")],
                asked="Rye.",
                given=['user "Rye."'],
                ending="complete",
                ended_at=14.25,
                answer="Then you need a sourdough.",
                tokens=wire.InspectedTokens(900, 20, 200_000),
            )
        ]
    ),
    methods.LOG_IN: wire.Empty(),
    methods.LOG_OUT: wire.Empty(),
    methods.AGENT_SESSIONS: wire.AgentSessionsResult(
        [
            wire.ListedSession(
                "019a8f", "/home/me/app", "Mend the add function", "2026-11-26T09:30:00Z"
            )
        ]
    ),
    methods.READ_TEXT_FILE: wire.ReadTextFileResult("print('hello')\n", is_dirty=True),
    methods.CHANGED_FILES: wire.WatchedFiles(("/home/me/app/main.py",), 3),
    methods.ELICIT: wire.ElicitResult("accept", {"branch": "main"}),
}


_OUR_IDS = {
    methods.ELICIT: "elicit-1",
    methods.READ_TEXT_FILE: "read-1",
    methods.CHANGED_FILES: "changed-2",
}


def lines(method: methods.WireMethod) -> list[str]:
    """Return the lines of one use of a method; raises on one that we would refuse ourselves."""
    params = _PARAMS[method.name]
    if method.direction == "notification from us":
        return [f"< {_text(notification_line(method.name, params))}"]
    if method.direction == "request from us":
        return _asked_by_us(method, params)
    call: dict[str, Any] = {"jsonrpc": "2.0"}
    if method.direction == "request":
        call["id"] = 1
    call["method"] = method.name
    if params != wire.Empty() and _encode(params) != b"{}":
        call["params"] = params
    line = _encode(call)
    message, decoder = parse_line(line), methods.decoder(method.name)
    assert isinstance(message, RpcRequest | RpcNotification), line
    assert decoder is not None, line
    decode_params(decoder, message.params)
    lines = [f"> {_text(line)}"]
    if method.result is not None:
        lines.append(f"< {_text(result_line(1, _RESULTS[method.name]))}")
    return lines


def _asked_by_us(method: methods.WireMethod, params: msgspec.Struct) -> list[str]:
    id_ = _OUR_IDS[method.name]
    line = request_line(id_, method.name, params)
    answer = result_line(id_, _RESULTS[method.name]).rstrip(b"\n")
    response = parse_line(answer)
    assert isinstance(response, RpcResponse)
    assert isinstance(response.result, msgspec.Raw)
    msgspec.json.decode(response.result, type=method.result)
    return [f"< {_text(line)}", f"> {_text(answer)}"]


def part(kind: type[msgspec.Struct]) -> str:
    """Return a part as it stands on the wire."""
    return _text(_encode(PARTS[kind]))


def _text(line: bytes) -> str:
    return line.decode().rstrip("\n")
