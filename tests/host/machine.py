"""All that users, hosts and agents do, as rules, for a world of one host and of who answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
)

from bridge.wire import Part, ThinkingPart, ToolCallPart

from .chat import Chat, Ending, Mode
from .model import Host
from .render import Profile
from .request import Request

T = TypeVar("T")

CURRENT = (Profile(), Profile(marker=True), Profile(tag="user_query"))
"""Hosts as they are today: the built-in agent says whose a request is."""
OLDER = (
    Profile(private_keys=False),
    Profile(private_keys=False, says_stop=False),
    Profile(private_keys=False, says_stop=False, results_apart=False, suffix="__vscode-1"),
    Profile(private_keys=False, results_apart=False, as_streamed=True),
)

MOST_CHATS = 4

picks = st.integers(0, 3)
words = st.sampled_from(["hi", "more", "go"])
answers = st.sampled_from(["ok ", "see [app](src/app.py) "])


class World(Protocol):
    """A host, and who answers it. Each call is done when nothing more follows from it."""

    host: Host

    @property
    def homes(self) -> Mapping[Chat, object]:
        """Who answered each chat last."""
        ...

    def cancel(self, request: Request) -> None: ...

    def say(self, request: Request, *parts: Part) -> None: ...

    def text(self, chat: Chat, text: str) -> None: ...

    def finish(self, chat: Chat, text: str = "") -> None: ...

    def fail(self, chat: Chat) -> None: ...

    def finish_beside(self) -> None: ...

    def expire(self, chat: Chat) -> None: ...

    def restart(self) -> None: ...

    def close(self) -> None: ...


class HostMachine(RuleBasedStateMachine):
    """Each rule is something that a user, a host or an agent does."""

    profiles: Sequence[Profile] = CURRENT
    cut_while_streaming: int = -1
    """Which part of the turn that streams a summary begins before."""

    def begin(self, world: World) -> None:
        """Begin with a world in which nothing was done."""
        self.world = world
        self.calls = count(1)
        self.gone_back: set[Chat] = set()

    @property
    def host(self) -> Host:
        return self.world.host

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()

    # Which chats can do what.

    def _mains(self) -> list[Chat]:
        return [chat for chat in self.host.chats if chat.led_by is None]

    def quiet(self) -> list[Chat]:
        """Chats in which nothing runs."""
        return [c for c in self._mains() if c not in self.host.streaming and not c.waiting]

    def _waiting(self) -> list[Chat]:
        return [chat for chat in self.host.chats if chat.waiting]

    def _pausing(self) -> list[Chat]:
        """Chats of the user's in which tools run, or await a click."""
        return [chat for chat in self._waiting() if chat.led_by is None]

    def _told(self) -> list[Chat]:
        return [chat for chat in self._mains() if chat.turns and not chat.turns[-1].command]

    # A summary hides which branch of a chat goes on. Nobody can know it if no request has shown it:
    # no summary is made between going back and the next request, and none is gone back behind.

    def _edited(self) -> list[Chat]:
        """Chats in which a change can be taken back."""
        edited = [chat for chat in self._mains() if chat.former]
        return [chat for chat in edited if not chat.summaries and not chat.former[-1].summaries]

    def _can_compact(self, chat: Chat) -> bool:
        """Whether a summary may be made."""
        return bool(chat.turns) and chat.mode is Mode.AGENT and chat not in self.gone_back

    def _leading(self, chat: Chat) -> list[Chat]:
        return [one for one in self.host.chats if one.led_by and one.led_by[0] is chat]

    def _ended(self, *endings: Ending) -> list[Chat]:
        return [
            chat
            for chat in self.host.chats
            if chat not in self.host.streaming
            and chat.turns
            and chat.turns[-1].ending in endings
            and not chat.turns[-1].rebuilt
        ]

    # What users do.

    @precondition(lambda self: len(self.host.chats) < MOST_CHATS)
    @rule(text=words)
    def open_chat(self, text: str) -> None:
        self.host.send(self.host.open_chat(), text)

    @precondition(lambda self: self.quiet())
    @rule(pick=picks, text=words, image=st.booleans(), date=st.sampled_from(["today", "tomorrow"]))
    def send(self, pick: int, text: str, image: bool, date: str) -> None:
        chat = pick_of(self.quiet(), pick)
        pixels = b"pixels" if image and chat.mode is Mode.AGENT else None
        self.host.send(chat, text, image=pixels, date=date)
        self.gone_back.discard(chat)

    @precondition(lambda self: self._pausing())
    @rule(pick=picks, text=words)
    def steer(self, pick: int, text: str) -> None:
        chat = pick_of(self._pausing(), pick)
        for led in self._leading(chat):
            self.host.give_up(led)
            self.host.report(led)
        self.host.send(chat, text)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks, kept=st.booleans(), visible=st.none() | st.integers(0, 5))
    def stop(self, pick: int, kept: bool, visible: int | None) -> None:
        self.host.stop(pick_of(list(self.host.streaming), pick), kept=kept, visible=visible)

    @precondition(lambda self: self._pausing())
    @rule(pick=picks)
    def stop_tools(self, pick: int) -> None:
        chat = pick_of(self._pausing(), pick)
        for led in self._leading(chat):
            self.host.give_up(led)
            self.host.chats.remove(led)
        self.host.stop(chat, kept=True)

    @precondition(lambda self: self._told())
    @rule(pick=picks, turn=picks, text=words)
    def edit(self, pick: int, turn: int, text: str) -> None:
        chat = pick_of(self._told(), pick)
        messages = [index for index, one in enumerate(chat.turns) if one.word is not None]
        self.host.edit(chat, pick_of(messages, turn), text)

    @precondition(lambda self: self._told())
    @rule(pick=picks, turn=picks)
    def restore(self, pick: int, turn: int) -> None:
        chat = pick_of(self._told(), pick)
        self.host.restore(chat, turn % len(chat.turns))
        self.gone_back.add(chat)

    @precondition(lambda self: self._edited())
    @rule(pick=picks)
    def undo(self, pick: int) -> None:
        chat = pick_of(self._edited(), pick)
        self.host.undo(chat)
        self.gone_back.add(chat)

    @precondition(lambda self: self._told())
    @rule(pick=picks)
    def regenerate(self, pick: int) -> None:
        self.host.regenerate(pick_of(self._told(), pick))

    @precondition(lambda self: self._ended(Ending.FAILED, Ending.EMPTY))
    @rule(pick=picks)
    def try_again(self, pick: int) -> None:
        self.host.try_again(pick_of(self._ended(Ending.FAILED, Ending.EMPTY), pick))

    @precondition(lambda self: self._told() and len(self.host.chats) < MOST_CHATS)
    @rule(pick=picks, turns=picks)
    def fork(self, pick: int, turns: int) -> None:
        chat = pick_of(self._told(), pick)
        busy = chat in self.host.streaming or bool(chat.waiting)
        whole = len(chat.turns) - busy
        if whole:
            self.host.fork(chat, 1 + turns % whole)

    @precondition(lambda self: self.quiet())
    @rule(pick=picks, mode=st.sampled_from([Mode.AGENT, Mode.ASK]))
    def switch_mode(self, pick: int, mode: Mode) -> None:
        pick_of(self.quiet(), pick).mode = mode

    @precondition(lambda self: self.quiet())
    @rule(pick=picks, model=st.sampled_from(["rec", "small"]))
    def switch_model(self, pick: int, model: str) -> None:
        pick_of(self.quiet(), pick).model = model

    @precondition(lambda self: self.quiet())
    @rule(pick=picks)
    def compact(self, pick: int) -> None:
        chat = pick_of(self.quiet(), pick)
        if self._can_compact(chat) and not chat.turns[-1].command:
            self.host.compact(chat)

    @rule(ends_us=st.booleans())
    def reload(self, ends_us: bool) -> None:
        """A reload ends our process; where it lives on, at least its requests are cancelled."""
        cut = [*self.host.streaming.values(), *self.host.beside]
        self.host.reload()
        if ends_us:
            self.world.restart()
        for request in cut:
            self.world.cancel(request)

    # What hosts do by themselves.

    @precondition(lambda self: self._waiting())
    @rule(pick=picks, image=st.booleans())
    def next_round(self, pick: int, image: bool) -> None:
        chat = pick_of(self._waiting(), pick)
        if not self._leading(chat):
            self.host.run_tools(chat, image=image)
            self.host.next_round(chat)

    @precondition(lambda self: self._pausing())
    @rule(pick=picks)
    def go_on_after_a_pause(self, pick: int) -> None:
        chat = pick_of(self._pausing(), pick)
        if not self._leading(chat):
            self.host.pause(chat)
            self.host.go_on(chat)

    @precondition(lambda self: self._ended(Ending.EMPTY))
    @rule(pick=picks)
    def retry(self, pick: int) -> None:
        self.host.retry(pick_of(self._ended(Ending.EMPTY), pick))

    @precondition(lambda self: self._pausing())
    @rule(pick=picks)
    def lead(self, pick: int) -> None:
        chat = pick_of(self._pausing(), pick)
        begun = [led.led_by[1] for led in self._leading(chat) if led.led_by]
        for call in chat.waiting:
            if call["toolName"] == self.host.profile.leads_by and call["toolCallId"] not in begun:
                self.host.lead(chat, call)
                break

    @precondition(lambda self: any(chat.led_by for chat in self.host.chats))
    @rule(pick=picks)
    def report(self, pick: int) -> None:
        led = pick_of([chat for chat in self.host.chats if chat.led_by], pick)
        if led not in self.host.streaming and not led.waiting:
            self.host.report(led)

    @precondition(lambda self: self._told())
    @rule(pick=picks, fork=st.booleans(), whole=st.booleans())
    def summarise(self, pick: int, fork: bool, whole: bool) -> None:
        chat = pick_of(self._told(), pick)
        newest = len(chat.turns) - 1
        if not self._can_compact(chat):
            return
        if chat.waiting:
            before = (newest, len(chat.turns[-1].rounds) - 1 if whole else -1)
        elif chat in self.host.streaming:
            before = (newest, self.cut_while_streaming)
        else:
            before = (newest + whole, -1)
        if before > (0, -1) and not (chat.summary and before <= chat.summary.before):
            self.host.summarise(chat, before, fork=fork and bool(chat.turns[-1].rounds))

    @rule(what=st.sampled_from(["title", "commit", "inline"]), text=words)
    def ask_beside(self, what: str, text: str) -> None:
        match what:
            case "title":
                self.host.title(text)
            case "commit":
                self.host.commit_message()
            case _:
                self.host.inline(text)

    @precondition(lambda self: self._told())
    @rule(pick=picks)
    def drop_images(self, pick: int) -> None:
        self.host.drop_images(pick_of(self._told(), pick))

    # What agents do, and we.

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks, text=answers, thinks=st.booleans())
    def say(self, pick: int, text: str, thinks: bool) -> None:
        chat = pick_of(list(self.host.streaming), pick)
        if thinks:
            self.world.say(self.host.streaming[chat], ThinkingPart("hm"))
        self.world.text(chat, text)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks, tool=st.sampled_from(["list_dir", "no.such tool", "runSubagent"]))
    def call(self, pick: int, tool: str) -> None:
        chat = pick_of(list(self.host.streaming), pick)
        if chat.mode is Mode.AGENT and not (tool == "runSubagent" and chat.led_by):
            name = self.host.profile.leads_by if tool == "runSubagent" else tool
            part = ToolCallPart(f"call-{next(self.calls)}", name, {"prompt": "look", "n": 1.0})
            self.world.say(self.host.streaming[chat], part)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks, text=st.just("") | answers)
    def finish(self, pick: int, text: str) -> None:
        self.world.finish(pick_of(list(self.host.streaming), pick), text)

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks)
    def fail(self, pick: int) -> None:
        self.world.fail(pick_of(list(self.host.streaming), pick))

    @precondition(lambda self: self.host.beside)
    @rule()
    def finish_beside(self) -> None:
        self.world.finish_beside()

    @precondition(lambda self: self.world.homes)
    @rule(pick=picks)
    def expire(self, pick: int) -> None:
        chat = pick_of(list(self.world.homes), pick)
        if not chat.waiting:
            self.world.expire(chat)


def pick_of(some: Sequence[T], number: int) -> T:
    return some[number % len(some)]
