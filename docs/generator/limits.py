"""The limits of everything that comes in, with the tests that show them.

A limit is a constant of a module whose name says so (`MOST_ROWS`, `IDLE_SECONDS`); the words beside
it in the source say what it limits. A test names it by the mark `limit`, with its full name. Both
are read from the sources, so that the page can be made without running anything.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import attrs

from .markdown import table

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"

_LIMIT = re.compile(
    r"_?(MOST|MAX|LONGEST|DEEPEST|LARGEST)(_[A-Z_]+)?"
    r"|[A-Z_]*_(SECONDS|BYTES|CHARACTERS|LENGTH|DEPTH|STEPS)"
    r"|([A-Z_]+_)?HIGH_WATER"
)
_FROM: Mapping[str, str] = {
    "bridge": "editor",
    "actors": "editor",
    "agents": "agents",
    "agents.acp": "ACP agents",
    "agents.mcp": "agents, over MCP",
    "agents.open_responses": "endpoints",
    "vscodelm.http_server": "HTTP clients",
    "vscodelm.registry": "registry",
    "vscodelm": "terminal",
    "vscodelm.store": "store",
}
"""The source of the input, by the package that limits it."""

# Not limits of what comes in, though their names look like it: by what they are instead.
OUR_OWN: Mapping[str, frozenset[str]] = {
    "how much is shown": frozenset(
        {
            "agents.acp.render.diff._MOST_LINES",
            "agents.acp.errors._DETAIL_LENGTH",
            "agents.acp.text.markdown._LONGEST_LINK",
            "agents.acp.render.plans._MOST_CHANGES",
            "agents.acp.render.plans._MOST_ENTRIES",
            "agents.acp.render.notices._MOST_NAMED",
            "agents.acp.render.plans._MOST_LINES",
            "agents.acp.text.facts._MOST_CURRENCY",
            "agents.acp.text.facts._MOST_NAME",
            "agents.acp.text.facts._MOST_WORDS",
            "agents.acp.transport.stderr.SHOWN_CHARACTERS",
            "agents.acp.render.call_results._LONGEST_PARSED",
            "agents.acp.render.python_text._LONGEST",
            "agents.acp.render.call_results._LONGEST_SAID",
            "agents.acp.render.call_subject._LONGEST_ARGUMENTS",
            "agents.acp.render.call_subject._LONGEST_COMPARED",
            "agents.acp.render.call_subject._LONGEST_TITLE",
            "agents.acp.render.call_subject._MOST_LOCATIONS",
            "agents.acp.render.tool_markdown._MOST_BLOCKS",
            "agents.acp.render.question._INLINE_CHARACTERS",
            "agents.acp.render.question_paper._NARROW",
            "agents.acp.text.visible.LONGEST_WORD",
            "agents.acp.text.visible._MOST_BLANKS",
            "agents.acp.text.visible._MOST_EMPTY",
            "agents.acp.text.visible._MOST_MARKS",
            "agents.eliza.engine.QUOTED_CHARACTERS",
            "agents.open_responses.http.errors._SHOWN_LENGTH",
            "agents.open_responses.stream.machine._MAX_NOTES",
            "agents.open_responses.http.unexpected._MOST_DETAIL",
            "bridge.inspection.facts.MOST_CHARACTERS",
            "bridge.inspection.facts.MOST_REQUESTS",
            "bridge.inspection.inspection.MOST_LINE",
            "bridge.inspection.inspection.MOST_LOOKED_AT",
            "bridge.inspection.inspection.MOST_NAMED",
            "bridge.inspection.inspection.MOST_SHOWN",
            "vscodelm.replay.picture.MOST_DRAWN",
            "vscodelm.chat.answer_view.DRAWN_CHARACTERS",
            "vscodelm.doctor.turn.SHOWN_CHARACTERS",
            "vscodelm.registry.view._OLD_SECONDS",
            "vscodelm.chat.screen.LINE_CHARACTERS",
        }
    ),
    "what we send or tell": frozenset(
        {
            "agents.mcp.listener.TOKEN_BYTES",
            "agents.mcp.listener._LONGEST_FOLDER",
            "agents.mcp.names.MOST_CHARACTERS",
            "agents.mcp.tool_servers._SUFFIX_BYTES",
            "agents.mcp.server.MOST_SESSIONS",
            "agents.open_responses.request.names._MAX",
            "vscodelm.http_server.compaction._SIGNATURE_BYTES",
            "vscodelm.http_server.token._MADE_BYTES",
        }
    ),
    "how tokens are estimated": frozenset(
        {
            "bridge.tokens.images.LONGEST_SIDE",
            "bridge.tokens.whole.LONGEST_PART",
            "bridge.tokens.whole.MOST_BYTES",
            "bridge.tokens.whole.MOST_WORD_BYTES",
            "bridge.tokens.text.LONGEST_KNOWN",
            "bridge.tokens.text.LONGEST_TOKEN",
            "agents.acp.prompt.budget._BYTES_PER_TOKEN",
        }
    ),
    "how a request is understood": frozenset(
        {
            "bridge.routing.align.MOST_FOLLOWED",
            "bridge.routing.align.MOST_RESULTS",
            "bridge.routing.request._MOST_INLINE_TOOLS",
            "vscodelm.store.sessions.MOST_CANDIDATES",
        }
    ),
    "our own pace": frozenset(
        {
            "agents.acp.agent.CLOSING_SECONDS",
            "agents.acp.rpc.connection.BROKEN_SECONDS",
            "agents.acp.transport.base.LAST_WORDS_SECONDS",
            "agents.acp.transport.running.KILLING_SECONDS",
            "agents.acp.transport.subprocess._POLL_SECONDS",
            "agents.acp.questions.GATHER_SECONDS",
            "agents.acp.turn_machine.SILENT_SECONDS",
            "agents.mcp.listener.SUCCESSION_SECONDS",
            "agents.mcp.stdio_proxy.HANDSHAKE_SECONDS",
            "agents.mcp.stdio_proxy.LAST_SECONDS",
            "agents.mcp.server.NOTICE_SECONDS",
            "agents.open_responses.http.client._END_SECONDS",
            "agents.open_responses.http.socks._CLOSING_SECONDS",
            "agents.open_responses.http.pool._CLOSING_SECONDS",
            "agents.open_responses.models.refresh.FRESH_SECONDS",
            "vscodelm.chat.child.TERMINATING_SECONDS",
            "vscodelm.chat.child._EXIT_SECONDS",
            "vscodelm.doctor.examination.STEP_SECONDS",
            "vscodelm.doctor.turn.CLOSING_SECONDS",
            "vscodelm.chat.client.LEAVING_SECONDS",
            "vscodelm.http_server.answering.FAREWELL_SECONDS",
            "vscodelm.http_server.core.LEAVING_SECONDS",
            "vscodelm.store.database.PATIENCE_SECONDS",
            "vscodelm.store.database._PAGE_BYTES",
            "vscodelm.store.database._PAUSE_SECONDS",
            "vscodelm.store.store.REST_SECONDS",
            "vscodelm.store.worker.LEAVING_SECONDS",
        }
    ),
}


@attrs.frozen
class Limit:
    """A constant of a module: its full name, its value, and the words beside it."""

    name: str
    value: float
    words: str


def limits_table() -> str:
    """Return every limit with its tests; raises `KeyError` for a mark that names no constant."""
    found = marked_tests()
    limits = constants()
    if unknown := sorted(found.keys() - limits.keys()):
        raise KeyError(f"no such limits: {', '.join(unknown)}")
    rows = [_row(limits[name], tests) for name, tests in found.items()]
    return table(["from", "limit", "value", "what it limits", "one over", "tests"], sorted(rows))


def missing() -> list[str]:
    """Return the limits that no test names by its mark."""
    ours = frozenset[str]().union(*OUR_OWN.values())
    named = {limit.name for limit in constants().values() if _is_limit(limit.name)}
    return sorted(named - marked_tests().keys() - ours)


@cache
def constants(root: Path = ROOT) -> dict[str, Limit]:
    """Return every number that one of our modules names as a constant, by its full name."""
    found: dict[str, Limit] = {}
    for package in ("bridge", "actors", "agents", "vscodelm"):
        for path in sorted((root / package).rglob("*.py")):
            module = ".".join(path.relative_to(root).with_suffix("").parts)
            for limit in _constants(module, path.read_text(encoding="utf-8")):
                found[limit.name] = limit
    return found


@cache
def marked_tests(root: Path = TESTS) -> dict[str, list[str]]:
    """Return, for each limit, the tests that name it, as `file::test`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.limit(" in text:
            for test, name in _marked(ast.parse(text)):
                found[name].append(f"{path.relative_to(root).as_posix()}::{test}")
    return found


def _row(limit: Limit, tests: list[str]) -> list[str]:
    package = limit.name.rpartition(".")[0]
    while package not in _FROM:
        package = package.rpartition(".")[0]
    happens = [test.rpartition("::")[2].removeprefix("test_").replace("_", " ") for test in tests]
    return [
        _FROM[package],
        f"`{limit.name}`",
        shown(limit),
        limit.words,
        "<br>".join(happens),
        "<br>".join(f"`{test}`" for test in tests),
    ]


def shown(limit: Limit) -> str:
    """Return a limit's value with its unit, as its name or the words beside it tell it."""
    name, value = limit.name.rpartition(".")[2], limit.value
    if name.endswith("_SECONDS"):
        for seconds, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
            if value % seconds == 0 and value >= seconds:
                return f"{value / seconds:g} {unit}"
        return f"{value:g} s"
    if name.endswith(("BYTES", "HIGH_WATER", "MAX_LINE")) and value % 1024 == 0:
        for size, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
            if value % size == 0:
                return f"{value / size:g} {unit}"
    if name.endswith("BYTES"):
        return f"{value:,} bytes"
    if name.endswith(("CHARACTERS", "LENGTH")):
        return f"{value:,} characters"
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def _is_limit(name: str) -> bool:
    return _LIMIT.fullmatch(name.rpartition(".")[2]) is not None


def _constants(module: str, text: str) -> Iterator[Limit]:
    """Return the numbers of a module. The words stand below a constant, above it or behind it.

    Several constants without a blank line between them share the words below the last.
    """
    lines = text.splitlines()
    body = ast.parse(text).body
    values: dict[str, object] = {}
    for at, node in enumerate(body):
        name, value = _assigned(node, values)
        if name is not None and isinstance(value, int | float):
            yield Limit(f"{module}.{name}", value, _comment(lines, node) or _below(body, at))


def _assigned(node: ast.stmt, values: dict[str, object]) -> tuple[str | None, object]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=expression):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as expression):
            pass
        case _:
            return None, None
    if not name.isupper() or isinstance(expression, ast.JoinedStr):
        return None, None
    try:
        code = compile(ast.Expression(expression), name, "eval")
        values[name] = eval(code, {"__builtins__": {}}, values)  # arithmetic of our own source
    except (NameError, TypeError, AttributeError, KeyError):
        return None, None
    return name, values[name]


def _below(body: list[ast.stmt], at: int) -> str:
    end = body[at].end_lineno
    for node in body[at + 1 :]:
        if node.lineno - 1 != end:
            break
        end = node.end_lineno
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                return " ".join(words.split())
            case ast.Assign() | ast.AnnAssign():
                continue
            case _:
                break
    return ""


def _comment(lines: list[str], node: ast.stmt) -> str:
    behind = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
    if behind:
        return behind
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.startswith("# "):
            break
        above.insert(0, line.removeprefix("# "))
    return " ".join(above)


def _marked(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if (
                    isinstance(decorator, ast.Call)
                    and ast.unparse(decorator.func) == "pytest.mark.limit"
                ):
                    for name in decorator.args:
                        yield node.name, ast.literal_eval(name)
