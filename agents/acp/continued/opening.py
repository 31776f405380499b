"""Open the session that a user names in `/continue`, and list those that there are.

The agent works in the folder of the session. So only sessions of the window's folders are listed,
and one that isn't listed is looked for in the folder in which a new session would work.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence

import attrs
import trio

from agents.acp.connected_agent import ConnectedAgent
from agents.acp.reopened import ToldAgain
from agents.acp.session_channel import SessionChannel
from agents.acp.session_open import SESSION_SECONDS
from agents.acp.session_params import SessionParams
from agents.acp.text.markdown import escape
from agents.base import AgentError
from agents.breather import Breather
from agents.events import Say
from bridge.errors import Failure
from bridge.wire import ListedSession

from .command import Wish
from .transcript import transcript
from .words import GOES_ON, MOST_LISTED, failed, list_text, listed, no_list, without_transcript

_IN_USE = (
    "it is open in another chat of this window. Go on there. A chat releases its session "
    "after a while without messages"
)


@attrs.frozen(eq=False, repr=False)
class Found:
    """A session that goes on, its folder, and the words that the user reads first."""

    channel: SessionChannel
    root: str
    words: Sequence[Say]


class Folders:
    """The folders of a window, as it is now; the first is that of new chats."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        spellings = (one for path in paths for one in (path, os.path.realpath(path)))
        self._spellings = frozenset(map(_plain, spellings))

    def has(self, cwd: str) -> bool:
        """Return whether a folder is one of them, as an agent may spell it."""
        return _plain(cwd) in self._spellings


@attrs.frozen(eq=False, repr=False)
class Continuing:
    """The sessions of an agent, for a window with these folders.

    `is_open` returns whether a chat has the session of an id and has sent it something; `take_over`
    takes it from a chat that hasn't. `params_in` makes the parameters of a session in a folder.
    """

    peer: ConnectedAgent
    folders: Folders
    is_open: Callable[[str], bool]
    take_over: Callable[[str], Awaitable[None]]
    params_in: Callable[[str], Awaitable[SessionParams]]

    async def listed(self) -> list[ListedSession]:
        """Return the sessions of the folders; raises `AgentError`."""
        name = self.peer.name
        if not self.peer.existing.can_show:
            text = f"{name} can't open a session again, so none can be continued."
            raise AgentError(Failure("NotFound", text))
        found: list[ListedSession] = []
        until = trio.current_time() + SESSION_SECONDS
        for folder in self.folders.paths:
            if trio.current_time() >= until:  # a slow agent; the first folder is that of new chats
                break
            sessions = await self.peer.existing.list(folder)
            if sessions is None:
                raise AgentError(Failure("NotFound", no_list(name)))
            found += listed(sessions, self.folders.has, self.is_open)
        newest = sorted(found, key=lambda one: one.updated_at, reverse=True)
        return list({one.session_id: one for one in newest}.values())[:MOST_LISTED]

    async def find(self, wish: Wish) -> Found | str:
        """Return the session that the user wishes, or words in place of one.

        Raises `AgentError` for a login.
        """
        name, session_id = self.peer.name, wish.session_id
        if not session_id:
            if not self.peer.existing.can_list:
                return no_list(escape(name))
            return list_text(name, await self.listed())
        if self.is_open(session_id):
            return failed(name, session_id, _IN_USE)
        root = await self._folder_of(session_id)
        await self.take_over(session_id)
        replay = ToldAgain()
        channel = await self.peer.existing.show(await self.params_in(root), session_id, replay)
        if isinstance(channel, str):
            return failed(name, session_id, channel)
        try:
            text = await Breather().do(transcript(replay.updates, root, is_cut=replay.is_cut))
        except BaseException:
            self.peer.close(channel)  # nobody has it yet
            raise
        shown = Say(f"{text}\n\n") if text else Say(f"{without_transcript(name)}\n\n", by_us=True)
        return Found(channel, root, (shown, Say(GOES_ON, by_us=True)))

    async def _folder_of(self, session_id: str) -> str:
        """Return the folder of a session: one of several, if the agent says so."""
        first, *others = self.folders.paths
        if others and self.peer.existing.can_list:
            for one in await self.listed():
                if one.session_id == session_id:
                    return one.cwd
        return first


def _plain(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))
