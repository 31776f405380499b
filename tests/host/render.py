"""What the host makes of a chat for a request: every rule of it was recorded, or says so."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import groupby

import attrs

from . import prompts
from .chat import Answer, Chat, Ending, Mode, Round, Turn
from .facts import Json, fact_part, facts_of

Placed = tuple[tuple[int, int], Json]
"""A message, with the turn and the round it belongs to (-1: the user's message)."""


@attrs.frozen
class Profile:
    """What kind of host it is; the default is VS Code 1.139 with its built-in agent."""

    private_keys: bool = True
    """Whether it sends its private model options."""
    says_stop: bool = True
    """Whether it tells when the user stops an answer."""
    results_apart: bool = True
    """Whether each result is a message of its own."""
    as_streamed: bool = False
    """Whether an answer comes back part by part, instead of joined text and then the calls."""
    suffix: str = ""
    """What it appends to its copies of call ids."""
    tag: str = "userRequest"
    marker: bool = False
    """Whether it carries our marker back."""
    agent_host: bool = False
    """Whether it is VS Code's Agent Host."""
    offers_progress: bool = False
    """Whether it offers the progress tool."""

    @property
    def leads_by(self) -> str:
        """The tool whose calls lead sub-agents."""
        return "task" if self.agent_host else "runSubagent"

    @property
    def names_chats(self) -> bool:
        """Whether its requests say whose they are."""
        return self.private_keys or self.agent_host


def render(chat: Chat, profile: Profile) -> list[Json]:
    """The messages of a chat's next request."""
    match chat.mode:
        case Mode.AGENT:
            return _agent(chat, profile).messages()
        case Mode.ASK:
            return [_message("system", _text(prompts.ASK.format(model=chat.model))), *_bare(chat)]
        case Mode.PARTICIPANT:
            return _bare(chat)


def after(messages: list[Json], text: str) -> list[Json]:
    """A request that goes on with a text of the host's own."""
    return [*messages, _message("user", _text(text))]


def said(role: str, *texts: str) -> list[Json]:
    """Messages that are no chat: a system prompt and what is asked."""
    return [_message("system", _text(role)), *(_message("user", _text(text)) for text in texts)]


def structured(chat: Chat, profile: Profile) -> list[Json]:
    """The history alone, as the command to compact gives it."""
    return [message for _, message in _agent(chat, profile).kept()]


def summarise(chat: Chat, profile: Profile, before: tuple[int, int]) -> list[int]:
    """The facts that a summary of everything before a point stands for."""
    agent = _agent(chat, profile)
    covered = list(chat.summary.facts) if chat.summary else []
    covered += facts_of(message for place, message in agent.kept() if place < before)
    return covered


@attrs.define
class _Agent:
    chat: Chat
    profile: Profile

    def messages(self) -> list[Json]:
        chat = self.chat
        prompt = prompts.SUB_AGENT if chat.led_by else prompts.AGENT
        system = prompt.format(model=chat.model) + prompts.SESSION_LOG.format(log=chat.log)
        head = [_message("system", _text(system)), _message("user", _text(prompts.PREAMBLE))]
        if chat.summary is not None:
            facts = [fact_part(number) for number in chat.summary.facts]
            head.append(_message("user", _text(prompts.summary(chat.summary.number)), *facts))
        return [*head, *(message for _, message in self.kept())]

    def kept(self) -> Iterator[Placed]:
        """What is not summarised away."""
        summary = self.chat.summary
        for place, message in self._placed():
            if summary is None or place >= summary.before:
                yield place, message

    def _placed(self) -> Iterator[Placed]:
        for index, turn in enumerate(self.chat.turns):
            if turn.command:
                if index < len(self.chat.turns) - 1:
                    yield (index, -1), _message("user", _text(prompts.request("", self._tag)))
            elif turn.rebuilt:
                yield from self._rebuilt(index, turn)
            else:
                if turn.word is not None:
                    yield (index, -1), self._word(index, turn)
                yield from self._rounds(index, turn)

    def _word(self, index: int, turn: Turn) -> Json:
        assert turn.word is not None
        if turn.mode is not Mode.AGENT:
            return self._request_only(turn)
        text = prompts.CONTEXT.format(date=turn.date) + prompts.request(turn.text, self._tag)
        if turn.image is None:
            return _message("user", _text(text), fact_part(turn.word))
        if not turn.image:  # over the budget for images; which form it takes was not recorded
            content = [_text(f"<attachments>\n{prompts.IMAGE_SHOWN}\n</attachments>\n{text}")]
        else:
            data = base64.b64encode(turn.image).decode()
            image = {"type": "data", "mimeType": "image/png", "data": data}
            content = [_text("<attachments>\n"), image, _text(f"\n</attachments>\n{text}")]
        return _message("user", *content, fact_part(turn.word))

    def _request_only(self, turn: Turn) -> Json:
        assert turn.word is not None
        return _message("user", _text(prompts.request(turn.text, self._tag)), fact_part(turn.word))

    def _rebuilt(self, index: int, turn: Turn) -> Iterator[Placed]:
        if turn.word is not None:
            yield (index, -1), self._request_only(turn)
        # That earlier rounds come back as text alone is deduced; one without rounds was recorded.
        visible = prompts.rebuilt("".join(one.answer.seen for one in turn.rounds))
        if visible:
            facts = [fact_part(one.answer.fact) for one in turn.rounds if one.answer.seen]
            yield (index, 0), _message("assistant", _text(visible), *facts)

    def _rounds(self, index: int, turn: Turn) -> Iterator[Placed]:
        newest = len(self.chat.turns) - 1
        if turn.mode is not Mode.AGENT:
            final = turn.rounds[-1].answer if turn.rounds else None
            if final is not None and final.ending is Ending.COMPLETE and not final.calls:
                yield (index, len(turn.rounds) - 1), _said(final, final.text)
            return
        for number, one in enumerate(turn.rounds):
            if one.paused and index < newest - 1:
                continue
            if not self._shows(one):
                continue
            yield (index, number), self._answer(one.answer, newest=index == newest)
            for message in self._results(one, newest=index == newest):
                yield (index, number), message

    def _shows(self, one: Round) -> bool:
        answer = one.answer
        match answer.ending:
            case Ending.COMPLETE:
                return not one.waits
            case Ending.STOPPED:
                # A call without a result is removed, and with it what was said before it.
                return answer.kept and bool(answer.text) and not answer.calls
            case Ending.OPEN | Ending.FAILED | Ending.EMPTY:
                return False

    def _answer(self, answer: Answer, *, newest: bool) -> Json:
        """Marker first, then reasoning within the turn, then all text in one, then the calls."""
        if self.profile.as_streamed:
            told = [p for p in answer.parts if p["type"] in ("text", "tool_call")]
            return _message("assistant", *map(self._call, told), fact_part(answer.fact))
        content: list[Json] = []
        for part in answer.parts:
            if part["type"] == "data" and part["mimeType"] == "stateful_marker":
                _, _, token = base64.b64decode(part["data"]).partition(b"\\")
                relabelled = self.chat.model.encode() + b"\\" + token
                content.append(part | {"data": base64.b64encode(relabelled).decode()})
        thinking = [part for part in answer.parts if part["type"] == "thinking"]
        if thinking and newest:
            content.append(thinking[-1] | {"value": "".join(part["value"] for part in thinking)})
        content.append(_text(answer.text))
        content.extend(self._call(call) for call in answer.calls)
        return _message("assistant", *content, fact_part(answer.fact))

    def _call(self, part: Json) -> Json:
        if part["type"] != "tool_call":
            return part
        name = "".join(c if c.isalnum() or c in "_-" else "_" for c in part["toolName"])
        return part | {"toolName": name, "toolCallId": part["toolCallId"] + self.profile.suffix}

    def _results(self, one: Round, *, newest: bool) -> list[Json]:
        results: list[Json] = []
        for result in one.results:
            value = [_text(result.text if newest or not result.image else prompts.IMAGE_SHOWN)]
            results.append(
                {
                    "type": "tool_result",
                    "toolCallId": result.call_id + self.profile.suffix,
                    "result": [*value, *_fact(result.fact)],
                }
            )
        if self.profile.results_apart:
            return [_message("user", result) | {"name": ""} for result in results]
        return [_message("user", *results)] if results else []

    @property
    def _tag(self) -> str:
        return self.profile.tag


class _AgentHost(_Agent):
    """The Agent Host: no preamble, other words, and nothing of what the user didn't see."""

    def messages(self) -> list[Json]:
        chat = self.chat
        folder = prompts.SESSION_FOLDER.format(log=chat.log)
        prompt = prompts.HOST + folder
        if chat.led_by:
            prompt = prompts.HOST_EXPLORER if chat.explores else prompts.HOST_SUB_AGENT + folder
        head = [_message("system", _text(prompt))]
        if chat.summary is not None:
            text = prompts.host_summary(chat.summary.number, is_whole=chat.summary.is_whole)
            facts = [fact_part(number) for number in chat.summary.facts]
            head.append(_message("user", _text(text), *facts))
        return [*head, *(message for _, message in self.kept())]

    def _word(self, index: int, turn: Turn) -> Json:
        assert turn.word is not None
        if turn.notice:
            text = prompts.NOTIFICATION.format(text=turn.text)
        elif turn.steers:
            text = turn.text
        else:
            former = next((one.model for one in self.chat.turns[:index][::-1] if one.model), None)
            is_other = former not in (None, turn.model)
            switched = prompts.SWITCHED.format(former=former, model=turn.model) if is_other else ""
            date = prompts.DATE.format(number=turn.sent)
            text = f"{date}{switched}{turn.text}"
            if turn.date != "today":  # a file is open, with a selection in it
                text = f"{prompts.SELECTION}{text}{prompts.REMINDER}"
        if turn.image is None:
            return _message("user", _text(text), fact_part(turn.word))
        data = base64.b64encode(turn.image).decode()
        image = {"type": "data", "mimeType": "image/png", "data": data}
        path = f"{'' if turn.date != 'today' else prompts.REMINDER}{prompts.IMAGE_PATH}"
        return _message("user", _text(text + path), image, fact_part(turn.word))

    def _shows(self, one: Round) -> bool:
        answer = one.answer
        match answer.ending:
            case Ending.COMPLETE:
                return not one.waits and not answer.left_out
            case Ending.EMPTY:
                return bool(_thoughts(answer))
            case Ending.STOPPED | Ending.OPEN | Ending.FAILED:
                return False

    def _answer(self, answer: Answer, *, newest: bool) -> Json:
        """Each thought first, then all text in one, if there is any, then the calls."""
        content: list[Json] = [
            {"type": "thinking", "value": [thought], "id": f"rs_byok_{answer.fact}_{number}"}
            for number, thought in enumerate(_thoughts(answer))
        ]
        content.extend([_text(answer.text)] if answer.text else [])
        content.extend(self._call(call) for call in answer.calls)
        facts = [] if answer.is_silent else [fact_part(answer.fact)]
        return _message("assistant", *content, *facts)

    def _results(self, one: Round, *, newest: bool) -> list[Json]:
        """In the order of completion, each by itself; of an image only a text."""
        return [
            _message(
                "user",
                {
                    "type": "tool_result",
                    "toolCallId": result.call_id,
                    "result": [_text(result.text), *_fact(result.fact)],
                },
            )
            for result in one.results
        ]


def _agent(chat: Chat, profile: Profile) -> _Agent:
    return (_AgentHost if profile.agent_host else _Agent)(chat, profile)


def _thoughts(answer: Answer) -> list[str]:
    """What was thought, each thought in one: its pieces have the same id."""
    if answer.is_forgotten:
        return []
    thinking = [part for part in answer.parts if part["type"] == "thinking"]
    pieces = groupby(thinking, key=lambda part: part.get("id"))
    return ["".join(part["value"] for part in parts) for _, parts in pieces]


def _fact(number: int | None) -> list[Json]:
    return [] if number is None else [fact_part(number)]


def _bare(chat: Chat) -> list[Json]:
    """A chat as the modes without tools give it: what was typed, and final answers as seen."""
    messages: list[Json] = []
    for turn in chat.turns:
        newest = turn is chat.turns[-1]
        if turn.word is not None:
            tagged = newest and chat.mode is Mode.ASK
            text = prompts.request(turn.text, "prompt") if tagged else turn.text
            messages.append(_message("user", _text(text), fact_part(turn.word)))
        if turn.rounds and not newest and turn.rounds[-1].answer.seen:
            answer = turn.rounds[-1].answer
            messages.append(_said(answer, answer.seen))
    return messages


def _said(answer: Answer, text: str) -> Json:
    return _message("assistant", _text(text), fact_part(answer.fact))


def _text(value: str) -> Json:
    return {"type": "text", "value": value}


def _message(role: str, *content: Json) -> Json:
    return {"role": role, "content": list(content)}
