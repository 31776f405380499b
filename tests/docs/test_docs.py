from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.acp.launch.completed import completed
from bridge.methods import METHODS
from bridge.models import parse_catalogue
from docs import generate
from docs.generator import checklist, links, real_agents, replays, transcripts
from vscodelm.replay.explain import explain
from vscodelm.replay.labels import read_labels
from vscodelm.replay.recording import read_recording

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
TESTED = re.compile(r"<!-- tested -->\n```sh\n(?P<script>.*?)^```$", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"[^`]*?```text\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = "---- end of block"


def test_the_generated_pages_are_those_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


def test_the_rules_of_the_wire_name_each_request_of_ours() -> None:
    page = (generate.ROOT / "docs/reference/wire.md").read_text(encoding="utf-8")
    rules = page[: page.index("## Methods")]
    asked = [method.name for method in METHODS if method.direction == "request from us"]
    assert asked
    assert [name for name in asked if f"[`{name}`]" not in rules] == []


def test_every_link_leads_somewhere() -> None:
    assert links.broken(generate.pages(), generate.ROOT) == []


def test_a_link_to_a_missing_file_or_heading_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](there.md) [d](https://example.org) `[e](no)`\n")
    assert links.broken([page], tmp_path) == [
        "page.md: #two has no such heading",
        "page.md: there.md is not there",
    ]


def test_headings_of_one_name_are_numbered(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# `lm/stats`\n## Settings\n## Settings\n```sh\n# no heading\n```\n")
    assert links.anchors(page) == {"lmstats", "settings", "settings-1"}


def test_a_piece_replaces_what_stood_between_its_markers() -> None:
    regions = {"time": lambda: "noon"}
    page = "before\n<!-- generated: time -->\n\nmorning\n\n<!-- end -->\nafter\n"
    filled = generate.fill(page, regions)
    assert filled == page.replace("morning", "noon")
    assert generate.fill(filled, regions) == filled
    empty = "<!-- generated: time -->\n<!-- end -->\n"
    assert "noon" in generate.fill(empty, regions)


@pytest.mark.parametrize(
    "page",
    [
        "<!-- generated: time -->\nnever ended\n",
        "<!-- end -->\n",
        "<!-- generated: place -->\n<!-- end -->\n",
    ],
)
def test_a_marker_without_its_other_and_an_unknown_piece_are_faults(page: str) -> None:
    with pytest.raises(generate.PageError):
        generate.fill(page, {"time": lambda: "noon"})


def test_what_is_out_of_date_is_told_by_its_first_lines() -> None:
    old = "".join(f"{n}\n" for n in range(100))
    told = generate.summary("page.md", old, "")
    assert "-0" in told
    assert told.endswith("more lines")
    assert len(told.splitlines()) == generate.DIFF_LINES + 1


def test_a_transcript_is_shown_whole_under_what_it_says_of_itself(tmp_path: Path) -> None:
    lines = '> {"id":1}\n# and then\n< {"id":1,"result":{}}\n'
    (tmp_path / "two_turns.jsonl").write_text(f"# Somebody asks\n# twice.\n\n{lines}")
    shown = transcripts.transcripts(tmp_path)
    assert shown == f"## Two turns\n\nSomebody asks\ntwice.\n\n```text\n{lines}```"


def blocks(language: str, of: str = "") -> list[tuple[str, str]]:
    """Return every block of a language, `of` one page or all: the page, the text."""
    return [
        (name, block["text"])
        for page in generate.pages()
        for block in FENCE.finditer(page.read_text(encoding="utf-8"))
        if block["language"] == language
        and (name := page.relative_to(generate.ROOT).as_posix()).endswith(of)
    ]


@pytest.mark.parametrize(("page", "toml"), blocks("toml"))
def test_every_configuration_that_is_shown_can_be_read(page: str, toml: str) -> None:
    assert parse_catalogue(toml, completed).models, page


def test_the_labels_that_are_shown_are_those_of_the_replay_that_is_shown() -> None:
    ((_, shown),) = blocks("json", "docs/how-to/explain-a-decision.md")
    labels = read_labels(shown.encode(), "vscodelm-4711.jsonl")
    explanation = explain(read_recording(replays.trace()), labels)
    assert not explanation.is_different, explanation.lines
    assert explanation.lines[-1] == "2 of 2 as labelled"


def steps() -> list[tuple[str, str | None]]:
    """Return the tutorial's commands, each with what it says they print."""
    text = (generate.ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    found: list[tuple[str, str | None]] = []
    for step in TESTED.finditer(text):
        output = OUTPUT.match(text, step.end())
        found.append((step["script"], output["text"] if output else None))
    return found


def run(pause: int) -> list[str]:
    """Run the tutorial in one shell, as its reader does; return what each step printed."""
    script = "".join(f"{commands}\necho '{MARK}'\n" for commands, _ in steps())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash"],
        input=script.replace("sleep 1", f"sleep {pause}"),
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    return done.stdout.split(f"{MARK}\n")[:-1]


def as_pattern(expected: str) -> re.Pattern[str]:
    """Return the pattern of an output: `...` is any text, and alone on a line any lines."""
    lines = [
        r"(?s:.*?)" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*?")
        for line in expected.splitlines()
    ]
    return re.compile("\n".join(lines) + r"\s*")


def differences(printed: list[str]) -> list[str]:
    """Return the steps that printed something else than the tutorial says."""
    wanted = steps()
    if len(printed) != len(wanted):
        return [f"{len(printed)} of {len(wanted)} steps came to their end: {printed}"]
    return [
        f"{commands}\nprints\n{output}"
        for (commands, expected), output in zip(wanted, printed, strict=True)
        if expected is not None and as_pattern(expected).fullmatch(output) is None
    ]


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="the tutorial needs a shell"
)
def test_the_tutorial_prints_what_it_says() -> None:
    # A reader's second is enough for a reader; a busy machine gets another try, with more.
    wrong = differences(run(1)) and differences(run(3))
    assert wrong == []


def test_the_tutorial_shows_outputs_that_could_differ() -> None:
    assert sum(expected is not None for _, expected in steps()) > 5
    assert as_pattern("a\n...\nb ... c\n").fullmatch("a\nx\ny\nb z c\n")
    assert as_pattern("a\nb\n").fullmatch("a\nx\nb\n") is None
    assert as_pattern("a ... c\n").fullmatch("a\nb c\n") is None


def test_every_point_of_the_checklist_has_a_test() -> None:
    assert set(checklist.marked_tests()) == set(checklist.POINTS)


def test_a_mark_without_a_point_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_new.py").write_text(
        "@pytest.mark.checklist(1, 99)\ndef test_one(): ...\n"
        "class TestTwo:\n    @pytest.mark.slow\n    @pytest.mark.checklist(1)\n"
        "    async def test_two(self): ...\n"
    )
    assert checklist.marked_tests(tmp_path) == {
        1: ["test_new.py::test_one", "test_new.py::test_two"],
        99: ["test_new.py::test_one"],
    }


def test_every_surprise_of_a_real_agent_has_a_test() -> None:
    assert all(one.tests for one in real_agents.SURPRISES.values())


def test_a_surprise_whose_test_is_gone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = real_agents.Surprise("they dance", "we look away", ("test_new.py::test_gone",))
    monkeypatch.setattr(real_agents, "SURPRISES", {1: gone})
    with pytest.raises(KeyError, match="test_gone"):
        real_agents.surprises()
