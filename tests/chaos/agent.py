"""What the ACP agents do in the chaos (`tests.fakes.acp_program` does it).

Every answer begins with all marks that its session was ever told. The last word of a prompt says
what comes then.
"""

from __future__ import annotations

from typing import Any

from .people import MARK

JSON = dict[str, Any]
Steps = list[JSON]

_OPTIONS: Steps = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
_CALL = {"toolCallId": "call-1", "title": "Do it", "kind": "execute"}
_DONE = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed"}
_PIECES = range(40)
_NO_MESSAGES = "\udcff\udcfe nonsense\n{}\n[]\n[1,2]\n" + "[" * 2000 + "\n"

_THEN: dict[str, Steps] = {
    "hello": [],
    "slow": [step for number in _PIECES for step in ({"say": f"{number} "}, {"sleep": 0.01})],
    "flood": [{"say": "on and on ", "times": 1000}],
    "hang": [{"hang": True}],
    "die": [{"exit": 7}],
    "noise": [{"garbage": _NO_MESSAGES}],
    "deny": [{"error": {"code": -32603, "message": "not today"}}],
    "ask": [{"ask": _CALL, "options": _OPTIONS}, {"await": True}, {"update": _DONE}],
    "late": [{"stop": "end_turn"}, {"sleep": 0.02}, {"say": "too late"}],
}

_MARKS: JSON = {"recall": MARK.pattern}
SCRIPT: JSON = {
    "agent": {
        "agentInfo": {"name": "chaos", "version": "1"},
        "agentCapabilities": {"sessionCapabilities": {"close": {}, "resume": {}, "fork": {}}},
    },
    "words": {word: [_MARKS, *steps] for word, steps in _THEN.items()},
    "otherwise": [_MARKS],
}
