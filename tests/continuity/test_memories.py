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
