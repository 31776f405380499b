"""Choices of a session: options, and their predecessors, modes and models."""

from __future__ import annotations

from collections.abc import Iterable
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


def value_of(option: SessionConfigOption) -> str:
    """Return the present value as text; a switch is "true" or "false"."""
    value = option.current_value
    return str(value).lower() if isinstance(value, bool) else value


def values_of(options: Iterable[SessionConfigOption]) -> dict[str, str]:
    """Return the present values by the options' ids."""
    return {option.id: value_of(option) for option in options}


def label_of(option: SessionConfigOption) -> str:
    """Return the name of the present value."""
    if isinstance(option, SessionConfigBoolean):
        return "On" if option.current_value else "Off"
    current = option.current_value
    return next((one.name for one in option.choices if one.value == current), current)


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
