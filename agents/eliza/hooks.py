"""Parse Eliza's hooks, and run their turns. A hook makes her act like a real agent.

`agents.eliza.script` tells what each is for. A text is a hook if its first word is one, in any
case, with `!` or `hook:` before it: VS Code's Agent Host doesn't send a text that begins with `!`.
The text after `!hang`, `!think` and `!error` is ignored. A hook with a mistake becomes a `BadHook`,
which says what is wrong.

A turn is a generator of steps. It waits for nothing itself: it yields the question and is sent the
answers (`agents.eliza.agent.ElizaTurn` does).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, assert_never, cast

import msgspec

from agents.events import (
    CANCELLED,
    Answer,
    AskPermission,
    Batch,
    Break,
    CallTool,
    Decision,
    Elicit,
    ElicitAnswer,
    PermissionAnswer,
    Say,
    Stop,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.value import Value

from .script import (
    AFTER_THINKING,
    BEFORE_ERROR,
    BEFORE_FORM,
    FORM,
    FORM_MESSAGE,
    FORM_URL,
    HANGING,
    LONG_ANSWER,
    THOUGHTS,
    URL_MESSAGE,
)

if TYPE_CHECKING:
    from bridge.wire import ToolSpec

BATCH_WORDS: Final = 64
MOST_WORDS: Final = 10_000_000
"""Words of a long answer that a user may ask for."""

_FIRST_WORD = re.compile(
    r"(?:!|hook:)(hang|think|error|long|tool|permission|form)(?!\w)", re.IGNORECASE
)
_NEXT_TOOL = re.compile(r"\n[^\S\n]*(?=(?:!|hook:)tool(?!\w))", re.IGNORECASE)
_TOOL_WORD = re.compile(r"(?:!|hook:)tool", re.IGNORECASE)
_TOOL_NAME = re.compile(r"[^\s{]+")
_ARGUMENTS = msgspec.json.Decoder(dict[str, Any])


class HangHook(Value):
    """`!hang`: say something, then wait to be cancelled."""


class ThinkHook(Value):
    """`!think`: think aloud, then answer."""


class ErrorHook(Value):
    """`!error`: say something, then fail."""


class LongHook(Value):
    """`!long N`: answer with at least that many words."""

    words: int


class ToolRequest(Value):
    """One tool to call."""

    name: str
    parameters: dict[str, Any]


class ToolHook(Value):
    """`!tool NAME {json}`, once or on several lines: call these tools, all at once."""

    calls: tuple[ToolRequest, ...]


class PermissionHook(Value):
    """`!permission TITLE`: ask for permission."""

    title: str


class FormHook(Value):
    """`!form`: ask for input with a form; `!form url ADDRESS`: ask to open an address."""

    url: str | None = None


class BadHook(Value):
    """A hook that was written wrongly; `complaint` tells the user how to write it."""

    complaint: str


Hook: TypeAlias = (
    HangHook | ThinkHook | ErrorHook | LongHook | ToolHook | PermissionHook | FormHook | BadHook
)


def parse_hook(text: str) -> Hook | None:
    """Return the hook that a text is, None if it is something to talk about."""
    text = text.strip()
    head = _FIRST_WORD.match(text)
    if head is None:
        return None
    rest = text[head.end() :].strip()
    match head[1].lower():
        case "hang":
            return HangHook()
        case "think":
            return ThinkHook()
        case "error":
            return ErrorHook()
        case "long":
            return _long(rest)
        case "permission":
            return _permission(rest)
        case "form":
            return _form(rest)
        case _:
            return _tools(text)


def _long(rest: str) -> LongHook | BadHook:
    number = rest.split(maxsplit=1)[0] if rest else ""
    digits = number.lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        wrong = f"`{_short(number)}` is not one" if number else "there is none"
        return BadHook(f"`!long` needs a number of words from 1 on, as in `!long 500`; {wrong}.")
    # the comparison by length spares int() the conversion of a number of a million digits
    return LongHook(MOST_WORDS if len(digits) > 8 else min(int(digits), MOST_WORDS))


def _permission(rest: str) -> PermissionHook | BadHook:
    if not rest:
        return BadHook("`!permission` needs a title, as in `!permission Delete the file`.")
    return PermissionHook(rest.splitlines()[0].rstrip())


def _form(rest: str) -> FormHook | BadHook:
    words = rest.split()
    if not words:
        return FormHook()
    url = words[1] if len(words) == 2 else FORM_URL
    if words[0].lower() != "url" or len(words) > 2 or not url.startswith(("http://", "https://")):
        example = "`!form`, or as `!form url https://example.com`"
        return BadHook(f"`!form` is written as {example}; this is `{_short(rest)}`.")
    return FormHook(url)


def _tools(text: str) -> ToolHook | BadHook:
    calls: list[ToolRequest] = []
    for line in _NEXT_TOOL.split(text):
        call = _tool(_TOOL_WORD.sub("", line, count=1).strip())
        if isinstance(call, BadHook):
            return call
        calls.append(call)
    return ToolHook(tuple(calls))


def _tool(rest: str) -> ToolRequest | BadHook:
    name = _TOOL_NAME.match(rest)
    if name is None:
        return BadHook(
            '`!tool` needs the name of a tool, as in `!tool read_file {"path": "a.txt"}`.'
        )
    arguments = rest[name.end() :].strip()
    try:
        parameters = _ARGUMENTS.decode(arguments.encode()) if arguments else {}
    except (ValueError, RecursionError) as error:
        return BadHook(
            f"The text after `!tool {_short(name[0])}` must be one JSON object, "
            f"but `{_short(arguments)}` isn't: {error}."
        )
    return ToolRequest(name[0], parameters)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


# The hooks.


class AwaitAnswers(Value):
    """Hand out these questions, and go on when all of them are answered."""

    questions: tuple[CallTool | AskPermission, ...]


class AwaitForm(Value):
    """Ask for input, and go on when it is answered. The response stays open."""

    elicit: Elicit


class Hang(Value):
    """Go on never."""


TurnScript: TypeAlias = Generator[Batch | AwaitAnswers | AwaitForm | Hang, Sequence[Answer], None]
"""The steps of a turn. The generator receives the answers to its last questions, in their order."""

_DONE: Final = Stop()
_FAILED: Final = Break(
    Failure(
        kind="AgentFailed",
        message="Eliza failed, because you said `!error`. Say anything else, and she continues.",
    )
)
_WORD = re.compile(r"\S+\s*|\s+")
_PROSE: Final = tuple(Say(match[0]) for match in _WORD.finditer(LONG_ANSWER))
# So that a batch that begins anywhere in the prose is one slice.
_PROSE_TWICE: Final = _PROSE + _PROSE[:BATCH_WORDS]


def say(text: str, last: Stop | Break | None = _DONE) -> TurnScript:
    """Say a text word by word, each with the space after it, then what comes last."""
    words = (Say(match[0]) for match in _WORD.finditer(text))
    while len(batch := tuple(islice(words, BATCH_WORDS))) == BATCH_WORDS:
        yield batch
    yield batch if last is None else (*batch, last)


def enact(hook: Hook, tools: Sequence[ToolSpec], new_call_id: Callable[[], str]) -> TurnScript:
    """Return what the hook does, where these tools are offered."""
    match hook:
        case HangHook():
            return _hang()
        case ThinkHook():
            return _think()
        case ErrorHook():
            return say(BEFORE_ERROR, _FAILED)
        case LongHook(words=words):
            return _say_much(words)
        case ToolHook(calls=calls):
            return _call_tools(calls, tools, new_call_id)
        case PermissionHook(title=title):
            return _ask_permission(title, new_call_id())
        case FormHook(url=url):
            return _ask_form(url, new_call_id())
        case BadHook(complaint=complaint):
            return say(complaint)
        case _:
            assert_never(hook)


def _hang() -> TurnScript:
    yield from say(HANGING, None)
    yield Hang()


def _think() -> TurnScript:
    yield tuple(Think(thought) for thought in THOUGHTS)
    yield from say(AFTER_THINKING)


def _say_much(words: int) -> TurnScript:
    """Say at least that many words, to the end of a sentence; none of them is made anew."""
    last = words - 1
    while not _PROSE[last % len(_PROSE)].text.rstrip().endswith("."):
        last += 1
    for done in range(0, last, BATCH_WORDS):
        start = done % len(_PROSE)
        yield _PROSE_TWICE[start : start + min(BATCH_WORDS, last - done)]
    yield Say(_PROSE[last % len(_PROSE)].text.rstrip()), _DONE


def _call_tools(
    requests: Sequence[ToolRequest], tools: Sequence[ToolSpec], new_call_id: Callable[[], str]
) -> TurnScript:
    names = [tool.name for tool in tools]
    calls = tuple(
        CallTool(new_call_id(), request.name, request.parameters)
        for request in requests
        if request.name in names
    )
    report = [
        f"The tool {request.name} is not offered here; offered: {', '.join(names) or 'none'}."
        for request in requests
        if request.name not in names
    ]
    if calls:
        answers = yield AwaitAnswers(calls)
        report += [_result(call, answer) for call, answer in zip(calls, answers, strict=True)]
    yield from say("\n\n".join(report))


def _result(call: CallTool, answer: Answer) -> str:
    assert isinstance(answer, ToolAnswer)
    verb = "failed" if answer.is_error else "answered"
    return f"The tool {call.name} {verb}:\n\n{result_text(answer.result)}"


def _ask_permission(title: str, call_id: str) -> TurnScript:
    # here: an editor waits for our start, and few chats need them
    from agents.acp.text.markdown import escape
    from agents.acp.text.visible import visible_line

    message = f"Eliza asks: {escape(visible_line(title))}"
    (answer,) = yield AwaitAnswers((AskPermission(call_id, title, details={"message": message}),))
    assert isinstance(answer, PermissionAnswer)
    if answer.decision is Decision.ABANDONED:
        yield (CANCELLED,)
    else:
        yield from say(f"You have {answer.decision.value} it: {title}")


def _ask_form(url: str | None, call_id: str) -> TurnScript:
    form = FORM if url is None else None
    yield from say(f"{BEFORE_FORM}\n\n", None)
    message = FORM_MESSAGE if url is None else URL_MESSAGE
    (answer,) = yield AwaitForm(Elicit(call_id, message, form, url))
    assert isinstance(answer, ElicitAnswer)
    match answer.action:
        case "accept" if url is None:
            yield from say(f"You have filled it in:\n\n```json\n{_json(answer.content)}\n```")
        case "accept":
            yield from say("You have opened it.")
        case "decline":
            yield from say("You have declined.")
        case _:
            yield from say("You have closed it without an answer.")


def result_text(result: Any) -> str:
    """Return a tool's result as text: of a list of parts the texts, of anything else JSON."""
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        parts = cast("list[Any]", result)
        texts = [_part_text(part) for part in parts]
        if any(text is not None for text in texts):
            return "\n".join(
                _json(part) if text is None else text
                for part, text in zip(parts, texts, strict=True)
            )
    return _json(cast("object", result))


def _part_text(part: object) -> str | None:
    value = cast("dict[str, object]", part).get("value") if isinstance(part, dict) else None
    return value if isinstance(value, str) else None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
