"""Read the choices that a session offers, and choose a model or a mode. Pure.

There are three ways, the newest first: options, then modes, then models, which never became part of
the protocol. The first that offers the choice is used.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from agents.acp.schema.methods import (
    LoadSessionResponse,
    NewSessionResponse,
    SetSessionConfigOptionRequest,
    SetSessionModelRequest,
    SetSessionModeRequest,
)
from agents.acp.schema.options import (
    SessionConfigBoolean,
    SessionConfigOption,
    SessionConfigSelect,
    SessionConfigSelectOption,
    SessionModelState,
    SessionModeState,
    value_of,
)
from bridge.errors import Failure
from bridge.models import PERMISSIONS
from bridge.value import Value
from bridge.wire import ConfigurationProperty, Permissions

Change: TypeAlias = SetSessionConfigOptionRequest | SetSessionModeRequest | SetSessionModelRequest
AskingValues: TypeAlias = Mapping[str, Mapping[str, str]]
"""By key, the values with which an agent acts without asking, and for each the one to ask with."""
EFFORT = "reasoningEffort"
NAVIGATION, TOKENS = "navigation", "tokens"
"""The groups that VS Code shows beside the model: one property of each. It means the second for the
size of the context, but shows any property there, with its title."""
_SHOWN_FIRST = (EFFORT, "model", "mode")
"""The keys that get these places, if there is more than one value."""
_CATEGORIES = {"model": "model", "mode": "mode", EFFORT: "thought_level"}
"""The keys of a configuration schema, and the categories of the options that they stand for."""
_ORDER = {key: number for number, key in enumerate(_CATEGORIES)}
_RESERVED = frozenset({*_CATEGORIES, PERMISSIONS})
NEVER_UNASKED: frozenset[Permissions] = frozenset({"read_only", "deny"})
"""The permissions under which no choice stands by which an agent acts without asking."""
_SHOWN = 20
_ON, _OFF = "true", "false"
_ON_AND_OFF = (SessionConfigSelectOption(_ON, "On"), SessionConfigSelectOption(_OFF, "Off"))


NOTHING: Mapping[str, str] = MappingProxyType({})
NONE_KNOWN: AskingValues = MappingProxyType({})
"""No value with which an agent acts without asking is known."""


class Choices(Value):
    """The choices of a session, and their present values."""

    options: tuple[SessionConfigOption, ...] = ()
    modes: SessionModeState | None = None
    models: SessionModelState | None = None

    @classmethod
    def of(cls, opened: NewSessionResponse | LoadSessionResponse) -> Choices:
        """Return what an agent said when it opened a session."""
        return cls(opened.config_options or (), opened.modes, opened.models)

    def with_options(self, options: tuple[SessionConfigOption, ...]) -> Choices:
        """Return the choices when these are all the options."""
        return replace(self, options=options)

    def with_mode(self, mode: str) -> Choices:
        """Return the choices when the mode has changed. Some agents offer it as an option, too."""
        option = _option(self.options, _CATEGORIES["mode"])
        known = self if option is None else self._with_value(option.id, mode)
        if self.modes is None:
            return known
        return replace(known, modes=replace(self.modes, current_mode_id=mode))

    def after(self, change: Change) -> Choices:
        """Return the choices when the agent has made a change and said nothing more of it."""
        match change:
            case SetSessionModeRequest(mode_id=mode):
                return self.with_mode(mode)
            case SetSessionModelRequest(model_id=model):
                if self.models is None:
                    return self
                return replace(self, models=replace(self.models, current_model_id=model))
            case SetSessionConfigOptionRequest(config_id=config_id, value=value):
                return self._with_value(config_id, value)
            case _:
                assert_never(change)

    def _with_value(self, option_id: str, value: str | bool) -> Choices:
        return self.with_options(
            tuple(
                replace(option, current_value=value) if option.id == option_id else option
                for option in self.options
            )
        )


class Selection(Value):
    """One thing to choose: its values, the present one, and the part of the protocol it is of."""

    title: str
    values: tuple[SessionConfigSelectOption, ...]
    current: str
    source: SessionConfigOption | SessionModeState | SessionModelState
    description: str | None = None

    def change(self, session_id: str, value: str) -> Change:
        """Return the request that chooses a value of these."""
        match self.source:
            case SessionConfigSelect(id=id_):
                return SetSessionConfigOptionRequest(session_id, id_, value)
            case SessionConfigBoolean(id=id_):
                return SetSessionConfigOptionRequest.on_off(session_id, id_, value == _ON)
            case SessionModeState():
                return SetSessionModeRequest(session_id, value)
            case SessionModelState():
                return SetSessionModelRequest(session_id, value)
            case _:
                assert_never(self.source)

    def as_property(self) -> ConfigurationProperty:
        """Return it as a property of a model's configuration schema."""
        descriptions = tuple(value.description or "" for value in self.values)
        return ConfigurationProperty(
            title=self.title,
            enum=tuple(value.value for value in self.values),
            enum_item_labels=tuple(value.name for value in self.values),
            enum_descriptions=descriptions if any(descriptions) else UNSET,
            default=self.current,
        )


def selections(choices: Choices) -> dict[str, Selection]:
    """Return all that can be chosen, by the keys of a configuration schema."""
    found: dict[str, Selection] = {}
    used: set[str] = set()
    for key, category in _CATEGORIES.items():
        option = _option(choices.options, category)
        if option is not None:
            used.add(option.id)
            found[key] = _selection(option)
        elif key == "model" and choices.models is not None:
            found[key] = _models(choices.models)
        elif key == "mode" and choices.modes is not None:
            found[key] = _modes(choices.modes)
    for option in choices.options:
        if option.id not in used:
            key = f"agent.{option.id}" if option.id in _RESERVED else option.id
            found[key] = _selection(option)
    return found


def values_of_all(choices: Choices) -> dict[str, str]:
    """Return the present values, by the keys of a configuration schema."""
    return {key: one.current for key, one in selections(choices).items()}


def properties(
    choices: Choices, first: Mapping[str, str] = NOTHING, asking: AskingValues = NONE_KNOWN
) -> dict[str, ConfigurationProperty]:
    """Return the properties of a configuration schema.

    The defaults are the values of `first`, or else the present ones. Hosts send them with each
    request, in every chat, so none is a value of `asking`, with which the agent wouldn't ask.
    """
    found = {key: one.as_property() for key, one in selections(choices).items() if one.values}
    for key, one in found.items():
        offered = one.enum
        default = first[key] if first.get(key) in offered else one.default
        asked = asking.get(key, {}).get(default)
        found[key] = replace(one, default=asked if asked in offered else default)
    shown = (key for key in _SHOWN_FIRST if key in found and len(found[key].enum) > 1)
    for key, group in zip(shown, (NAVIGATION, TOKENS), strict=False):
        found[key] = replace(found[key], group=group)
    return found


def change_to(
    choices: Choices, session_id: str, key: str, wanted: str, *, again: bool = False
) -> Change | Failure | None:
    """Return the request that makes the choice; None where it is made already, if not `again`.

    `wanted` is an id, or the name that the agent shows for it.
    """
    selection = selections(choices).get(key)
    offered = () if selection is None else selection.values
    value = _find(offered, wanted)
    if selection is None or value is None:
        return _not_offered(key, wanted, offered)
    is_made = value == selection.current and not again
    return None if is_made else selection.change(session_id, value)


def chosen(choices: Choices, key: str) -> str | None:
    """Return the id of what is chosen; None where the agent offers no choice."""
    selection = selections(choices).get(key)
    return None if selection is None else selection.current


class Picked:
    """The choices that the user has made in the host's picker, in one session.

    Each stays due until it is `settled`: made, or told to the user as one that can't be made.
    """

    def __init__(self) -> None:
        self._given: Mapping[str, str] = NOTHING
        self._picked: dict[str, str] = {}
        """The settled choices, by key."""
        self._made: set[str] = set()
        """The keys of those that the agent has made."""
        self._sent: set[str] = set()
        """The keys of changes that were sent, and perhaps made: no answer has come."""
        self.before: dict[str, str] = {}
        """The values before the user's first choice, by key."""

    def due(
        self,
        choices: Choices,
        configuration: Mapping[str, str],
        asking: AskingValues = NONE_KNOWN,
        preset: Container[str] = (),
    ) -> list[tuple[str, str]]:
        """Return the keys and values to choose now; the model comes first.

        A key that is missing now gets back the value that it had at first, unless the settings have
        `preset` it. With a value of `asking` the agent wouldn't ask, so it gets the one to ask
        with. A value that the agent has changed itself since the user's choice is left alone.
        """

        def asked(key: str, value: str) -> str:
            return asking.get(key, {}).get(value, value)

        over = {key: one for key, one in self.before.items() if key not in configuration}
        wanted = {key: asked(key, one) for key, one in over.items() if key not in preset}
        wanted |= {key: one for key, one in configuration.items() if one != self._picked.get(key)}
        for key in over.keys() - wanted.keys():
            del self.before[key]
        for key in wanted.keys() & configuration.keys():
            before = chosen(choices, key) or configuration[key]
            self.before.setdefault(key, asked(key, before))
        self._given = configuration
        settled = configuration.keys() - wanted.keys()
        self._picked = {key: configuration[key] for key in settled}
        self._made = {key for key in settled if self._is_made(choices, key)}
        return _in_order(wanted)

    def change(
        self, choices: Choices, session_id: str, key: str, value: str
    ) -> Change | Failure | None:
        """Return the request that makes a choice, which counts as sent; None where it is made."""
        change = change_to(choices, session_id, key, value, again=key in self._sent)
        if change is not None and not isinstance(change, Failure):
            self._sent.add(key)
            self._picked.pop(key, None)
        return change

    def settle(self, key: str, *, is_made: bool) -> None:
        """Note that a choice is made, or that the user knows that it can't be made."""
        self._sent.discard(key)
        if key not in self._given:
            del self.before[key]
            return
        self._picked[key] = self._given[key]
        if is_made:
            self._made.add(key)
        else:
            self._made.discard(key)

    def undone(self, choices: Choices) -> list[tuple[str, str]]:
        """Return the choices that were made, and that the agent has undone with another one."""
        keys = (key for key in self._made if not self._is_made(choices, key))
        return _in_order({key: self._given[key] for key in keys})

    def _is_made(self, choices: Choices, key: str) -> bool:
        return change_to(choices, "", key, self._given[key]) is None


def _in_order(wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(wanted.items(), key=lambda pair: (_ORDER.get(pair[0], len(_ORDER)), pair[0]))


def undone_by_another(choices: Choices, key: str, value: str) -> str:
    """Return the words for a choice of the picker that the agent undoes with another choice."""
    if isinstance(change_to(choices, "", key, value), Failure):
        return not_offered_now(choices, key, value)
    current = chosen(choices, key)
    return f"The agent changed its {key} from {value!r} to {current!r} because of another choice."


def not_offered_now(choices: Choices, key: str, value: str) -> str:
    """Return the words for a choice of the picker that the agent doesn't offer any more."""
    current = chosen(choices, key)
    rest = "" if current is None else f" It stays at {current!r}."
    return f"The agent doesn't offer {value!r} as its {key} now.{rest}"


def unasked(choices: Choices, wanted: Mapping[str, str], asking: AskingValues) -> dict[str, str]:
    """Return those of the wanted values, ids or names, with which the agent acts without asking."""
    offered = selections(choices)
    found: dict[str, str] = {}
    for key, value in wanted.items():
        values = offered[key].values if key in offered else ()
        if (_find(values, value) or value) in asking.get(key, {}):
            found[key] = value
    return found


def to_ask(
    choices: Choices, asking: AskingValues, own: Mapping[str, str], *, is_strict: bool = False
) -> list[tuple[str, str]]:
    """Return the keys and values to choose so that the user is asked.

    `own` has the values that the user has chosen, of those that are offered. If the agent doesn't
    ask because of one, nothing need be changed: one agent's mode switches an option on as well. If
    it `is_strict`, what the user has chosen doesn't count, and the value to ask with is returned
    even where it isn't offered.
    """
    if not is_strict and unasked(choices, own, asking):
        return []
    found: list[tuple[str, str]] = []
    for key, values in asking.items():
        wanted = values.get(chosen(choices, key) or "")
        if wanted is None:
            continue
        if is_strict or not isinstance(change_to(choices, "", key, wanted), Failure):
            found.append((key, wanted))
    return found


def not_permitted(key: str, value: str, permissions: Permissions) -> str:
    """Return the words for a choice that the permissions don't allow."""
    return (
        f"With {value!r} as its {key} the agent acts without asking, and your permissions are "
        f"{permissions!r}."
    )


def _option(options: Iterable[SessionConfigOption], kind: str) -> SessionConfigSelect | None:
    """Return the option for a kind, by its category; categories are optional, so by its id, too."""
    selects = [option for option in options if isinstance(option, SessionConfigSelect)]
    by_category = (option for option in selects if option.category == kind)
    by_id = (option for option in selects if option.category is None and option.id == kind)
    return next(by_category, None) or next(by_id, None)


def _selection(option: SessionConfigOption) -> Selection:
    if isinstance(option, SessionConfigSelect):
        return Selection(
            option.name, option.choices, option.current_value, option, option.description
        )
    return Selection(option.name, _ON_AND_OFF, value_of(option), option, option.description)


def _modes(modes: SessionModeState) -> Selection:
    values = (
        SessionConfigSelectOption(one.id, one.name, one.description)
        for one in modes.available_modes
    )
    return Selection("Mode", tuple(values), modes.current_mode_id, modes)


def _models(models: SessionModelState) -> Selection:
    values = (
        SessionConfigSelectOption(one.model_id, one.name, one.description)
        for one in models.available_models
    )
    return Selection("Model", tuple(values), models.current_model_id, models)


def _find(offered: Sequence[SessionConfigSelectOption], wanted: str) -> str | None:
    by_id = (one.value for one in offered if one.value == wanted)
    by_name = (one.value for one in offered if one.name.casefold() == wanted.casefold())
    return next(by_id, None) or next(by_name, None)


def _not_offered(key: str, wanted: str, offered: Sequence[SessionConfigSelectOption]) -> Failure:
    ids = [one.value for one in offered]
    if not ids:
        return Failure(
            "NotFound",
            f"The agent doesn't offer a choice of {key}, so it can't use {wanted!r}: "
            f"remove `{key}` from the settings.",
        )
    more = ", ..." if len(ids) > _SHOWN else ""
    return Failure(
        "NotFound",
        f"The agent has no {key} {wanted!r}. It has: {', '.join(ids[:_SHOWN])}{more}.",
    )
