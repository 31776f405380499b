"""No definition, environment, setting or answer ends the bridge, or costs another chat.

Each request is answered, by a result or by an expected error, and Eliza answers afterwards. An
`Internal` error is a failure of this test: what is drawn here, somebody has thought of.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.directory import open_directory
from bridge.errors import INVALID_PARAMS, REQUEST_FAILED
from tests.fakes.editor import ELIZA, JSON, Chat, Request, connected_to, user
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, ResponsesServer, responses_server

PATIENCE = 60.0
"""Seconds, for a machine that does much else at the same time."""
EXPECTED = {"NoPermissions", "Blocked", "NotFound", "AgentFailed", "Unavailable"}
SERVER = "SERVER"
"""Stands for the address of a server that answers."""


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": [value]}
    return value


HALF, NUL, HUGE = "half \ud83d", "nul \x00", 10**4000
ANYTHING: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, HUGE, 1e308, "", HALF, NUL, "x" * 100_000, [], {}, [HALF], {"": NUL},
    nested(40), nested(90), nested(150), nested(300),
)  # fmt: skip

ENDPOINT: dict[str, tuple[Any, ...]] = {
    "baseUrl": (
        "x", "http://", "ftp://127.0.0.1", "http://[1:2:3]/v1", "http://[::1", "http://127.0.0.1:1",
        "http://127.0.0.1:99999/", "http://xn--0.a/v1", "http://a\nb", "http://u:p w@127.0.0.1:1/",
        f"http://{HALF}/", f"http://{'a' * 300}.invalid/", "https://127.0.0.1:1/\x7f", "http://./",
    ),
    "model": ("small",),
    "apiKeyEnv": ("ODD_KEY", "NOT_THERE", "A=B"),
    "headers": (
        {"": "x"}, {"a b": "c"}, {"x": "a\nb"}, {"x": HALF}, {"x": "\u00e9"}, {"host": ""},
        {"content-length": "5"}, {"transfer-encoding": "odd"}, {"x\u0130": "y"}, {"x": 5},
    ),
    "store": (False,),
    "stateful": (False,),
    "reasoning": ({"effort": "low"}, {"effort": HUGE}, {"a": nested(90)}),
    "include": (["reasoning.encrypted_content"], [5]),
    "maxOutputTokens": (16,),
    "connectSeconds": (1e-9, 0.1),
    "idleSeconds": (1e-9, 0.1),
    "annotations": ("end", "none"),
    "systemMessages": ("developer", "system"),
    "imageInNonUserMessage": ("skip", "error"),
    "resultImages": ("message",),
    "callOrder": ("interleaved",),
    "odd": (),
}  # fmt: skip
ACP: dict[str, tuple[Any, ...]] = {
    "name": ("../odd", "odd\n"),
    "command": ("no-such-command", os.devnull, "/", shutil.which("true") or "true", "~", "a=b"),
    "args": (["", NUL], [HALF], ["x" * 3_000_000], ["${secret:X}"], [5]),
    "env": tuple(
        [{"name": name, "value": value}]
        for name, value in (
            ("", "x"), ("=", "x"), ("A=B", "x"), (NUL, "x"), (HALF, "x"), ("A", NUL), ("A", HALF),
            ("A", "${secret:X}"), ("A", "x" * 3_000_000), ("PATH", ""), ("LD_PRELOAD", ""),
        )
    ),
    "cwd": ("/no/such/folder", os.devnull, "~nobody-here", "relative", "~" + NUL),
}  # fmt: skip
SETTINGS: dict[str, tuple[Any, ...]] = {
    "context": ("full", "request"),
    "model": ("small",),
    "mode": ("plan",),
    "tools": ({"include": ["[", "*" * 30, HALF]}, {"exclude": ["[!", "?"]}),
    "permissions": ("allow", "deny", "read_only"),
    "thinking": ("text", "hide"),
    "rewind": ("continue",),
    "idleSeconds": (1e-9,),
    "maxSessions": (1,),
}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "tools": tuple(
        [{"name": name, "inputSchema": schema}]
        for name in ("look", "", HALF, NUL, "x" * 1000)
        for schema in (True, [1], {"type": HALF}, {"maximum": HUGE}, nested(60), nested(150))
    ),
    "toolMode": ("required", 2),
    "modelOptions": ({"temperature": HUGE}, {"_a": 1, "maxTokens": -5}, {HALF: nested(60)}),
    "requestInitiator": ("odd",),
}
ENVIRONMENT: dict[str, tuple[str, ...]] = {
    "HTTP_PROXY": ("socks4://x", "http://", "socks5://127.0.0.1:1", "x:y", "\udcff"),
    "all_proxy": ("socks5h://u:p@127.0.0.1:1", "://", "http://xn--0.a", ""),
    "NO_PROXY": ("*", "[::1", "http://xn--0.a", "127.0.0.1,,x", "\udcff"),
    "SSL_CERT_FILE": ("/no/such/file", "/", os.devnull),
    "SSL_CERT_DIR": ("/no/such/folder", os.devnull),
    "SSLKEYLOGFILE": ("/no/such/folder/file", "/"),
    "ODD_KEY": ("", " ", "a\nb", "\udcff", "\u00e9", "x" * 10_000),
    "PATH": ("", "/no/such/folder"),
    "HOME": ("", "/no/such/folder"),
    "VSCODELM_SECRETS": ("X", ",,=", "PATH"),
    "TMPDIR": ("/no/such/folder",),
}  # fmt: skip
DEEP = b"[" * 600 + b"]" * 600
ANSWERS = (
    Plan(outputs=[Text("fine")]),
    Plan(status=400, body=DEEP),
    Plan(status=429, headers={"retry-after": "Tue, 15 Nov 1994 08:12:41 +99999999999"}, body=b"{}"),
    Plan(status=500, body=b'{"message":"no","code":"' + b"5" * 5000 + b'"}'),
    Plan(status=302, headers={"location": "http://xn--0.a"}),
    Plan(status=200, body=b"<html>", content_type="text/html"),
    Plan(body=b'data: {"type":"response.output_item.done","item":' + DEEP + b"}\n\n"),
    Plan(body=b'data: {"type":"response.completed","response":{"usage":{"input_tokens":%s}}}\n\n'
         % str(HUGE).encode()),
    Plan(body=b"\xff\xfe\x00", content_type="application/json"),
    Plan(outputs=[Text("cut")], cut=20),
    Plan(outputs=[Text("reset")], reset=0),
)  # fmt: skip


def odd(base: JSON, fields: Mapping[str, tuple[Any, ...]]) -> st.SearchStrategy[JSON]:
    """Draw an object in which up to two fields have another value than they should."""
    pair = st.sampled_from(sorted(fields)).flatmap(
        lambda field: st.tuples(st.just(field), st.sampled_from(fields[field] + ANYTHING))
    )
    return st.lists(pair, max_size=2).map(lambda pairs: {**base, **dict(pairs)})


agents = st.one_of(
    odd({"baseUrl": SERVER, "model": "small", "retries": 0}, ENDPOINT).map(
        lambda fields: {"open_responses": fields}
    ),
    odd({"name": "it", "command": "no-such-command"}, ACP).map(lambda fields: {"acp": fields}),
    st.sampled_from([{"eliza": value} for value in ANYTHING]),
    st.sampled_from(ANYTHING),
)
requests = st.fixed_dictionaries(
    {"agent": agents, "settings": odd({}, SETTINGS), "options": odd({}, OPTIONS)}
)
environments = st.lists(
    st.sampled_from(sorted(ENVIRONMENT)).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(ENVIRONMENT[name]))
    ),
    max_size=2,
).map(lambda pairs: dict(pairs))


def assert_expected(request: Request, drawn: JSON) -> None:
    if request.reply is not None and "error" in request.reply:
        error = request.error
        if error["code"] == REQUEST_FAILED:
            assert error["data"]["kind"] in EXPECTED, (drawn, error)
        else:
            assert error["code"] == INVALID_PARAMS, (drawn, error)


def at(server: ResponsesServer, drawn: JSON) -> JSON:
    """Return the request, with the address of the server in it."""
    match drawn["agent"]:
        case {"open_responses": {"baseUrl": "SERVER"} as fields}:
            return {**drawn, "agent": {"open_responses": {**fields, "baseUrl": server.base_url}}}
        case _:
            return drawn


async def ask(drawn: list[JSON], answers: list[Plan]) -> None:
    """Ask all of them side by side, and then Eliza."""
    async with (
        responses_server() as server,
        open_directory() as directory,
        connected_to(directory.agent_for, leaves_within=PATIENCE) as editor,
    ):
        server.plans.extend(answers)
        asked: list[Request] = []
        for number, one in enumerate(drawn):
            params = {"modelId": "odd", "messages": [user(f"chat {number}")], **at(server, one)}
            asked.append(editor.request("lm/provideLanguageModelChatResponse", params))
        for request, one in zip(asked, drawn, strict=True):
            await request.settled(PATIENCE)
            assert_expected(request, one)
        eliza = Chat(editor, agent=ELIZA)
        assert (await eliza.say("Hello")).text


def try_out(drawn: list[JSON], environment: dict[str, str], answers: list[Plan]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        trio.run(ask, drawn, answers)


plans = st.lists(st.sampled_from(ANSWERS), max_size=3)
some = (st.lists(requests, min_size=1, max_size=3), environments, plans)


@given(*some)
@settings(max_examples=3)
def test_no_definition_ends_the_bridge(
    drawn: list[JSON], environment: dict[str, str], answers: list[Plan]
) -> None:
    try_out(drawn, environment, answers)


@pytest.mark.slow
@given(*some)
def test_none_of_many_definitions_ends_the_bridge(
    drawn: list[JSON], environment: dict[str, str], answers: list[Plan]
) -> None:
    try_out(drawn, environment, answers)


def each(kind: str, base: JSON, fields: Mapping[str, tuple[Any, ...]]) -> list[JSON]:
    """Return a request for each odd value of each field, one field at a time."""
    return [
        {"agent": {kind: {**base, field: value}}}
        for field in fields
        for value in fields[field] + ANYTHING
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["open_responses", "acp", "settings", "options"])
def test_no_field_of_a_definition_ends_the_bridge(kind: str) -> None:
    """Every value that is drawn above, by itself."""
    endpoint: JSON = {"open_responses": {"baseUrl": SERVER, "model": "small", "retries": 0}}
    match kind:
        case "open_responses":
            whole = each(kind, endpoint["open_responses"], ENDPOINT)
        case "acp":
            whole = each(kind, {"name": "it", "command": "no-such-command"}, ACP)
        case _:
            fields = SETTINGS if kind == "settings" else OPTIONS
            whole = [
                {"agent": agent, kind: {field: value}}
                for agent in (endpoint, ELIZA)
                for field in fields
                for value in fields[field] + ANYTHING
            ]
    for start in range(0, len(whole), 20):
        try_out(whole[start : start + 20], {}, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENT)
def test_no_variable_of_the_environment_ends_the_bridge(name: str) -> None:
    for value in ENVIRONMENT[name]:
        endpoint: JSON = {"baseUrl": SERVER, "model": "small", "retries": 0, "apiKeyEnv": "ODD_KEY"}
        keyless = {key: given for key, given in endpoint.items() if key != "apiKeyEnv"}
        agent: JSON = {"name": "it", "command": shutil.which("true") or "true"}
        drawn: list[JSON] = [
            {"agent": {"open_responses": endpoint}},
            {"agent": {"open_responses": keyless}},
            {"agent": {"acp": agent}, "options": {"tools": [{"name": "look"}]}},
        ]
        try_out(drawn, {name: value}, [])
