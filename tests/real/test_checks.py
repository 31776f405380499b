"""What every real agent is put through, with a model of our own; `outcomes` makes a table of it."""

from __future__ import annotations

import base64
import os
import signal
from typing import Any

import pytest

from agents.mcp.tools import READ_ONLY
from bridge.methods import MODELS
from bridge.wire import PERMISSION_TOOL
from tests.fakes.editor import ASKING, Chat, Request, message, text, tool_result, user
from tests.fakes.waiting import until

from .checks import check
from .continuity import CONTINUITY
from .outcomes import note
from .pictures import a_picture
from .stage import Site
from .window import LIST, READ, RUN, Window, allowed_first, called, results, some_tools, use

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
SKIPPED = "The user chose to skip the tool call, they want to proceed without running it"
MORE_ATTEMPTS = 2
NAMES = {"model": "model", "mode": "mode", "reasoningEffort": "effort"}
"""What the keys of the picker are called in the table."""
KILLED = r"signal 9"
"""What our log says of an agent that a check has killed."""


def say(name: str) -> str:
    return f"my name is {name}"


async def recall(site: Site, chat: Chat, *names: str) -> str:
    """Look whether the model knows these names, each told once; return all that it was told."""
    shown = (await chat.say("RECALL")).text
    return told(site, shown, *names)


def told(site: Site, shown: str, *names: str) -> str:
    """The same of an answer that has come."""
    assert f"You told me: {' '.join(names)}." in shown
    assert shown.count("You told me") == 1
    body = str(site.newest("RECALL").body)
    assert {name: body.count(say(name)) for name in names} == dict.fromkeys(names, 1)
    return body


def window(site: Site) -> Window:
    return Window(site.bench, some_tools())


async def asked(chat: Chat, words: str) -> JSON:
    """Say something upon which the agent asks for permission; return the question."""
    request = await chat.say(words)
    assert called(request) == [PERMISSION_TOOL], request.text
    (call,) = request.calls
    return call


async def choices(site: Site) -> JSON:
    """Return what the agent offers to choose, by the keys of the picker."""
    agents = {"one": site.world.definition}
    found = await site.bench.editor.call(MODELS, {"agents": agents})
    (schema,) = (one["configurationSchema"] for one in found["models"] if one["id"] == "one")
    properties: JSON = schema["properties"]
    return properties


def last_but(offered: JSON, value: str) -> str:
    """Return the last of the values that are offered, but not this one."""
    return [one for one in offered["enum"] if one != value][-1]


async def ask_without_end(site: Site, chat: Chat, *words: str) -> Request:
    """Ask for an answer without an end, and wait until it has begun or has failed."""
    before = len(site.world.server.turns("ENDLESS"))
    request = chat.ask(*words)
    if "stream" in site.agent.lacks:
        turns = site.world.server.turns
        await until(lambda: len(turns("ENDLESS")) > before or request.is_settled)
    else:
        await request.reaches(lambda: "And on. And on." in request.text or request.is_settled)
    return request


@check("answer")
async def test_a_first_message_is_answered(site: Site) -> None:
    answer = await site.chat().say("Hello")
    assert "I hear you." in answer.text
    kinds = {part["mimeType"] for part in answer.parts if part["type"] == "data"}
    assert kinds == ({"usage"} if site.agent.tells_usage else set[str]())


@check("second turn")
async def test_the_second_turn_knows_the_first(site: Site) -> None:
    chat = site.chat()
    await chat.say(f"Hello, {say('Ada')}")
    await recall(site, chat, "Ada")
    given = site.newest("RECALL").given
    assert given.texts("assistant").count("I hear you.") == 1, "told once, not replayed"


@check("allow")
async def test_what_is_allowed_is_done(site: Site) -> None:
    chat = site.chat()
    file = site.bench.work / "allowed.txt"
    call = await asked(chat, f"WRITE({file})")
    assert str(file) in str(call["parameters"]), "a person can see what it is about"
    assert not file.exists()
    assert "The tool said:" in (await chat.say(tool_result(call, "Approved"))).text
    assert file.exists()


@check("deny")
async def test_what_is_denied_is_not_done_and_the_chat_goes_on(site: Site) -> None:
    chat = site.chat()
    file = site.bench.work / "denied.txt"
    call = await asked(chat, f"Well, {say('Ada')}. WRITE({file})")
    denied = await chat.say(tool_result(call, SKIPPED))
    assert denied.text, "an empty answer would be taken for a failure"
    assert ("The tool said:" in denied.text) is not site.agent.stops_when_denied
    await recall(site, chat, "Ada")
    assert not file.exists()


@check("editor tool")
async def test_an_editor_tool_is_called_without_a_second_question(site: Site) -> None:
    """The editor asks by itself, and shows its calls by itself."""
    one = window(site)
    for words, name in ((READ, "read_file"), (RUN, "run_in_terminal")):
        request = await one.chat.say(words)
        assert called(request) == [name], request.text
        answer = await one.runs(request)
        assert answer.calls == []
        assert "The tool said:" in answer.text
        assert not {"✔", "✘"} & {*request.text, *answer.text}, request.text + answer.text
        assert f"result of {name}" in one.told[-1]


@check("two at once")
async def test_two_calls_of_one_answer_get_their_own_results(site: Site) -> None:
    """Where every core is busy the second can be too late; then another chat tries."""
    assert {"read_file", "list_dir"} <= READ_ONLY, "or some agents call them one by one"
    one = window(site)
    request = await one.calls(f"{READ}\n{LIST}")
    for _ in range(0 if site.agent.calls_one_by_one else MORE_ATTEMPTS):
        if len(request.calls) == 1:
            one.renew()
            request = await one.calls(f"{READ}\n{LIST}")
    rounds = 0
    seen: dict[str, JSON] = {}
    while request.calls:
        rounds += 1
        seen |= {call["toolName"]: call["parameters"] for call in request.calls}
        request = await one.runs(request)
    assert seen["read_file"] == {"filePath": "/a", "startLine": 1, "endLine": 2}
    assert seen["list_dir"] == {"path": "/b"}
    first, second = one.told
    assert "result of read_file" in first, "each call has its own result"
    assert "result of list_dir" in second
    assert rounds == (2 if site.agent.calls_one_by_one else 1)
    note("one by one" if site.agent.calls_one_by_one else "in one answer")


@check("two chats")
async def test_two_chats_with_tools_and_questions_at_once_stay_apart(site: Site) -> None:
    await site.restart()
    windows = {name: window(site) for name in ("Ada", "Bob")}

    async def both(asks: dict[str, Request]) -> dict[str, Request]:
        for name, request in asks.items():
            windows[name].chat.keep(await request.settled())
        return asks

    chats = {name: one.chat for name, one in windows.items()}
    answers = await both({n: c.ask(f"Hello, {say(n)}") for n, c in chats.items()})
    reads = {n: use("read_file", filePath=f"/{n}", startLine=1, endLine=2) for n in chats}
    calls = await both({n: c.ask(reads[n]) for n, c in chats.items()})
    calls = {n: await allowed_first(site.agent, chats[n], one) for n, one in calls.items()}
    for name, request in calls.items():
        assert called(request) == ["read_file"], f"{name}: {request.text}"
        assert request.calls[0]["parameters"]["filePath"] == f"/{name}"
    given = {n: results(request, f"result for {n}") for n, request in calls.items()}
    answers = await both({n: c.ask(*given[n]) for n, c in chats.items()})
    for name, request in answers.items():
        assert f"result for {name}" in request.text
    files = {n: site.bench.work / f"{n}.txt" for n in chats}
    asks = await both({n: c.ask(f"WRITE({files[n]})") for n, c in chats.items()})
    for name, request in asks.items():
        assert called(request) == [PERMISSION_TOOL], f"{name}: {request.text}"
        assert str(files[name]) in str(request.calls[0]["parameters"])
    words = {"Ada": "Approved", "Bob": SKIPPED}
    decided = {n: tool_result(asks[n].calls[0], words[n]) for n in chats}
    await both({n: c.ask(decided[n]) for n, c in chats.items()})
    assert {n: file.exists() for n, file in files.items()} == {"Ada": True, "Bob": False}
    answers = await both({n: c.ask("RECALL") for n, c in chats.items()})
    for name, request in answers.items():
        assert f"You told me: {name}." in request.text
    stats = await site.bench.editor.call("lm/stats")
    assert (stats["sessions"], stats["processes"]) == (2, site.agent.processes_for_two)


@check("stop in text")
async def test_an_answer_stops_in_mid_stream_and_the_next_is_clean(site: Site) -> None:
    chat = site.chat()
    request = await ask_without_end(site, chat, f"{say('Ada')}. ENDLESS")
    assert not request.is_settled, request.text
    site.bench.editor.cancel(request)
    chat.keep(await request.settled())
    turn = site.newest("ENDLESS")
    await site.world.server.reaches(lambda: turn.is_left)
    answer = await chat.say("RECALL")
    told(site, answer.text, "Ada")
    assert "And on" not in answer.text


@check("stop in a tool")
async def test_a_running_tool_of_the_agents_is_stopped(site: Site) -> None:
    chat = site.chat()
    file = site.bench.work / "lingers.txt"
    await chat.say(f"Well, {say('Ada')}")  # it may have to start first
    request = chat.ask(f"LINGER({file})")
    await until(lambda: file.exists() or bool(request.calls))
    if request.calls:  # some agents run such a command without a question
        chat.keep(await request.settled())
        assert called(request) == [PERMISSION_TOOL]
        request = chat.ask(tool_result(request.calls[0], "Approved"))
        await until(file.exists)
    site.bench.editor.cancel(request)
    chat.keep(await request.settled(within=10))
    await recall(site, chat, "Ada")


@check("stop in a tool")
async def test_a_user_who_moves_on_while_a_call_is_out_gets_an_answer(site: Site) -> None:
    """The agent is told that there is no result, and the next turn has calls of its own."""
    one = window(site)
    await one.calls(f"My son, {say('Ada')}.\n{READ}")
    await recall(site, one.chat, "Ada")
    request = await one.calls(LIST)
    assert called(request) == ["list_dir"], request.text
    await one.runs(request)
    assert "result of list_dir" in one.told[-1]


@check("stop in a question")
async def test_a_user_who_answers_a_question_with_other_words_gets_an_answer(site: Site) -> None:
    """Some agents never answer a prompt of which a question was left open."""
    file = site.bench.work / "unanswered.txt"
    for is_skipped in (False, True):
        chat = site.chat()
        call = await asked(chat, f"WRITE({file})")
        skipped = [tool_result(call, SKIPPED)] if is_skipped else []
        answer = await chat.say(*skipped, f"Well, {say('Ada')}. RECALL")
        told(site, answer.text, "Ada")
        assert not file.exists()


@check("edit")
async def test_a_turn_that_was_taken_back_is_unknown_to_the_model(site: Site) -> None:
    chat = site.chat()
    for name in ("Ada", "Zoltan", "Quentin"):
        await chat.say(f"Well, {say(name)}")
    chat.take_back(4)
    body = await recall(site, chat, "Ada")
    assert "Zoltan" not in body
    assert "Quentin" not in body
    await chat.say(f"Well, {say('Dora')}")
    await recall(site, chat, "Ada", "Dora")


@check("retry")
async def test_an_answer_is_given_again(site: Site) -> None:
    chat = site.chat()
    await chat.say(f"Well, {say('Ada')}")
    await recall(site, chat, "Ada")
    chat.take_back(1)
    again = await chat.ask().settled()
    body = told(site, again.text, "Ada")
    assert "You told me: Ada" not in body, "the answer that was taken back"


@check("reload")
async def test_a_chat_goes_on_after_a_restart(site: Site) -> None:
    chat = site.chat()
    for name in ("Ada", "Zoltan"):
        await chat.say(f"Well, {say(name)}")
    await site.restart(chat)
    await recall(site, chat, "Ada", "Zoltan")
    way = site.lifetime.ways[-1]
    if site.agent.name in CONTINUITY:
        assert way == CONTINUITY[site.agent.name].after_a_restart
    note(way.partition("/")[2])


@check("session lost")
async def test_a_chat_goes_on_where_the_agent_has_lost_it(site: Site) -> None:
    """Twice: after the session was lost the new one is as good as any other."""
    site.diary.expected.append(r"not had by")
    chat = site.chat()
    for name in ("Ada", "Zoltan"):
        await chat.say(f"Well, {say(name)}")
    await site.restart(chat, forgets=True)
    await recall(site, chat, "Ada", "Zoltan")
    one = window(site)
    one.chat.history = chat.history
    request = await one.calls(READ)
    assert called(request) == ["read_file"], "it has the editor's tools"
    await one.runs(request)
    assert "result of read_file" in one.told[-1]


@check("image")
async def test_the_model_sees_the_image(site: Site) -> None:
    picture = {"type": "data", "mimeType": "image/png", "data": a_picture()}
    answer = await site.chat().say(user(text("LOOK at this"), picture))
    assert "I see images: 1." in answer.text
    (seen,) = site.newest("LOOK").given.images
    assert base64.b64decode(seen).startswith(b"\x89PNG"), "as good as it was"


@check("context")
async def test_what_the_editor_adds_reaches_the_model_as_the_settings_say(site: Site) -> None:
    """Attachments always do; the editor's own prompt and notes only if everything is wanted."""
    asked = (
        '<attachments>\n<attachment id="note.txt">\nThe password is swordfish.\n</attachment>\n'
        "</attachments>\n<context>\nThe moon is gibbous.\n</context>\n"
        f"<userRequest>\nWell, {say('Ada')}. RECALL\n</userRequest>\n"
    )
    for context in ("request", "full"):
        chat = site.chat(context=context)
        chat.history = [message("system", "The falcon is tame.")]
        body = told(site, (await chat.say(asked)).text, "Ada")
        assert body.count("The password is swordfish.") == 1
        own = [body.count(words) for words in ("The moon is gibbous.", "The falcon is tame.")]
        assert own == ([0, 0] if context == "request" else [1, 1])


@check("choices")
async def test_what_the_agent_offers_is_chosen_and_chosen_back(site: Site) -> None:
    """The session stays the same, and what was said isn't told again."""
    await site.restart()
    chat = site.chat()
    await chat.say(f"Hello, {say('Ada')}")
    await recall(site, chat, "Ada")
    offered = await choices(site)
    offers = [key for key in NAMES if len(offered.get(key, {}).get("enum", [])) > 1]
    assert site.agent.offers in (None, (*offers,))
    keys = [key for key in offers if key not in site.agent.offers_no_more]
    note(", ".join(NAMES[key] for key in keys) or "none")
    if not keys:
        return
    first = {key: offered[key]["default"] for key in keys}
    other = {key: site.agent.choices.get(key, last_but(offered[key], first[key])) for key in keys}
    before = len(site.lifetime.changes)
    for chosen in (other, first):
        chat.options = {**ASKING, "modelConfiguration": chosen}
        for _ in range(2):
            await recall(site, chat, "Ada")
        now = await choices(site)
        assert {key: now[key]["default"] for key in keys} == first, "the value without a choice"
    changes = site.lifetime.changes[before:]
    made = [one.get("value") or one.get("modelId") or one.get("modeId") for one in changes]
    assert made == [*other.values(), *first.values()], "each is told once"
    assert len(site.lifetime.prompted) == 1


@check("processes")
async def test_two_chats_take_so_many_processes_and_so_much_memory(site: Site) -> None:
    await site.restart()
    chats = [site.chat(), site.chat()]
    for chat in chats:
        assert "I hear you." in (await chat.say("Hello")).text
    stats = await site.bench.editor.call("lm/stats")
    found: list[JSON] = stats["agentProcesses"]
    assert stats["sessions"] == 2
    assert stats["processes"] == len(found) == site.agent.processes_for_two
    assert sorted(one["pid"] for one in found) == sorted(site.bench.groups())
    size = sum(one["memoryBytes"] for one in found)
    assert size > 0
    note(f"{sum(one['processes'] for one in found)}, {max(1, round(size / 1e8)) * 100} MB")


def kill_agent(site: Site) -> None:
    for group in site.bench.groups():
        os.killpg(group, signal.SIGKILL)


@check("killed")
async def test_an_agent_that_is_killed_is_replaced(site: Site) -> None:
    site.diary.expected.append(KILLED)
    await site.restart()
    chat = site.chat()
    await chat.say(f"Well, {say('Ada')}")
    before = site.bench.groups()
    kill_agent(site)
    request = await ask_without_end(site, chat, f"Well, {say('Zoltan')}. ENDLESS")
    if request.is_settled:  # it may be told, once; then the user asks again
        assert "signal 9" in request.error["message"]
        request = await ask_without_end(site, chat)
    assert set(before).isdisjoint(site.bench.groups())
    kill_agent(site)
    error = (await request.settled()).error
    assert (error["data"]["kind"], "signal 9" in error["message"]) == ("AgentFailed", True)
    await recall(site, chat, "Ada", "Zoltan")


@check("quiet log")
async def test_the_log_is_without_warnings(site: Site) -> None:
    """In this chat, and in all that was done with the agent before."""
    one = window(site)
    request = await one.calls(READ)
    await one.runs(request)
    await site.restart()
    assert "level=INFO" in site.diary.logs[-1]
    assert "\n".join(site.diary.trouble) == ""
