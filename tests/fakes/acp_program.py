"""An ACP agent that does what its script says: a program, and the peer within it.

    python acp_program.py script.json [log.jsonl [login]]

`ScriptedPeer` decides and does no I/O: bytes go in, bytes come out, and it is told the time. The
program drives it over its own stdin and stdout, `tests.fakes.acp_peer` over memory streams. It
needs nothing but the standard library, so it starts fast and shares no fault with what it tests.

A script is a JSON object, every key optional:

    agent           what `initialize` answers, over the default
    session         what `session/new` answers, beside the session's id
    start           steps done before anything is read
    on              {method: steps}: steps before a request is answered; or {method: [steps, ...]},
                    one list for each time it is asked, and nothing special after the last
    words           {text: steps}: the turn for a prompt whose last text is that, or else whose
                    last text ends with that word
    turns           [steps, ...]: else the turns in the order in which they are begun
    otherwise       steps of any other turn; [{"say": "ok"}] unless told otherwise
    when_cancelled  what a turn does on a cancel; [{"stop": "cancelled"}] unless told otherwise
    login_needed    -32000 for what these methods ask, until `authenticate` was called
    login_file      a file that the program writes when its last argument is `login`: where it is,
                    the login that is needed has been done
    servers         servers to start in place of those that the client gives
    ignores_tools   true: the servers that the client gives are not started; [method, ...]: only
                    those that it gives with one of these
    opens_once      true: the servers that the client gives with a session that the process still
                    has open are not started
    lazy_tools      true: the servers of a session are started by its first prompt
    keeps_servers   true: a server of a name that was given before is not started
    lingers         true: the end of the input doesn't end the program
    runs            [script, ...]: what each process in turn does; the last one is for all after it
    keeps           false: sessions are forgotten with their process
    repeats_ids     true: all sessions of a process have one id, and share what they were told
    loads_anything  true: a session that isn't kept is loaded and resumed all the same, and is empty
    wedges          true: after a prompt was answered with an error, its session only says of every
                    later one that it is queued

Steps, done one after the other; `times` repeats a step:

    {"say": text} {"think": text}             a chunk; "message" gives a messageId
    {"update": {...}}                         any update; "session" names another session
    {"ask": toolCall, "options": [...]}       a permission request; waits for nothing
    {"elicit": {...}}                         a request for input, the same
    {"read": path, "line": n, "limit": n}     a file, the same
    {"write": path, "content": text}
    {"request": method, "params": {...}}      any request, the same
    {"await": true}                           wait for the answers to what was asked
    {"outcomes": true}                        say what the answers were
    {"withdraw": true}                        `$/cancel_request` for the newest of what was asked
    {"notify": method, "params": {...}}
    {"sleep": seconds} {"hang": true} {"deaf": true}      until a cancel; until for ever
    {"until": path}                           wait until there is such a file
    {"stop": reason} {"result": any} {"error": {...}}     answer; further steps come after it
    {"memory": true}                          say every text that the session was told
    {"recall": pattern}                       say what fits that in those texts, once each
    {"replay": true}                          tell again what was said; done unless told otherwise
                                              before `session/load` is answered
    {"time": true}                            say the time, in seconds of the system's clock
    {"note": true} {"notes": true}            note the time; say all that was noted
    {"tools": true}                           wait for the editor's tools, and say their names
    {"call": tool, "with": {...}, "as": key}  call one of them; waits for nothing
                                              "at": n calls the n-th session's server instead, as
                                              agents do whose sessions share servers; "at" is of
                                              {"update": ...} and {"ask": ...}, too
    {"take_back": key}                        and wait for that call no more
    {"gather": true}                          wait for what the calls lead to
    {"results": true}                         say what they led to, or {"results": "own"} what
                                              those of this turn did
    {"restart": true}                         start the server with the tools again
    {"raw": text}                             a line as it is, with $session and $id filled in
    {"garbage": text}                         bytes on stdout, as they are; a surrogate is no UTF-8
    {"stderr": text}
    {"exit": status} {"kill": signal} {"close_stdout": true}
    {"ignore": ["SIGTERM"]} {"child": seconds}            be stubborn; leave a child behind

Sessions are kept beyond their process: beside the log, as `log.jsonl.sessions`.

What was heard is kept, a line of JSON each: `{"process": pid}` where one starts, then the messages.
What the peer itself finds wrong with its client is kept as `{"fault": what}`.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from typing import Any

if __package__:
    from .acp_tools import ToolClient, ToolProcesses
else:  # run as a script
    from acp_tools import ToolClient, ToolProcesses

JSON = dict[str, Any]
Steps = list[JSON]

OPTIONS: list[JSON] = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
]
AGENT: JSON = {
    "protocolVersion": 1,
    "agentInfo": {"name": "scripted", "version": "1"},
    "agentCapabilities": {
        "loadSession": True,
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "sessionCapabilities": {"close": {}, "fork": {}, "list": {}, "resume": {}},
    },
    "authMethods": [],
}
FINDING = ("session/load", "session/resume", "session/fork")
LOOK_SECONDS = 0.01
"""How often it looks whether a file is there."""
OUTCOMES = {"allow_once": "allowed", "reject_once": "denied"}


class Track:
    """The steps that one request of the client's brings about."""

    def __init__(self, peer: ScriptedPeer, message: JSON, session: str, steps: Steps) -> None:
        self.id = message.get("id")
        self.method: str = message.get("method", "")
        self.session = session
        self.params: JSON = message.get("params", {})
        self.asked: dict[int, JSON] = {}
        """What was asked and isn't answered."""
        self.outcomes: list[str] = []
        self.newest = 0
        self.noted: list[float] = []
        self._called: list[tuple[ToolClient, str]] = []
        """Whose tools were called, and what the script calls that."""
        self.answered = False
        self.cancelled = False
        self.wakes: float | None = None
        """When it goes on by itself."""
        self._peer = peer
        self._steps = list(steps)

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.answered and not self._steps

    def advance(self, now: float) -> bool:
        """Do one step if that needs no waiting; return whether it did."""
        if self.over:
            return False
        step: JSON = self._steps[0] if self._steps else {"finish": True}
        if self.cancelled and "deaf" not in step:
            self.cancelled = False
            self.wakes = None
            self._steps = list(self._peer.script.get("when_cancelled", [{"stop": "cancelled"}]))
            return True
        if self._lacks_tools(step):
            return False
        if "hang" in step or "deaf" in step or ("await" in step and self.asked):
            return False
        if "sleep" in step:
            wakes = now + step["sleep"] if self.wakes is None else self.wakes
            self.wakes = wakes
            if now < wakes:
                return False
            self.wakes = None
        if "until" in step:
            self.wakes = None if os.path.exists(step["until"]) else now + LOOK_SECONDS
            if self.wakes is not None:
                return False
        if self._steps:
            self._steps.pop(0)
        for _ in range(step.get("times", 1)):
            self._do(step)
        return True

    def _lacks_tools(self, step: JSON) -> bool:
        client = self._client(step)
        if "gather" in step and any(one.waits_for(key) for one, key in self._called):
            return True
        if client is None or client.ended:
            return False
        if "tools" in step:
            return client.listed < step.get("times_listed", 1)
        return "call" in step and client.tools is None

    @property
    def _results(self) -> dict[str, str]:
        """What the calls of this turn led to."""
        return {key: one.results[key] for one, key in self._called if key in one.results}

    def _client(self, step: JSON) -> ToolClient | None:
        """Return the hands of this session, or of the one that a step names."""
        if "at" in step:
            at: int = step["at"]
            return list(self._peer.tools.values())[at]
        return self._peer.tools.get(self.session)

    def _with_server(self, value: JSON, step: JSON) -> JSON:
        """Fill in the name of the server of the editor's tools, which agents know."""
        client = self._client(step)
        server = self._peer.servers.get(self.session) if client is None else client.server["name"]
        if server is None:
            return value
        filled: JSON = json.loads(json.dumps(value).replace("$server", server))
        return filled

    def _do(self, step: JSON) -> None:
        peer = self._peer
        client = self._client(step)
        match step:
            case {"tools": _} | {"call": _} | {"take_back": _} | {"results": _} if client is None:
                self._chunk("agent_message_chunk", "no tools", step)
            case {"tools": _} if client is not None:
                names = sorted(tool["name"] for tool in client.tools or [])
                self._chunk("agent_message_chunk", " ".join(names), step)
            case {"call": name} if client is not None:
                self._called.append((client, step.get("as", name)))
                client.call(name, step.get("with", {}), step.get("as", name))
            case {"take_back": key} if client is not None:
                client.take_back(key)
            case {"results": _} if client is not None:
                results = client.results if step["results"] != "own" else self._results
                said = [f"{key}{result}" for key, result in sorted(results.items())]
                self._chunk("agent_message_chunk", " ".join(said), step)
            case {"restart": _} if client is not None:
                peer.tools[self.session] = ToolClient(client.server)
            case {"say": text}:
                self._chunk("agent_message_chunk", text, step)
            case {"think": text}:
                self._chunk("agent_thought_chunk", text, step)
            case {"update": update}:
                self._update(self._with_server(update, step), step.get("session"))
            case {"ask": call}:
                options = step.get("options", OPTIONS)
                self._ask(
                    "session/request_permission",
                    {
                        "sessionId": self.session,
                        "toolCall": self._with_server(call, step),
                        "options": options,
                    },
                )
            case {"elicit": asked}:
                self._ask("elicitation/create", {"sessionId": self.session, **asked})
            case {"read": path}:
                where = {key: step[key] for key in ("line", "limit") if key in step}
                asked = {"sessionId": self.session, "path": path, **where}
                self._ask("fs/read_text_file", asked)
            case {"write": path}:
                asked = {"sessionId": self.session, "path": path, "content": step["content"]}
                self._ask("fs/write_text_file", asked)
            case {"request": method}:
                self._ask(method, step.get("params", {}))
            case {"withdraw": _}:
                peer.send({"method": "$/cancel_request", "params": {"requestId": self.newest}})
            case {"notify": method}:
                peer.send({"method": method, "params": step.get("params", {})})
            case {"outcomes": _}:
                self._chunk("agent_message_chunk", " ".join(self.outcomes), step)
            case {"memory": _}:
                told = " / ".join(peer.memory.get(self.session, []))
                self._chunk("agent_message_chunk", told, step)
            case {"recall": pattern}:
                told = re.findall(pattern, "\n".join(peer.memory.get(self.session, [])))
                self._chunk("agent_message_chunk", f"{' '.join(dict.fromkeys(told))} ", step)
            case {"replay": _}:
                for text in peer.kept.get(self.session, []):
                    self._chunk("user_message_chunk", text, {})
                    self._chunk("agent_message_chunk", f"what I said to {text}", {})
            case {"note": _}:
                self.noted.append(peer.now)
            case {"notes": _}:
                times = " ".join(f"{time:.6f}" for time in self.noted)
                self._chunk("agent_message_chunk", times, step)
            case {"time": _}:
                self._chunk("agent_message_chunk", f"{peer.now:.6f}", step)
            case {"stop": reason}:
                self._answer({"result": {"stopReason": reason}})
            case {"result": result}:
                self._answer({"result": result})
            case {"error": error}:
                self._answer({"error": error})
            case {"finish": _}:
                self._answer(peer.default_answer(self))
            case {"raw": raw}:
                filled = raw.replace("$session", self.session).replace("$id", json.dumps(self.id))
                peer.output += filled.encode("utf-8", "surrogatepass") + b"\n"
            case {"garbage": text}:
                peer.output += text.encode("utf-8", "surrogateescape")
            case {"stderr": text}:
                peer.noise += text.encode()
            case {"exit": status}:
                peer.ends_with = status
            case {"kill": number}:
                peer.ends_with = -number
            case {"close_stdout": _}:
                peer.silent = True
            case {"ignore": names}:
                peer.ignored += names
            case {"child": seconds}:
                peer.children.append(seconds)
            case _:
                pass  # those that only wait

    def _chunk(self, kind: str, text: str, step: JSON) -> None:
        update: JSON = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        if "message" in step:
            update["messageId"] = step["message"]
        self._update(update, step.get("session"))

    def _update(self, update: JSON, session: str | None) -> None:
        params = {"sessionId": session or self.session, "update": update}
        self._peer.send({"method": "session/update", "params": params})

    def _ask(self, method: str, params: JSON) -> None:
        self.newest = self._peer.next_id()
        self.asked[self.newest] = params
        self._peer.send({"id": self.newest, "method": method, "params": params})

    def _answer(self, answer: JSON) -> None:
        self.answered = True
        if "error" in answer and self.method in FINDING:
            self._peer.memory.pop(self.session, None)
        if "error" in answer and self.method == "session/prompt":
            self._peer.wedge(self.session)
        self._peer.send({"id": self.id, **answer})

    def take_reply(self, reply: JSON) -> bool:
        """Take the answer to something asked; return whether it was asked here."""
        params = self.asked.pop(reply["id"], None)
        if params is None:
            return False
        match reply:
            case {"result": {"outcome": {"outcome": "selected", "optionId": chosen}}}:
                kinds = [o["kind"] for o in params["options"] if o["optionId"] == chosen]
                kind = kinds[0] if kinds else f"not offered: {chosen}"
                self.outcomes.append(OUTCOMES.get(kind, kind))
            case {"result": {"outcome": {"outcome": outcome}}}:
                self.outcomes.append(outcome)
            case {"result": {"action": action, **more}}:
                content = more.get("content")
                self.outcomes.append(f"{action} {json.dumps(content)}" if content else action)
            case {"result": {"content": str(text)}}:
                self.outcomes.append(f"<{text}>")
            case {"error": {"code": code, "message": words}} if "path" in params:
                self.outcomes.append(f"{code} {words}")
            case {"error": {"code": code}}:
                self.outcomes.append(str(code))
            case _:
                self.outcomes.append("answered")
        return True


class ScriptedPeer:
    """The agent: what it hears and what it says. `run` counts the processes from 0."""

    def __init__(
        self, script: JSON, run: int = 0, kept: dict[str, list[str]] | None = None
    ) -> None:
        runs: list[JSON] = script.get("runs", [script])
        self.script = runs[min(run, len(runs) - 1)]
        self._run = run
        self.now = 0.0
        self.output = bytearray()
        self.noise = bytearray()
        self.heard: list[JSON] = []
        self.faults: list[str] = []
        self.memory: dict[str, list[str]] = {}
        """What each session that is open was told."""
        self.kept = {} if kept is None else kept
        """What each session was told, open or not."""
        self.ends_with: int | None = None
        """The status to end with, or a signal, negative."""
        self.silent = False
        self.ignored: list[str] = []
        self.children: list[float] = []
        self.tools: dict[str, ToolClient] = {}
        """The hands of each session that was given a server."""
        self.connected: dict[str, ToolClient] = {}
        """The hands of the servers that it keeps by their names, if the script wants it so."""
        self.servers: dict[str, str] = {}
        """The name of the server that each session was given."""
        self._to_start: dict[str, JSON] = {}
        """The server of each session that isn't started yet."""
        self._tracks: list[Track] = []
        self._turns = 0
        self._asked: dict[str, int] = {}
        self._ids = 0
        self._unanswered: set[int] = set()
        """Everything that was asked, and not answered."""
        self._sessions = 0
        self._wedged: set[str] = set()
        self._chosen: dict[str, JSON] = {}
        """The options that were chosen in each session."""
        self._logged_in = os.path.exists(script.get("login_file", ""))
        self._rest = bytearray()
        start: Steps = self.script.get("start", [])
        if start:
            track = Track(self, {}, "", start)
            track.answered = True  # there is nothing to answer
            self._tracks.append(track)

    # What the driver calls.

    def receive(self, chunk: bytes) -> list[JSON]:
        """Take bytes in; return the messages that they complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        messages = [json.loads(line) for line in lines if line.strip()]
        for message in messages:
            self._hear(message)
        return messages

    def advance(self, now: float) -> float | None:
        """Do every step that can be done; return the time at which there will be another."""
        moved, self.now = True, now
        while moved and self.ends_with is None:
            moved = [track for track in self._tracks if track.advance(now)] != []
            self._tracks = [track for track in self._tracks if not track.over]
        return min((track.wakes for track in self._tracks if track.wakes is not None), default=None)

    # What its tracks call.

    def send(self, message: JSON) -> None:
        """Say a message."""
        self.output += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    def wedge(self, session: str) -> None:
        """Believe from now on that a turn runs in a session, if the script wants it so."""
        if self.script.get("wedges"):
            self._wedged.add(session)

    def next_id(self) -> int:
        """Return an id for a request of ours; the first is 0, as real agents have it."""
        self._unanswered.add(self._ids)
        self._ids += 1
        return self._ids - 1

    def default_answer(self, track: Track) -> JSON:
        """Return what a request is answered with when its steps don't say."""
        match track.method:
            case "initialize":
                return {"result": {**AGENT, **self.script.get("agent", {})}}
            case "session/new" | "session/fork":
                return {"result": {"sessionId": track.session, **self._offered(track.session)}}
            case "session/load" | "session/resume":
                return {"result": self._offered(track.session)}
            case "session/list":
                found = [{"sessionId": session, "cwd": "/"} for session in self.kept]
                return {"result": {"sessions": found}}
            case "session/prompt":
                return {"result": {"stopReason": "end_turn"}}
            case "session/set_config_option":
                chosen = self._chosen.setdefault(track.session, {})
                chosen[track.params["configId"]] = track.params["value"]
                options = self._offered(track.session).get("configOptions", [])
                return {"result": {"configOptions": options}}
            case _:
                return {"result": {}}

    def _offered(self, session: str) -> JSON:
        """Return what a session offers, with the choices that were made in it."""
        offered: JSON = self.script.get("session", {})
        if "configOptions" not in offered:
            return offered
        chosen = self._chosen.get(session, {})
        options = [
            {**one, "currentValue": chosen.get(one["id"], one["currentValue"])}
            for one in offered["configOptions"]
        ]
        return {**offered, "configOptions": options}

    # What the client says.

    def _hear(self, message: JSON) -> None:
        self.heard.append(message)
        match message:
            case {"method": "session/cancel", "params": {"sessionId": session}}:
                for track in self._turn_of(session):
                    track.cancelled = True
            case {"id": _, "method": method}:
                self._begin(message, method)
            case {"id": id_}:
                self._take_reply(id_, message)
            case _:
                pass

    def _take_reply(self, id_: int, message: JSON) -> None:
        if id_ in self._unanswered:  # though the turn that asked may be over
            self._unanswered.remove(id_)
            any(track.take_reply(message) for track in self._tracks)
        else:
            self.faults.append(f"an answer that nobody waits for: {id_}")

    def _begin(self, message: JSON, method: str) -> None:
        params: JSON = message.get("params", {})
        session: str = params.get("sessionId", "")
        if method == "authenticate":
            self._logged_in = True
        refused = self._refusal(method, session)
        if refused is not None:
            self._tracks.append(Track(self, message, session, [{"error": refused}]))
            return
        is_open = session in self.memory
        match method:
            case "session/new":
                session = self._open([])
            case "session/fork":
                session = self._open([*self.kept[session]])
            case "session/load" | "session/resume":
                self.memory[session] = self.kept[session]
            case "session/close":
                self.memory.pop(session)
                self.tools.pop(session, None)
            case _:
                pass
        servers = params.get("mcpServers", []) and self.script.get("servers", params["mcpServers"])
        if servers:
            self.servers[session] = servers[0]["name"]
        if servers and method not in self._ignoring(is_open):
            self._to_start[session] = servers[0]
        if session in self._to_start and (
            method == "session/prompt" or not self.script.get("lazy_tools")
        ):
            self.tools[session] = self._connect(self._to_start.pop(session))
        steps = self._prompted(session, params) if method == "session/prompt" else []
        self._tracks.append(Track(self, message, session, steps or self._steps_on(method)))

    def _ignoring(self, is_open: bool) -> list[str]:
        """Return the methods with which it ignores the server that it is given."""
        if is_open and self.script.get("opens_once"):
            return ["session/load", "session/resume"]
        ignored: bool | list[str] = self.script.get("ignores_tools", [])
        if isinstance(ignored, bool):
            return ["session/new", *FINDING] if ignored else []
        return ignored

    def _connect(self, server: JSON) -> ToolClient:
        client = ToolClient(server)
        if self.script.get("keeps_servers"):
            client = self.connected.setdefault(server["name"], client)
        return client

    def _open(self, told: list[str]) -> str:
        self._sessions += 1
        number = 1 if self.script.get("repeats_ids") else self._sessions
        session = f"session-{os.getpid()}-{self._run}-{number}"
        told = [*self.memory.get(session, []), *told]
        self.memory[session] = told
        if self.script.get("keeps", True):
            self.kept[session] = told
        return session

    def _refusal(self, method: str, session: str) -> JSON | None:
        if method in self.script.get("login_needed", []) and not self._logged_in:
            return {"code": -32000, "message": "Authentication required"}
        if method in FINDING:
            if method != "session/fork" and session in self.memory:
                self.faults.append(f"{method} of a session that is open")
            if method != "session/fork" and self.script.get("loads_anything"):
                self.kept.setdefault(session, [])
            if session not in self.kept:
                return {"code": -32002, "message": f"Resource not found: {session}"}
        elif session and session not in self.memory:
            self.faults.append(f"{method} of a session that isn't open")
            return {"code": -32002, "message": f"Resource not found: {session}"}
        if method == "session/prompt" and self._turn_of(session):
            self.faults.append("a prompt while another runs")
            return {"code": -32603, "message": "A turn is already running"}
        return None

    def _turn_of(self, session: str) -> list[Track]:
        return [
            track
            for track in self._tracks
            if track.session == session and track.method == "session/prompt" and not track.answered
        ]

    def _steps_on(self, method: str) -> Steps:
        unless: Steps = [{"replay": True}] if method == "session/load" else []
        steps: list[Any] = self.script.get("on", {}).get(method, unless)
        if not steps or isinstance(steps[0], dict):
            return steps
        nth = self._asked[method] = self._asked.get(method, -1) + 1
        return steps[nth] if nth < len(steps) else []

    def _prompted(self, session: str, params: JSON) -> Steps:
        texts = [block["text"] for block in params["prompt"] if block["type"] == "text"]
        self.memory[session] += texts
        if session in self._wedged:
            return [{"say": "Queued for the next turn. (1 queued)"}]
        words: JSON = self.script.get("words", {})
        for word in (texts[-1], *texts[-1].split()[-1:]) if texts else ():
            if word in words:
                return words[word]
        self._turns += 1
        turns: list[Steps] = self.script.get("turns", [])
        if self._turns <= len(turns):
            return turns[self._turns - 1]
        return self.script.get("otherwise", [{"say": "ok"}])


# The program.


def _count_runs(log: str) -> int:
    try:
        with open(log, encoding="utf-8") as file:
            return sum('{"process"' in line for line in file)
    except FileNotFoundError:
        return 0


def _keep(log: str | None, entries: list[JSON]) -> None:
    if log is not None and entries:
        with open(log, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)


def _sessions_in(log: str | None) -> dict[str, list[str]]:
    try:
        with open(f"{log}.sessions", encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def _keep_sessions(log: str | None, sessions: dict[str, list[str]]) -> None:
    if log is not None and sessions:
        with open(f"{log}.new", "w", encoding="utf-8") as file:
            json.dump(sessions, file)
        os.replace(f"{log}.new", f"{log}.sessions")


def _write(fd: int, data: bytearray) -> None:
    rest = memoryview(bytes(data))
    data.clear()
    while rest:
        rest = rest[os.write(fd, rest) :]


def _end(status: int) -> None:
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


def _be_stubborn(peer: ScriptedPeer) -> None:
    for name in peer.ignored:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    for seconds in peer.children:
        subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])
    peer.ignored.clear()
    peer.children.clear()


def main(script_path: str, log: str | None = None, command: str | None = None) -> None:
    """Be an agent until the input ends; or log in, as a person does in a terminal."""
    with open(script_path, encoding="utf-8") as file:
        script = json.load(file)
    if command == "login":
        with open(script["login_file"], "w", encoding="utf-8") as file:
            file.write(os.environ.get("LOGIN_MODE", ""))
        os.write(1, b"You are logged in.\n")
        return
    peer = ScriptedPeer(script, _count_runs(log) if log else 0, _sessions_in(log))
    processes = ToolProcesses()
    _keep(log, [{"process": os.getpid()}])
    faults = 0
    while True:
        now = time.monotonic()
        wakes = peer.advance(now)
        _be_stubborn(peer)
        _write(2, peer.noise)
        if peer.output:
            _write(1, peer.output)
        if peer.silent:
            os.close(1)
            peer.silent = False
        if peer.ends_with is not None:
            _end(peer.ends_with)
        hands = processes.tend(list(peer.tools.values()))
        pause = None if wakes is None else max(0, wakes - now)
        ready, _, _ = select.select([0, *hands], [], [], pause)
        for hand in ready:
            if hand != 0:
                processes.receive(hand)
        if 0 in ready:
            chunk = os.read(0, 65536)
            if not chunk:
                break
            _keep(log, peer.receive(chunk))
            _keep_sessions(log, peer.kept)
        _keep(log, [{"fault": fault} for fault in peer.faults[faults:]])
        faults = len(peer.faults)
    processes.tend([])
    while peer.script.get("lingers"):
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
