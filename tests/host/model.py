"""The model of the host: VS Code's chat and its built-in agent, as a client of ours.

Every method is something that a user or the host does. It holds what the user sees as accepted
(`Chat.accepted`), and sends requests as `render` makes them. Sources: notes on recorded traffic;
what was never recorded says so.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import ClassVar, Protocol

import attrs

from bridge.wire import PROGRESS_TOOL

from . import prompts
from .chat import Answer, Chat, Ending, Former, Mode, Result, Round, Summary, Turn
from .facts import Fact, Json, Kind
from .render import Profile, after, render, said, structured, summarise
from .request import Options, Relation, Request


class Provider(Protocol):
    """Who answers."""

    def ask(self, request: Request) -> None: ...

    def cancel(self, request: Request) -> None: ...


@attrs.define(eq=False)
class Host:
    """One window of the editor."""

    provider: Provider
    profile: Profile = attrs.field(factory=Profile)
    facts: dict[int, Fact] = attrs.field(factory=dict[int, Fact])
    chats: list[Chat] = attrs.field(factory=list[Chat])
    streaming: dict[Chat, Request] = attrs.field(factory=dict["Chat", Request])
    """The request that each chat awaits the answer of."""
    newest: dict[Chat, Request] = attrs.field(factory=dict["Chat", Request])
    """The newest request of each chat."""
    beside: list[Request] = attrs.field(factory=list[Request])
    """Open requests that belong to no chat."""
    options: Options = attrs.field(init=False)
    interrupted: ClassVar[str] = prompts.CANCELLED
    """The result of a tool that the user stopped."""
    _words: dict[object, int] = attrs.field(factory=dict["object", int])
    _runs: count[int] = attrs.field(factory=lambda: count(1))
    _numbers: count[int] = attrs.field(factory=lambda: count(1))
    _names: count[int] = attrs.field(factory=lambda: count(1))

    def __attrs_post_init__(self) -> None:
        self.options = Options(self.profile)

    # What the user does.

    def open_chat(self, model: str = "rec", mode: Mode = Mode.AGENT) -> Chat:
        name = f"chat-{next(self._names)}"
        chat = Chat(name, conversation_id=name, log=name, model=model, mode=mode)
        self.chats.append(chat)
        return chat

    def send(
        self, chat: Chat, text: str, *, image: bytes | None = None, date: str = "today"
    ) -> None:
        """Send a message; while tools run it goes with their results (steering)."""
        steers = bool(chat.waiting)
        self.run_tools(chat)
        number = chat.turns[-1].number + 1 if chat.turns else 1
        turn = Turn(number, chat.mode, text, self._word(chat, text), date, image, steers=steers)
        self._begin(chat, turn)
        goes_on = Relation.TAKES_BACK if chat.restored else Relation.GOES_ON
        self._ask(chat, goes_on if number > 1 else Relation.FIRST)

    def edit(self, chat: Chat, turn: int, text: str) -> None:
        """Change an earlier message and send it: what followed is gone."""
        self.give_up(chat)
        replaced = chat.turns[turn]
        self._cut(chat, turn)
        edited = Turn(replaced.number, chat.mode, text, self._word(chat, text), replaced.date)
        self._begin(chat, edited)
        self._ask(chat, Relation.TAKES_BACK)

    def restore(self, chat: Chat, turn: int) -> None:
        """Go back to before a message; the next one that is sent takes its number."""
        self.give_up(chat)
        self._cut(chat, turn)
        chat.restored = True

    def undo(self, chat: Chat) -> None:
        """Take the newest edit, or the going back, back."""
        self.give_up(chat)
        former = chat.former.pop()
        chat.turns, chat.summaries = former.turns, former.summaries
        chat.restored = former.restored

    def regenerate(self, chat: Chat) -> None:
        """Ask for another answer to the newest message."""
        self.give_up(chat)
        self._forget(chat, 0)
        chat.run = next(self._runs)
        self._ask(chat, Relation.TAKES_BACK)

    def try_again(self, chat: Chat) -> None:
        """Repeat the request that failed; it resumes after the results of earlier rounds."""
        chat.run = next(self._runs)
        chat.turns[-1].number += 1
        self.retry(chat)

    def stop(self, chat: Chat, *, kept: bool, visible: int | None = None) -> None:
        """Stop the answer, or the tools that run after it."""
        request = self.streaming.pop(chat, None)
        if request is None:
            self._results(chat, lambda call: self.interrupted)
            return
        answer = request.answer
        answer.ending, answer.kept, answer.visible = Ending.STOPPED, kept, visible
        if self.profile.says_stop:
            self.provider.cancel(request)
            if not any(part["type"] in ("text", "tool_call") for part in answer.parts):
                answer.kept = False
        request.listening = False
        for led in [one for one in self.chats if one.led_by and one.led_by[0] is chat]:
            self.stop(led, kept=kept)

    def fork(self, chat: Chat, turns: int) -> Chat:
        """Open a copy of the beginning of a chat as a chat of its own, with the same id."""
        name = f"chat-{next(self._names)}"
        copy = attrs.evolve(
            chat,
            name=name,
            log=name,
            turns=[turn.copy() for turn in chat.turns[:turns]],
            summaries=[one for one in chat.summaries if one.before[0] < turns],
            former=[],
        )
        self.chats.append(copy)
        return copy

    def go_on(self, chat: Chat) -> None:
        """Answer the host's question whether to go on: results, but no message."""
        self.run_tools(chat)
        self._begin(chat, Turn(chat.turns[-1].number + 1, chat.mode))
        self._ask(chat, Relation.GOES_ON)

    def compact(self, chat: Chat) -> None:
        """The command: a summary of all, and an empty message that stays."""
        messages = after(structured(chat, self.profile), prompts.SUMMARY_REQUEST)
        self._aside([*said(prompts.SUMMARY), *messages], self.options.utility(tools=True))
        number = chat.turns[-1].number + 1
        self._begin(chat, Turn(number, chat.mode, command=True))
        self._summarise(chat, (len(chat.turns) - 1, -1))

    # What the host does by itself.

    def run_tools(
        self, chat: Chat, *, text: str = "fine", image: bool = False, order: int = 0
    ) -> None:
        """Let every tool that was called return; `order` says which is the first to."""
        self._results(chat, lambda call: text, image=image, order=order)

    def next_round(self, chat: Chat) -> None:
        """Send the results of a round."""
        self.run_tools(chat)
        self._ask(chat, Relation.GOES_ON)

    def retry(self, chat: Chat) -> None:
        """Repeat a request that got no answer, by itself: identical, and in the same run."""
        self._forget(chat, len(chat.turns[-1].rounds) - 1)
        self._ask(chat, Relation.TAKES_BACK)

    def pause(self, chat: Chat) -> None:
        """Ask the user whether to go on, for there were many rounds."""
        newest = chat.turns[-1].newest
        assert newest is not None
        newest.paused = True

    def lead(self, chat: Chat, call: Json) -> Chat:
        """Begin a chat with a sub-agent, for a tool call: same id, same run."""
        led = attrs.evolve(
            chat,
            name=f"{chat.name}/{call['toolCallId']}",
            turns=[],
            summaries=[],
            former=[],
            led_by=(chat, call["toolCallId"]),
            explores=call["parameters"].get("agent_type") == "explore",
        )
        self.chats.append(led)
        prompt = call["parameters"]["prompt"]
        led.turns.append(Turn(1, Mode.AGENT, prompt, self._word(led, prompt)))
        self._ask(led, Relation.FIRST)
        return led

    def report(self, led: Chat) -> None:
        """Give a sub-agent's last words to the chat that waits for them."""
        assert led.led_by is not None
        chat, call_id = led.led_by
        newest = led.turns[-1].newest
        text = newest.answer.text if newest is not None else ""
        self.chats.remove(led)
        waiting = chat.turns[-1].newest
        if waiting is not None and any(call["toolCallId"] == call_id for call in waiting.waits):
            waiting.results.append(Result(call_id, self._fact(Kind.RESULT, call_id), text))
            self._arrange(waiting)

    def summarise(self, chat: Chat, before: tuple[int, int], *, fork: bool) -> None:
        """Put a summary in place of a prefix: made beside the live turn, or before the next."""
        if fork:
            messages = after(render(chat, self.profile), prompts.FORK_REQUEST)
            self._aside(messages, self.options.fork(chat), chat.model)
        else:
            self._aside(said(prompts.SUMMARY, "<user>...</user>"), self.options.utility())
        self._summarise(chat, before)

    def title(self, text: str) -> None:
        request = prompts.TITLE_REQUEST.format(text=text)
        self._aside(said(prompts.TITLE, request), self.options.utility())

    def commit_message(self) -> None:
        self._aside(said(prompts.COMMIT, prompts.COMMIT_REQUEST), self.options.utility())

    def inline(self, text: str) -> None:
        prompt = prompts.request(text, "prompt")
        messages = said(prompts.INLINE, prompts.INLINE_FILE, prompt)
        self._aside(messages, self.options.inline(next(self._runs)))

    def drop_images(self, chat: Chat) -> None:
        """Replace the images of past turns: too many bytes."""
        for turn in chat.turns:
            if turn.image is not None:
                turn.image = b""

    def reload(self) -> None:
        """Load the window anew: what runs is cut, what was cut is rebuilt from what was seen."""
        for request in [*self.streaming.values(), *self.beside]:
            request.listening = False
            request.answer.ending, request.answer.kept = Ending.STOPPED, False
        self.streaming.clear()
        self.beside.clear()
        self.chats[:] = [chat for chat in self.chats if chat.led_by is None]
        for chat in self.chats:
            for turn in chat.turns:
                newest = turn.newest
                if newest is not None and (_is_unfinished(newest.answer) or newest.waits):
                    turn.rebuilt = True
        self._runs = count(1)

    # What the provider does.

    def receive(self, request: Request, parts: list[Json]) -> None:
        if request.listening or self.profile.says_stop:
            # After a stop that was told, what still comes is kept in the history, though unseen.
            request.answer.parts.extend(parts)

    def settled(self, request: Request, *, failed: bool) -> None:
        """Take the end of an answer; after a stop it changes nothing."""
        answer = request.answer
        if answer.ending is not Ending.OPEN:
            return
        if failed:
            answer.ending = Ending.FAILED
        elif answer.text or answer.calls:
            answer.ending = Ending.COMPLETE
        else:
            answer.ending = Ending.EMPTY
        request.listening = False
        if request.chat is not None:
            self.streaming.pop(request.chat, None)
        else:
            self.beside.remove(request)

    # How it is done.

    def give_up(self, chat: Chat) -> None:
        """End what runs in a chat before its history is cut, as the host does."""
        if chat in self.streaming:
            self.stop(chat, kept=False)
        for led in [one for one in self.chats if one.led_by and one.led_by[0] is chat]:
            self.give_up(led)
            self.chats.remove(led)

    def _begin(self, chat: Chat, turn: Turn) -> None:
        chat.run = next(self._runs)
        turn.model = chat.model
        chat.turns.append(turn)

    def _cut(self, chat: Chat, turn: int) -> None:
        turns = [one.copy() for one in chat.turns]
        chat.former.append(Former(turns, list(chat.summaries), chat.restored))
        chat.turns = chat.turns[:turn]
        chat.summaries = [one for one in chat.summaries if one.before[0] < turn]

    def _forget(self, chat: Chat, rounds: int) -> None:
        """Take the newest rounds of the newest turn out."""
        turn = chat.turns[-1]
        turn.rebuilt = False
        turn.rounds = turn.rounds[:rounds]
        here = len(chat.turns) - 1
        chat.summaries = [one for one in chat.summaries if one.before < (here, rounds)]

    def _results(
        self, chat: Chat, text: Callable[[Json], str], *, image: bool = False, order: int = 0
    ) -> None:
        waiting = chat.waiting
        first = order % len(waiting) if waiting else 0
        for call in (*waiting[first:], *waiting[:first]):
            newest = chat.turns[-1].newest
            assert newest is not None
            call_id, is_ours = call["toolCallId"], call["toolName"] == PROGRESS_TOOL
            said = text(call)
            says_nothing = is_ours or said == prompts.INTERRUPTED
            fact = None if says_nothing else self._fact(Kind.RESULT, call_id)
            newest.results.append(Result(call_id, fact, said, image))
            self._arrange(newest)

    def _arrange(self, newest: Round) -> None:
        newest.in_order()

    def _summarise(self, chat: Chat, before: tuple[int, int]) -> None:
        facts = tuple(summarise(chat, self.profile, before))
        chat.summaries.append(Summary(before, next(self._numbers), facts))

    def _ask(self, chat: Chat, relation: Relation, *, is_soon: bool = False) -> None:
        answer = Answer(self._fact(Kind.ANSWER, chat.name))
        messages = render(chat, self.profile)
        options = self.options.chat(chat)
        chat.turns[-1].rounds.append(Round(answer))
        request = Request(
            next(self._numbers), chat, relation, messages, chat.model, options, answer
        )
        request.is_soon = is_soon
        self.streaming[chat] = self.newest[chat] = request
        chat.restored = False
        self.provider.ask(request)

    def _aside(self, messages: list[Json], options: Json, model: str = "rec") -> None:
        answer = Answer(self._fact(Kind.ANSWER, "beside"))
        number = next(self._numbers)
        request = Request(number, None, Relation.BESIDE, messages, model, options, answer)
        self.beside.append(request)
        self.provider.ask(request)

    def _word(self, chat: Chat, text: str) -> int:
        """The fact that the user says this now; said again in the same place, it is the same."""
        place = chat.conversation_id, chat.said(), text
        if place not in self._words:
            self._words[place] = self._fact(Kind.WORD, text)
        return self._words[place]

    def _fact(self, kind: Kind, text: str) -> int:
        number = len(self.facts) + 1
        self.facts[number] = Fact(number, kind, text)
        return number


def _is_unfinished(answer: Answer) -> bool:
    kept = answer.ending is Ending.STOPPED and answer.kept
    return answer.ending is not Ending.COMPLETE and not kept
