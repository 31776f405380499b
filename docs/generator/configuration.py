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
    "id": "What a request names; unique in the file.",
    "agent": "Who answers: one of the kinds of [AgentSpec](wire.md#agentspec), with the same keys.",
    "name": "What the picker shows; the id if empty.",
    "family": "A group of models that hosts treat alike; the id if empty.",
    "version": "Shown by some hosts; otherwise without meaning.",
    "settings": "[Settings](#settings) of this model's chats. A request that brings its own "
    "settings replaces them all.",
    "maxInputTokens": "What the host may put into a request. Hosts summarise a chat that comes "
    "near it, so it is large: agents look after their own context.",
    "maxOutputTokens": "What the host may expect of an answer.",
    "tooltip": "Shown with the name.",
    "detail": "Shown beside the name.",
    "toolCalling": "Whether the host may offer tools.",
    "imageInput": "Whether the host may send images.",
}

_ENDPOINT = {
    "id": "What its models' ids begin with: `ID/NAME`. Unique among the endpoints.",
    "open_responses": "The endpoint, with the keys of "
    "[OpenResponsesSpec](wire.md#openresponsesspec) but for `model`.",
    "include": "Which of the models that it lists can be picked, by globs of their names.",
    "exclude": "Which of those can't.",
    "settings": "[Settings](#settings) of these models' chats.",
    "maxInputTokens": "Where the endpoint doesn't say it: as for a model.",
    "maxOutputTokens": "The same.",
    "toolCalling": "The same.",
    "imageInput": "The same.",
}

_SETTINGS = {
    "context": "What of the host's messages an agent gets: what the user asked, or all of it. By "
    "default the agent's kind decides, and it is all where the host asks something beside a chat, "
    "such as a title. Eliza always takes what the user asked.",
    "model": "Which of an ACP agent's own models answers, by its id there; by default the agent "
    "chooses.",
    "mode": "In which of an ACP agent's own modes it works, by its id there; by default the agent "
    "chooses.",
    "tools": "Which of the host's tools the agent is offered, by glob: `include`, then `exclude`.",
    "permissions": "Who decides when the agent asks for permission: `ask` puts it to the user (and "
    "denies where the host has no tool for that), `read_only` allows reading, searching and "
    "thinking, `allow` allows everything but a change of the agent's mode, which is put to the "
    "user as under `ask`, `deny` nothing.",
    "thinking": "Reasoning as parts of their own (if the host can take them), as text, or not.",
    "rewind": "What the agent knows of an answer that was taken back: `auto` goes on in a session "
    "that doesn't know it, `continue` in the one that does.",
    "idleSeconds": "How long a conversation may lie idle before it is given up; more than 0. One "
    "that waits for the user is kept for a day.",
    "maxSessions": "How many conversations with one agent may live; one more ends the least "
    "recently used of those that are idle. Where none is, the one that has waited longest for the "
    "user is denied and closed, and its user is told. All conversations together may take 128 MiB "
    "(the bytes of their newest requests); more end in the same order. At least 1.",
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
