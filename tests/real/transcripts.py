"""Transcripts of real runs: what an agent said on its tour, as turns of the scripted agent.

A trace of `vscodelm` has every line of the agent's. What a user may see of it becomes steps of
`tests.fakes.acp_program`; ids, paths and dates of the machine are made plain, so that another
recording of the same agent differs only in what the agent does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.agents.acp.reader import FOLDER

JSON = dict[str, Any]

_UNSEEN = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "user_message_chunk",
    }
)
_CHUNKS = frozenset({"agent_message_chunk", "agent_thought_chunk"})
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d+)?")
_SERVER = re.compile(r"(?<![0-9A-Za-z])vsc[0-9a-f]{6}(?![0-9A-Za-z])")
_SHORTENED = re.compile(r"(/(?:work|tmp|root)/[^\s\"'\\<>`]*?)(?:\.\.\.|…)")
_ELSEWHERE = re.compile(r"(?<![\w.])/(?:work|tmp|root)/[^\s\"'\\<>`]*")


def transcript(trace: Iterable[JSON], *, folder: str, home: str) -> JSON:
    """Return the transcript of the first session of a trace that was prompted."""
    lines = [line for line in trace if "peer" in line and line.get("message")]
    session = next(
        line["message"]["params"]["sessionId"] for line in lines if _is(line, "session/prompt")
    )
    opened = _opened(lines, session)
    script: JSON = {
        "agent": {"agentInfo": _result_of(lines, "initialize")["agentInfo"]},
        "session": {"modes": opened["modes"]} if "modes" in opened else {},
        "turns": [*_turns(lines, session)],
    }
    return _scrubbed(script, [(folder, FOLDER), (home, "/home/user")])


def _is(line: JSON, method: str) -> bool:
    return line["direction"] == "out" and line["message"].get("method") == method


def _result_of(lines: list[JSON], method: str) -> JSON:
    asked = next(line["message"]["id"] for line in lines if _is(line, method))
    return _answer(lines, asked)["result"]


def _answer(lines: list[JSON], id_: Any) -> JSON:
    return next(
        line["message"]
        for line in lines
        if line["direction"] == "in"
        and "method" not in line["message"]
        and line["message"].get("id") == id_
    )


def _opened(lines: list[JSON], session: str) -> JSON:
    for line in lines:
        if _is(line, "session/new"):
            result: JSON = _answer(lines, line["message"]["id"])["result"]
            if result["sessionId"] == session:
                return result
    raise AssertionError("the session was opened")


def _turns(lines: list[JSON], session: str) -> Iterator[JSON]:
    """Yield each turn: what the user said and whether it was denied, and what the agent did."""
    steps: list[JSON] = []
    turn: JSON | None = None
    prompt: Any = None
    asked: dict[Any, JSON] = {}
    for line in lines:
        message, is_ours = line["message"], line["direction"] == "out"
        match message:
            case {"method": "session/prompt", "params": {"sessionId": at, "prompt": blocks}} if (
                at == session
            ):
                words = blocks[-1]["text"].partition("\n")[0]
                turn = {"said": words, "steps": steps}
                prompt = message["id"]
            case {"method": "session/update", "params": {"sessionId": at, "update": update}} if (
                at == session
            ):
                _add(steps, update)
            case {"method": "session/request_permission", "params": params}:
                asked[message["id"]] = params
                step = {"ask": params["toolCall"], "options": params["options"]}
                steps.append(step)
            case {"result": {"outcome": outcome}, "id": id_} if is_ours and id_ in asked:
                kinds = {one["optionId"]: one["kind"] for one in asked[id_]["options"]}
                if kinds.get(outcome.get("optionId"), "reject").startswith("reject"):
                    assert turn is not None
                    turn["denied"] = True
                if "await" not in steps[-1]:
                    steps.append({"await": True})
            case {"id": id_} if (
                turn is not None and not is_ours and id_ == prompt and ("method" not in message)
            ):
                steps.append(_ending(message))
                yield turn
                steps, turn, prompt = [], None, None
            case _:
                pass


def _ending(message: JSON) -> JSON:
    if "error" in message:
        return {"error": message["error"]}
    return {"stop": message["result"]["stopReason"]}


def _add(steps: list[JSON], update: JSON) -> None:
    """Add an update; pieces of one text become one."""
    kind = update["sessionUpdate"]
    if kind in _UNSEEN:
        return
    last: JSON = steps[-1].get("update", {}) if steps else {}
    match update:
        case {"sessionUpdate": str(), "content": {"type": "text", "text": text}} if (
            kind in _CHUNKS
            and last.get("sessionUpdate") == kind
            and last.get("messageId") == update.get("messageId")
            and last["content"]["type"] == "text"
        ):
            last["content"]["text"] += text
        case _:
            steps.append({"update": update})


def _scrubbed(script: JSON, names: Iterable[tuple[str, str]]) -> JSON:
    names = list(names)

    def shortened(found: re.Match[str]) -> str:
        plains = (plain for name, plain in names if name.startswith(found[1]))
        return next((f"{plain[:-4]}..." for plain in plains), found[0])

    text = _SHORTENED.sub(shortened, json.dumps(script, ensure_ascii=False))
    for name, plain in names:
        text = text.replace(name, plain).replace(name.lstrip("/"), plain.lstrip("/"))
    text = _SERVER.sub("$server", text)
    numbers: dict[str, str] = {}
    text = _ID.sub(lambda found: numbers.setdefault(found[0], f"id-{len(numbers) + 1}"), text)
    text = _DATE.sub(r"2026-01-01\g<1>00:00:00", text)
    text = _ELSEWHERE.sub("/elsewhere", text)
    scrubbed: JSON = json.loads(text)
    return scrubbed
