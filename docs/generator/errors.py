"""The errors of the wire, from `bridge.errors`; the examples are what the code answers."""

from __future__ import annotations

import inspect
from typing import get_args

from msgspec.structs import fields as fields_of

from actors.editor import EditorPort
from actors.outbox import Outbox
from actors.trace import Trace
from bridge import errors
from bridge.errors import Failure, FailureKind
from bridge.fixes import Fix
from bridge.models import Catalogue
from bridge.work import done

from .markdown import block, table
from .wire import hint_words

_CODES = {
    "PARSE_ERROR": ("The line isn't JSON, or not UTF-8.", "`null`"),
    "INVALID_REQUEST": (
        "It is JSON, but no request: a batch, no `method`, or an id that is neither a string nor "
        "an integer. Or the id belongs to an open request, or the line is longer than 256 MiB.",
        "the request's if it is known and free, else `null`",
    ),
    "METHOD_NOT_FOUND": ("There is no such request.", "the request's"),
    "INVALID_PARAMS": (
        "The parameters have the wrong shape. The message ends with the path of the fault.",
        "the request's",
    ),
    "INTERNAL_ERROR": (
        "vscodelm has an internal error. The log has the traceback. `data.kind` is `Internal`.",
        "the request's where it can be known, else `null`",
    ),
    "REQUEST_FAILED": (
        "The request was valid, but it failed. `data.kind` has the kind of failure.",
        "the request's",
    ),
}

_KINDS: dict[FailureKind, tuple[str, str]] = {
    "NoPermissions": (
        "The agent needs a login or a key, or its key was refused.",
        "Log in with the agent's own command, or store the key that its definition names.",
    ),
    "Blocked": (
        "A quota, a policy or a content filter forbids the request, or the same request was "
        "[repeated too often](../explanation/routing.md#repeats).",
        "Wait until the quota is renewed, or change the request. An immediate retry doesn't help.",
    ),
    "NotFound": (
        "The model or the agent's command doesn't exist, or this version can't run such agents.",
        "Correct the model's name or the command in the "
        "[configuration](../how-to/configure-models.md).",
    ),
    "AgentFailed": (
        "The agent crashed, broke its protocol, or gave up.",
        "Send the message again. The conversation continues, in a new session of the agent if "
        "the old one is lost. If it fails again, read `data.stderrTail` and "
        "[the trace](../how-to/read-a-trace.md).",
    ),
    "Unavailable": (
        "The network or the service is down or too slow.",
        "Check the connection, and try again later.",
    ),
    "Internal": (
        "vscodelm has an internal error. Other chats continue.",
        "Send the message again. If it fails again, report it with the traceback in the log.",
    ),
}

_LINES = (
    "How do you do.",
    '[{"jsonrpc":"2.0","id":1,"method":"lm/stats"}]',
    '{"jsonrpc":"2.0","id":2,"method":"lm/sing"}',
    '{"jsonrpc":"2.0","id":3,"method":"lm/provideLanguageModelChatResponse",'
    '"params":{"modelId":"eliza","messages":[{"role":"user","content":[{"type":"text"}]}]}}',
    '{"jsonrpc":"2.0","id":4,"method":"lm/provideLanguageModelChatResponse",'
    '"params":{"modelId":"sigmund","messages":[{"role":"user","content":[]}]}}',
)


def codes() -> str:
    """Return every code of `bridge.errors`."""
    rows = [
        [f"`{value}`", _CODES[name][0], _CODES[name][1]]
        for name, value in vars(errors).items()
        if name.isupper() and isinstance(value, int)
    ]
    return table(["code", "what is wrong", "id of the answer"], rows)


def kinds() -> str:
    """Return every kind of failure, with what a user can do."""
    kinds: tuple[FailureKind, ...] = get_args(FailureKind)
    rows = [[f"`{kind}`", *_KINDS[kind]] for kind in kinds]
    return table(["kind", "what happened", "what you can do"], rows)


def fixes() -> str:
    """Return every kind of fix, with its fields."""
    rows: list[list[str]] = []
    for fix in get_args(Fix):
        about = (inspect.getdoc(fix) or "").replace("\n", " ")
        own = [field for field in fields_of(fix) if field.name != "title"]
        names = [f"`{field.encode_name}`: {hint_words(field.type)}" for field in own]
        rows.append([f"`{fix.__struct_config__.tag}`", about, "; ".join(names)])
    return table(["`type`", "what the user does", "fields"], rows)


class _Collected(Outbox):
    """Keeps the lines that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def put(self, lines: bytes) -> None:
        """Keep them."""
        self.text += lines.decode()


def examples() -> str:
    """Return lines with a fault, each with what the code answers, and a failure of an agent."""
    outbox = _Collected()
    port = EditorPort(outbox, Catalogue(), Trace())
    for line in _LINES:
        outbox.text += f"> {line}\n"
        before = outbox.text
        done(port.hear(line.encode()))
        assert outbox.text != before, f"nothing is wrong with {line}"
        answer = outbox.text.removeprefix(before)
        outbox.text = f"{before}< {answer}"
    failure = Failure(
        "AgentFailed",
        "claude-agent-acp exited with status 127; is it on PATH?",
        stderr_tail="command not found",
    )
    outbox.text += "< "
    port.settle(5, failure)
    return block("text", outbox.text)
