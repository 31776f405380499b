"""Faults of the keys and the adding of agents, and the extension's tests that must notice them."""

from __future__ import annotations

from tests.planted import Fault

from .faults import ExtensionGround

GROUND = ExtensionGround(
    package="extension/src",
    tests="test",
    copied=("extension/src", "extension/test", "agents/acp"),
)

FAULTS = [
    Fault(
        "a title of an agent's makes icons",
        "agents/continue_session",
        'label: wordsWithoutIcons(session.title ?? "") || UNTITLED,',
        "label: session.title || UNTITLED,",
    ),
    Fault(
        "a folder's server is given on without another question when it has changed",
        "mcp/servers",
        "kept.digest === digest",
        "true",
    ),
    Fault(
        "a consent holds when the file of variables says something else",
        "mcp/servers",
        "entryDigest(entry, config, resolved.envFile)",
        "entryDigest(entry, config)",
    ),
    Fault(
        "a consent doesn't show the file of variables",
        "mcp/choose",
        "...(file === undefined ? [] : [file])",
        "",
        ("mcp/servers",),
    ),
    Fault(
        "a change of a file of variables isn't noticed",
        "mcp/servers",
        "this.isDisposed ? [] : [...places, ...envFiles]",
        "this.isDisposed ? [] : places",
    ),
    Fault(
        "a file of variables may depend on what isn't known when the user agrees",
        "mcp/entry",
        "inputsIn(path).length > 0",
        "false",
    ),
    Fault(
        "a variable that the entry unsets is inherited",
        "mcp/entry",
        'names.flatMap((name) => ["-u", name])',
        "[]",
    ),
    Fault(
        "a script of Windows isn't found",
        "program/executable",
        'platform !== "win32"',
        "true",
        ("mcp/entry",),
    ),
    Fault(
        "a folder's server is given without consent",
        "mcp/choose",
        "!(await agrees(one))",
        "false",
        ("mcp/servers",),
    ),
    Fault(
        "servers of a folder that isn't trusted count",
        "mcp/servers",
        "vscode.workspace.isTrusted ? windowFolders() : []",
        "windowFolders()",
    ),
    Fault(
        "a folder's file gets the answers that were given for another",
        "mcp/servers",
        'createHash("sha256").update(file).digest("hex")',
        '"all"',
    ),
    Fault(
        "what the user has typed isn't named as secret",
        "mcp/entry",
        "this.secrets.add(answer);",
        "",
    ),
    Fault(
        "the text of an older answer is compared",
        "edits/agent_changes",
        '(query === `${this.answer}` && found?.before) || ""',
        'found?.before || ""',
    ),
    Fault(
        "a file whose earlier text isn't known is left out without a word",
        "edits/agent_changes",
        "if (unknown.length > 0) {",
        "if (false) {",
    ),
    Fault(
        "an agent that never asks is added without a word",
        "agents/registry",
        "if (chosen.neverAsks) {",
        "if (false) {",
    ),
    Fault(
        "only the newest message is searched for results of calls",
        "chat/open_calls",
        ".slice(Math.max(0, answer))",
        ".slice(-1)",
    ),
    Fault(
        "calls are remembered without end",
        "chat/open_calls",
        "this.ids.size > MAX_OPEN_CALLS",
        "this.ids.size > 2 * MAX_OPEN_CALLS",
    ),
    Fault(
        "a call keeps its process after its result",
        "program/process",
        "    this.calls.close(params.messages);\n",
        "",
        ("program/server",),
    ),
    Fault(
        "a process ends though its tool calls are open",
        "program/process",
        "if (this.calls.size === 0) {",
        "if (this.calls.size >= 0) {",
        ("program/server",),
    ),
    Fault(
        "a process ends in the midst of an answer",
        "program/process",
        " || (this.isReady && this.busy)",
        "",
        ("program/server",),
    ),
    Fault(
        "results of tool calls go to the newest process",
        "program/server",
        ".findLast((one) => one.hasBegun(params))",
        ".findLast(() => false)",
    ),
    Fault(
        "what waits for a process fails when that is replaced",
        "program/server",
        "if (renewals === this.renewals) {",
        "if (renewals <= this.renewals) {",
    ),
    Fault(
        "a process is started with keys that have changed",
        "program/server",
        " || renewals !== this.renewals",
        "",
    ),
    Fault(
        "the window closes without its former processes",
        "program/server",
        "await Promise.all([...this.processes].map((process) => process.stop()));",
        "await [...this.processes].at(-1)?.stop();",
    ),
    Fault(
        "a changed key isn't noticed",
        "setup/secrets",
        "if (key.startsWith(PREFIX)) {",
        "if (key === PREFIX) {",
        ("extension",),
    ),
    Fault(
        "the former list of names stays",
        "setup/secrets",
        "    void memory.update(FORMER_LIST, undefined);\n",
        "",
        ("extension",),
    ),
    Fault(
        "the sessions of a removed agent go on",
        "extension",
        "(await removeAgent(secrets, models.list())) && renew()",
        "(await removeAgent(secrets, models.list()))",
    ),
    Fault(
        "Windows paths lose their backslashes",
        "agents/command_line",
        'platform === "win32" ? withoutEscapes(line) : line',
        "line",
    ),
    Fault(
        "a model is replaced unasked",
        "agents/add_agent",
        " || !(await mayAdd(id, models))",
        "",
    ),
    Fault(
        "an id that is taken is proposed",
        "agents/add_agent",
        'value: unique(own, taken, "-")',
        "value: own",
    ),
    Fault(
        "anything is an id",
        "agents/naming",
        "ID.test(id) ?",
        'id !== "" ?',
        ("agents/add_agent",),
    ),
    Fault(
        "a second key overwrites another one",
        "agents/naming",
        'return unique(`${variable}_${suffix}`, taken, "_");',
        "return `${variable}_${suffix}`;",
    ),
    Fault(
        "an agent with a key of its own is given the others, too",
        "agents/agents",
        "known.secrets.some((name) => name in env) ? [] : known.secrets",
        "known.secrets",
    ),
    Fault(
        "what is removed comes back by default",
        "agents/remove_agent",
        "entry === undefined || id in defaultAgents()",
        "entry === undefined",
    ),
    Fault(
        "a key that another model uses can be deleted",
        "agents/remove_agent",
        " && !used.includes(name)",
        "",
    ),
    Fault(
        "a key is deleted that was to be kept",
        "agents/remove_agent",
        "key !== undefined && answer === WITH_KEY",
        "key !== undefined",
    ),
    Fault(
        "a key is taken for the name of its variable",
        "agents/add_agent",
        'value === "" ? undefined : whyNoVariable(value)',
        "undefined",
    ),
    Fault(
        "a key is looked for in the first of its variables only",
        "agents/add_agent",
        "variables: secrets, hasLogin",
        "variables: [usual], hasLogin",
    ),
    Fault(
        "a key is kept where no entry looks for it",
        "setup/key_names",
        "return name ?? variable;",
        "return variable;",
    ),
    Fault(
        "a key that isn't given isn't named either",
        "setup/key_names",
        "usualKeys(known, env)",
        "known.secrets",
    ),
    Fault(
        "a login that was cancelled counts as done",
        "program/server",
        "return token.isCancellationRequested ? undefined : answer;",
        "return answer;",
    ),
    Fault(
        "a logout that was cancelled is told to be done",
        "agents/logins",
        "if (!(await this.ask(id, `Logging out of ${id}`, {}))) {",
        "if ((await this.ask(id, `Logging out of ${id}`, {})) === undefined) {",
    ),
]
