"""Chats to route: their messages, what the host says of them, and how they come about."""

from __future__ import annotations

from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.request import Hints
from bridge.wire import ToolCallPart, ToolResultPart
from tests.bridge.desk import Desk
from tests.strategies import assistant, user

Q1, Q2, Q3, OTHER = user("q1"), user("q2"), user("q3"), user("other")
A1, A2, A3 = assistant("a1"), assistant("a2"), assistant("a3")
SAID = assistant("said")
ABSENT = frozenset({Rule.ANSWER_ABSENT})
REQUEST_ONLY = frozenset({Rule.REQUEST_ONLY})
CHAT, COPY = Hints("c", chat="here"), Hints("c", chat="there")
"""A chat, and its fork: the host gives them one id, and each a log of its own."""
CALL = ToolCallPart("c1", "read", {})
RESULT = Message.of("user", [ToolResultPart("c1", "text")])
CALLED = Message.of("assistant", [CALL])
HERE, THERE = Hints(conversation="here"), Hints(conversation="there")
PARENT = Hints(conversation="c", run="r", turn=1)
SUMMARY = user("<conversation-summary>\nThey said q1.\n</conversation-summary>")


def answered(desk: Desk, *chat: Message, hints: Hints | None = None) -> int:
    """Lead a chat of questions and answers, in turn, and return whose it is."""
    key = 0
    for index in range(0, len(chat), 2):
        key, _ = desk.ask(*chat[: index + 1], hints=hints or Hints())
        desk.finish(key, chat[index + 1].text)
    return key


def asks_for(text: str) -> Message:
    """A question as the host wraps it."""
    return user(f"<context>\nMonday\n</context>\n<userRequest>\n{text}\n</userRequest>\n")


def waiting_parent(desk: Desk, *call_ids: str) -> int:
    key = desk.opened(Q1, hints=PARENT)
    desk.emit(key, *(ToolCallPart(call_id, "runSubagent", {}) for call_id in call_ids))
    desk.finish(key)
    return key
