"""The changes of real agents are the editor's edits, and the disk has what each agent meant."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.fakes.edited_files import PERMISSION, RealDisk
from tests.fakes.editor import Chat

from .bench import Bench, at_work
from .forty_tools import forty
from .model_server import ModelTurn
from .real_agent import RealAgent
from .recipes.claude import CLAUDE
from .recipes.gemini import GEMINI
from .recipes.opencode import OPENCODE
from .recipes.qwen import QWEN
from .window import use

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
TOOLS = ("create_file", "replace_string_in_file")
MANY = 30
"""Edits of one turn that are timed."""


@attrs.frozen
class Words:
    """What our model says to edit with the tools that an agent has for it."""

    read: Callable[[str], str]
    replace: Callable[[str, str, str], str]
    create: Callable[[str, str], str]
    own: frozenset[str]
    """Its own tools that edit, which must be off."""


EDITORS = Words(
    lambda path: use("read_file", filePath=path, startLine=1, endLine=99),
    lambda path, old, new: use(
        "replace_string_in_file", filePath=path, oldString=old, newString=new
    ),
    lambda path, text: use("create_file", filePath=path, content=text),
    frozenset({"Edit", "Write", "NotebookEdit", "edit", "write", "apply_patch", "multiedit"}),
)
FILES = Words(
    lambda path: use("=read_file", file_path=path),
    lambda path, old, new: use(
        "=replace", file_path=path, old_string=old, new_string=new, instruction="Change it."
    ),
    lambda path, text: use("=write_file", file_path=path, content=text),
    frozenset(),
)
QWENS = Words(
    FILES.read,
    lambda path, old, new: use("=edit", file_path=path, old_string=old, new_string=new),
    FILES.create,
    frozenset(),
)
WORDS = {"claude": EDITORS, "opencode": EDITORS, "gemini": FILES, "qwen": QWENS}

each_editing_agent = pytest.mark.parametrize(
    "agent", [CLAUDE, OPENCODE, GEMINI, QWEN], ids=lambda one: one.name
)


@pytest.fixture(autouse=True)
def _is_installed(agent: RealAgent) -> None:
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")


@attrs.frozen
class Desk:
    """A chat whose editor makes the edits, and a folder with files."""

    bench: Bench
    chat: Chat
    words: Words

    def at(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.bench.work / name)

    def text(self, name: str) -> str:
        """Return what is on the disk, as it is."""
        return (self.bench.work / name).read_bytes().decode()

    def has(self, **texts: str) -> None:
        """Make files, by their names without `.txt`."""
        for name, text in texts.items():
            (self.bench.work / f"{name}.txt").write_bytes(text.encode())

    async def does(self, *calls: str) -> str:
        """Have the model make calls at once, and carry out what comes of it; return its answer."""
        return (await self.chat.carry_out(self.chat.ask("\n".join(calls)))).text

    async def edits(self, name: str, old: str, new: str) -> str:
        """Have the model read a file, and then replace a text in it."""
        path = self.at(name)
        return await self.does(self.words.read(path), "THEN", self.words.replace(path, old, new))

    @property
    def model(self) -> ModelTurn:
        """The newest request of the model's that offered it tools."""
        return [one for one in self.bench.server.asked if one.given.tools][-1]


@asynccontextmanager
async def desk_of(agent: RealAgent, folder: Path, **settings: Any) -> AsyncGenerator[Desk]:
    """Open a chat with an agent whose editor has edit tools and returns texts."""
    async with at_work(agent, folder, capabilities=("readTextFile",)) as bench:
        bench.editor.files.disk = RealDisk(bench.work)
        chat = bench.chat(**settings)
        wanted = {*TOOLS, "read_file"} if WORDS[agent.name] is EDITORS else {*TOOLS}
        chat.options = {"tools": [*(one for one in forty() if one["name"] in wanted), PERMISSION]}
        yield Desk(bench, chat, WORDS[agent.name])


@each_editing_agent
async def test_what_a_real_agent_changes_is_the_editors_edit(
    agent: RealAgent, tmp_path: Path
) -> None:
    """By the default of the agent: no setting says it."""
    async with desk_of(agent, tmp_path) as desk:
        desk.has(plan="one\ntwo\nthree\n", crlf="one\r\ntwo\r\nthree\r\n", mine="a\nb\nc\n")
        files = desk.bench.editor.files

        await desk.edits("plan.txt", "two", "2")
        assert desk.text("plan.txt") == "one\n2\nthree\n"

        await desk.edits("crlf.txt", "two", "2")
        assert desk.text("crlf.txt") == "one\r\n2\r\nthree\r\n"

        files.unsaved[desk.at("mine.txt")] = "not saved\na\nb\nc\n"
        await desk.edits("mine.txt", "b", "B")
        assert desk.text("mine.txt") == "not saved\na\nB\nc\n"

        create = desk.words.create
        await desk.does(*(create(desk.at(f"{one}/new.txt"), f"{one}\n") for one in "xy"))
        assert [desk.text(f"{one}/new.txt") for one in "xy"] == ["x\n", "y\n"]

        offered = {one.name for one in desk.model.given.tools}
        assert not offered & desk.words.own
        assert files.made == 5
