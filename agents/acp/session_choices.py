"""The choices of a session: a model, a mode, options, and that the agent asks.

They come from the settings and from the host's picker, and are made before a prompt is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import assert_never

import attrs
import trio
from msgspec.structs import replace

from agents.acp.render.session_view import SessionView
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import (
    SET_CONFIG_OPTION,
    SET_MODE,
    SET_MODEL,
    EmptyResponse,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModelRequest,
    SetSessionModeRequest,
)
from agents.acp.schema.options import values_of
from agents.events import Prompt
from agents.offered import Properties
from bridge.errors import Failure

from .connected_agent import ConnectedAgent
from .errors import is_auth_required, words_of
from .options import (
    NEVER_UNASKED,
    NONE_KNOWN,
    Change,
    Picked,
    change_to,
    chosen,
    not_offered_now,
    not_permitted,
    properties,
    to_ask,
    unasked,
    undone_by_another,
    values_of_all,
)
from .session_channel import SessionChannel

CHANGE_SECONDS = 30.0
"""Seconds that an agent may take to change its model, its mode or an option."""
NOT_CHANGED = "A choice was not applied"
"""The title of a warning about a choice in the host's picker."""
NOT_ASKING = "This agent may act without asking you"
"""Warns the user if the agent refuses the mode in which it asks, or has none."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class SessionChoices:
    """The choices of one session.

    `view` learns of each change. `report_choices` receives the choices of the agent, and
    whether their defaults are those of a new session.
    """

    _peer: ConnectedAgent
    _channel: SessionChannel
    _view: SessionView
    _report_choices: Callable[[Properties, bool], None]
    _is_new: bool
    _first: dict[str, str] = attrs.field(init=False)
    """The values with which the session began."""
    _picked: Picked = attrs.field(factory=Picked, init=False)
    _forbidden: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    """The choices of the newest prompt that its permissions don't allow."""

    def __attrs_post_init__(self) -> None:
        self._first = values_of_all(self._channel.choices) if self._is_new else {}

    async def make(self, prompt: Prompt) -> Failure | None:
        """Make the choices of a prompt's settings and of the picker; return why that failed."""
        prompt = self._permitted(prompt)
        for key, value in (("model", prompt.settings.model), ("mode", prompt.settings.mode)):
            if value is None or self._offers(key, prompt.configuration.get(key)):
                continue
            failure = await self._choose(key, value)
            if isinstance(failure, Error):
                failure = self._peer.authentication.failure_of(failure)
            if failure is not None:
                return failure
        failure = await self._configure(prompt)
        if failure is not None:
            return failure
        failure = await self._keep_asking(prompt)
        self.report()
        return failure

    def _permitted(self, prompt: Prompt) -> Prompt:
        """Return a prompt without the choices that its permissions don't allow, and say so."""
        settings, known = prompt.settings, self._peer.known
        if settings.permissions not in NEVER_UNASKED:
            self._forbidden = {}
            return prompt
        if known.never_asks:
            reason = f"{self._peer.name} never asks, so {settings.permissions!r} can't stop it."
            self._view.warn(NOT_ASKING, reason)
        preset = {} if settings.mode is None else {"mode": settings.mode}
        preset = unasked(self._channel.choices, preset, known.asking)
        picked = unasked(self._channel.choices, prompt.configuration, known.asking)
        before, self._forbidden = self._forbidden, preset | picked
        for key, value in self._forbidden.items() - before.items():
            reason = not_permitted(key, value, settings.permissions)
            self._view.warn(NOT_CHANGED, reason, again=True)
        return replace(
            prompt,
            settings=replace(settings, mode=None) if preset else settings,
            configuration={
                key: value for key, value in prompt.configuration.items() if key not in picked
            },
        )

    async def _keep_asking(self, prompt: Prompt) -> Failure | None:
        """Choose what makes the agent ask, unless all is allowed or the user has chosen otherwise.

        Some agents act by themselves in some of their modes. If the agent refuses the change, the
        user is warned under "ask". Otherwise the turn fails.
        """
        permissions, mode = prompt.settings.permissions, prompt.settings.mode
        if permissions == "allow":
            return None
        own = {} if mode is None else {"mode": mode}
        own |= {key: one for key, one in prompt.configuration.items() if self._offers(key, one)}
        is_strict = permissions in NEVER_UNASKED
        choices, asking = self._channel.choices, self._peer.known.asking
        for key, value in to_ask(choices, asking, own, is_strict=is_strict):
            failure = await self._choose(key, value)
            if isinstance(failure, Error):
                if not is_strict:
                    self._warn(key, value, failure)
                    continue
                failure = self._peer.authentication.failure_of(failure)
            if failure is not None:
                return failure
        return None

    async def _choose(self, key: str, value: str) -> Failure | Error | None:
        """Choose a value, unless it is chosen already; return why it isn't."""
        change = change_to(self._channel.choices, self._channel.session_id, key, value)
        if change is None or isinstance(change, Failure):
            return change
        return await self._change(change, key)

    async def _configure(self, prompt: Prompt) -> Failure | None:
        """Make the choices of the host's picker. One that can't be made costs the user a line.

        A choice that the agent undoes with another one is made once more. Those that an agent
        leaves unanswered are due again with the next prompt. Return why the agent wants a login.
        """
        channel = self._channel
        is_free = prompt.settings.permissions == "allow"
        asking = NONE_KNOWN if is_free else self._peer.known.asking
        settings = {"model": prompt.settings.model, "mode": prompt.settings.mode}
        preset = [key for key, value in settings.items() if value is not None]
        due = self._picked.due(channel.choices, prompt.configuration, asking, preset)
        stopped = await self._pick(due) or await self._pick(self._picked.undone(channel.choices))
        if isinstance(stopped, Error):
            return self._peer.authentication.failure_of(stopped)
        if stopped is not None:
            self._view.warn(NOT_CHANGED, stopped.message, again=True)
            return None
        for key, value in self._picked.undone(channel.choices):
            reason = undone_by_another(channel.choices, key, value)
            self._view.warn(NOT_CHANGED, reason, again=True)
        return None

    async def _pick(self, due: Sequence[tuple[str, str]]) -> Failure | Error | None:
        """Make these choices; return why the rest of them has to wait for another prompt.

        An agent that is silent once would make the user wait again.
        """
        channel, picked = self._channel, self._picked
        for key, value in due:
            change = picked.change(channel.choices, channel.session_id, key, value)
            if isinstance(change, Failure):
                reason = not_offered_now(channel.choices, key, value)
                self._view.warn(NOT_CHANGED, reason, again=True)
                picked.settle(key, is_made=False)
                continue
            failure = None if change is None else await self._change(change, key)
            if isinstance(failure, Failure) or (failure is not None and is_auth_required(failure)):
                return failure
            if failure is not None:
                reason = f"{self._peer.name} refused {key} {value!r}: {words_of(failure)}"
                self._view.warn(NOT_CHANGED, reason, again=True)
            picked.settle(key, is_made=failure is None)
        return None

    def _offers(self, key: str, value: str | None) -> bool:
        choices = self._channel.choices
        return value is not None and not isinstance(change_to(choices, "", key, value), Failure)

    def report(self) -> None:
        """Report the agent's choices.

        The defaults are the values that a new session has. No change in this session is a default
        of others, and a session that existed before has none to tell.
        """
        first = self._picked.before | self._first
        offered = properties(self._channel.choices, first, self._peer.known.asking)
        self._report_choices(offered, self._is_new)

    def _warn(self, key: str, value: str, error: Error) -> None:
        """Tell the user that the agent has refused the mode or the option with which it asks."""
        reason = words_of(error)
        log.warning("session=%s refused %s=%s: %s", self._channel.session_id, key, value, reason)
        self._view.warn(NOT_ASKING, f"{self._peer.name} refused its {key} {value}: {reason}")

    async def _change(self, change: Change, kind: str) -> Failure | Error | None:
        request = self._peer.connection.request
        answer: SetSessionConfigOptionResponse | EmptyResponse | Error | None = None
        changed = self._channel.choices.after(change)
        # The agent says it, too, but the user has chosen it, or was asked all along.
        mode = chosen(changed, "mode") or None
        before = self._view.choose(mode, values_of(changed.options))
        with trio.move_on_after(CHANGE_SECONDS):
            match change:
                case SetSessionConfigOptionRequest():
                    answer = await request(SET_CONFIG_OPTION, change)
                case SetSessionModeRequest():
                    answer = await request(SET_MODE, change)
                case SetSessionModelRequest():
                    answer = await request(SET_MODEL, change)
                case _:
                    assert_never(change)
        if answer is None:
            message = f"{self._peer.name} didn't change its {kind} within {CHANGE_SECONDS:.0f} s."
            return Failure("Unavailable", f"{message} Try again, or restart the agent.")
        if isinstance(answer, Error):
            self._view.choose(*before)
            return answer
        if isinstance(answer, SetSessionConfigOptionResponse) and answer.config_options:
            changed = changed.with_options(answer.config_options)
            self._view.choose(None, values_of(changed.options))
        self._channel.learn_choices(changed)
        return None
