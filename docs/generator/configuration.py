"""The keys of the configuration file and of the settings, from the Structs that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import fields

from bridge import models as _models
from bridge.wire import Settings

from .markdown import table
from .wire import default_words, hint_words

if TYPE_CHECKING:
    import msgspec

_MODEL = {
    "id": "The name of the model in requests; unique in the file.",
    "agent": "The agent: one of the kinds of [AgentSpec](wire.md#agentspec), with the same keys.",
    "name": "The name in the model picker; the id if empty.",
    "family": "A group of models that editors treat alike; the id if empty.",
    "version": "Shown by some editors; otherwise not used.",
    "settings": "[Settings](#settings) of this model's chats. A request that brings its own "
    "settings replaces them all.",
    "maxInputTokens": "The limit of a request. Editors summarise a chat that comes near it. If "
    "it isn't given, it is the size of an ACP agent's own context, less the output, as soon as the "
    "agent reports it. Until then it is 1,000,000.",
    "maxOutputTokens": "The limit of an answer. If it isn't given, it is 64,000, or 8,192 of an "
    "ACP agent's own context.",
    "tooltip": "Shown with the name.",
    "detail": "Shown beside the name.",
    "toolCalling": "Whether the editor may offer tools.",
    "imageInput": "Whether the editor may send images.",
}

_ENDPOINT = {
    "id": "The first part of its models' ids, `ID/NAME`. Unique among the endpoints.",
    "open_responses": "The endpoint, with the keys of "
    "[OpenResponsesSpec](wire.md#openresponsesspec) but for `model`.",
    "include": "The listed models that can be chosen, by globs of their names.",
    "exclude": "Those of them that can't be chosen.",
    "settings": "[Settings](#settings) of these models' chats.",
    "maxInputTokens": "As for a model, if the endpoint doesn't report it.",
    "maxOutputTokens": "The same.",
    "toolCalling": "The same.",
    "imageInput": "The same.",
}

_SETTINGS = {
    "context": "The part of the editor's messages for the agent: the user's question, or all. "
    "The default depends on the kind of agent. Requests beside a chat, such as one for a title, "
    "get all by default. Eliza always gets only the question.",
    "model": "The id of one of an ACP agent's own models; by default the agent chooses.",
    "mode": "The id of one of an ACP agent's own modes; by default the agent chooses. A known mode "
    "in which it acts without asking isn't used with the permissions `read_only` and `deny`.",
    "tools": "The editor's tools that the agent can use, by glob: `include`, then `exclude`. "
    'With `duplicates = "leave_out"` an ACP agent doesn\'t get tools for work that it does itself, '
    "such as reading files or running commands. An exact name in `include` is offered in any case.",
    "edits": "Either the `editor` changes files, and its user can keep or undo each edit, or the "
    "`agent` does. By default the editor does it for agents that are known to work so, if it can "
    "return the texts of files and offers its tools that edit.",
    "permissions": "The answer when the agent asks for permission. `ask` asks the user, and denies "
    "if the editor has no tool for that. `read_only` allows reading, searching and thinking. "
    "`allow` allows everything except a change of the agent's mode, which the user decides as "
    "under `ask`. `deny` denies everything.",
    "permissionChoices": "The values of `permissions` that a user can choose for a chat in the "
    "editor's model picker.",
    "thinking": "Show reasoning as separate parts (if the editor supports them), as text, or not.",
    "rewind": "Whether the agent remembers an answer that was taken back: `auto` continues in a "
    "session that doesn't know it, `continue` in the one that does.",
    "idleSeconds": "A conversation ends after this many seconds without a request; more than 0. "
    "One that waits for the user ends after a day.",
    "maxSessions": "The largest number of open conversations with one agent, at least 1. One more "
    "ends the idle one that was used least recently. If none is idle, the one that has waited "
    "longest for the user is denied and closed, and its user is told. All conversations together "
    "may take 128 MiB (the bytes of their newest requests); beyond it, they end in the same order.",
}


def models() -> str:
    """Return the keys of a model."""
    # The file's shape has no public name, as nothing but the parser needs it.
    return _keys(_models._Model, _MODEL)  # pyright: ignore[reportPrivateUsage]  # see above


def endpoints() -> str:
    """Return the keys of an endpoint that lists its models."""
    return _keys(_models._Endpoint, _ENDPOINT)  # pyright: ignore[reportPrivateUsage]  # the same


def settings() -> str:
    """Return the keys of the settings."""
    return _keys(Settings, _SETTINGS)


def _keys(struct: type[msgspec.Struct], meanings: dict[str, str]) -> str:
    rows = [
        [
            f"`{field.encode_name}`",
            "table" if field.name == "agent" else _unlinked(hint_words(field.type)),
            default_words(field),
            meanings[field.encode_name],
        ]
        for field in fields(struct)
    ]
    return table(["key", "type", "default", "meaning"], rows)


def _unlinked(words: str) -> str:
    return words if "](#" not in words else "table"
