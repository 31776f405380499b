"""Forms of a scripted agent, and the chat in which it asks for them."""

from __future__ import annotations

from agents.events import Elicit, ElicitAnswer
from tests.fakes.editor import ASKING, JSON, Chat, FakeEditor
from tests.fakes.scripted_agent import ScriptedAgent

SCHEMA: JSON = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = Elicit("f1", "Your name?", SCHEMA)
OTHER = Elicit("f2", "Your page?", url="https://example.com/x")
NAMED: JSON = {"modelOptions": {"_conversationId": "chat-1"}}
"""Options of a host that gives a chat a name, and offers no tool."""
HOSTED: JSON = {"requestInitiator": "core"}
"""Options of VS Code's Agent Host."""


async def chat_with(editor: FakeEditor, options: JSON = ASKING) -> Chat:
    await editor.initialize("elicit").settled()
    return Chat(editor, options=options)


def answers(agent: ScriptedAgent) -> list[ElicitAnswer]:
    """Return what the agent got as answers to its forms."""
    return [one for one in agent.answers if isinstance(one, ElicitAnswer)]
