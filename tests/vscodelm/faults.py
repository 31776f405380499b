"""Faults to be planted into the programs (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground(
    "vscodelm", "tests/vscodelm", copied=("agents", "bridge", "actors", "vscodelm", "tests")
)

_SESSION_MEMORY = ("tests/vscodelm/store/test_session_memory.py",)

FAULTS = [
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
    Fault(
        "a chat that went on since is said to be forked",
        "replay/telling",
        "shared == len(self.history.exchanges)",
        "True",
    ),
    Fault(
        "a session that remembers too much is said to be forked",
        "replay/telling",
        "kind is MemoryKind.SESSIONS and not origin.is_rewound",
        "kind is MemoryKind.SESSIONS",
    ),
    Fault(
        "a session forgets by itself what was withdrawn",
        "replay/telling",
        "            return before\n",
        "            return False\n",
    ),
    Fault(
        "what another agent answered is said to be new",
        "replay/run",
        "past = told_before(asked.question.path, new_from)",
        "past = new_from",
    ),
]
