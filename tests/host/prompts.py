"""The host's own texts, shortened to what tells them apart."""

from __future__ import annotations

import re

AGENT = (
    "You are an expert AI programming assistant, working with a user in VS Code. Model: {model}."
)
SESSION_LOG = (
    "\nVSCODE_TARGET_SESSION_LOG: /user/GitHub.copilot-chat/debug-logs/{log}\nWhen a skill"
)
SUB_AGENT = (
    "You are an expert AI programming assistant, without agents of your own. Model: {model}."
)
ASK = "You are an AI programming assistant.\nModel: {model}."
TITLE = "You are an expert in crafting ultra-compact titles for chatbot conversations."
TITLE_REQUEST = "Please write a brief title for the following request:\n\n{text}"
COMMIT = (
    "You are an AI programming assistant, helping a software developer to come with the best git "
    "commit message."
)
COMMIT_REQUEST = "<recent-commits>\n</recent-commits>\n<code-changes>\n</code-changes>\n"
SUMMARY = "Your task is to create a comprehensive, detailed summary of the entire conversation"
SUMMARY_REQUEST = "Summarize the conversation history so far, paying special attention to the end."
FORK_REQUEST = (
    "The conversation has grown too large for the context window and must be compacted now.\n\n"
    "Answer with a <summary>."
)
INLINE = (
    "When asked for your name, you must respond with GitHub Copilot. Quick, inline code changes."
)
INLINE_FILE = "The filepath is `/demo/app.py` and this is its content:\n<file>\npass\n</file>\n"

PREAMBLE = (
    "<environment_info>\nThe user's current OS is: Linux\n</environment_info>\n"
    "<workspace_info>\n- /workspace/demo\n</workspace_info>\n"
)
CONTEXT = (
    "<context>\nThe current date is {date}.\n</context>\n"
    "<reminderInstructions>\nRepeat no code.\n</reminderInstructions>\n"
)

HOST = "You are an AI assistant using Copilot SDK in VS Code."
HOST_SUB_AGENT = "As a sub-agent, complete your parent's task yourself."
HOST_EXPLORER = "You are an exploration agent. Answer the question as fast as you can."
SESSION_FOLDER = (
    "\n<session_context>\nSession folder: /home/dev/.copilot/session-state/{log}\n\nContents:\n"
)
SELECTION = "<ide_selection>\nFile: src/app.py (lines 1-2)\n```\npass\n```\n</ide_selection>\n\n"
DATE = "<current_datetime>2026-11-22, {number}</current_datetime>\n\n"
SWITCHED = (
    "<tools_changed_notice>\nThe model has been switched from {former} to {model}.\n"
    "</tools_changed_notice>\n\n"
)
REMINDER = "\n\n<system_reminder>\nThe following attached files are read-only.\n</system_reminder>"
IMAGE_PATH = "Image file at path /home/dev/Pasted Image.png"
NOTIFICATION = "<system_notification>\n{text}\n</system_notification>"
HOST_SUMMARY_REQUEST = (
    "Please create a detailed summary of the conversation so far. The history is being compacted "
    "so moving forward, all conversation history will be removed."
)

SKIPPED = "The user chose to skip the tool call, they want to proceed without running it"
CANCELLED = "The user cancelled the tool call."
INTERRUPTED = "The execution of this tool, or a previous tool was interrupted."
IMAGE_SHOWN = "[Image was previously shown to you. Image URI: vscode-chat-response-resource://1]"


def request(text: str, tag: str) -> str:
    """What was typed, in the tag that a model's family gets."""
    return f"<{tag}>\n{text}\n</{tag}>\n"


def summary(number: int) -> str:
    """What stands in place of a prefix."""
    return (
        f"<conversation-summary>\nThe gist, number {number}.\n"
        "If you need specific details from before compaction, read the transcript.\n"
        "</conversation-summary>"
    )


def host_summary(number: int, *, is_whole: bool) -> str:
    """What stands in place of a prefix in the Agent Host."""
    begins = "The" if is_whole else "Some of the"
    return (
        f"{begins} conversation history has been summarized to free up context.\n\n"
        f"Here is a summary of the prior context:\n<summary>\nThe gist, {number}.\n</summary>\n"
    )


_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")


def rebuilt(text: str) -> str:
    """An answer as it is rendered anew after a reload: relative links are reduced to labels."""
    return _LINK.sub(r"\1", text)
