"""Recognise a conversation in a request that doesn't repeat it exactly.

One pass over both: the record (our messages, in order) and the request. A step of the record is
found in the request, or a rule allows it to be missing. A step of the request is found in the
record, or a rule allows it to be extra. If neither holds, the two differ from there on. Messages
after the whole record are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import attrs

from bridge.history.agent_host import is_host_summary
from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.value import Value

SUMMARY_TAG = "<conversation-summary>"
"""Marks a summary of the local harness; the Agent Host has sentences of its own."""


class RecordedMessage(Value):
    """A step of the record: a message, the exchange it belongs to, and whether it is the answer."""

    message: Message
    exchange: int
    is_answer: bool
    ending: Ending


def items_of(exchanges: Sequence[Exchange]) -> list[RecordedMessage]:
    """Return the record, step by step."""
    items: list[RecordedMessage] = []
    for index, exchange in enumerate(exchanges):
        items.extend(RecordedMessage(m, index, False, exchange.ending) for m in exchange.asked)
        if exchange.answer is not None:
            items.append(RecordedMessage(exchange.answer, index, True, exchange.ending))
    return items


class Alignment(Value):
    """The common beginning of record and request.

    The first `recorded` steps of the record are accounted for by the first `consumed` messages of
    the request. `starts[e]` is the index in the request at which exchange `e` begins. `proof`
    counts our answers, and the results of our calls, that came back.
    """

    recorded: int
    consumed: int
    starts: tuple[int, ...]
    proof: int
    rules: frozenset[Rule]


def align(
    record: Sequence[RecordedMessage], incoming: Sequence[Message], *, may_be_unseen: bool = False
) -> Alignment:
    """Return how far `incoming` repeats `record`; total, and linear but for summaries.

    `may_be_unseen`: the host leaves out whole answers that its user didn't see to their end.
    """
    return _Aligner(record, incoming, may_be_unseen).run()


@attrs.define(eq=False, repr=False)
class _Aligner:
    record: Sequence[RecordedMessage]
    incoming: Sequence[Message]
    may_be_unseen: bool = False
    at: int = 0
    """In the record."""
    to: int = 0
    """In the request."""
    proof: int = 0
    starts: list[int] = attrs.field(factory=list[int])
    rules: set[Rule] = attrs.field(factory=set[Rule])
    last_results: dict[str, int] | None = None
    """The index in the record of each call's last result; computed on first use."""
    summaries: int = 0
    """Number of summaries seen."""
    through_to: tuple[int, int] = (-1, -1)
    """The index of a step in the request, and the end in the record of the rounds before it."""
    doubted: Alignment | None = None
    """The alignment without a turn that seems to be absent, until a later answer proves it. Users
    repeat themselves, so the question after it may belong to another branch."""

    def run(self) -> Alignment:
        while self.at < len(self.record):
            self._note_starts(self.record[self.at].exchange)
            if not (self._found() or self._extra() or self._missing()):
                break
        if self.doubted is not None:
            return self.doubted
        if self.at == len(self.record) > 0:
            self._note_starts(self.record[-1].exchange)
        return self._so_far()

    def _so_far(self) -> Alignment:
        return Alignment(self.at, self.to, tuple(self.starts), self.proof, frozenset(self.rules))

    def _note_starts(self, exchange: int) -> None:
        while len(self.starts) <= exchange:
            self.starts.append(self.to)

    # The next step of both.

    def _found(self) -> bool:
        if self.to >= len(self.incoming):
            return False
        ours, theirs = self.record[self.at], self.incoming[self.to]
        rule = same(ours, theirs)
        if rule is None:
            return self._found_results()
        if isinstance(rule, Rule):
            self.rules.add(rule)
        if ours.is_answer and rule is not Rule.ANSWER_CUT and not ours.message.is_empty:
            self.proof += 1
            self.doubted = None
        self.at += 1
        self.to += 1
        return True

    def _found_results(self) -> bool:
        """Match results that are grouped into messages in another way."""
        ours = _results_from(
            [item.message for item in self.record[self.at : self.at + MOST_RESULTS]]
        )
        theirs = _results_from(self.incoming[self.to : self.to + MOST_RESULTS])
        if not ours.ids or ours.ids != theirs.ids:
            return False
        self.at += ours.messages
        self.to += theirs.messages
        self.rules.add(Rule.RESULTS_REGROUPED)
        return True

    # A step of the request that the record doesn't have.

    def _extra(self) -> bool:
        if self.to >= len(self.incoming):
            return False
        message = self.incoming[self.to]
        if is_summary(message):
            return self._summary()
        if says_nothing(message):
            self.rules.add(Rule.PREAMBLE)
            self.to += 1
            return True
        return False

    def _summary(self) -> bool:
        """Go on where the first message after the summary that we know stands in the record.

        Nothing known after it: the summary stands for the whole record.
        """
        self.to += 1
        self.rules.add(Rule.SUMMARY)
        self.summaries += 1
        if self.summaries > MOST_SUMMARIES:
            return True
        for skipped, message in enumerate(self.incoming[self.to :]):
            if says_nothing(message) or is_summary(message):
                continue
            found = self._place_from(self.to + skipped)
            if found is not None:
                self.at, self.to = found, self.to + skipped
                return True
            break
        self.at = len(self.record)
        return True

    def _place_from(self, to: int) -> int | None:
        """Return the place in the record of a message in the request; an exact one comes first.

        Users and agents repeat themselves. So of several places that one counts after which most
        of the next messages stand, too, and of these the newest. The request's last message doesn't
        count: it is asked now, perhaps not for the first time.
        """
        message = self.incoming[to]
        places = range(len(self.record) - 1, self.at - 1, -1)
        exact = [index for index in places if self.record[index].message == message]
        if exact:
            return max(exact, key=lambda index: self._followed(index, to))  # the first of equals
        return next((index for index in places if _proves(self.record[index], message)), None)

    def _followed(self, at: int, to: int) -> int:
        """Return how many messages stand in a row both at a place and in the request."""
        ours, theirs = self.record[at : at + MOST_FOLLOWED], self.incoming[to:-1]
        pairs = zip(ours, theirs, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].message == pair[1], pairs))

    # A step of the record that the request doesn't have.

    def _missing(self) -> bool:
        item = self.record[self.at]
        unfinished = item.ending in UNFINISHED
        if not item.is_answer:
            if says_nothing(item.message) and not is_summary(item.message):
                return self._skip(1, Rule.PREAMBLE)
            if unfinished and item.exchange < self.record[-1].exchange:
                length = self._exchange_length()
                if self._goes_on_after(length):
                    self.doubted = self.doubted or self._so_far()
                    return self._skip(length, Rule.TURN_ABSENT)
            return False
        if unfinished:
            return self._skip(1, Rule.ANSWER_ABSENT)
        if item.message.calls:
            return self._missing_round()
        return self._is_unseen() and self._skip(1, Rule.ANSWER_UNSEEN)

    def _is_unseen(self) -> bool:
        """Return whether a whole answer is left out here, and the user goes on as if it stood."""
        if not self.may_be_unseen or self.to >= len(self.incoming):
            return False
        is_last = self.at + 1 == len(self.record)
        return self.incoming[self.to].role == "user" if is_last else self._goes_on_after(1)

    def _missing_round(self) -> bool:
        """Skip calls with their results, or calls that never got one."""
        wanted = {call.call_id for call in self.record[self.at].message.calls}
        following = self.record[self.at + 1 : self.at + 1 + MOST_RESULTS]
        results = _results_from([item.message for item in following])
        if not wanted & set(results.ids):
            if self.last_results is None:
                self.last_results = {
                    result: place
                    for place, item in enumerate(self.record)
                    for result in item.message.results
                }
            known = self.last_results
            has_later = any(known.get(call_id, -1) > self.at for call_id in wanted)
            return not has_later and self._skip(1, Rule.CALLS_DROPPED)
        length = 1 + results.messages
        return self._goes_on_after(length, through=True) and self._skip(length, Rule.ROUND_PRUNED)

    def _exchange_length(self) -> int:
        exchange = self.record[self.at].exchange
        length = 1
        while self.record[self.at + length].exchange == exchange:
            length += 1
        return length

    def _goes_on_after(self, length: int, *, through: bool = False) -> bool:
        """Return whether the request continues at `length` steps later in the record.

        `through`: further rounds may be missing in a row.
        """
        if self.to >= len(self.incoming):
            return False
        theirs = self.incoming[self.to]
        index = self.at + length
        if through and self.through_to[0] == self.to and index <= self.through_to[1]:
            return True  # as for the round before
        while index < len(self.record):
            item = self.record[index]
            if same(item, theirs) is not None:
                break
            if not (through and (item.message.calls or item.message.results)):
                return False
            index += 1
        if through:
            self.through_to = self.to, index
        return True

    def _skip(self, length: int, rule: Rule) -> bool:
        self.at += length
        self.rules.add(rule)
        return True


UNFINISHED = frozenset({Ending.CANCELLED, Ending.FAILED, Ending.EMPTY, Ending.OPEN})
MOST_SUMMARIES = 32
"""Summaries of a request that are looked up in the record; others stand for nothing."""
MOST_FOLLOWED = 64
"""Messages after a summary that are compared to find out where in the record they stand."""
MOST_RESULTS = 128
"""Most messages of results in a row that are compared; hosts allow fewer calls in a round."""


def same(item: RecordedMessage, theirs: Message) -> Rule | bool | None:
    """Return True for the same message, the rule by which it is the same, or None."""
    ours = item.message
    if ours == theirs:
        return True
    if ours.role != theirs.role or ours.name != theirs.name:
        return None
    if ours.role == "assistant":
        return _same_answer(item, theirs)
    if len(theirs.images) > len(ours.images):
        return None  # hosts replace and drop images, but never add one
    if ours.results or theirs.results:
        if ours.results == theirs.results and ours.text == theirs.text:
            return Rule.IMAGE_REPLACED
        return None
    if ours.request is not None and ours.request == theirs.request:
        return Rule.IMAGE_REPLACED if ours.text == theirs.text else Rule.REQUEST_ONLY
    if ours.images and ours.request is not None and theirs.request is not None:
        return Rule.IMAGE_REPLACED if theirs.request.startswith(ours.request) else None
    return None


def _same_answer(item: RecordedMessage, theirs: Message) -> Rule | None:
    ours = item.message
    dropped = ours.calls != theirs.calls
    if dropped and theirs.calls:
        return None
    mine, other = plain(ours.text), plain(theirs.text)
    if mine == other and (mine or not dropped):
        return Rule.CALLS_DROPPED if dropped else Rule.LINKS_REWRITTEN
    if item.ending in UNFINISHED and other and not theirs.calls and mine.startswith(other):
        return Rule.ANSWER_CUT
    return None


def plain(text: str) -> str:
    """Return an answer's text with each link, `[label](address)`, as its label."""
    kept: list[str] = []
    at = 0
    middle = text.find("](")
    while middle >= 0:
        label = _label(text, at, middle)
        if label is not None:
            end = text.find(")", middle)
            if end < 0:
                break  # no other link has an end, either
            kept += (text[at : label[0]], text[label[1] : label[2]])
            at = end + 1
        middle = text.find("](", max(at, middle + 2))
    return "".join((*kept, text[at:])).rstrip()


def _label(text: str, at: int, middle: int) -> tuple[int, int, int] | None:
    """Return where a link begins that has its `](` there, and where its label begins and ends.

    None if it has no beginning after `at`. A label may stand in backticks, and has none within.
    Nothing before the last bracket that closes is looked at, so all labels take linear time.
    """
    least = max(at, text.rfind("]", at, middle) + 1)
    end = middle - 1 if text.endswith("`", least, middle) else middle
    tick = text.rfind("`", least, end)
    if tick > least and text[tick - 1] == "[":
        return tick - 1, tick + 1, end
    begin = text.find("[", max(least, tick), end)
    return (begin, begin + 1, end) if begin >= 0 else None


def is_summary(message: Message) -> bool:
    """Return whether the host replaced earlier messages by a summary here."""
    if message.role != "user":
        return False
    return message.text.lstrip().startswith(SUMMARY_TAG) or is_host_summary(message.text)


def says_nothing(message: Message) -> bool:
    """Return whether a user message is the host's alone: facts on the machine, no request."""
    return (
        message.role == "user"
        and message.request is None
        and not (message.results or message.images)
    )


def _proves(item: RecordedMessage, theirs: Message) -> bool:
    """Return whether finding this message shows where in the record we are."""
    return same(item, theirs) is not None and not says_nothing(theirs)


class _Results(Value):
    ids: tuple[str, ...]
    messages: int


def _results_from(messages: Sequence[Message]) -> _Results:
    """Return the ids in the messages at the beginning that hold nothing but results."""
    ids: list[str] = []
    count = 0
    for message in messages:
        if not message.results or message.text:
            break
        ids.extend(message.results)
        count += 1
    return _Results(tuple(ids), count)
