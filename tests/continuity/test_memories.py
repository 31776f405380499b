"""A chat finds its session again, whatever our processes remember with."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from tests.fakes.session_memory import Shelf
from tests.host.chat import Chat
from tests.host.render import Profile

from .live import LiveWorld
from .memories import Memories, Shelved, Stored
from .mind import Mind
from .remembering import Reach, RememberingTroupe

MEMORIES = {"shelf": lambda: Shelved(Shelf()), "store": Stored, "nothing": lambda: Shelved(None)}


@pytest.fixture(params=MEMORIES)
def memories(request: pytest.FixtureRequest) -> Generator[Memories]:
    memories = MEMORIES[request.param]()
    yield memories
    memories.close()


@pytest.mark.parametrize("ends", [LiveWorld.restart, LiveWorld.kill])
def test_a_chat_goes_on_in_its_session_with_another_process(
    memories: Memories, ends: Callable[[LiveWorld], None]
) -> None:
    live = LiveWorld(Profile(), RememberingTroupe(Reach.RESUME, False), memories)
    chat = live.host.open_chat()
    homes = [_home(live, chat, "hi")]
    for text in ("more", "go"):
        live.host.reload()
        ends(live)
        homes.append(_home(live, chat, text))
    live.close()
    remembers = memories != Shelved(None)
    assert all((one is homes[0]) is remembers for one in homes[1:])


def _home(live: LiveWorld, chat: Chat, text: str) -> Mind:
    """Say something in a chat, and return who answers it."""
    live.host.send(chat, text)
    live.finish(chat, "ok")
    return live.homes[chat]


def test_a_chat_goes_on_in_another_window_and_back(memories: Memories) -> None:
    """Whoever goes on with it has its session; the window where it was must not use it."""
    live = LiveWorld(Profile(), RememberingTroupe(Reach.RESUME, False), memories, windows=2)
    chat = live.host.open_chat()
    homes = [_home(live, chat, "hi")]
    for text in ("more", "go"):
        live.move(chat)
        homes.append(_home(live, chat, text))
    live.close()
    first, second, third = homes
    assert (second is first) is (memories != Shelved(None))
    assert third is not second


def test_a_copy_of_a_chat_knows_nothing_of_what_another_window_went_on_with(
    memories: Memories,
) -> None:
    """Though the agent could fork the session that this window has of it."""
    live = LiveWorld(Profile(), RememberingTroupe(Reach.FORK, False), memories, windows=2)
    chat = live.host.open_chat()
    _home(live, chat, "hi")
    copy = live.host.fork(chat, 1)
    live.move(chat)
    _home(live, chat, "more")
    live.move(copy)  # from there, to where the chat began
    _home(live, copy, "go")
    live.close()
