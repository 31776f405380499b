"""Faults to be planted into the actors (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground("actors", "tests/actors", copied=("bridge", "actors", "agents", "tests"))

_PLAN = ("tests/actors/test_plan.py",)
_BOUNDARY = ("tests/actors/test_boundary.py",)
_SUPERSEDED = ("tests/actors/test_superseded.py",)

FAULTS = [
    Fault(
        "a session that was lost as its turn was stopped is prompted",
        "session",
        "            if not await self._is_of_use(session, delivery):\n"
        "                return False\n"
        "        before",
        "        before",
        ("tests/actors/test_lost_sessions.py",),
    ),
    Fault(
        "a rule for one command allows every command",
        "plan",
        "(rule.action is None or rule.action == action)",
        "True",
        _PLAN,
    ),
    Fault(
        "a rule allows what has no name",
        "plan",
        'if ask.kind not in _NAMED_KINDS or ask.details.get("note"):',
        'if ask.details.get("note"):',
        _PLAN,
    ),
    Fault(
        "a rule allows for good",
        "plan",
        'if ask.kind not in _NAMED_KINDS or ask.details.get("note"):',
        "if ask.kind not in _NAMED_KINDS:",
        _PLAN,
    ),
    Fault(
        "a rule allows what the settings deny",
        "response",
        'if settings.permissions == "ask" and is_allowed',
        "if is_allowed",
        ("tests/actors/test_session_tools.py",),
    ),
    Fault(
        "an unexpected error of a session ends every chat",
        "session",
        "except* Exception as group:",
        "except* _Lost as group:",
        _BOUNDARY,
    ),
    Fault(
        "a line of a chat that was left keeps its process",
        "history",
        "                self._conversations[other].handle.supersede()\n",
        "                pass\n",
        _SUPERSEDED,
    ),
    Fault(
        "the counters wait for what can't be read",
        "history",
        '            failure_of(error, f"request={request}")  # the counters',
        "            raise  # the counters",
        ("tests/actors/test_history.py",),
    ),
    Fault(
        "a session is closed while its user is asked",
        "session",
        "if self._turn is not None or not session.has_own_process:",
        "if not session.has_own_process:",
        _SUPERSEDED,
    ),
    Fault(
        "a session is asked for again whatever it remembers",
        "session",
        "        self.lease.why = Why.SUPERSEDED\n",
        "        self.lease.settle()\n",
        _SUPERSEDED,
    ),
    Fault(
        "a session that costs nothing is closed",
        "session",
        "if self._turn is not None or not session.has_own_process:",
        "if self._turn is not None:",
        _SUPERSEDED,
    ),
    Fault(
        "a line of a chat that is gone on with is closed all the same",
        "handle",
        "        self._rest_at(math.inf)\n",
        "",
        _SUPERSEDED,
    ),
    Fault(
        "each request puts off the end of what it leads away from",
        "handle",
        "        if self._rests_at == math.inf:\n            self._rest_at(",
        "        if True:\n            self._rest_at(",
        _SUPERSEDED,
    ),
    Fault(
        "an unexpected error of one conversation's history ends every chat",
        "history",
        "            self._contain(message, error)\n",
        "            raise\n",
        _BOUNDARY,
    ),
    Fault(
        "a session that is being opened is waited for at the end",
        "handle",
        "            self._opening.cancel()\n\n",
        "            pass\n\n",
        ("tests/actors/test_system.py",),
    ),
    Fault(
        "a system rests while a request is open",
        "open_requests",
        "            if self._ids:\n",
        "            if False:\n",
        ("tests/actors/test_system.py",),
    ),
]
