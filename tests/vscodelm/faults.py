"""Faults to be planted into the programs (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground(
    "vscodelm", "tests/vscodelm", copied=("agents", "bridge", "actors", "vscodelm", "tests")
)

_SESSION_MEMORY = ("tests/vscodelm/store/test_session_memory.py",)

FAULTS = [
    Fault(
        "a first signal kills the agents, too",
        "signals",
        "if is_second and self.at_second is not None:",
        "if self.at_second is not None:",
        ("tests/vscodelm/test_signals.py",),
    ),
    Fault(
        "a session that was continued in another chat is found by the chat that had it",
        "store/sessions",
        "            for other in others if is_ours else ():\n",
        "            for other in ():\n",
        _SESSION_MEMORY,
    ),
    Fault(
        "a chat that has lost its session takes it from the one that continues it",
        "store/sessions",
        "for other in others if is_ours else ():",
        "for other in others:",
        _SESSION_MEMORY,
    ),
    Fault(
        "a session that was found is put back though another chat continues it",
        "store/sessions",
        "                self.taken.pop(other, None)\n",
        "",
        _SESSION_MEMORY,
    ),
    Fault(
        "a file of models in JSON is read as TOML",
        "config_file",
        'if path.suffix == ".json"',
        'if path.suffix == ".jsonc"',
    ),
    Fault(
        "the endpoints of the editor's settings are forgotten",
        "config_file",
        "with_endpoints(catalogue, text) if text else (catalogue, [])",
        "(catalogue, [])",
    ),
    Fault(
        "an agent's package says nothing of whether it asks",
        "registry/local",
        "return never_asks((agent.id, *names))",
        "return never_asks((agent.id,))",
    ),
    Fault(
        "the doctor forgets the mode of the settings",
        "doctor/words",
        "    if wanted is not None:\n",
        "    if False:\n",
        ("tests/vscodelm/doctor/test_words.py",),
    ),
    Fault(
        "the terminal chat doesn't ask how far a download is",
        "chat/client",
        "progress=self._tell is not None",
        "progress=False",
    ),
    Fault(
        "each step of a download is a line of its own",
        "chat/answer_view",
        "if title and title != self._awaited:",
        "if title:",
        ("chat/screen",),
    ),
    Fault(
        "the name of a download steers the terminal",
        "chat/answer_view",
        "parts = (printable(part) for part",
        "parts = (part for part",
    ),
    Fault(
        "what an answer has waited for is shown after it",
        "chat/screen",
        "finally:\n            self._view = None",
        "finally:\n            pass",
    ),
    *(
        Fault(name, f"http_server/{module}", source, instead, tests)
        for name, module, source, instead, tests in (
            (
                "any token will do",
                "gate",
                "hmac.compare_digest(given[0][len(_BEARER) :].strip(), self.token.encode())",
                "True",
                (),
            ),
            (
                "a page may give this machine a name of its own",
                "gate",
                "return host in self.hosts or",
                "return True or",
                (),
            ),
            (
                "every web page may ask",
                "gate",
                'any(one.decode("latin-1") not in self.origins for one in origins)',
                "False",
                (),
            ),
            (
                "a model may be allowed more than the server says",
                "lineage",
                "permissions=strictest if is_set else permissions",
                "permissions=settings.permissions",
                (),
            ),
            (
                "a changed compaction item is taken",
                "compaction",
                "if not hmac.compare_digest(signature, _sign(packed, self.key)):",
                "if False:",
                (),
            ),
            (
                "compaction items have no limit together",
                "compaction",
                "        if self._left < 0:\n",
                "        if False:\n",
                (),
            ),
            (
                "a result needs no call",
                "items",
                "and part.tool_call_id not in called",
                "and False",
                (),
            ),
            (
                "a turn goes on although a result is missing",
                "items",
                "if missing and any(newest.values()):",
                "if False:",
                ("tests/vscodelm/http_server/test_app.py",),
            ),
            (
                "a new question needs the results of the calls before it",
                "items",
                "if missing and any(newest.values()):",
                "if missing:",
                (),
            ),
            (
                "the address of an image is fetched as data",
                "items",
                '    if found is None:\n        return TextPart(f"[{kind}: {url}]")\n',
                "    assert found is not None\n",
                (),
            ),
            (
                "a forced call is forgotten",
                "body",
                'case None | "auto":',
                'case None | "auto" | "required":',
                (),
            ),
            (
                "a response may be asked for in the background",
                "body",
                "if body.background:",
                "if False:",
                (),
            ),
            (
                "how full the context is counts as usage",
                "usage",
                "if given <= 0 or taken < 0:",
                "if taken < 0:",
                (),
            ),
            (
                "a client that can't skip images gets them",
                "events",
                "_OWN = (OWN_CALL, OWN_IMAGE)",
                "_OWN = (OWN_CALL,)",
                (),
            ),
            (
                "an item that was cut is complete",
                "events",
                'self._close("completed" if is_whole else "incomplete")',
                'self._close("completed")',
                (),
            ),
            (
                "the agents inherit the token",
                "token",
                "os.environ.pop(VARIABLE",
                "os.environ.get(VARIABLE",
                (),
            ),
            (
                "a short token is taken",
                "token",
                "if len(token) < SHORTEST_TOKEN or",
                "if",
                (),
            ),
            (
                "a line goes on through a response that was dropped",
                "records",
                "if not rows or rows[0][0] is not None:",
                "if not rows:",
                (),
            ),
            (
                "a client that reads nothing holds its connection for ever",
                "serving",
                "trio.fail_after(STALL_SECONDS)",
                "trio.fail_after(STALL_SECONDS + 3_600)",
                (),
            ),
            (
                "connections have no limit",
                "serving",
                "is_full = self._open >= min(MOST_CONNECTIONS, files // 2)",
                "is_full = False",
                (),
            ),
            (
                "a stranger is never sent away",
                "serving",
                "for oldest in [*self._strangers][:1]:",
                "for oldest in [*self._strangers][:0]:",
                (),
            ),
            (
                "a client that has shown the token is sent away",
                "serving",
                "partial(self._strangers.pop, one, None)",
                "lambda: None",
                (),
            ),
            (
                "a client that leaves doesn't cancel its turn",
                "app",
                "nursery.start_soon(_watch, receive, nursery.cancel_scope.cancel)",
                "nursery.start_soon(_watch, receive, None)",
                (),
            ),
            (
                "a connection stays open after its stream",
                "app",
                '        return {"type": "http.response.body", "body": b""}\n',
                '        last: Message = {"type": "http.response.body", "body": b""}\n'
                "        await send(last)\n"
                "        return last\n",
                ("tests/vscodelm/http_server/test_attacks.py",),
            ),
            (
                "a body has no limit",
                "app",
                "if len(body) > MOST_BODY_BYTES:",
                "if False:",
                ("tests/vscodelm/http_server/test_attacks.py",),
            ),
            (
                "a client that doesn't read doesn't stop the agent",
                "port",
                "while self.unsent >= MOST_UNSENT and not",
                "while False and not",
                ("tests/vscodelm/http_server/test_app.py",),
            ),
            (
                "a response is continued before it is over",
                "answering",
                "        if previous in self._open:\n",
                "        if False:\n",
                ("tests/vscodelm/http_server/test_app.py",),
            ),
            (
                "answers have no limit",
                "answering",
                "        if not self._places:\n",
                "        if False:\n",
                ("tests/vscodelm/http_server/test_attacks.py",),
            ),
            (
                "a cancel by its id waits for a core that is stuck",
                "answering",
                "with trio.move_on_after(END_SECONDS):",
                "with trio.CancelScope():",
                (),
            ),
            (
                "an answer that was left blocks its branch for as long as the core is stuck",
                "answering",
                "            answer.is_over.set()  # nobody waits",
                "            # nobody waits",
                (),
            ),
            (
                "a shutdown waits for a core that is stuck",
                "core",
                "trio.move_on_after(LEAVING_SECONDS, shield=True)",
                "trio.move_on_after(LEAVING_SECONDS + 60, shield=True)",
                (),
            ),
            (
                "the connection still knows a response after a failure",
                "websocket",
                "                memory.forget()\n",
                "",
                (),
            ),
        )
    ),
]
