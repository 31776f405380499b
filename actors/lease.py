"""Hold a session in the memory, as the machine of `actors.continuity.machine` wants it."""

from __future__ import annotations

from typing import TypeAlias, assert_never

import attrs

from .continuity.effects import CheckOrigin, ForgetHandle, ReleaseHandle, SearchMemory
from .continuity.events import OriginChecked, SearchEnded, SessionEvent
from .memory import AgentMemory

MemoryEffect: TypeAlias = SearchMemory | ForgetHandle | ReleaseHandle | CheckOrigin


@attrs.frozen(eq=False, repr=False)
class Lease:
    """A conversation's hold on a session."""

    memory: AgentMemory

    async def perform(self, effect: MemoryEffect) -> SessionEvent | None:
        """Carry an effect out, and return what the machine waits for."""
        match effect:
            case SearchMemory(path=path):
                found = await self.memory.find(path)
                return SearchEnded() if found is None else SearchEnded(found.handle, found.steps)
            case CheckOrigin(handle=handle):
                return OriginChecked(await self.memory.has(handle))
            case ForgetHandle(handle=handle, is_held=is_held):
                await self.memory.begin(handle)
                if not is_held:
                    self.memory.release(handle)
            case ReleaseHandle():
                self.release(effect)
            case _:
                assert_never(effect)
        return None

    async def begin(self, handle: str | None) -> bool:
        """Note that a turn begins; False if another process continues the session."""
        return handle is None or await self.memory.begin(handle)

    def release(self, effect: ReleaseHandle) -> None:
        """Release a closed session. This doesn't wait, so it also works while the actor ends."""
        self.memory.release(effect.handle)
