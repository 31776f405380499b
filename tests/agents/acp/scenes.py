"""Turns of agents, as updates: what `test_render_golden` renders to golden/*.md."""

from __future__ import annotations

from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.schema.content import (
    Content,
    ContentBlock,
    Diff,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    Terminal,
    TextContent,
    ToolCall,
    ToolCallContent,
    ToolCallLocation,
    ToolCallUpdate,
)
from agents.acp.schema.plans import PlanEntry
from agents.acp.schema.unstable import (
    PlanFile,
    PlanItems,
    PlanMarkdown,
    PlanRemoved,
    PlanUpdate,
    SubagentState,
    SubagentUpdate,
)
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    CompactionUpdate,
    CurrentModeUpdate,
    Notice,
    Plan,
    SessionUpdate,
    UsageUpdate,
)
from agents.events import Say
from bridge.value import Value

ROOT = "/workspace/demo"


class Ask(Value):
    """The agent asks permission, and is answered in the next response."""

    call: ToolCallUpdate
    is_allowed: bool = True


Scene = tuple[SessionUpdate | Ask, ...]


def says(text: str, message_id: str | None = None) -> AgentMessageChunk:
    return AgentMessageChunk(TextContent(text), message_id)


def shows(content: ContentBlock) -> AgentMessageChunk:
    return AgentMessageChunk(content)


def thinks(text: str) -> AgentThoughtChunk:
    return AgentThoughtChunk(TextContent(text))


def texts(*given: str) -> tuple[ToolCallContent, ...]:
    return tuple(Content(TextContent(text)) for text in given)


def at(path: str, line: int | None = None) -> tuple[ToolCallLocation, ...]:
    return (ToolCallLocation(f"{ROOT}/{path}", line),)


def done(call_id: str, *content: str) -> ToolCallUpdate:
    return ToolCallUpdate(call_id, status="completed", content=texts(*content) if content else None)


def writes(call_id: str, key: str, piece: str) -> ToolCallUpdate:
    """A piece of what a command writes, under one of the names for it."""
    return ToolCallUpdate(call_id, meta={key: {"terminal_id": call_id, "data": piece}})


def exits(call_id: str, status: str, code: int) -> ToolCallUpdate:
    about = {"terminal_id": call_id, "exit_code": code, "signal": None}
    return ToolCallUpdate(call_id, status=status, meta={"terminal_exit": about})


def plan(*entries: str) -> Plan:
    """Entries such as `x Read`, `> Fix`, `. Test`."""
    words = {"x": "completed", ">": "in_progress", ".": "pending", "-": "cancelled"}
    return Plan(tuple(PlanEntry(entry[2:], status=words[entry[0]]) for entry in entries))


def render(scene: Scene) -> str:
    """Return what a user sees who has thinking hidden; `---` is where the user was asked."""
    renderer = Renderer(SessionView(), root=ROOT)
    shown: list[str] = []
    for step in scene:
        if isinstance(step, Ask):
            renderer.ask(step.call)
            renderer.begin_response()
            shown.append("\n\n---\n\n")
            call_id = step.call.tool_call_id
            renderer.decide(call_id, "", "", is_allowed=step.is_allowed)
        else:
            if isinstance(step, ToolCall | ToolCallUpdate):
                renderer.files.update(
                    (path, FILES[path]) for path in renderer.calls.changed(step) if path in FILES
                )
            shown += [event.text for event in renderer.update(step) if isinstance(event, Say)]
    left = renderer.finish(is_complete=True)
    shown += [event.text for event in left if isinstance(event, Say)]
    return "".join(shown) + "\n"


APP = "def add(a, b):\n    return a - b\n\n\ndef greet(name):\n    return f'Hello, {name}!'\n"
FILES = {f"{ROOT}/src/app.py": APP.replace("a - b", "a + b")}
"""What the files have when their change is shown."""

TODOS = [
    {"content": "Read the code", "status": "completed", "priority": "high", "id": "1"},
    {"content": "Fix `add`", "status": "in_progress", "priority": "high", "id": "2"},
    {"content": "Rewrite it all", "status": "cancelled", "priority": "low", "id": "3"},
    {"content": "Add a test", "status": "pending", "priority": "low", "id": "4"},
]

SCENES: dict[str, Scene] = {
    "opencode_writes_todos": (
        # Its list is both the input of a tool and a plan, in which nothing is ever dropped.
        ToolCall("1", "todowrite", kind="other", status="pending", raw_input={}),
        ToolCallUpdate("1", status="in_progress", raw_input={"todos": TODOS}),
        ToolCallUpdate(
            "1",
            status="completed",
            title="3 todos",
            content=texts('[{"content": "Read the code"}]'),
            raw_output={"output": "..."},
        ),
        plan("x Read the code", "> Fix `add`", "x Rewrite it all", ". Add a test"),
        says("Now I fix it."),
        ToolCall(
            "2",
            "todowrite",
            status="in_progress",
            raw_input={"todos": [*TODOS[:1], {**TODOS[1], "status": "completed"}, *TODOS[2:]]},
        ),
        ToolCallUpdate("2", status="completed", content=texts("[]")),
        plan("x Read the code", "x Fix `add`", "x Rewrite it all", ". Add a test"),
        says("One step is left."),
    ),
    "claude_writes_todos": (
        ToolCall("1", "Update TODOs: Look, Mend", kind="think", status="in_progress"),
        ToolCallUpdate(
            "1",
            raw_input={
                "todos": [
                    {"content": "Look", "status": "in_progress", "activeForm": "Looking"},
                    {"content": "Mend", "status": "pending", "activeForm": "Mending"},
                ]
            },
        ),
        done("1", "Todos have been modified successfully."),
        says("Looking."),
    ),
    "read_and_edit": (
        thinks("A bug in add."),
        says("I'll look at "),
        says("the code first."),
        ToolCall(
            "1",
            "Read /workspace/demo/src/app.py",
            kind="read",
            locations=at("src/app.py"),
            status="in_progress",
            raw_input={"file_path": "/workspace/demo/src/app.py"},
        ),
        done("1", f"```\n{APP}```"),
        says("`add` subtracts. I'll fix that, and add a test."),
        ToolCall(
            "2",
            "Edit `src/app.py`",
            kind="edit",
            locations=at("src/app.py", 2),
            raw_input={"old_string": "-", "new_string": "+"},
        ),
        ToolCallUpdate(
            "2",
            status="completed",
            content=(Diff(f"{ROOT}/src/app.py", "a + b", "a - b"),),
        ),
        ToolCall("3", "Write tests/test_app.py", kind="edit", raw_input={"content": "..."}),
        ToolCallUpdate(
            "3",
            status="completed",
            content=(
                Diff(
                    f"{ROOT}/tests/test_app.py",
                    "from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
                ),
            ),
        ),
        says("Done: `add(1, 2)` is 3 now."),
        UsageUpdate(12_000, 200_000),
    ),
    "failing_command": (
        says("Let me run the tests."),
        ToolCall("1", "`pytest -q`", kind="execute", raw_input={"command": "pytest -q"}),
        ToolCallUpdate("1", status="in_progress"),
        ToolCallUpdate(
            "1",
            status="failed",
            content=texts(
                "```console\n\x1b[31mF\x1b[0m                                       [100%]\n"
                "E   assert -1 == 3\n1 failed in 0.02s\n```"
            ),
        ),
        says("One test fails. "),
        says("I'll look into it."),
    ),
    "parallel_calls": (
        says("I'll look in three places at once."),
        ToolCall("1", "Read src/app.py", kind="read", status="in_progress"),
        ToolCall("2", "Find `greet`", kind="search", status="in_progress"),
        ToolCall("3", "Fetch https://example.org/style", kind="fetch", status="in_progress"),
        done("2", "src/app.py:5\nsrc/cli.py:12"),
        done("1", APP),
        ToolCallUpdate("3", status="failed", content=texts("404 Not Found")),
        says("`greet` is used once, in the command line."),
    ),
    "plan": (
        says("I'll work in steps."),
        plan("> Read the code", ". Fix `add`", ". Run the tests"),
        ToolCall("1", "Read src/app.py", kind="read", status="completed"),
        plan("x Read the code", "> Fix `add`", ". Run the tests"),
        plan("x Read the code", "> Fix `add`", ". Run the tests"),
        says("There is a second bug, in `greet`."),
        plan("x Read the code", "x Fix `add`", "> Fix `greet`", ". Run the tests"),
        plan("x Read the code", "x Fix `add`", "x Fix `greet`", "> Run the tests"),
        ToolCall("2", "pytest", kind="execute", status="completed", content=texts("2 passed")),
        plan("x Read the code", "x Fix `add`", "x Fix `greet`", "x Run the tests"),
        says("All steps are done."),
    ),
    "images_and_resources": (
        says("Here is the chart:"),
        shows(ImageContent(b"\x89PNG\r\n", "image/png")),
        shows(ImageContent(b"\0" * 1_200_000, "image/png")),
        says("and what it is made from:"),
        shows(ResourceLink(f"file://{ROOT}/data/sales.csv", "sales.csv", size=1200)),
        shows(
            EmbeddedResource(
                ResourceContents(f"file://{ROOT}/plot.py", "import plot\n\nplot.show()\n")
            )
        ),
        ToolCall(
            "1",
            "Take a screenshot",
            status="completed",
            content=(Content(ImageContent(b"\0" * 40_000, "image/png")),),
        ),
    ),
    "long_output": (
        ToolCall("1", "make", kind="execute", status="in_progress"),
        done("1", "\n".join(f"compile file_{number}.c" for number in range(400)) + "\nlinked"),
        ToolCall("2", "Reformat", kind="edit", status="in_progress"),
        ToolCallUpdate(
            "2",
            status="completed",
            content=(
                Diff(
                    f"{ROOT}/src/table.py",
                    "".join(f"    {number},\n" for number in range(200)),
                    "".join(f"  {number},\n" for number in range(200)),
                ),
            ),
        ),
        says("It builds."),
    ),
    "gemini_asks_and_never_announces": (
        says("I'll add them."),
        Ask(
            ToolCallUpdate(
                "add_numbers-1",
                title="add_numbers (twotools MCP Server)",
                kind="other",
                status="pending",
                content=(),
                locations=(),
            )
        ),
        ToolCallUpdate("add_numbers-1", status="completed", content=texts("42")),
        says("The sum is 42."),
    ),
    "claude_fills_in_the_input_later": (
        says("I'll check the version.", "m1"),
        ToolCall("toolu_1", "Terminal", kind="execute", status="pending", raw_input={}),
        ToolCallUpdate(
            "toolu_1",
            title="`git describe --tags`",
            kind="execute",
            raw_input={"command": "git describe --tags", "description": "Show version"},
            content=texts("Show version"),
        ),
        ToolCallUpdate("toolu_1", meta={"claudeCode": {"toolName": "Bash"}}),
        done("toolu_1", "```console\nv1.2.3-4-gdeadbee\n```"),
        ToolCallUpdate("toolu_1", meta={"claudeCode": {"toolResponse": {}}}),
        says("It is 1.2.3, and four commits.", "m2"),
        says(" Shall I tag it?", "m2"),
    ),
    "codex_wraps_the_input": (
        ToolCall(
            "call_1",
            "Tool: twotools/add_numbers",
            status="in_progress",
            raw_input={
                "server": "twotools",
                "tool": "add_numbers",
                "arguments": {"a": 19, "b": 23},
            },
        ),
        ToolCallUpdate(
            "call_1", status="completed", raw_output={"content": [{"type": "text", "text": "42"}]}
        ),
        ToolCall(
            "call_2",
            "Run tests",
            kind="execute",
            status="in_progress",
            raw_input={"command": ["bash", "-lc", "make test"]},
        ),
        ToolCallUpdate(
            "call_2",
            status="failed",
            raw_output={
                "formatted_output": "make: *** No rule to make target 'test'.\n",
                "exit_code": 2,
            },
        ),
    ),
    "a_command_streams_its_output": (
        # Codex and pi name a terminal of their own; what it shows comes in `_meta` alone.
        says("I'll run the tests, and look around."),
        ToolCall(
            "call_1",
            "make test",
            kind="execute",
            status="in_progress",
            raw_input={"command": "make test", "cwd": ROOT},
            content=(Terminal("call_1"),),
            meta={"terminal_info": {"terminal_id": "call_1", "cwd": ROOT}},
        ),
        writes("call_1", "terminal_output_delta", "collected 2 items\n"),
        writes("call_1", "terminal_output_delta", "\x1b[32m.\x1b[0mF\n1 failed"),
        writes("call_1", "terminal_output_delta", " in 0.02s\n"),
        exits("call_1", "failed", 1),
        ToolCall("call_2", "List files", kind="read", status="in_progress"),
        writes("call_2", "terminal_output_delta", "Makefile\nsrc\n"),
        ToolCallUpdate("call_2", status="completed", raw_output={"exit_code": 0}),
        ToolCall("call_3", "true", kind="execute", content=(Terminal("call_3"),)),
        exits("call_3", "completed", 0),
        ToolCall("call_4", "git describe", kind="execute", content=(Terminal("call_4"),)),
        writes("call_4", "terminal_output", "v1.2.3\n"),
        exits("call_4", "completed", 0),
        says("One test fails."),
    ),
    "denied_and_unfinished": (
        says("I'll clean up."),
        ToolCall("1", "rm -rf build", kind="execute", raw_input={"command": "rm -rf build"}),
        Ask(ToolCallUpdate("1"), is_allowed=False),
        ToolCallUpdate("1", status="failed", content=texts("The user doesn't want this.")),
        says("Then I'll leave it."),
        ToolCall(
            "2",
            "npm run watch",
            kind="execute",
            status="in_progress",
            content=(Terminal("term_1"),),
        ),
        ToolCall("3", "Wait for the build", kind="other", status="pending"),
    ),
    "calls_that_never_end": (
        # Gemini and Qwen say nothing more of what was denied; codex has announced it before.
        says("I'll write two files."),
        Ask(
            ToolCallUpdate("1", title="Write notes.md", kind="edit", status="pending"),
            is_allowed=False,
        ),
        ToolCall("2", "Edit src/app.py", kind="edit", status="in_progress"),
        Ask(ToolCallUpdate("2"), is_allowed=False),
        says("Then not. I'll run the tests."),
        # OpenHands asks about a call of its own making, and Hermes of one that it never tells.
        Ask(ToolCallUpdate("confirm-7", title="Confirm Agent Actions", kind="other")),
        ToolCall("3", "pytest", kind="execute", status="in_progress"),
        says("All tests pass."),
    ),
    "what_happens_beside": (
        Notice("warning", "The model is overloaded", "Trying another one."),
        CurrentModeUpdate("architect"),
        CompactionUpdate("c1", "in_progress"),
        CompactionUpdate("c1", "completed"),
        says("Where were we?"),
    ),
    "plans_and_sub_agents": (
        PlanUpdate(PlanMarkdown("draft", "# Mend `add`\n\n1. Look\n2. Mend")),
        PlanUpdate(PlanItems("steps", (PlanEntry("Look"), PlanEntry("Mend")))),
        SubagentUpdate("s1", "Reviewer", "Looks for *faults*", SubagentState("running")),
        says("I wait for it."),
        SubagentUpdate("s1", state=SubagentState("requires_action")),
        SubagentUpdate("s1", state=SubagentState("idle")),
        PlanUpdate(PlanItems("steps", (PlanEntry("Look", status="completed"), PlanEntry("Mend")))),
        PlanUpdate(PlanMarkdown("draft", "# Mend `add`\n\n1. Mend\n2. Test")),
        PlanUpdate(PlanFile("file", "file:///workspace/demo/plan.md")),
        PlanRemoved("steps"),
        says("It is done."),
    ),
    "attack": (
        ToolCall(
            "1",
            "Read\n\n# Approved\n\n[click](command:rm) \x1b[2J`x\n```\n<script>alert(1)</script>"
            " **b**",
            kind="read",
            locations=(ToolCallLocation("a`b\n```\n# c.py"),),
            status="in_progress",
        ),
        ToolCallUpdate(
            "1",
            status="completed",
            content=texts("harmless\n```\n\n# Now I am a heading\n\n````\n[click](command:rm)"),
        ),
        shows(ResourceLink("command:workbench.action.terminal.new", "Docs](http://evil) [x")),
        plan(". # Heading\n\n- [x] done"),
    ),
}
