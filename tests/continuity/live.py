"""The model of the host against the whole system: `tests.host.world`, with real actors.

What must hold, whatever is done:

1. The session that answers a request of a chat knows every fact in the request, and nothing but
   what its user sees as accepted; each once, in order.
2. Nobody else's answer is ended by a request.
3. What is shown is what was said, and nothing else: nothing that is told again, for one.
4. Each request is answered, and settled exactly once (`tests.fakes.editor` holds us to that).
5. When we have left, no session is open.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.mailbox import SUPERSEDED_SECONDS
from bridge.wire import Part
from tests.host.chat import Chat
from tests.host.model import Host
from tests.host.render import Profile
from tests.host.request import Request
from tests.host.world import host_of

from .memories import Memories
from .mind import Mind, Troupe
from .window import IDLE_SECONDS, Shared, Window

PAUSE_SECONDS = 11.0
"""Between requests, so that none of them is one repeat too many."""


@attrs.define(eq=False)
class LiveWorld:
    """A host, each window of which has a process of ours; it satisfies `tests.host.machine.World`.

    A chat is in one window at a time, and what is in no chat is in the window that was used last.
    """

    profile: Profile
    troupe: Troupe
    memories: Memories
    most_sessions: int = 100
    windows: int = 1
    host: Host = attrs.field(init=False)
    _windows: list[Window] = attrs.field(factory=list["Window"], init=False)
    _used: Window = attrs.field(init=False)
    """The window that was used last."""
    _chats: dict[Chat, Window] = attrs.field(factory=dict["Chat", "Window"], init=False)
    _requests: dict[int, Window] = attrs.field(factory=dict["int", "Window"], init=False)
    """Where each request was made."""
    _shared: Shared = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.host = host_of(self, self.profile)
        self._shared = Shared(self.host, self.profile, self.memories, self.most_sessions)
        for number in range(self.windows):
            troupe = self.troupe.beside() if number else self.troupe
            self._windows.append(Window(self._shared, troupe))
        self._used = self._windows[0]

    @property
    def homes(self) -> Mapping[Chat, Mind]:
        """Who answered each chat last, in its window."""
        return {
            chat: window.homes[chat] for chat, window in self._chats.items() if chat in window.homes
        }

    # What the host does (`tests.host.model.Provider`).

    def ask(self, request: Request) -> None:
        chat = request.chat
        if chat is not None:
            self._used = self._window(chat)
        used = self._requests[request.number] = self._used
        if not request.is_soon:
            self.pass_time(PAUSE_SECONDS)
        used.ask(request)
        self._take_in()

    def cancel(self, request: Request) -> None:
        self._requests[request.number].cancel(request)
        self._take_in()

    def move(self, chat: Chat) -> None:
        """Open a chat in the next window, and go on with it there."""
        here = self._windows.index(self._window(chat))
        self._chats[chat] = self._used = self._windows[(here + 1) % len(self._windows)]

    def _window(self, chat: Chat) -> Window:
        leader = chat.led_by[0] if chat.led_by else None
        if chat not in self._chats:
            self._chats[chat] = self._chats[leader] if leader else self._used
        return self._chats[chat]

    # What agents do.

    def say(self, request: Request, *parts: Part) -> None:
        self._requests[request.number].say(request, *parts)
        self._take_in()

    def text(self, chat: Chat, text: str) -> None:
        self._window(chat).text(chat, text)
        self._take_in()

    def finish(self, chat: Chat, text: str = "") -> None:
        self._window(chat).finish(chat, text)
        self._take_in()

    def fail(self, chat: Chat) -> None:
        self._window(chat).fail(chat)
        self._take_in()

    def finish_beside(self) -> None:
        for request in list(self.host.beside):
            self._requests[request.number].finish_beside(request)
        self._take_in()

    def crash(self, chat: Chat) -> None:
        """Let the agent crash that answers a chat."""
        self._window(chat).crash(chat)
        self._take_in()

    def lose(self, chat: Chat) -> None:
        """Let the agent crash that answered a chat last."""
        self._window(chat).lose(chat)
        self._take_in()

    def dawdle(self) -> None:
        """Let the agents take their time to stop, from now on."""
        for window in self._windows:
            window.troupe.dawdle()

    def hurry(self) -> None:
        """Let every agent stop that takes its time to."""
        for window in self._windows:
            window.hurry()
        self._take_in()

    # What becomes of us.

    def expire(self, chat: Chat) -> None:
        """Let so much time pass that no chat is kept."""
        self.pass_time(IDLE_SECONDS)

    def let_a_minute_pass(self) -> None:
        """Let the sessions be closed of what nobody went on with for a while."""
        self.pass_time(SUPERSEDED_SECONDS + 5)

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self._shared.stage.stepped.pass_time(seconds)
        self._take_in()

    def restart(self) -> None:
        """Leave, as when the window is loaded anew; another process comes."""
        self._used.restart()
        self._take_in()

    def kill(self) -> None:
        """End at once, without a word; other windows are loaded anew."""
        self._used.kill()
        for window in self._windows:
            window.cancel_all()
        self._take_in()

    def close(self) -> None:
        for window in self._windows:
            window.close()
        self._shared.stage.close()

    def _take_in(self) -> None:
        for window in self._windows:
            window.take_in()
