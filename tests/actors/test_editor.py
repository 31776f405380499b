from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from itertools import count
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from actors.editor import REPLIES_HIGH_WATER, EditorPort, run_editor
from actors.messages import AccountAsked, Asked, Cancelled, FromEditor, Leaving, StatsAsked
from actors.outbox import Outbox
from actors.trace import Trace
from agents import breather
from agents.events import Attach, Say, Stop, Think
from bridge.depth import DEEPEST_JSON
from bridge.errors import INVALID_PARAMS, PARSE_ERROR, Failure
from bridge.jsonrpc import TooLong
from bridge.models import AgentChoice, Catalogue, parse_catalogue
from bridge.stdio import PipeSink
from bridge.wire import ConfigurationProperty, Settings, TextPart
from bridge.work import done
from tests.fakes.editor import (
    ELIZA,
    JSON,
    Chat,
    assistant,
    connected,
    quiet,
    tools,
    user,
)
from tests.fakes.scripted_agent import Hang, ScriptedAgent

CHAT = "lm/provideLanguageModelChatResponse"


PARAMS: JSON = {"modelId": "x", "messages": [user("Hello")], "agent": "AGENT"}


class KeptOutbox(Outbox):
    """Keeps what is put instead of having it written."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = b""

    def put(self, lines: bytes) -> None:
        self.kept += lines

    def take(self) -> list[Any]:
        kept, self.kept = self.kept, b""
        return [json.loads(line) for line in kept.splitlines()]


@attrs.define
class Port:
    """A port under test: what it hears comes from JSON, what it says is JSON again."""

    catalogue: Catalogue = attrs.field(factory=Catalogue)
    outbox: KeptOutbox = attrs.field(factory=KeptOutbox)
    it: EditorPort = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.it = EditorPort(self.outbox, self.catalogue, Trace())

    def hear(self, **line: Any) -> FromEditor | None:
        return done(self.it.hear(json.dumps({"jsonrpc": "2.0", **line}).encode()))

    def error(self, **line: Any) -> JSON:
        """Hear a line that is refused, and return the error."""
        assert self.hear(**line) is None
        (reply,) = self.outbox.take()
        assert reply["id"] == line.get("id")
        return reply["error"]

    def result(self, method: str, params: Any) -> Any:
        """Hear a request that is answered at once, and return the result."""
        assert self.hear(id=1, method=method, params=params) is None
        (reply,) = self.outbox.take()
        return reply["result"]

    def ask(self, id_: int | str, **params: Any) -> Asked:
        defaults = {"modelId": "eliza", "messages": [user("Hello")], "agent": ELIZA}
        asked = self.hear(id=id_, method=CHAT, params=defaults | params)
        assert isinstance(asked, Asked)
        return asked


# Requests that are answered at once.


def test_initialize_tells_who_we_are() -> None:
    result = Port().result("lm/initialize", {"clientInfo": {"name": "x", "version": "1"}})
    assert result["serverInfo"]["name"] == "vscodelm"
    assert result["capabilities"] == {"cancel": True, "stats": True, "settings": True}


@pytest.mark.parametrize("agent", [b'{"\xff":{}}', b'{"acp":{"name":"\xff","command":"x"}}'])
def test_a_definition_that_is_not_utf_8_is_no_json(agent: bytes) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": CHAT, "params": PARAMS}).encode()
    port = Port()
    assert done(port.it.hear(line.replace(b'"AGENT"', agent))) is None
    (reply,) = port.outbox.take()
    assert (reply["id"], reply["error"]["code"]) == (None, PARSE_ERROR)


def test_initialize_is_answered_where_the_metadata_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    result = Port().result("lm/initialize", {"clientInfo": {"name": "x"}})
    assert result["serverInfo"]["name"] == "vscodelm"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


ENDPOINT: JSON = {"baseUrl": "http://x", "model": "m"}


def deep(place: str, levels: int) -> JSON:
    """Return parameters with so many lists within each other in a place."""
    odd = nested(levels)
    call = {"type": "tool_call", "toolCallId": "1", "toolName": "t", "parameters": odd}
    result = {"type": "tool_result", "toolCallId": "1", "result": odd}
    thought = {"type": "thinking", "value": "", "metadata": odd}
    unknown = {"type": "odd", "odd": odd}
    match place:
        case "call":
            return {"messages": [user("a"), {"role": "assistant", "content": [call]}]}
        case "result":
            return {"messages": [user("a"), {"role": "user", "content": [result]}]}
        case "thought":
            return {"messages": [user("a"), {"role": "assistant", "content": [thought]}]}
        case "unknown":
            return {"messages": [user("a"), {"role": "user", "content": [unknown]}]}
        case "agent":
            return {"agent": {"open_responses": {**ENDPOINT, "reasoning": {"a": odd}}}}
        case "agent's own":
            return {"agent": {"open_responses": {**ENDPOINT, "odd": odd}}}
        case _:
            return {"options": {"modelOptions": {"odd": odd}}}


PATHS = {
    "call": "$.messages[1].content[0]",
    "result": "$.messages[1].content[0]",
    "thought": "$.messages[1].content[0]",
    "unknown": "$.messages[1].content[0]",
    "agent": "$.agent",
    "agent's own": "$.agent",
    "options": "$.options.modelOptions",
}


@pytest.mark.parametrize("place", PATHS)
@pytest.mark.parametrize("levels", [DEEPEST_JSON, 800])
def test_what_is_nested_too_deeply_is_refused_by_its_place(place: str, levels: int) -> None:
    params = {"modelId": "eliza", "messages": [user("a")], "agent": ELIZA, **deep(place, levels)}
    error = Port().error(id=1, method=CHAT, params=params)
    assert error["code"] == INVALID_PARAMS
    assert "nested more than" in error["message"] or "too deeply" in error["message"]
    if levels == DEEPEST_JSON:
        assert PATHS[place] in error["message"]


@pytest.mark.parametrize("place", PATHS)
def test_what_is_nested_deeply_is_taken(place: str) -> None:
    Port().ask(1, **deep(place, DEEPEST_JSON - 5))


def test_eliza_is_among_the_models() -> None:
    (model,) = Port().result("lm/provideLanguageModelChatInformation", {"silent": True})["models"]
    assert model["id"] == "eliza"
    assert model["capabilities"] == {"toolCalling": True, "imageInput": False}
    assert {"id", "name", "family", "version", "maxInputTokens", "maxOutputTokens"} < set(model)


AGENT = {"acp": {"name": "claude", "command": "claude-agent-acp"}}
MODELS = "lm/provideLanguageModelChatInformation"


def listed(port: Port, **params: Any) -> dict[str, Any]:
    """Return the listed models by their ids."""
    return {model["id"]: model for model in port.result(MODELS, params)["models"]}


def test_the_client_s_own_agents_are_listed_with_their_choices() -> None:
    port = Port()
    settings = {"mine": {"permissionChoices": ["ask", "allow"], "model": "B"}}
    (eliza, mine) = listed(port, agents={"mine": AGENT}, settings=settings).values()
    assert "configurationSchema" not in eliza
    schema = mine["configurationSchema"]
    assert schema["type"] == "object"
    assert schema["properties"] == {
        "permissions": {
            "type": "string",
            "title": "Permissions",
            "enum": ["ask", "allow"],
            "enumItemLabels": ["Ask", "Allow all"],
            "enumDescriptions": [
                "You are asked before the agent acts.",
                "The agent may do everything without asking.",
            ],
            "default": "ask",
        }
    }
    offered = ConfigurationProperty(
        title="Model", enum=("a", "b"), enum_item_labels=("A", "B"), default="a"
    )
    with port.it.offered.told_to(port.it.tell_models_changed):
        port.it.offered.learn(AgentChoice.of(AGENT), {"model": offered})
    assert port.outbox.take()[0]["method"] == "lm/didChangeLanguageModelChatInformation"
    mine = listed(port, agents={"mine": AGENT}, settings=settings)["mine"]
    assert mine["configurationSchema"]["properties"]["model"] == {
        "type": "string",
        "title": "Model",
        "enum": ["a", "b"],
        "enumItemLabels": ["A", "B"],
        "default": "b",
    }


def test_each_kind_of_agent_is_listed_by_its_name() -> None:
    endpoint = {"open_responses": {"baseUrl": "http://127.0.0.1:1/v1", "model": "small"}}
    models = listed(Port(), agents={"a": AGENT, "b": {"eliza": {}}, "c": endpoint})
    assert [models[id_]["name"] for id_ in "abc"] == ["claude", "Eliza", "c"]
    assert [models[id_]["capabilities"]["imageInput"] for id_ in "abc"] == [True, False, True]
    assert ["configurationSchema" in models[id_] for id_ in "abc"] == [True, False, False]


def test_the_limit_of_an_agent_is_its_own_context_unless_the_configuration_has_one() -> None:
    entry = '[[models]]\nid = "{}"\nagent = {{ acp = {{ name = "a", command = "{}" }} }}\n'
    limited = entry.format("limited", "a") + "maxInputTokens = 1_000_000\n"
    port = Port(parse_catalogue(limited + entry.format("free", "a") + entry.format("other", "b")))
    port.it.offered.learn_window(AgentChoice.of({"acp": {"name": "a", "command": "a"}}), 200_000)
    port.it.offered.learn_window(AgentChoice.of(AGENT), 64_000)
    models = listed(port, agents={"mine": AGENT})
    assert {key: limits(model) for key, model in models.items()} == {
        "eliza": (1_000_000, 64_000, None),
        "limited": (1_000_000, 64_000, None),
        "free": (191_808, 8_192, 200_000),
        "other": (1_000_000, 64_000, None),
        "mine": (55_808, 8_192, 64_000),
    }


def limits(model: dict[str, Any]) -> tuple[int, int, int | None]:
    window = model.get("maxContextWindowTokens")
    return model["maxInputTokens"], model["maxOutputTokens"], window


@pytest.mark.limit("bridge.models.OUTPUT_IN_WINDOW")
@pytest.mark.parametrize(
    ("output", "window", "expected"),
    [
        (None, 16_384, (8_192, 8_192, 16_384)),
        (None, 16_383, (8_192, 8_191, 16_383)),
        (None, 1, (1, 0, 1)),
        (30_000, 64_000, (34_000, 30_000, 64_000)),
        (100_000, 64_000, (32_000, 100_000, 64_000)),
    ],
)
def test_the_limits_are_the_context_together_and_an_output_that_is_given_stays(
    output: int | None, window: int, expected: tuple[int, int, int]
) -> None:
    port = Port()
    port.it.offered.learn_window(AgentChoice.of(AGENT), window)
    information = {} if output is None else {"mine": {"maxOutputTokens": output}}
    models = listed(port, agents={"mine": AGENT}, information=information)
    assert limits(models["mine"]) == expected


def test_a_model_is_shown_as_its_owner_says() -> None:
    shown = {
        "name": "E",
        "family": "f",
        "version": "2",
        "tooltip": "t",
        "detail": "d",
        "maxInputTokens": 5,
        "maxOutputTokens": 6,
    }
    given = {**shown, "toolCalling": False, "imageInput": True}
    agents: dict[str, Any] = {"eliza": {"eliza": {}}, "free": {"registry": "claude-code-acp"}}
    params = {"agents": agents, "information": {"eliza": given}}
    result = Port().result(MODELS, params)["models"]
    assert [one["id"] for one in result] == ["eliza", "free"], "ours of that id isn't there as well"
    models = {one["id"]: one for one in result}
    assert models["eliza"] == {
        "id": "eliza",
        **shown,
        "capabilities": {"toolCalling": False, "imageInput": True},
    }
    del models["free"]["configurationSchema"]
    assert models["free"] == {
        "id": "free",
        "name": "Claude Code",
        "family": "free",
        "version": "1",
        "maxInputTokens": 1_000_000,
        "maxOutputTokens": 64_000,
        "capabilities": {"toolCalling": True, "imageInput": True},
    }


def test_the_limit_that_the_owner_says_counts_for_more_than_the_agent_s_context() -> None:
    port = Port()
    port.it.offered.learn_window(AgentChoice.of(AGENT), 64_000)
    information = {"limited": {"maxInputTokens": 1_000_000}}
    models = listed(port, agents={"limited": AGENT, "free": AGENT}, information=information)
    assert limits(models["limited"]) == (1_000_000, 64_000, None)
    assert limits(models["free"]) == (55_808, 8_192, 64_000)


ODD: list[tuple[str, str, Any, str]] = [
    ("agents", "odd", {"acp": {"name": 1}}, "got `int` - at `$.agents.odd.acp.name`"),
    ("agents", "none", 1, "Expected `object`, got `int` - at `$.agents.none`"),
    ("agents", "empty", {}, "got none of them - at `$.agents.empty`"),
    ("agents", "stranger", {"registry": "nobody"}, "Any other agent is defined"),
    ("settings", "set", {"permissions": "perhaps"}, "'perhaps' - at `$.settings.set.permissions`"),
    ("information", "named", {"name": 3}, "at `$.information.named.name`"),
    ("information", "small", {"maxInputTokens": 0}, "at `$.information.small.maxInputTokens`"),
    ("information", "large", {"maxOutputTokens": -1}, "`$.information.large.maxOutputTokens`"),
]


@pytest.mark.parametrize(("where", "model", "value", "told"), ODD)
def test_a_model_that_is_wrong_is_told_and_costs_the_others_nothing(
    where: str, model: str, value: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    params: dict[str, Any] = {"agents": {model: AGENT, "mine": AGENT}}
    params.setdefault(where, {})[model] = value
    result = Port().result(MODELS, params)
    assert [one["id"] for one in result["models"]] == ["eliza", "mine"]
    ((faulty, fault),) = result["faults"].items()
    assert faulty == model
    assert fault.startswith(f"The model '{model}' can't be used: ")
    assert told in fault
    assert fault in caplog.text
    assert "faults" not in Port().result(MODELS, {"agents": {"mine": AGENT}})


def test_a_request_may_name_a_ready_agent() -> None:
    asked = Port().ask(1, agent={"registry": "opencode"})
    assert getattr(asked.agent.spec.definition, "name", None) == "OpenCode"
    unnamed = Port().ask(1, modelId="mine", agent={"acp": {"command": "x"}})
    assert getattr(unnamed.agent.spec.definition, "name", None) == "mine"


def test_permissions_that_can_be_chosen_count_and_others_are_ask() -> None:
    def chosen(value: Any, **settings: Any) -> tuple[str, str]:
        options = {"modelConfiguration": {"permissions": value}}
        asked = Port().ask(1, options=options, settings=settings)
        return asked.settings.permissions, asked.notice

    assert chosen("read_only") == ("read_only", "")
    assert chosen("ask", permissions="allow") == ("ask", "")
    assert chosen("allow", permissions="allow") == ("allow", "")
    assert chosen("allow", permissionChoices=["ask", "allow"]) == ("allow", "")
    odd_ones: list[Any] = ["allow", "everything", 1, ["allow"], {}]
    for odd in odd_ones:
        permissions, notice = chosen(odd, permissions="deny")
        assert permissions == "ask"
        assert "can't be chosen" in notice
        assert "\n" not in notice


def test_the_users_mcp_servers_are_those_that_the_editor_named_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    learned: list[Any] = []
    port = Port()
    port.it.learn_secrets = learned.append
    right = {"name": "files", "command": "/bin/files", "secrets": ["hunter2"]}
    wrong = {"name": "wiki", "type": "http", "url": "hunter3"}
    client = {"clientInfo": {"name": "x"}, "mcpServers": [right, wrong]}
    port.result("lm/initialize", client)
    assert [one.name for one in port.it.workspace.servers] == ["files"]
    assert "MCP server 'wiki' is left out" in caplog.text
    assert "hunter" not in caplog.text
    assert learned == [{"params": {"mcpServers": [right, wrong]}}], "also of one that is wrong"
    changed = "lm/didChangeMcpServers"
    assert port.hear(method=changed, params={"mcpServers": "files"}) is None
    assert [one.name for one in port.it.workspace.servers] == ["files"], "it changes nothing"
    assert port.hear(method=changed, params={"mcpServers": []}) is None
    assert port.it.workspace.servers == ()
    assert port.outbox.take() == []


def test_the_folders_of_the_window_are_those_that_the_editor_named_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    port = Port()
    client = {"clientInfo": {"name": "x"}, "workspaceFolders": ["/one", "two", "/three"]}
    port.result("lm/initialize", client)
    assert port.it.workspace.folders == ("/one", "/three")
    assert "'two'" in caplog.text
    changed = "lm/didChangeWorkspaceFolders"
    assert port.hear(method=changed, params={"workspaceFolders": ["/four"]}) is None
    assert port.it.workspace.folders == ("/four",)
    assert port.hear(method=changed, params={}) is None, "a wrong one changes nothing"
    assert port.it.workspace.folders == ("/four",)
    assert port.outbox.take() == []


def test_parameters_may_be_left_out_where_all_have_defaults() -> None:
    port = Port()
    assert port.hear(id=1, method="lm/provideLanguageModelChatInformation") is None
    (reply,) = port.outbox.take()
    assert reply["result"]["models"]


@pytest.mark.parametrize("content", [{"text": "Hello, world"}, {"message": user("Hello, world")}])
def test_tokens_are_counted_of_a_text_and_of_a_message(content: JSON) -> None:
    result = Port().result("lm/provideTokenCount", {"modelId": "eliza", **content})
    assert list(result) == ["count"]
    assert result["count"] > 0


@pytest.mark.parametrize(("model", "tokens"), [("claude-opus", 1601), ("other", 1106)])
def test_an_image_has_the_tokens_that_the_model_takes_for_it(model: str, tokens: int) -> None:
    image = {"type": "data", "mimeType": "image/png", "data": "AAAA"}
    message = {"role": "user", "content": [image]}
    result = Port().result("lm/provideTokenCount", {"modelId": model, "message": message})
    assert result == {"count": tokens}


def test_a_change_of_the_models_is_told() -> None:
    port = Port()
    port.it.change_catalogue(Catalogue(()))
    assert port.outbox.take() == [
        {
            "jsonrpc": "2.0",
            "method": "lm/didChangeLanguageModelChatInformation",
            "params": {},
        }
    ]
    assert port.result("lm/provideLanguageModelChatInformation", {}) == {"models": []}


async def test_what_takes_long_is_told_to_an_editor_that_can_show_it_and_is_cancelled() -> None:
    await trio.lowlevel.checkpoint()
    port = Port()
    with port.it.activities.told_to(port.it.tell_progress):
        with port.it.activities.begin("Fetching") as activity:
            activity.tell("1 s")
            assert port.outbox.take() == []
            me = {"clientInfo": {"name": "e", "version": "1"}, "capabilities": {"progress": True}}
            port.result("lm/initialize", me)
            activity.tell("2 s")
            token = activity.token
            params = {"token": token, "title": "Fetching", "message": "2 s", "isOver": False}
            (told,) = port.outbox.take()
            assert told == {"jsonrpc": "2.0", "method": "lm/progress", "params": params}
            assert not activity.scope.cancel_called
            assert port.hear(method="lm/cancelProgress", params={"token": token}) is None
            assert activity.scope.cancel_called
        (over,) = port.outbox.take()
        assert over["params"]["isOver"] is True


# Requests that the History Actor hears of.


def test_a_chat_is_passed_on_with_everything_it_says() -> None:
    port = Port()
    port.result("lm/initialize", {"clientInfo": {"name": "x"}, "capabilities": {"thinking": True}})
    asked = port.ask(7, options=tools("f"), settings={"permissions": "deny"})
    assert asked.request == 7
    assert asked.agent.key == b'{"eliza":{"deterministic":true}}'
    assert len(asked.transcript.path) == 1
    assert [tool.name for tool in asked.options.tools] == ["f"]
    assert asked.settings.permissions == "deny"
    assert asked.capabilities.thinking
    assert port.outbox.take() == []


def test_a_login_and_a_logout_are_passed_on_with_their_agent() -> None:
    definition = {"acp": {"name": "x", "command": "x"}}
    params = {"modelId": "m", "agent": definition, "methodId": "browser"}
    assert Port().hear(id=1, method="lm/logIn", params=params) == AccountAsked(
        1, AgentChoice.of(definition), "browser"
    )
    eliza = Port().hear(id=2, method="lm/logOut", params={"modelId": "eliza"})
    assert isinstance(eliza, AccountAsked)
    assert eliza.method_id is None


def test_a_login_to_nobody_is_refused() -> None:
    port = Port()
    params = {"modelId": "nobody", "methodId": "browser"}
    assert port.error(id=1, method="lm/logIn", params=params)["data"]["kind"] == "NotFound"


def test_stats_are_passed_on() -> None:
    assert Port().hear(id="s", method="lm/stats", params={}) == StatsAsked("s")


CONFIGURED = parse_catalogue("""
[[models]]
id = "calm"
agent = { eliza = { deterministic = true } }
settings = { permissions = "allow" }
""")


def test_a_chat_without_an_agent_goes_to_that_of_its_model() -> None:
    params = {"modelId": "calm", "messages": [user("Hello")]}
    asked = Port(CONFIGURED).hear(id=1, method=CHAT, params=params)
    assert isinstance(asked, Asked)
    assert asked.agent.key == b'{"eliza":{"deterministic":true}}'


def test_the_settings_of_a_request_replace_those_of_its_model() -> None:
    port = Port(CONFIGURED)
    assert port.ask(1, modelId="calm").settings.permissions == "allow"
    assert port.ask(2, modelId="calm", settings={"rewind": "continue"}).settings == Settings(
        rewind="continue"
    )


def test_the_agent_of_a_request_wins_over_that_of_its_model() -> None:
    other = {"mcp_server": {"name": "x", "command": "x"}}
    assert b"mcp_server" in Port(CONFIGURED).ask(1, modelId="calm", agent=other).agent.key


def test_a_model_that_nobody_knows_is_not_found_and_the_error_says_what_there_is() -> None:
    error = Port(CONFIGURED).error(
        id=1, method=CHAT, params={"modelId": "nobody", "messages": [user("Hello")]}
    )
    assert error["code"] == -32000
    assert error["data"]["kind"] == "NotFound"
    for name in ("nobody", "eliza", "calm"):
        assert name in error["message"]


# Faults.


@pytest.mark.parametrize("method", ["lm/nothing", "", "lm/responsePart", "lm/cancel"])
def test_a_method_that_is_not_ours_is_not_found(method: str) -> None:
    error = Port().error(id=1, method=method, params={})
    assert error["code"] == -32601
    assert error["message"] == f"Method not found: {method}"


GOOD: JSON = {"modelId": "eliza", "messages": [user("Hello")], "agent": ELIZA}


BAD_CHATS: list[tuple[Any, str]] = [
    ({}, "missing required field `modelId` - at `$`"),
    ([], "Expected `object`, got `array` - at `$`"),
    (GOOD | {"modelId": 1}, "at `$.modelId`"),
    (GOOD | {"messages": []}, "Expected `array` of length >= 1 - at `$.messages`"),
    (GOOD | {"messages": {}}, "at `$.messages`"),
    (GOOD | {"messages": [1]}, "at `$.messages[0]`"),
    (GOOD | {"messages": [user("a"), {"content": []}]}, "`role` - at `$.messages[1]`"),
    (GOOD | {"messages": [user("a"), user("b") | {"role": "x"}]}, "at `$.messages[1].role`"),
    (GOOD | {"messages": [{"role": "user", "content": "a"}]}, "at `$.messages[0].content`"),
    (
        GOOD | {"messages": [user("a"), assistant("b"), user("c", {"type": "text"})]},
        "missing required field `value` - at `$.messages[2].content[1]`",
    ),
    (
        GOOD | {"messages": [user({"type": "text", "value": 1})]},
        "at `$.messages[0].content[0].value`",
    ),
    (GOOD | {"messages": [user({"value": "a"})]}, "at `$.messages[0].content[0]`"),
    (
        GOOD | {"messages": [user({"type": "data", "mimeType": "x", "data": "*"})]},
        "at `$.messages[0].content[0].data`",
    ),
    (GOOD | {"agent": {}}, "exactly one of"),
    (GOOD | {"agent": {}}, "at `$.agent`"),
    (GOOD | {"agent": {"eliza": {}, "acp": {"name": "x", "command": "x"}}}, "at `$.agent`"),
    (GOOD | {"agent": {"mcp_server": {"name": "x"}}}, "at `$.agent.mcp_server`"),
    (GOOD | {"agent": "eliza"}, "at `$.agent`"),
    (GOOD | {"agent": None}, "at `$.agent`"),
    (GOOD | {"options": {"toolMode": "never"}}, "at `$.options.toolMode`"),
    (GOOD | {"options": {"tools": [{}]}}, "at `$.options.tools[0]`"),
    (GOOD | {"settings": {"permissions": "maybe"}}, "at `$.settings.permissions`"),
    (GOOD | {"settings": {"idleSeconds": 0}}, "idleSeconds must be more than 0"),
    (GOOD | {"settings": {"maxSessions": 0}}, "maxSessions must be at least 1"),
]


@pytest.mark.parametrize(("params", "says"), BAD_CHATS)
def test_bad_parameters_of_a_chat_are_refused_with_their_whole_path(params: Any, says: str) -> None:
    port = Port()
    error = port.error(id=1, method=CHAT, params=params)
    assert error["code"] == -32602
    assert error["message"].startswith("Invalid params: ")
    assert says in error["message"]
    port.ask(1)  # the id is free again


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"modelId": "x"}, "exactly one of"),
        ({"modelId": "x", "text": "a", "message": user("a")}, "exactly one of"),
        ({"modelId": "x", "text": 1}, "at `$.text`"),
        ({"modelId": "x", "message": {"role": "user"}}, "at `$.message`"),
        ({"modelId": "x", "message": user({"type": "text"})}, "at `$.message.content[0]`"),
    ],
)
def test_bad_parameters_of_a_token_count_are_refused_with_their_whole_path(
    params: Any, says: str
) -> None:
    error = Port().error(id=1, method="lm/provideTokenCount", params=params)
    assert error["code"] == -32602
    assert says in error["message"]


def test_what_is_nested_too_deeply_to_be_compared_is_refused() -> None:
    port = Port()
    deep = "[" * 900 + "1.0" + "]" * 900
    call: JSON = {"type": "tool_call", "toolCallId": "1", "toolName": "f", "parameters": "deep"}
    line = {"jsonrpc": "2.0", "id": 1, "method": CHAT}
    params = GOOD | {"messages": [assistant(call)]}
    done(port.it.hear(json.dumps(line | {"params": params}).replace('"deep"', deep).encode()))
    if not (replies := port.outbox.take()):
        return  # it could be compared after all
    assert replies[0]["error"]["code"] == -32602
    port.ask(1)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{oops", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "lm/stats"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "lm/stats"}', -32600),
    ],
)
def test_a_line_that_is_no_message_is_refused_without_an_id(line: bytes, code: int) -> None:
    port = Port()
    assert done(port.it.hear(line)) is None
    (reply,) = port.outbox.take()
    assert reply["id"] is None
    assert reply["error"]["code"] == code


def test_a_line_that_is_too_long_is_refused() -> None:
    port = Port()
    assert done(port.it.hear(TooLong(3_000_000_000))) is None
    (reply,) = port.outbox.take()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32600
    assert "3000000000 bytes" in reply["error"]["message"]


@pytest.mark.parametrize("method", [CHAT, "lm/stats"])
@pytest.mark.parametrize("again", [CHAT, "lm/stats", "lm/initialize", "lm/nothing"])
def test_the_id_of_an_open_request_is_refused_whatever_is_asked(method: str, again: str) -> None:
    port = Port()
    assert port.hear(id=1, method=method, params=GOOD) is not None
    assert port.hear(id=1, method=again, params=GOOD) is None
    (reply,) = port.outbox.take()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32600
    assert "1" in reply["error"]["message"]


def test_an_id_is_free_again_when_its_request_is_settled() -> None:
    port = Port()
    port.ask(1)
    port.it.settle(1)
    port.ask(1)
    port.it.settle(1, Failure("AgentFailed", "gone"))
    port.ask(1)


def test_a_number_and_a_string_are_different_ids() -> None:
    port = Port()
    assert port.ask(1).request == 1
    assert port.ask("1").request == "1"


def test_responses_are_ignored_because_nothing_was_asked() -> None:
    port = Port()
    assert port.hear(id=1, result={}) is None
    assert port.hear(id=None, error={"code": 1, "message": ""}) is None
    assert port.outbox.take() == []


# Notifications.


@pytest.mark.parametrize(
    ("method", "params"), [("lm/cancel", {"requestId": 1}), ("$/cancelRequest", {"id": 1})]
)
def test_a_cancel_is_passed_on_while_its_request_is_open(method: str, params: JSON) -> None:
    port = Port()
    assert port.hear(method=method, params=params) is None
    port.ask(1)
    assert port.hear(method=method, params=params) == Cancelled(1)
    port.it.settle(1)
    assert port.hear(method=method, params=params) is None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("lm/cancel", {}),
        ("lm/cancel", {"requestId": {}}),
        ("lm/cancel", {"requestId": "1"}),
        ("lm/cancel", []),
        ("$/cancelRequest", {"requestId": 1}),
        ("$/setTrace", {"value": "off"}),
        ("lm/stats", {}),
        (CHAT, GOOD),
    ],
)
def test_other_notifications_are_ignored_without_an_answer(method: str, params: Any) -> None:
    port = Port()
    port.ask(1)
    assert port.hear(method=method, params=params) is None
    assert port.outbox.take() == []


# To the editor.


def test_an_answer_is_its_parts_then_its_end_then_its_result() -> None:
    port = Port()
    port.ask("x")
    port.it.show("x", [TextPart("a"), TextPart("b")])
    port.it.settle("x")
    part: JSON = {"jsonrpc": "2.0", "method": "lm/responsePart"}
    assert port.outbox.take() == [
        part | {"params": {"requestId": "x", "part": {"type": "text", "value": "a"}}},
        part | {"params": {"requestId": "x", "part": {"type": "text", "value": "b"}}},
        {"jsonrpc": "2.0", "method": "lm/responseComplete", "params": {"requestId": "x"}},
        {"jsonrpc": "2.0", "id": "x", "result": {}},
    ]


def test_a_failure_is_an_error_alone_with_what_the_host_and_the_user_need() -> None:
    port = Port()
    port.ask(1)
    port.it.settle(1, Failure("Unavailable", "Try again later.", "HTTP 503", "the last lines"))
    assert port.outbox.take() == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {
                "code": -32000,
                "message": "Try again later.",
                "data": {
                    "kind": "Unavailable",
                    "detail": "HTTP 503",
                    "stderrTail": "the last lines",
                },
            },
        }
    ]


# The whole way.


async def test_without_initialize_only_text_and_tool_calls_are_sent() -> None:
    agent = ScriptedAgent([[Think("hm"), Attach("usage", b"{}"), Say("Hello"), Stop()]])
    async with connected(agent) as editor:
        request = await Chat(editor).say("Hello")
    assert request.parts == [{"type": "text", "value": "Hello"}]


async def test_with_initialize_the_other_kinds_of_part_are_sent_too() -> None:
    thought = Think("hm", "t1", {"signature": "x"})
    agent = ScriptedAgent([[thought, Attach("usage", b"{}"), Say("Hello"), Stop()]])
    async with connected(agent) as editor:
        await editor.initialize("thinking", "usage").settled()
        request = await Chat(editor).say("Hello")
    assert request.parts == [
        {"type": "thinking", "value": "hm", "id": "t1", "metadata": {"signature": "x"}},
        {"type": "data", "mimeType": "usage", "data": "e30="},
        {"type": "text", "value": "Hello"},
    ]


async def test_the_owner_of_an_id_that_is_used_twice_goes_on() -> None:
    agent = ScriptedAgent([[Say("Hello"), Hang()]])
    async with connected(agent) as editor:
        request = await editor.chat([user("a")]).shows("Hello")
        editor.send({"jsonrpc": "2.0", "id": request.id, "method": CHAT, "params": GOOD})
        (error,) = await editor.refusals(1)
        assert error["code"] == -32600
        assert not request.is_settled
        editor.cancel(request)
        await request.settled()
        again = await editor.chat([user("b")], id_=request.id).settled()
    assert again.text == "ok"
    assert len(agent.prompts) == 2


async def test_whatever_comes_between_requests_go_on() -> None:
    async with connected(ScriptedAgent([[Say("Hello")]])) as editor:
        for junk in (b"\n", b"junk\n", b"\xff\xfe\n", b"[]\n", b'"\n', b"{}\r\n"):
            editor.write(junk)
        request = await Chat(editor).say("Hello")
        assert request.text == "Hello"
        assert len(editor.refused) == 5


async def test_bytes_may_come_one_at_a_time() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "lm/stats"}).encode() + b"\n"
    to_port = trio.testing.memory_stream_one_way_pair()
    send, receive = trio.open_memory_channel[FromEditor](9)
    port = EditorPort(Outbox(), Catalogue(), Trace())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_editor, port, to_port[1], send, trio.CancelScope())
        with trio.fail_after(5):
            for byte in line:
                await to_port[0].send_all(bytes([byte]))
                await quiet()
            await to_port[0].aclose()
    assert [message async for message in receive] == [StatsAsked(1), Leaving()]


async def test_a_last_line_without_its_end_is_heard() -> None:
    to_port = trio.testing.memory_stream_one_way_pair()
    send, receive = trio.open_memory_channel[FromEditor](9)
    port = EditorPort(Outbox(), Catalogue(), Trace())
    with trio.fail_after(5):
        await to_port[0].send_all(b'{"jsonrpc": "2.0", "id": 1, "method": "lm/stats"}')
        await to_port[0].aclose()
        await run_editor(port, to_port[1], send, trio.CancelScope())
        assert [message async for message in receive] == [StatsAsked(1), Leaving()]


async def test_an_input_that_breaks_is_an_input_that_ends() -> None:
    class Broken(trio.abc.ReceiveStream):
        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            raise trio.BrokenResourceError("gone")

        async def aclose(self) -> None: ...

    send, receive = trio.open_memory_channel[FromEditor](9)
    with trio.fail_after(5):
        await run_editor(
            EditorPort(Outbox(), Catalogue(), Trace()), Broken(), send, trio.CancelScope()
        )
        assert [message async for message in receive] == [Leaving()]


@pytest.mark.limit("actors.editor.REPLIES_HIGH_WATER")
async def test_an_editor_that_never_reads_is_not_read_for_ever(nursery: trio.Nursery) -> None:
    """Else what we answer would fill the memory."""
    sink, from_port = trio.testing.lockstep_stream_one_way_pair()
    to_port, source = trio.testing.memory_stream_one_way_pair()
    send, receive = trio.open_memory_channel[FromEditor](9)
    outbox = Outbox()
    outbox.put(b"x" * REPLIES_HIGH_WATER)
    port = EditorPort(outbox, Catalogue(), Trace())
    nursery.start_soon(outbox.run, sink)
    nursery.start_soon(run_editor, port, source, send, trio.CancelScope())
    with trio.fail_after(5):
        for id_ in (1, 2):
            await to_port.send_all(b'{"jsonrpc": "2.0", "id": %d, "method": "lm/stats"}\n' % id_)
            await quiet()
        assert receive.receive_nowait() == StatsAsked(1)
        with pytest.raises(trio.WouldBlock):
            receive.receive_nowait()
        await from_port.receive_some()
        assert await receive.receive() == StatsAsked(2)
    outbox.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there pipes can't be polled")
async def test_the_end_of_an_answer_is_there_before_any_other_task_has_its_turn(
    nursery: trio.Nursery,
) -> None:
    source, sink = os.pipe()
    os.set_blocking(source, False)
    outbox = Outbox()
    async with PipeSink(sink) as pipe:
        nursery.start_soon(outbox.run, pipe)
        await quiet()
        EditorPort(outbox, Catalogue(), Trace()).settle(7)
        lines = os.read(source, 1_000).splitlines()
        assert json.loads(lines[-1])["id"] == 7
        outbox.close()
        await quiet()
    os.close(source)


def test_an_error_is_told_without_what_looks_like_a_secret() -> None:
    port = Port()
    port.it.settle(7, Failure("AgentFailed", "run x --token abc", "d", "API_KEY=abc"))
    (line,) = port.outbox.take()
    assert "abc" not in json.dumps(line)
    assert line["error"]["data"]["stderrTail"] == "API_KEY=[redacted]"


async def test_others_have_their_turn_while_a_long_request_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(step=2 * breather.WORK_SECONDS)  # each message takes its time
    monkeypatch.setattr(breather.time, "thread_time", lambda: next(clock))
    sink, source = trio.testing.memory_stream_one_way_pair()
    for number, words in ((1, 50), (2, 1)):
        params = GOOD | {"messages": [user(str(word)) for word in range(words)]}
        line = {"jsonrpc": "2.0", "id": number, "method": CHAT, "params": params}
        await sink.send_all(json.dumps(line).encode() + b"\n")
    await sink.aclose()
    send, inbox = trio.open_memory_channel[FromEditor](2)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(other)
            await Port().it.read(source, send)
            nursery.cancel_scope.cancel()
    assert turns >= 45
    heard = [inbox.receive_nowait(), inbox.receive_nowait()]
    assert [one.request for one in heard if isinstance(one, Asked)] == [1, 2]
