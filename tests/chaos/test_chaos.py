"""Chats side by side while agents die, endpoints break and the disk fills: none hurts another.

The seed is printed. Another run with it draws the same accidents, though not at the same moments:

    python -m tests.chaos.run SEED SECONDS
"""

from __future__ import annotations

import faulthandler
import os
import random
import sys
from typing import cast

import pytest

from bridge import methods
from tests.fakes.editor import JSON, FakeEditor, Request, text

from .people import Person

if sys.platform == "linux":
    from .run import run
else:
    pytest.skip("it stops processes and fills the disk as Linux lets it", allow_module_level=True)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(60, marks=pytest.mark.slow),
        pytest.param(300, marks=pytest.mark.long),
    ],
)
async def test_chaos_settles_each_request_once_and_leaves_nothing_behind(seconds: float) -> None:
    faulthandler.cancel_dump_traceback_later()  # it takes long, and every wait of it has an end
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")  # noqa: T201  pytest shows it where the test fails
    happened: JSON = await run(seed, seconds)
    print(happened)  # noqa: T201
    assert happened["answered"] > 0


INTERNAL: JSON = {"error": {"code": -32603, "message": "no", "data": {"kind": "Internal"}}}


@pytest.mark.parametrize(
    ("said", "reply", "is_fine"),
    [
        ("p03-0001 p03-0002", {"result": {}}, True),
        ("", {"error": {"code": -32000, "data": {"kind": "AgentFailed"}}}, True),
        ("p03-0001", {"result": {}}, False),
        ("p03-0002 p04-0001", {"result": {}}, False),
        ("", INTERNAL, False),
        ("", {"error": {"code": -32602, "message": "no"}}, False),
    ],
    ids=["its own", "a death", "an old answer", "another's", "internal", "refused"],
)
def test_a_person_notices_what_must_not_be(said: str, reply: JSON, is_fine: bool) -> None:
    person = Person(3, "acp", {}, cast("FakeEditor", None), random.Random(0))
    request = Request(1, methods.CHAT)
    request.take_part(text(said))
    request.reply = reply
    if is_fine:
        person.check(request, "p03-0002")
    else:
        with pytest.raises(AssertionError):
            person.check(request, "p03-0002")
