"""Do the tests of streams notice what they are there for? Faults are planted.

They are run without any recording.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.planted import Fault, Ground

GROUND = Ground(
    "agents/open_responses",
    "tests/agents/open_responses",
    copied=("agents", "bridge", "tests/agents"),
    options=("--hypothesis-seed=0",),
    environment={"HYPOTHESIS_PROFILE": "dev", "VSCODELM_SHARED": os.devnull},
)

FAULTS = [
    Fault(
        "a CR at the end of a chunk and the LF after it are two line ends",
        "sse",
        'chunk = chunk.removeprefix(b"\\n")',
        "pass",
        ("sse",),
    ),
    Fault(
        "a blank line that is cut between two chunks isn't seen",
        "sse",
        " and not (chunk[0] == 10 == rest[-1])",
        "",
        ("sse",),
    ),
    Fault(
        "an event may be as long as it likes",
        "sse",
        "if size > self._max:",
        "if False:",
        ("sse",),
    ),
    Fault(
        "an unknown field type spoils the event",
        "events",
        "continue\n    re",
        "return None\n    re",
        ("events",),
    ),
    Fault(
        "arguments that can't be read are an empty object",
        "calls",
        "if parsed is None and not record.texts and may_be_empty and",
        "if parsed is None and may_be_empty and",
        ("calls",),
    ),
    Fault(
        "arguments that never came are an empty object",
        "calls",
        "is_told = record.done_text is not None or record.is_finished",
        "is_told = True",
        ("calls",),
    ),
    Fault(
        "a call that was cut off is made",
        "calls",
        'if item.status == "incomplete":',
        "if False:",
        ("calls",),
    ),
    Fault(
        "a call is made by an incomplete response that doesn't say it is whole",
        "calls",
        'if is_complete or item.status == "completed":',
        "if True:",
        ("calls",),
    ),
    Fault(
        "the same call twice is two",
        "calls",
        "if call.call_id and key in self._sent:",
        "if False:",
        ("calls",),
    ),
    Fault(
        "a call id stands for one call only",
        "call_record",
        "and self.output_index != index",
        "and False",
        ("calls",),
    ),
    Fault(
        "a call that seems to have no arguments is made although there are some for it",
        "calls",
        " and not self._may_have(record):",
        ":",
        ("call_search",),
    ),
    Fault(
        "the newest call gets the arguments that may be another's",
        "call_search",
        "        if len(named) < 2:\n",
        "        if named:\n",
        ("call_search",),
    ),
    Fault(
        "arguments that come again are another call's",
        "call_search",
        "r.state is CallState.SENT and r.digest == digest",
        "False",
        ("call_search",),
    ),
    Fault(
        "arguments go to a call with another id",
        "call_search",
        'record.call_id in (None, "", event.call_id)',
        "True",
        ("call_search",),
    ),
    Fault(
        "an item without a key is a new call",
        "call_search",
        "record = self._unclaimed(item)",
        "pass",
        ("call_search",),
    ),
    Fault(
        "arguments that an item has claimed are still there",
        "call_strays",
        "            record.is_matched = True\n",
        "            pass\n",
        ("call_search",),
    ),
    Fault(
        "the order tells whose arguments they are, also where their number is another",
        "call_strays",
        "    if len(left) != len(silent):\n        return []\n",
        "",
        ("call_strays",),
    ),
    Fault(
        "an empty object in the beginning is a call's arguments",
        "call_record",
        'return None if is_empty and item.status != "completed" else text',
        "return text",
        ("call_search",),
    ),
    Fault(
        "a call that has another id in the end is new",
        "call_match",
        "    _was_sent_so,\n    _would",
        "    _would",
        ("calls",),
    ),
    Fault(
        "a name is enough to be the same call",
        "call_match",
        " and record.digest == digest",
        "",
        ("calls",),
    ),
    Fault(
        "a text is said again when it is whole",
        "passage",
        "return whole[self.length :] if",
        "return whole if",
        ("passages",),
    ),
    Fault(
        "another text is added to what was said",
        "passage",
        "return crc32(said) == self.checksum",
        "return True",
        ("passages",),
    ),
    Fault(
        "late deltas are said again",
        "passages",
        "if part.is_done or (part.passage.owed and not part.length):",
        "if False:",
        ("passages",),
    ),
    Fault(
        "what was said ahead is taken off another text",
        "passages",
        'passage.owed = ""  # nothing more comes of what was said ahead',
        "pass",
        ("passages",),
    ),
    Fault(
        "an event with another id at the same index is another item",
        "passages",
        "            found = self._by_index.get(index)\n            is_another",
        "            found = None\n            is_another",
        ("passages",),
    ),
    Fault(
        "reasoning is told both ways",
        "speech",
        "if (self._channel or channel) is not channel:",
        "if False:",
        ("speech",),
    ),
    Fault(
        "a link is shown as often as it comes",
        "speech",
        " or link[0] in passage.links:",
        ":",
        ("speech",),
    ),
    Fault(
        "a server that ignores the previous response is listened to",
        "stream",
        "self._is_confirmed = snapshot.previous_response_id == self._sent_response_id",
        "self._is_confirmed = True",
        ("stream",),
    ),
    Fault(
        "something is said before it is known what the server goes on from",
        "stream",
        "if event.type == TEXT_DELTA and self._is_confirmed:",
        "if event.type == TEXT_DELTA:",
        ("stream",),
    ),
    Fault(
        "a word that is said twice is said once",
        "doubles",
        "return self._is_throughout or (is_numbered and number != self._first_number)",
        "return True",
        ("doubles",),
    ),
    Fault(
        "reasoning is given to a server that can't read it",
        "reasoning_record",
        " if known == origin:",
        ":",
        ("reasoning_record",),
    ),
    Fault(
        "reasoning goes back without what came of it",
        "request_messages",
        "self._thoughts(message) if text.strip() or named else []",
        "self._thoughts(message)",
        ("reasoning_record",),
    ),
    Fault(
        "all reasoning stands in front",
        "request_messages",
        "if one.call_id not in named)",
        ")",
        ("reasoning_record",),
    ),
    Fault(
        "a stream that just ends is complete",
        "stream",
        "return self._fail(ENDED_EARLY)",
        'return tuple(self._stop("completed", StopReason.END_TURN))',
        ("stream",),
    ),
    Fault(
        "the name of the last event counts more than its status",
        "ending",
        'if meaning is Meaning.FAILED or snapshot.status == "failed":',
        "if meaning is Meaning.FAILED:",
        ("stream",),
    ),
    Fault(
        "a response with two calls of one id is gone on from",
        "outcome",
        " and len(set(ids)) == len(ids)",
        "",
        ("stream",),
    ),
    Fault(
        "ever more ids are remembered",
        "call_ids",
        "and len(self._given) < self._max",
        "",
        ("call_ids",),
    ),
    Fault(
        "a quota is worth a retry",
        "faults",
        "if _FINAL.search(f",
        "if not _FINAL.search(f",
        ("faults",),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_still_fits_the_source(fault: Fault) -> None:
    GROUND.fits(fault)


@pytest.mark.faults
def test_without_a_fault_the_copy_passes(tmp_path: Path) -> None:
    GROUND.passes_without(FAULTS, tmp_path)


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_noticed_by_the_tests_of_its_module(
    fault: Fault, tmp_path: Path
) -> None:
    GROUND.notices(fault, tmp_path)
