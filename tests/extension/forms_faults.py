"""Faults of the questions that agents ask, and the extension's tests that must notice them."""

from __future__ import annotations

from tests.planted import Fault

from .faults import ExtensionGround

GROUND = ExtensionGround(
    package="extension/src",
    tests="test",
    copied=("extension/src", "extension/test", "bridge", "agents/acp"),
)

_ELICITATIONS = ("elicitation/elicitations",)
_SERVER = ("program/server",)

FAULTS = [
    Fault(
        "an agent's text becomes a link that runs a command",
        "elicitation/words",
        'return cut.replaceAll("](", `]${NO_SPACE}(`);',
        "return cut;",
    ),
    Fault(
        "an agent's text becomes an icon",
        "elicitation/words",
        '.replaceAll("$(", "\\\\$(")',
        "",
    ),
    Fault(
        "a pattern may take for ever",
        "elicitation/pattern",
        "{ timeout: milliseconds },",
        "{ timeout: 60 * milliseconds },",
    ),
    Fault(
        "any address can be opened",
        "elicitation/page",
        'url.protocol !== "https:" && url.protocol !== "http:"',
        'url.protocol === "about:"',
    ),
    Fault(
        "the beginning of a long host is shown",
        "elicitation/page",
        "`…${host.slice(1 - HOST_CHARACTERS)}`",
        "`${host.slice(0, HOST_CHARACTERS - 1)}…`",
    ),
    Fault(
        "the parameters of an address are encoded anew",
        "elicitation/elicitations",
        "address as unknown as vscode.Uri",
        "vscode.Uri.parse(decodeURIComponent(address))",
    ),
    Fault(
        "a question that was cancelled is shown",
        "elicitation/elicitations",
        "if (signal.aborted) {",
        "if (params === undefined) {",
    ),
    Fault(
        "two questions are asked at once",
        "elicitation/elicitations",
        "this.newest.then(() => this.answered(params, modelId, signal))",
        "this.answered(params, modelId, signal)",
    ),
    Fault(
        "a box stays open when its question is over",
        "elicitation/boxes",
        '    signal.addEventListener("abort", leave);\n',
        "",
        _ELICITATIONS,
    ),
    Fault(
        "Escape leaves the agent waiting",
        "elicitation/boxes",
        "    box.onDidHide(leave);\n",
        "",
        _ELICITATIONS,
    ),
    Fault(
        "a question names another model",
        "services",
        "models.list().find((model) => model.id === id)?.name",
        "models.list().find((model) => model.id !== id)?.name",
        ("extension",),
    ),
    Fault(
        "a wrong value is taken",
        "elicitation/boxes",
        'if ("value" in checked) {\n          settle({ action: "next", input: box.value',
        'if (checked) {\n          settle({ action: "next", input: box.value',
        _ELICITATIONS,
    ),
    Fault(
        "the way back forgets what was entered",
        "elicitation/form",
        "inputs[at] = reply.input;\n        at = Math.max(at - 1, 0);",
        "at = Math.max(at - 1, 0);",
    ),
    Fault(
        "a field that was left empty is in the answer",
        "elicitation/form",
        "entry[1] !== undefined",
        "entry.length > 0",
    ),
    Fault(
        "a cancelled request is answered late",
        "program/connection",
        "settle({ error: CANCELLED })",
        "undefined",
    ),
    Fault(
        "a request is answered twice",
        "program/connection",
        "if (this.served.get(id) === answering) {",
        "if (!this.closed) {",
    ),
    Fault(
        "any number of requests may be open",
        "program/connection",
        "this.served.size >= MAX_OPEN_REQUESTS",
        "this.served.size >= 2 * MAX_OPEN_REQUESTS",
    ),
    Fault(
        "a question outlives its program",
        "program/connection",
        "    for (const answering of served) {\n      answering.abort();\n    }\n",
        "",
    ),
    Fault(
        "a question outlives its answer",
        "program/process",
        "    this.answers.get(requestId)?.over.abort();\n    this.answers.delete(requestId);\n",
        "    this.answers.delete(requestId);\n",
        _SERVER,
    ),
    Fault(
        "a question outlives the stop of its chat",
        "program/process",
        "    this.answers.get(requestId)?.over.abort();\n    this.notify(CANCEL, { requestId });\n",
        "    this.notify(CANCEL, { requestId });\n",
        _SERVER,
    ),
]
