"""The store's task: it runs the store's operations in a thread, one after the other.

A caller waits for a bounded time, and then goes on without an answer. A note is written later, and
no caller waits for it. Of two notes with the same key only the newer is written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import attrs
import trio

from agents.boundary import contained

from .database import Database, StoreError
from .store import DatabaseWrite, Store

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
"""Seconds to wait for an answer."""
LEAVING_SECONDS = 2.0
"""Seconds that the end may take: writing the notes, and closing the file."""
MOST_NOTES = 10_000
"""Changes that wait to be written."""


@attrs.frozen(eq=False, repr=False)
class Note:
    """Something to write, which `prepare` makes in the thread: None if there is nothing after all.

    `begins` is called just before the write. Then follows `fails` if it surely wasn't written, else
    `ends`. After a failure one that `must_be` written is tried again with the next thing that is
    done, unless a newer one has its key.
    """

    prepare: Callable[[], DatabaseWrite | None]
    begins: Callable[[], None] = lambda: None
    fails: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None
    must_be: bool = False


@attrs.define(eq=False, repr=False)
class _Question:
    act: Callable[[Database, Callable[[], bool]], Any]
    put_back: Callable[[Any], None]
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    answer: Any = attrs.field(default=None, init=False)
    error: StoreError | None = attrs.field(default=None, init=False)
    is_wanted: bool = attrs.field(default=True, init=False)
    """Whether somebody still waits for the answer. The thread reads it, too."""


@attrs.define(eq=False, repr=False)
class Worker:
    """Work until the queue says to stop."""

    store: Store
    patience: float = PATIENCE_SECONDS
    _notes: dict[Hashable, Note] = attrs.field(factory=dict[Hashable, Note], init=False)
    _failed: dict[Hashable, Note] = attrs.field(factory=dict[Hashable, Note], init=False)
    """Notes to retry together with the next write; not at once, because a full disk stays full."""
    _questions: deque[_Question] = attrs.field(factory=lambda: deque[_Question](), init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _is_leaving: bool = attrs.field(default=False, init=False)
    is_stuck: bool = attrs.field(default=False, init=False)
    """Whether somebody gave up while the thread was at work, and it still is."""
    _until: trio.CancelScope = attrs.field(
        # shielded: the notes must be written even if everything else is cancelled
        factory=lambda: trio.CancelScope(shield=True),
        init=False,
    )

    def note(self, key: Hashable, note: Note) -> None:
        """Have something written soon."""
        self.drop(key)
        self._try_again()
        self._notes[key] = note
        while len(self._notes) > MOST_NOTES:
            del self._notes[next(iter(self._notes))]
        self._wake.set()

    def drop(self, key: Hashable) -> None:
        """Forget a note that isn't written yet."""
        self._notes.pop(key, None)
        self._failed.pop(key, None)

    def _try_again(self) -> None:
        """Note once more what failed; it is older than all that waits."""
        self._notes = {**self._failed, **self._notes}
        self._failed = {}

    async def ask(self, act: Callable[[Database], T]) -> T:
        """Return an answer, after all that is noted is written; raises `StoreError`."""
        return await self.take(lambda database, _: act(database), _forget)

    async def take(
        self, act: Callable[[Database, Callable[[], bool]], T], put_back: Callable[[T], None]
    ) -> T:
        """Take something out of the store, as `ask` does; nothing is lost if the caller leaves.

        `act` gets a function that says whether the caller still waits. If the caller leaves too
        late, `put_back` gets the answer.
        """
        if self.is_stuck:
            await trio.lowlevel.checkpoint()
            raise StoreError("it is too slow")
        question = _Question(act, put_back)
        self._try_again()
        self._questions.append(question)
        self._wake.set()
        try:
            with trio.move_on_after(self.patience):
                await question.answered.wait()
        finally:
            question.is_wanted = question.answered.is_set()
            if question in self._questions:
                self._questions.remove(question)
        if not question.answered.is_set():
            self.is_stuck = True
            raise StoreError("it is too slow")
        if question.error is not None:
            raise question.error
        return question.answer

    async def run(self) -> None:
        """Be the task."""
        with self._until:
            while not self._is_leaving:
                await self._wake.wait()
                self._wake = trio.Event()
                await self._work()
                with contained("store"):
                    while not self._wake.is_set() and await _in_thread(self.store.prune):
                        pass
            self._try_again()
            await self._work()
            with contained("store"):
                await _in_thread(self.store.close)

    def leave(self, seconds: float = LEAVING_SECONDS) -> None:
        """Write what is noted, and end; whatever isn't done by then is left."""
        self._is_leaving = True
        self._until.deadline = trio.current_time() + seconds
        self._wake.set()

    async def _work(self) -> None:
        self.is_stuck = False
        while self._notes or self._questions:
            with contained("store"):  # the next ones are written nevertheless
                await self._work_once()
            self.is_stuck = False

    async def _work_once(self) -> None:
        """Write what is noted, and answer the oldest question."""
        notes, self._notes = self._notes, {}
        for note in notes.values():
            note.begins()
        if notes:
            unwritten = set(await _in_thread(self._write, list(notes.values())))
            for key, note in notes.items():
                self._settle(key, note, is_written=note not in unwritten)
        if self._questions and not self._notes:
            question = self._questions.popleft()
            await _in_thread(self._answer, question)
            if question.is_wanted:
                question.answered.set()
            elif question.error is None:
                question.put_back(question.answer)

    def _settle(self, key: Hashable, note: Note, *, is_written: bool) -> None:
        if is_written:
            note.ends()
            return
        note.fails()
        if note.must_be and key not in self._notes:
            self._failed[key] = note
            while len(self._failed) > MOST_NOTES:
                del self._failed[next(iter(self._failed))]

    def _write(self, notes: Sequence[Note]) -> list[Note]:
        """Return the notes that surely aren't written."""
        prepared = [(note, _prepared(note)) for note in notes]
        try:
            self.store.write([change for _, change in prepared if change is not None])
        except StoreError as error:
            if not error.is_in_doubt:
                return list(notes)
        return [note for note, change in prepared if change is None]

    def _answer(self, question: _Question) -> None:
        question.error = StoreError("it failed, see the log")  # unless it can be answered
        with contained("store"):
            try:
                question.answer = self.store.ask(
                    lambda database: question.act(database, lambda: question.is_wanted)
                )
                question.error = None
            except StoreError as error:
                question.error = error


def _prepared(note: Note) -> DatabaseWrite | None:
    with contained("store"):
        return note.prepare()
    return None


def _forget(_answer: object) -> None:
    """Do nothing: nothing was taken."""


async def _in_thread(work: Callable[..., T], *values: Any) -> T:
    # abandoned, if it hangs when we leave: the thread doesn't keep the process from ending
    return await trio.to_thread.run_sync(work, *values, abandon_on_cancel=True)
