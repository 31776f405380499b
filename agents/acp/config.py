"""What can be chosen in a session: options, and what came before them: modes and models."""

from __future__ import annotations

from typing import TypeAlias

from bridge.wire import Wire


class SessionConfigSelectOption(Wire):
    """One value to choose."""

    value: str
    name: str
    description: str | None = None


class SessionConfigSelectItem(Wire):
    """A value (`value` is there), or a group of them (`options` is there)."""

    name: str
    value: str | None = None
    description: str | None = None
    group: str | None = None
    options: tuple[SessionConfigSelectOption, ...] = ()


class SessionConfigSelect(Wire, tag_field="type", tag="select"):
    """An option with one value out of several.

    `category` is "mode", "model", "model_config", "thought_level", or anything.
    """

    id: str
    name: str
    current_value: str
    options: tuple[SessionConfigSelectItem, ...]
    description: str | None = None
    category: str | None = None

    @property
    def choices(self) -> tuple[SessionConfigSelectOption, ...]:
        """Return every value that can be chosen, the groups' ones too."""
        return tuple(choice for item in self.options for choice in _choices(item))


def _choices(item: SessionConfigSelectItem) -> tuple[SessionConfigSelectOption, ...]:
    if item.value is None:
        return item.options
    return (SessionConfigSelectOption(item.value, item.name, item.description),)


class SessionConfigBoolean(Wire, tag_field="type", tag="boolean"):
    """An option that is on or off; offered to clients that said they can take it."""

    id: str
    name: str
    current_value: bool
    description: str | None = None
    category: str | None = None


SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean


class SessionMode(Wire):
    """A mode, such as plan or code."""

    id: str
    name: str
    description: str | None = None


class SessionModeState(Wire):
    """The modes of a session."""

    current_mode_id: str
    available_modes: tuple[SessionMode, ...] = ()


class ModelInfo(Wire):
    """A model, in the way that never became part of the protocol and is used all the same."""

    model_id: str
    name: str
    description: str | None = None


class SessionModelState(Wire):
    """The models of a session, in that same way."""

    current_model_id: str
    available_models: tuple[ModelInfo, ...] = ()
