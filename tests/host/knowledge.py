"""What an agent must know of a chat, and what it may: facts, and how they can be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import attrs

from .chat import Answer, Chat, Ending
from .facts import Fact, Kind, is_within
from .request import Request

Key = tuple[object, ...]
"""A fact, as it can be told from others."""


@attrs.define(eq=False)
class Knowledge:
    """Knows about every answer where in a chat it was given."""

    facts: dict[int, Fact]
    by_words: bool
    """Whether words and results are told apart by what they say alone, not by who said them when.

    Two chats can have equal words and equal answers. Where nothing in their requests differs,
    nobody can know which of the two goes on, and it doesn't matter.
    """
    _answers: dict[int, Answer] = attrs.field(factory=dict[int, Answer])
    _places: dict[int, tuple[int, ...]] = attrs.field(factory=dict["int", "tuple[int, ...]"])
    """What the user had said when each answer was given."""
    _families: dict[str, set[Chat]] = attrs.field(factory=dict["str", "set[Chat]"])

    def note(self, request: Request) -> None:
        """Note who is asked, and where."""
        self._answers[request.answer.fact] = request.answer
        if request.chat is not None:
            self._places[request.answer.fact] = request.chat.said()
            self.family(request.chat).add(request.chat)

    def family(self, chat: Chat) -> set[Chat]:
        """The chats that share an id: forks and sub-agents."""
        return self._families.setdefault(chat.conversation_id, set())

    def is_whole(self, number: int) -> bool:
        """Whether an answer was seen as far as it came: a beginning of one proves nothing."""
        answer = self._answers[number]
        return answer.seen == answer.text

    def check(self, chat: Chat, required: Sequence[int], knows: Sequence[int]) -> str | None:
        """Say what is wrong with what an agent knows of a chat; None if it is as it should be.

        It knows all that is required, and nothing but what the user sees as accepted; each once,
        and in order.
        """
        required, allowed = self._settled(required), self._settled(chat.accepted())
        known = self._settled(self._known(chat, knows))
        if not is_within(self._keys(chat, required), self._keys(chat, known)):
            what = "was not told"
        elif not is_within(self._keys(chat, known), self._keys(chat, allowed)):
            what = "knows too much"
        else:
            return None
        shown = [", ".join(str(self.facts[one]) for one in some) for some in (required, allowed)]
        all_known = ", ".join(str(self.facts[one]) for one in knows)
        return f"{what}\nknows:    {all_known}\nneeds:    {shown[0]}\nmay know: {shown[1]}"

    def _settled(self, facts: Iterable[int]) -> list[int]:
        """Return facts with the results of a round in one order: an agent gets each by itself."""
        settled: list[int] = []
        for kind, some in groupby(facts, lambda one: self.facts[one].kind):
            same = list(some)
            settled += sorted(same) if kind is Kind.RESULT else same
        return settled

    def fits(self, chat: Chat, knows: Sequence[int]) -> bool:
        """Whether an agent knows nothing but this chat."""
        known = self._settled(self._known(chat, knows))
        return is_within(self._exact(known), self._exact(self._settled(chat.accepted())))

    def _known(self, chat: Chat, knows: Sequence[int]) -> list[int]:
        """What an agent knows, but for what it began to say before it was asked the same again.

        A beginning that the host doesn't show leaves no trace in its requests: the user may have
        gone back to another attempt at the same question, which was stopped, too.
        """
        said, accepted = chat.said(), set(self._exact(chat.accepted()))

        def is_trace(number: int) -> bool:
            answer, place = self._answers.get(number), self._places.get(number)
            if answer is None or place is None or answer.ending is Ending.COMPLETE:
                return False
            same = self._words(said[: len(place)]) == self._words(place)
            return same and self._exact([number])[0] not in accepted

        return [number for number in knows if not is_trace(number)]

    def _keys(self, chat: Chat, facts: Iterable[int]) -> list[Key]:
        if self.by_words or len(self.family(chat)) > 1:
            return [self._key(number, by_words=True) for number in facts]
        return self._exact(facts)

    def _exact(self, facts: Iterable[int]) -> list[Key]:
        return [self._key(number, by_words=self.by_words) for number in facts]

    def _key(self, number: int, *, by_words: bool) -> Key:
        """The same answer to the same words is the same, whichever attempt brought it.

        Its calls don't count: of an answer that was cut, the host may show the text alone. Results
        show them.
        """
        fact, answer = self.facts[number], self._answers.get(number)
        if answer is not None:
            place = self._places.get(number, ())
            said = self._words(place) if by_words else place
            return fact.kind, said, answer.text
        return (fact.kind, fact.text) if by_words else (fact.kind, number)

    def _words(self, facts: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.facts[number].text for number in facts)
