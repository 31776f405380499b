"""That the benchmarks run and tell the truth about a limit; what they measure is theirs to say."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs
import msgspec
import pytest
import trio

from benchmarks import __main__ as command
from benchmarks import (
    acp_agent,
    acp_burst,
    acp_sessions,
    history,
    http,
    http_memory,
    idle,
    memory,
    open_responses_client,
    parts,
    stall_cases,
    stalls,
    start,
    store,
    tokens,
    tools,
)
from benchmarks import open_responses as streams
from benchmarks.editor import chat_line, editing, message
from benchmarks.harness import Child, Result, running
from benchmarks.pace import pace, pace_of_large_data

HELD = Result("quick", 1.0, 1.0, "x")
MISSED = Result("slow", 1.1, 1.0, "x", "why")


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = {"quick": lambda: [HELD], "both": lambda: [HELD, MISSED]}
    monkeypatch.setattr(command, "BENCHMARKS", made_up)
    monkeypatch.setattr(command, "pace", lambda: 1.0)


def test_a_number_at_its_limit_is_held(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["quick"]) == 0
    assert "NOT HELD" not in capsys.readouterr().out


def test_one_limit_that_is_not_held_is_seen_in_the_table_and_in_the_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main([]) == 1
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "measured", "limit", "unit", "verdict", "note"]
    assert [row.split()[0] for row in rows] == ["quick", "quick", "slow"]
    assert ["NOT HELD" in row for row in rows] == [False, False, True]


@pytest.mark.parametrize(
    ("measured", "unit", "slowness", "held"),
    [
        (6.0, "us a message", 1.0, False),
        (6.0, "us a message", 1.1, False),
        (6.0, "us a message", 1.2, True),
        (6.0, "ms", 1.2, True),
        (6.0, "x", 1.2, False),
        (6.0, "MB", 1.2, False),
        (5.0, "us", 0.5, True),
    ],
)
def test_a_slow_machine_may_take_longer_but_not_more_memory(
    measured: float, unit: str, slowness: float, held: bool
) -> None:
    assert command.eased(Result("any", measured, 5.0, unit), slowness).held is held


def test_a_limit_that_isn_t_held_is_measured_once_more_and_the_better_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = iter(
        [
            [Result("a", 2.0, 1.0, "x"), Result("b", 1.0, 1.0, "x")],
            [Result("a", 1.0, 1.0, "x"), Result("b", 3.0, 1.0, "x")],
        ]
    )
    results = command.tell([lambda: next(runs)])
    assert [(result.measured, result.held) for result in results] == [(1.0, True), (1.0, True)]
    assert capsys.readouterr().out.count("measured twice") == 2
    always = command.tell([lambda: [Result("a", 2.0, 1.0, "x")]])
    assert [result.held for result in always] == [False]


def test_what_is_measured_on_a_slow_machine_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "pace", lambda: 1.5)
    results = command.tell([lambda: [Result("any", 6.0, 5.0, "us")]])
    assert [(result.limit, result.held) for result in results] == [(7.5, True)]
    assert "limit 5 on a machine 1.50 x as quick" in capsys.readouterr().out


def test_this_machine_has_a_pace() -> None:
    assert 1.0 <= pace() < 100
    assert 1.0 <= pace_of_large_data() < 100


def test_the_long_form_is_measured_only_if_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "FULL", {"quick": lambda: [attrs.evolve(HELD, note="long")]})
    assert command.main(["quick"]) == 0
    assert "long" not in capsys.readouterr().out
    assert command.main(["quick", "--full"]) == 0
    assert "long" in capsys.readouterr().out


def test_results_are_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    command.main(["both", "--json", str(file)])
    quick, slow = msgspec.json.decode(file.read_bytes())
    assert quick["held"]
    assert slow == {
        "name": "slow",
        "measured": 1.1,
        "limit": 1.0,
        "unit": "x",
        "note": "why; measured twice",
        "held": False,
    }


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["quik"])
    assert "there is no quik; there is quick, both" in capsys.readouterr().err


def test_a_call_that_was_disturbed_does_not_count_and_one_that_is_slow_by_itself_does() -> None:
    quick, disturbed, slow = 1.0, 9.0, 3.0
    assert tools.undisturbed([[quick, disturbed, slow], [quick, quick, slow]]) == quick
    assert tools.undisturbed([[quick, slow, slow], [disturbed, slow, slow]]) == slow


@pytest.mark.skipif(sys.platform != "linux", reason="the memory is read as Linux has it")
def test_the_benchmark_of_an_endpoint_measures_something() -> None:
    results = open_responses_client.measure(short=50, long=2_000, repetitions=1, events=3)
    assert [result.name for result in results] == ["or client", "or client first"]
    assert results[0].measured > 0


def test_the_benchmark_of_streams_measures_something() -> None:
    results = streams.measure(events=500, repetitions=1, many=1_000, firsts=5, calls=80)
    assert len(results) == 6
    assert all(result.measured > 0 for result in results if result.name != "or memory")


def test_the_benchmark_of_the_store_measures_something() -> None:
    results = store.measure(chats=100, lookups=10)
    assert [result.measured > 0 for result in results] == [True] * 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks read Linux's CPU clocks")
class TestOnRealProcesses:
    def test_each_benchmark_measures_something(self) -> None:
        results = [
            *start.measure(runs=1),
            *parts.measure(short=100, long=30_000, repetitions=1),
            *history.measure(lengths=(10, 5_000), requests=2, repetitions=1),
            *memory.measure(early=505, late=510),
            *acp_burst.measure(short=100, long=5_000, repetitions=1, chunks=5),
            *acp_sessions.measure(sessions=3),
            *tokens.measure(modules=4, repetitions=1),
            *http.measure(short=50, long=500, repetitions=1, alone=20, streams=5, words=50),
            *http_memory.measure(early=10, late=20),
        ]
        assert len(results) == 23
        assert [one for one in results if one.measured <= 0] == []

    def test_the_benchmark_of_idling_looks_at_live_agents(self) -> None:
        (result,) = idle.measure(agents=2, seconds=0.1, settling=0)
        assert result.measured >= 0  # idle is idle: on a short look nothing at all may be used

    def test_the_floor_writes_the_lines_of_the_bridge(self) -> None:
        with editing() as editor, running([sys.executable, "-m", "benchmarks.floor"]) as floor:
            editor.child.write(chat_line(1, [message("user", "!long 300")]))
            floor.write(b"290")  # the bridge goes on to the end of a sentence
            assert _lines(editor.child, 290) == _lines(floor, 290)

    def test_the_official_client_writes_the_lines_of_the_bridge(self) -> None:
        script = {"otherwise": [{"say": "word ", "times": 300}]}
        program = [sys.executable, "-m", "benchmarks.acp_official"]
        with (
            acp_agent.editing(script) as editor,
            acp_agent.scripted(script) as command,
            running([*program, *command]) as official,
        ):
            editor.send("go")
            official.write(b"go")
            assert _lines(editor.child, 300) == _lines(official, 300)

    def test_a_child_that_ended_is_an_error_and_no_hang(self) -> None:
        with running([sys.executable, "-c", ""]) as child, pytest.raises(EOFError, match="ended"):
            child.read()


def _lines(child: Child, count: int) -> list[bytes]:
    return [child.read() for _ in range(count)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="agents are programs beyond pipes")
def test_the_longest_step_is_that_of_the_worst_case() -> None:
    size = stall_cases.Size(calls=20, line_bytes=20_000, output_bytes=1_000)
    (result,) = stalls.measure(size, rounds=1)
    assert 0 < result.measured < 1000
    assert any(name in result.note.partition(";")[0] for name in stall_cases.HELD)


def test_the_longest_of_the_steps_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 5.0
    monkeypatch.setattr(stalls.time, "thread_time", lambda: now)

    async def work() -> None:
        nonlocal now
        now += 100.0  # in the step in which the measure begins
        trio.lowlevel.add_instrument(steps)
        for seconds in (1.0, 3.0, 2.0):
            await trio.lowlevel.checkpoint()
            now += seconds

    steps = stalls.Steps()
    trio.run(work)
    assert steps.longest == 3.0
