"""What tests of the actors ask of a scripted agent, and a scene that they play with it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from actors.plan import Delivery
from agents.events import Prompt
from bridge.history.transcript import TranscriptReader
from bridge.wire import Capabilities, ChatMessage, ChatOptions, Settings, TextPart
from tests.fakes.editor import JSON, Chat, FakeEditor, message, quiet
from tests.fakes.scripted_agent import Gate, ScriptedAgent

FOLDER = "You are an agent.\nSession folder: /home/me/.copilot/session-state/0c5\n\nContents:\n"
"""The system prompt of a chat in VS Code's Agent Host."""


def hosted_chat(editor: FakeEditor, options: JSON, system: str = FOLDER) -> Chat:
    """Open a chat of VS Code's Agent Host."""
    chat = Chat(editor, options=options)
    chat.history = [message("system", system)]
    return chat


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [part.value for one in messages for part in one.content if isinstance(part, TextPart)]


def told(prompt: Prompt) -> tuple[list[str], list[str]]:
    """Return the texts of what was said before, and of what is new."""
    return texts(prompt.transcript), texts(prompt.messages)


def delivery(turn: int, *messages: ChatMessage, withdrawn: bool = False) -> Delivery:
    """Return the delivery of a request in which all messages are new."""
    raws = [Raw(msgspec.json.encode(one)) for one in messages]
    return Delivery(
        turn=turn,
        transcript=TranscriptReader().read(raws),
        new_from=0,
        withdrawn=withdrawn,
        options=ChatOptions(),
        settings=Settings(),
        tools=(),
        asks_by=None,
        capabilities=Capabilities(),
    )


async def cancels_before_it_is_told(agent: ScriptedAgent, chat: Chat, word: str) -> None:
    """Ask, and cancel that while the agent still opens a session; it may go on opening it then."""
    gate = Gate()
    agent.opening = [gate]
    request = chat.ask(word)
    await quiet()
    assert gate.reached.is_set()
    chat.editor.cancel(request)
    await request.settled()
    gate.opened.set()
