"""Faults to be planted into the whole, to be noticed by the model (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground(
    ".",
    "tests/continuity",
    copied=(
        *("actors", "agents", "bridge", "vscodelm"),
        *("tests/actors", "tests/continuity", "tests/fakes", "tests/host", "tests/vscodelm/store"),
    ),
)

_TESTS = "tests/continuity/test_what_agents_know.py"
REMEMBERING, ACP, STORED = (
    f"{_TESTS}::test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run[{name}]"
    for name in ("fork-keeps", "acp-load-keeps", "stored-resume")
)


WINDOWS = (
    f"{_TESTS}::test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run"
    "[windows-endpoint-all]"
)
COPIED = (
    "tests/continuity/test_memories.py"
    "::test_a_copy_of_a_chat_knows_nothing_of_what_another_window_went_on_with"
)


def _fault(name: str, module: str, source: str, instead: str, test: str = REMEMBERING) -> Fault:
    return Fault(name, module, source, instead, (test,))


FAULTS = [
    _fault(
        "open questions bypass the limit of sessions",
        "actors/room",
        "    for one in (*idle, *asking):\n",
        "    for one in idle:\n",
        "tests/actors/test_room.py::test_open_questions_count_and_the_oldest_is_denied",
    ),
    _fault(
        "nothing is withdrawn",
        "actors/conversation",
        "withdrawn=deliver.withdrawn,",
        "withdrawn=False,",
    ),
    _fault(
        "a turn begins unnoticed",
        "actors/session",
        "or await self.lease.begin()",
        "or True",
    ),
    _fault(
        "nothing that was said before is told",
        "actors/session",
        "await Breather().do(delivery.before(self.lease.known))",
        "()",
    ),
    _fault(
        "all that was said before is told",
        "actors/session",
        "delivery.before(self.lease.known)",
        "delivery.before()",
    ),
    _fault(
        "a session that was resumed is told again what it knows",
        "actors/session",
        "self._is_fresh = self.lease.start is not Start.RESUMED",
        "self._is_fresh = True",
    ),
    _fault(
        "what waits behind an open turn is forgotten",
        "actors/session",
        "todo.prompt if delivery.withdrawn else (*self._backlog, *todo.prompt)",
        "()",
    ),
    _fault(
        "it is told from the wrong message on",
        "actors/lease",
        "path[: found.steps]\n",
        "path[: found.steps - 1]\n",
    ),
    _fault(
        "a session is settled in mid-turn",
        "actors/lease",
        "        self._is_settled, self._forked = False, None\n        self._move_on()\n",
        "        self._forked = None\n        self._move_on()\n",
        "tests/actors/test_lost_sessions.py",
    ),
    _fault(
        "what is told again is shown",
        "agents/acp/existing",
        "dialogue.begin_replay()\n        if not self.connection.attach(request.session_id,",
        "if not self.connection.attach(request.session_id,",
        ACP,
    ),
    _fault(
        "what was told is told again",
        "agents/acp/session",
        "            self._told_system = self._untold.system\n        self._untold = None\n",
        "            self._told_system = self._untold.system\n",
        ACP,
    ),
    _fault(
        "a session that goes on stays in the store as it was",
        "vscodelm/store/sessions",
        "removed = self._remove(database, name, is_ours=is_written)",
        "removed = True",
        STORED,
    ),
    _fault(
        "a session that was found stays in the store",
        "vscodelm/store/sessions",
        'database.change("DELETE FROM session WHERE number = ?", best.number)',
        "True",
        "tests/vscodelm/store/test_session_memory.py",
    ),
    _fault(
        "a session is forked that another window went on with",
        "actors/lease",
        "not await self.memory.has(origin.handle)",
        "False",
        COPIED,
    ),
    _fault(
        "a session is ours whoever has its row",
        "vscodelm/store/sessions",
        "return name not in self.written or bool(database.rows(query, *row))",
        "return True",
        COPIED,
    ),
    _fault(
        "what another process left is gone on from at the wrong place",
        "agents/open_responses/points",
        "self._points = OrderedDict(recalled)",
        "self._points = OrderedDict((one, recalled[-1][1]) for one, _ in recalled)",
        WINDOWS,
    ),
]
