"""The model of the host against the router: after every request the agent knows what the user sees.

What must hold, whatever is done:

1. The agent that answers a request of a chat knows every fact in the request, and nothing but what
   its user sees as accepted; each once, in order. So nothing withdrawn, nothing of another chat.
2. An agent that knows a chat goes on with it, unless it knows something that was taken back.
3. Nobody else's turn is ended by a request: neither one that streams nor one that waits for tools.
4. What is no part of a chat touches none.
5. Each request is settled exactly once; every outcome, and every rule it took, has a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import msgspec

from bridge.history.progress_rounds import CALL_PREFIX
from bridge.routing.outcome import Outcome, Reason
from bridge.wire import PROGRESS_TOOL, Part, RequestId, TextPart, ToolCallPart

from .agent_host import AgentHost
from .chat import Chat, Mode, Summary
from .facts import Json, facts_of, without_facts
from .knowledge import Knowledge
from .model import Host, Provider
from .render import Profile
from .request import Relation, Request
from .switchboard import APART, Conversation, Switchboard

_encode = msgspec.json.Encoder().encode

SOON = 2.5
"""Seconds before a request that the host makes by itself."""

Home = tuple[Conversation, int]
"""Who answers a chat: the conversation, and which session of its agent."""


@attrs.define(eq=False)
class World:
    """A host, and a process of ours that it talks to."""

    profile: Profile = attrs.field(factory=Profile)
    keeps_sessions: bool = True
    """Whether a chat that goes on must find its session. A fresh one knows as much, and costs a
    replay; where a host says little enough for long enough, doubt means a fresh one."""
    host: Host = attrs.field(init=False)
    ours: Switchboard = attrs.field(init=False)
    knowledge: Knowledge = attrs.field(init=False)
    requests: dict[RequestId, Request] = attrs.field(factory=dict["RequestId", Request])
    settled: dict[RequestId, int] = attrs.field(factory=dict["RequestId", int])
    homes: dict[Chat, Home] = attrs.field(factory=dict["Chat", Home])
    """Who answered each chat last."""
    former: dict[tuple[Chat, str], list[Home]] = attrs.field(
        factory=dict["tuple[Chat, str]", "list[Home]"]
    )
    """Who ever answered a chat, with each model."""
    _gaps: dict[Home, set[int]] = attrs.field(factory=dict["Home", "set[int]"])
    """What the host left out when a session began: nobody can tell the agent, until it is new."""
    outcomes: list[Outcome] = attrs.field(factory=list["Outcome"])
    _openings: dict[str, set[Chat]] = attrs.field(factory=dict["str", "set[Chat]"])
    _newest: dict[Chat, Request] = attrs.field(factory=dict["Chat", Request])
    _under: dict[Home, Summary | None] = attrs.field(factory=dict["Home", "Summary | None"])
    """The summary that each session saw last; going back behind it brings the whole text back."""
    _texts: dict[Chat, set[str]] = attrs.field(factory=dict["Chat", "set[str]"])
    _modes: dict[Chat, Mode] = attrs.field(factory=dict["Chat", Mode])
    _calls: int = 0

    def __attrs_post_init__(self) -> None:
        self.host = host_of(self, self.profile)
        self.ours = Switchboard(self, self.profile.marker)
        self.knowledge = Knowledge(self.host.facts, by_words=not self.profile.names_chats)

    # What the host does (`model.Provider`).

    def ask(self, request: Request) -> None:
        self.requests[request.number] = request
        self.knowledge.note(request)
        if request.chat is not None:
            self._openings.setdefault(request.chat.turns[0].text, set()).add(request.chat)
        others = [
            (chat, home)
            for chat, home in self.homes.items()
            if chat is not request.chat
            and self._is_busy(chat, home)
            and not self._looks_like(chat, request)
        ]
        fitting = self._fitting(request)
        params = _encode(request.params)
        apart = SOON if request.is_soon else APART
        asked = self.ours.ask(request.number, params, request.answer.fact, apart=apart)
        if asked is None:
            assert request.is_soon, "a request is refused"
            return
        conversation, outcome = asked
        self.outcomes.append(outcome)
        self._check_reasons(outcome)
        for chat, home in others:
            assert self._is_busy(chat, home), f"what {chat.name} was doing is ended: {outcome}"
        if request.chat is None:
            # What an older host asks at the cursor looks like a chat of its own.
            beside = outcome.request_class.is_one_shot or not self.profile.names_chats
            assert beside, f"it is no part of a chat: {outcome}"
            assert conversation not in {home for home, _ in self.homes.values()}
            return
        chat = request.chat
        home = (conversation, conversation.ledger.session)
        former = self.former.setdefault((chat, request.model), [])
        if home not in former:
            self._gaps.setdefault(home, set(chat.accepted()) - set(request.required))
        required = [number for number in request.required if number not in self._gaps[home]]
        fault = self.knowledge.check(chat, required, conversation.ledger.knows)
        assert fault is None, f"the agent {fault}\n{outcome}"
        if request.relation is Relation.GOES_ON and fitting and self.keeps_sessions:
            assert home in former, f"{chat.name} goes on with a stranger: {outcome}"
        former.append(home)
        self.homes[chat] = home
        self._newest[chat] = request
        self._modes[chat] = chat.mode
        self._under[home] = chat.summary
        self._texts.setdefault(chat, set()).add(chat.turns[-1].text)

    def cancel(self, request: Request) -> None:
        self.ours.cancel(request.number)

    # What we do (`switchboard.Editor`).

    def show(self, request: RequestId, parts: Sequence[Part]) -> None:
        self.host.receive(self.requests[request], [_json(part) for part in parts])

    def settle(self, request: RequestId, *, failed: bool) -> None:
        self.settled[request] = self.settled.get(request, 0) + 1
        self.host.settled(self.requests[request], failed=failed)

    # What an agent does.

    def say(self, request: Request, *parts: Part) -> None:
        self.ours.say(request.number, parts)

    def text(self, chat: Chat, text: str) -> None:
        self.say(self.host.streaming[chat], TextPart(text))

    def call(self, chat: Chat, call_id: str, name: str = "list_dir", **parameters: Any) -> None:
        self.say(self.host.streaming[chat], ToolCallPart(call_id, name, parameters))

    def finish(self, chat: Chat, text: str = "") -> None:
        """End an answer, with a last text."""
        request = self.host.streaming[chat]
        if text:
            self.text(chat, text)
        self.ours.finish(request.number)

    def fail(self, chat: Chat) -> None:
        self.ours.fail(self.host.streaming[chat].number)

    def show_progress(self, chat: Chat) -> None:
        """End a response with a call of the progress tool; the agent hears nothing of it."""
        self._calls += 1
        part = ToolCallPart(f"{CALL_PREFIX}{self._calls}", PROGRESS_TOOL, {})
        request = self.host.streaming[chat]
        self.say(request, part)
        self.ours.finish(request.number)

    @property
    def told(self) -> int:
        """How often an agent was given something."""
        return self.ours.told

    @property
    def open(self) -> list[Request]:
        """The requests that aren't settled."""
        return [self.requests[number] for number in self.ours.open]

    def finish_unheard(self, request: Request) -> None:
        """End an answer that nobody reads."""
        self.say(request, TextPart("too late"))
        self.ours.finish(request.number)

    def wait_long(self) -> None:
        """Do nothing: all that happens is far apart."""

    def finish_beside(self) -> None:
        """Answer what is no part of a chat."""
        for request in list(self.host.beside):
            self.say(request, TextPart("ok"))
            self.ours.finish(request.number)

    def expire(self, chat: Chat) -> None:
        """End the conversation that a chat hasn't used for longest."""
        former = self.former.get((chat, chat.model), [])
        for conversation in reversed(dict.fromkeys(one for one, _ in reversed(former))):
            if conversation.key in self.ours.live:
                self.ours.end(conversation)
                return

    def restart(self) -> None:
        """End our process, as a reload of the window does; the next one knows nothing."""
        self.ours.close()
        self.homes.clear()
        self.former.clear()
        self.ours = Switchboard(self, self.profile.marker)

    def close(self) -> None:
        self.ours.close()
        assert not self.ours.open
        for number in self.requests:
            assert self.settled.get(number) == 1, f"request {number} was not settled once"

    # What must hold.

    def _is_busy(self, chat: Chat, home: Home) -> bool:
        """Whether the agent of a chat has a turn open, which nobody else may end."""
        conversation, session = home
        ledger = conversation.ledger
        return (
            chat in self.host.chats
            and conversation.key in self.ours.live
            and ledger.session == session
            and (
                (bool(chat.waiting) and ledger.waits)
                or (chat in self.host.streaming and self._streams(conversation))
            )
        )

    def _streams(self, conversation: Conversation) -> bool:
        return any(one is conversation for one in self.ours.open.values())

    def _looks_like(self, chat: Chat, request: Request) -> bool:
        """Whether nothing tells this request from one of a chat where it takes something back.

        So it is where the host doesn't say whose a request is: it repeats the chat's newest one, or
        goes another way after an answer that both have.
        """
        if self.profile.names_chats:
            return False
        theirs, ours = (
            [without_facts(message["content"]) for message in one.messages]
            for one in (self._newest[chat], request)
        )
        roles = [message["role"] for message in self._newest[chat].messages]
        if "assistant" in roles:
            theirs = theirs[: len(roles) - roles[::-1].index("assistant")]
            return ours[: len(theirs)] == theirs
        return ours == theirs

    def _fitting(self, request: Request) -> bool:
        """Whether somebody knows the chat, and nothing else, and the request shows it.

        It must show an answer of that agent's, for users of two chats may well type the same. Only
        who answered last needs no proof, where the host says whose the request is; of forks it says
        the same, and less in ask mode. Where it says nothing, chats that begin alike can be taken
        for one another, so that one of them finds its agent busy with the other.
        """
        chat = request.chat
        if chat is None or self._repeats_after_a_summary(chat) or self._repeats_the_newest(request):
            return False
        if not self.profile.names_chats and len(self._openings[chat.turns[0].text]) > 1:
            return False
        forks = [one for one in self.knowledge.family(chat) if one.led_by is chat.led_by]
        same = len(forks) == 1 and self._modes.get(chat) is chat.mode
        named = self.profile.names_chats and same
        last = self.homes.get(chat) if named else None
        said = [message for message in request.messages if message["role"] == "assistant"]
        answers = {number for number in facts_of(said) if self.knowledge.is_whole(number)}
        return any(
            conversation.key in self.ours.live
            and conversation.ledger.session == session
            and self._under[conversation, session] in (None, *chat.summaries)
            and not (chat.summaries and conversation.ledger.waits)  # which may hide the results
            and self.knowledge.fits(chat, conversation.ledger.knows)
            and (answers & set(conversation.ledger.knows) or (conversation, session) == last)
            for conversation, session in self.former.get((chat, request.model), [])
        )

    def _repeats_the_newest(self, request: Request) -> bool:
        """Whether a chat asks, word for word, what it asked last.

        That is the same question again, whatever a user went back to in between; so the agent is
        replaced, and knows no less.
        """
        newest = self._newest.get(request.chat) if request.chat else None
        if newest is None:
            return False
        theirs, ours = (
            [(message["role"], without_facts(message["content"])) for message in one.messages]
            for one in (newest, request)
        )
        return ours == theirs

    def _repeats_after_a_summary(self, chat: Chat) -> bool:
        """Whether the newest message has the words of an earlier one, and a summary precedes it.

        It looks like the earlier one sent again, when the summary covers all before that. So it is
        taken for that: the agent is replaced, and knows no less.
        """
        newest = chat.turns[-1]
        begins = len(newest.rounds) == 1
        texts = {*self._texts.get(chat, set()), *(one.text for one in chat.turns[:-1])}
        return begins and bool(chat.summaries) and newest.text in texts

    def _check_reasons(self, outcome: Outcome) -> None:
        assert isinstance(outcome.reason, Reason)
        assert all(rule.reason for rule in outcome.match.rules)


def host_of(provider: Provider, profile: Profile) -> Host:
    """Return a host of a kind."""
    return (AgentHost if profile.agent_host else Host)(provider, profile)


def _json(part: Part) -> Json:
    return msgspec.to_builtins(part)
