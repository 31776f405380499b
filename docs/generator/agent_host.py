"""The rules by which messages of VS Code's Agent Host are read, with the recordings that show them.

`tests/recordings/test_host_rules.py` looks up each name, and checks each recording.
"""

from __future__ import annotations

from bridge.value import Value

from .markdown import table


class HostRule(Value):
    """A habit of the host, our answer to it, its place in the code, and its recordings."""

    does: str
    deals: str
    code: tuple[str, ...]
    recordings: tuple[str, ...] = ()


_WORDS = "bridge.history.agent_host.read_host_message"
_FORM = "bridge.history.message.Draft.add"

HOST_RULES = {
    "leading blocks": HostRule(
        "The selection, the date, a note about tools and a mode stand before the typed text.",
        "The typed text is the question, even if it or the selection has tags. A slash command "
        "after the date works.",
        (_WORDS,),
        ("a15-model-switch.jsonl", "a18-attachments.jsonl"),
    ),
    "trailing blocks": HostRule(
        "Reminders, attached files and paths of images stand after it.",
        "They are context, like the selection. Agents get all of it except the date and the "
        "note about tools.",
        (_WORDS, "agents.host_context.spans"),
        ("a18-attachments.jsonl", "a34-instructions.jsonl"),
    ),
    "skills": HostRule(
        "A skill that the user names is an attached file. The text stays as it was typed.",
        "The same as any attached file.",
        (_WORDS,),
        ("a34-instructions.jsonl",),
    ),
    "steering": HostRule(
        "A message that is sent while the agent works has no date. Files may stand after it.",
        "The typed text is the question, the files are context.",
        (_WORDS,),
    ),
    "notifications": HostRule(
        "`<system_notification>` begins a turn that no user began.",
        "It is sent with its tag, which says that it is the host's.",
        ("bridge.history.agent_host.is_marked",),
        ("a21-subagent.jsonl", "a28-big-image.jsonl"),
    ),
    "reminders of Autopilot": HostRule(
        "While its task isn't marked as complete, Autopilot reminds the model of that, without a "
        "tag.",
        "The reminder is sent in the tag `<system_notification>`.",
        (_WORDS, "agents.host_context.marks"),
    ),
    "summaries": HostRule(
        "A summary replaces old messages.",
        "It is no question of the user. A new session gets it as history.",
        ("bridge.history.agent_host.is_host_summary", "bridge.history.rules.Rule.SUMMARY"),
        ("a16-compaction.jsonl",),
    ),
    "order of completion": HostRule(
        "Results come in the order in which the tools ended.",
        "Results are found by their ids, and later requests keep the order.",
        ("bridge.routing.index.Index.waiting_for", _FORM),
        ("a03-three.jsonl", "a14-two-chats.jsonl", "a19-reload.jsonl", "a21-subagent.jsonl"),
    ),
    "thinking as lists": HostRule(
        "Thinking comes back in all later turns, as a list.",
        "Thinking is never compared.",
        ("bridge.wire.ThinkingPart", _FORM),
        ("a13-thinking-marker.jsonl", "a19-reload.jsonl", "a28-big-image.jsonl"),
    ),
    "sanitised names": HostRule(
        "A name of a tool comes back with other characters.",
        "Odd characters count as `_`.",
        ("bridge.history.message.CallKey", _FORM),
        ("a28-big-image.jsonl",),
    ),
    "no empty part": HostRule(
        "A call without text has no empty text part.",
        "Texts are joined, so an empty part makes no difference.",
        ("bridge.history.message.Draft.message",),
        ("a13-thinking-marker.jsonl", "a19-reload.jsonl", "a28-big-image.jsonl"),
    ),
    "images as text": HostRule(
        "An image in a result becomes text.",
        "A result is known by its id alone.",
        (_FORM,),
        ("a28-big-image.jsonl",),
    ),
    "no markers": HostRule(
        "Markers never come back. The system prompt names the chat's session folder.",
        "The folder's id tells whose chat it is.",
        ("bridge.routing.agent_host.session_of",),
        (
            "a13-thinking-marker.jsonl",
            "a14-two-chats.jsonl",
            "a19-reload.jsonl",
            "a28-big-image.jsonl",
        ),
    ),
    "unheard stops": HostRule(
        "The host doesn't report a stop. The next message follows the question at once.",
        "A request of the same chat may leave an answer out.",
        ("bridge.history.rules.Rule.ANSWER_UNSEEN",),
        (
            "a06-cancel.jsonl",
            "a14-two-chats.jsonl",
            "a16-compaction.jsonl",
            "a19-reload.jsonl",
            "a28-big-image.jsonl",
        ),
    ),
}


def rules() -> str:
    """Return the rules."""
    return table(
        ["rule", "what the Agent Host does", "how vscodelm deals with it", "code", "recordings"],
        [
            [
                name,
                rule.does,
                rule.deals,
                ", ".join(f"`{code}`" for code in rule.code),
                ", ".join(f"`{file.removesuffix('.jsonl')}`" for file in rule.recordings) or "none",
            ]
            for name, rule in HOST_RULES.items()
        ],
    )
