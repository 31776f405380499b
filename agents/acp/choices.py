"""What a session offers to choose, and how a model or a mode is chosen. Pure.

There are three ways, the newest first: options, then modes, then models, which never became part of
the protocol. The first that offers the thing is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, assert_never

from msgspec.structs import replace

from bridge.errors import Failure
from bridge.value import Value

from .config import (
    SessionConfigOption,
    SessionConfigSelect,
    SessionModelState,
    SessionModeState,
)
from .methods import (
    LoadSessionResponse,
    NewSessionResponse,
    SetSessionConfigOptionRequest,
    SetSessionModelRequest,
    SetSessionModeRequest,
)

Kind: TypeAlias = Literal["model", "mode"]
Change: TypeAlias = SetSessionConfigOptionRequest | SetSessionModeRequest | SetSessionModelRequest
_SHOWN = 20


class Choices(Value):
    """What can be chosen in a session, and what is."""

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
        """Return the choices when the mode has changed."""
        if self.modes is None:
            return self
        return replace(self, modes=replace(self.modes, current_mode_id=mode))

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
                return self.with_options(
                    tuple(
                        replace(option, current_value=value)
                        if isinstance(option, SessionConfigSelect) and option.id == config_id
                        else option
                        for option in self.options
                    )
                )
            case _:
                assert_never(change)


def change_to(
    choices: Choices, session_id: str, kind: Kind, wanted: str
) -> Change | Failure | None:
    """Return the request that makes the choice; None where it is made already.

    `wanted` is an id, or the name that the agent shows for it.
    """
    option = _option(choices.options, kind)
    if option is not None:
        offered = [(choice.value, choice.name) for choice in option.choices]
        value = _find(offered, wanted)
        if value is None:
            return _not_offered(kind, wanted, offered)
        if value == option.current_value:
            return None
        return SetSessionConfigOptionRequest(session_id, option.id, value)
    if kind == "mode" and choices.modes is not None:
        offered = [(mode.id, mode.name) for mode in choices.modes.available_modes]
        value = _find(offered, wanted)
        if value is None:
            return _not_offered(kind, wanted, offered)
        if value == choices.modes.current_mode_id:
            return None
        return SetSessionModeRequest(session_id, value)
    if kind == "model" and choices.models is not None:
        offered = [(model.model_id, model.name) for model in choices.models.available_models]
        value = _find(offered, wanted)
        if value is None:
            return _not_offered(kind, wanted, offered)
        if value == choices.models.current_model_id:
            return None
        return SetSessionModelRequest(session_id, value)
    return _not_offered(kind, wanted, ())


def chosen(choices: Choices, kind: Kind) -> str | None:
    """Return the id of what is chosen; None where the agent offers no choice."""
    option = _option(choices.options, kind)
    if option is not None:
        return option.current_value
    if kind == "mode" and choices.modes is not None:
        return choices.modes.current_mode_id
    if kind == "model" and choices.models is not None:
        return choices.models.current_model_id
    return None


def asking_mode(choices: Choices, asking_modes: Mapping[str, str]) -> str | None:
    """Return the mode to choose so that the user is asked; None where nothing need be chosen.

    `asking_modes` says for modes in which the agent decides by itself in which it asks.
    """
    wanted = asking_modes.get(chosen(choices, "mode") or "")
    if wanted is None or isinstance(change_to(choices, "", "mode", wanted), Failure):
        return None
    return wanted


def _option(options: Iterable[SessionConfigOption], kind: Kind) -> SessionConfigSelect | None:
    """Return the option for a kind, by its category; categories are optional, so by its id, too."""
    selects = [option for option in options if isinstance(option, SessionConfigSelect)]
    by_category = (option for option in selects if option.category == kind)
    by_id = (option for option in selects if option.category is None and option.id == kind)
    return next(by_category, None) or next(by_id, None)


def _find(offered: Iterable[tuple[str, str]], wanted: str) -> str | None:
    pairs = list(offered)
    by_id = (id_ for id_, _ in pairs if id_ == wanted)
    by_name = (id_ for id_, name in pairs if name.casefold() == wanted.casefold())
    return next(by_id, None) or next(by_name, None)


def _not_offered(kind: Kind, wanted: str, offered: Iterable[tuple[str, str]]) -> Failure:
    ids = [id_ for id_, _ in offered]
    if not ids:
        return Failure(
            "NotFound",
            f"The agent doesn't offer a choice of {kind}, so it can't use {wanted!r}: "
            f"take `{kind}` out of the settings.",
        )
    more = ", ..." if len(ids) > _SHOWN else ""
    return Failure(
        "NotFound",
        f"The agent has no {kind} {wanted!r}. It has: {', '.join(ids[:_SHOWN])}{more}.",
    )
