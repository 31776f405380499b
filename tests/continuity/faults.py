"""Faults to be planted into the whole, to be noticed by the model (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground(
    ".",
    "tests/continuity",
    copied=(
        *("actors", "agents", "bridge", "vscodelm"),
        *("tests/actors", "tests/continuity", "tests/contract", "tests/fakes", "tests/host"),
        "tests/vscodelm/store",
    ),
)

_TESTS = "tests/continuity/test_what_agents_know.py"
REMEMBERING, ACP, STORED, AGENT_HOST = (
    f"{_TESTS}::test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run[{name}]"
    for name in ("fork-keeps", "acp-load-keeps", "stored-resume", "agent-host-fork")
)


WINDOWS = (
    f"{_TESTS}::test_the_session_that_answers_knows_what_its_user_sees_in_the_long_run"
    "[windows-endpoint-all]"
)
COPIED = (
    "tests/continuity/test_memories.py"
    "::test_a_copy_of_a_chat_knows_nothing_of_what_another_window_went_on_with"
)


ROUTED = (
    "tests/host/test_router_under_the_model.py"
    "::test_every_agent_of_the_agent_host_knows_what_its_user_sees"
)


def _fault(name: str, module: str, source: str, instead: str, test: str = REMEMBERING) -> Fault:
    return Fault(name, module, source, instead, (test,))


FAULTS = [
    _fault(
        "open questions bypass the limit of sessions",
        "bridge/routing/room",
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
        "is_ours = handle is None or await self.memory.begin(handle)",
        "is_ours = True",
    ),
    _fault(
        "nothing that was said before is told",
        "actors/session",
        "await Breather().do(delivery.before(known))",
        "()",
    ),
    _fault(
        "all that was said before is told",
        "actors/session",
        "delivery.before(known)",
        "delivery.before()",
    ),
    _fault(
        "a session that was resumed is told again what it knows",
        "actors/continuity/states",
        "FRESH_STATES = frozenset({",
        "FRESH_STATES = frozenset({SessionState.RESUMED, SessionState.BEGUN, ",
    ),
    _fault(
        "what waits behind an open turn is forgotten",
        "actors/continuity/machine",
        "prompt if delivery.withdrawn else (*self._backlog, *prompt)",
        "()",
    ),
    _fault(
        "it is told from the wrong message on",
        "actors/continuity/machine",
        "path[: self._found.steps]\n",
        "path[: self._found.steps - 1]\n",
    ),
    _fault(
        "a session is settled in mid-turn",
        "actors/continuity/table",
        "_to(_S.ABSENT, _T.BREAK, _T.FAIL),\n        },\n    )\n\n\ndef _awaiting",
        "_to(_S.KEPT, _T.BREAK, _T.FAIL),\n        },\n    )\n\n\ndef _awaiting",
        "tests/actors/test_lost_sessions.py",
    ),
    _fault(
        "what is told again is shown",
        "agents/acp/reopened",
        "is_replaying: bool = attrs.field(default=True, init=False)",
        "is_replaying: bool = attrs.field(default=False, init=False)",
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
        "tests/contract/test_session_memory_contract.py",
    ),
    _fault(
        "a session is forked that another window went on with",
        "actors/session",
        "OriginChecked(await self.memory.has(handle))",
        "OriginChecked(is_ours=True)",
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
        "an agent works on after its user has stopped",
        "actors/progress/turn",
        "        if self._error is None and PacedStep.STOP in steps:\n"
        "            await self.session.cancel()\n",
        "        await trio.lowlevel.checkpoint()\n",
        AGENT_HOST,
    ),
    _fault(
        "an agent whose result was late doesn't go on",
        "actors/progress/turn",
        "if ends_as_cancelled(batch) and ",
        "if False and ",
        AGENT_HOST,
    ),
    _fault(
        "a stopped answer is a question that was denied",
        "bridge/chats",
        "(call for call in calls if not is_progress_call(call))",
        "calls",
        "tests/actors/test_room.py::test_a_stopped_answer_is_no_question_that_was_denied",
    ),
    _fault(
        "what failed is executed again when the host repeats it",
        "bridge/chats",
        "        if known is not None:\n",
        "        if known is None:\n            pass\n        elif False:\n",
        ROUTED,
    ),
    _fault(
        "an edit while a tool runs is a sub-agent's",
        "bridge/routing/router",
        "if hints.session is not None and not led:",
        "if False:",
        "tests/host/test_found.py"
        "::test_an_edit_of_the_first_message_while_a_tool_runs_is_no_sub_agents",
    ),
    _fault(
        "a summary is taken for that of an earlier branch of a chat",
        "bridge/routing/router",
        "if hints.session is not None and newest not in (None, key):",
        "if False:",
        "tests/host/test_found.py"
        "::test_an_edit_after_a_summary_goes_back_in_the_newest_branch_of_a_chat",
    ),
    _fault(
        "what another process left is gone on from at the wrong place",
        "agents/open_responses/checkpoints",
        "self._points = OrderedDict(recalled)",
        "self._points = OrderedDict((one, recalled[-1][1]) for one, _ in recalled)",
        WINDOWS,
    ),
]
