from __future__ import annotations

from collections.abc import Iterable, Sequence

import trio

from agents.events import Prompt
from agents.open_responses.agent import OpenResponsesAgent
from agents.open_responses.checkpoints import MISSES, NoPointMemory, Point, Points
from bridge.wire import OpenResponsesSpec
from tests.fakes.responses_server import ResponsesServer, responses_server

from .endpoints import rest_of
from .words import assistant, user

SETUP = b"setup"


class Shelf:
    """What outlives a process."""

    def __init__(self) -> None:
        self.kept: dict[tuple[bytes, bytes], Point] = {}
        self.asked = 0

    async def points(self, scope: bytes, most: int) -> Sequence[tuple[bytes, Point]]:
        self.asked += 1
        found = [(digest, one) for (whose, digest), one in self.kept.items() if whose == scope]
        return found[-most:]

    def keep(self, scope: bytes, digest: bytes, point: Point) -> None:
        self.kept[scope, digest] = point

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        for digest in digests:
            del self.kept[scope, digest]


def point(name: str) -> Point:
    return Point(name, SETUP)


async def recalled(shelf: Shelf, *names: str) -> Points:
    """The points of a process that comes after one that kept some."""
    before = Points(memory=shelf)
    for name in names:
        before.keep(name.encode(), point(name))
    points = Points(memory=shelf)
    points.recall(await shelf.points(b"", 10))
    return points


async def test_what_an_earlier_process_kept_can_be_gone_on_from() -> None:
    points = await recalled(Shelf(), "1", "2")
    assert points.at(b"1") == point("1")
    assert points.at(b"3") is None


async def test_endpoints_do_not_know_each_other_s_responses() -> None:
    shelf = Shelf()
    Points(memory=shelf, scope=b"one").keep(b"1", point("1"))
    other = Points(memory=shelf, scope=b"other")
    other.recall(await shelf.points(other.scope, 10))
    assert other.at(b"1") is None


async def test_a_server_that_lost_what_it_kept_for_an_earlier_process_is_not_stateless() -> None:
    shelf = Shelf()
    points = await recalled(shelf, "1", "2", "3", "4")
    for number in range(1, MISSES + 1):
        points.miss(str(number))
    assert not points.is_stateless
    assert not shelf.kept, "and what else it kept then is not tried any more"
    points.keep(b"5", point("5"))
    assert points.at(b"5") == point("5")


async def test_one_response_that_is_lost_says_nothing_of_the_others() -> None:
    points = await recalled(Shelf(), "1", "2", "3", "4")
    for number in range(1, 4):
        points.miss(str(number))
        points.hit()
    assert points.at(b"4") == point("4")


async def test_a_recalled_response_that_is_kept_again_is_one_of_ours() -> None:
    points = await recalled(Shelf(), *"123")
    for number in range(MISSES):
        points.keep(b"1", point(str(number)))
        points.miss(str(number))
    assert points.is_stateless


async def test_of_a_server_that_keeps_nothing_nothing_is_remembered() -> None:
    shelf = Shelf()
    points = await recalled(shelf, "old")
    points.keep(b"here", point("here"))
    for number in range(MISSES):
        points.miss(f"never heard {number}")
    assert points.is_stateless
    points.keep(b"more", point("more"))
    assert not shelf.kept


async def test_the_oldest_are_forgotten_here_and_kept_there() -> None:
    shelf = Shelf()
    points = Points(2, shelf)
    for name in "123":
        points.keep(name.encode(), point(name))
    assert points.at(b"1") is None
    assert len(shelf.kept) == 3


async def test_the_oldest_ids_are_forgotten() -> None:
    points = Points(2)
    points.keep_ids({"a": "1", "b": "2"})
    points.keep_ids({"c": "3", "b": "4"})
    assert points.server_ids == {"b": "4", "c": "3"}


async def test_without_a_memory_nothing_is_remembered() -> None:
    nothing = NoPointMemory()
    nothing.keep(b"", b"1", point("1"))
    nothing.forget(b"", [b"1"])
    assert await nothing.points(b"", 10) == ()


async def _ask(server: ResponsesServer, shelf: Shelf, prompt: Prompt, times: int = 1) -> None:
    """Ask in as many sessions at once, in a process of their own."""
    spec = OpenResponsesSpec(server.base_url, "small")
    async with trio.open_nursery() as nursery:
        agent = OpenResponsesAgent(spec, nursery, environment={}, points=Points(memory=shelf))

        async def ask() -> None:
            async with agent.session(prompt) as session:
                await rest_of(session, session.run(prompt))

        async with trio.open_nursery() as asking:
            for _ in range(times):
                asking.start_soon(ask)
        await agent.aclose()
        nursery.cancel_scope.cancel()


async def test_a_chat_goes_on_from_its_last_response_in_another_process() -> None:
    shelf = Shelf()
    async with responses_server() as server:
        await _ask(server, shelf, Prompt((user("hello"),)))
        chat = (user("hello"), assistant("hello"))  # it says what users said
        await _ask(server, shelf, Prompt((user("and?"),), transcript=chat), times=2)
        assert shelf.asked == 2, "once in each process"
        assert [body.get("previous_response_id") is not None for body in server.bodies] == [
            *(False, True, True)
        ]
        assert all(len(body["input"]) == 1 for body in server.bodies)
