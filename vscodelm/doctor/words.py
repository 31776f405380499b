"""Put an agent's description of itself into plain words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from agents.acp.public.described import (
    AgentCapabilities,
    Choices,
    InitializeResponse,
    KnownAgent,
    SessionConfigBoolean,
    SessionConfigSelect,
    change_to,
    chosen,
    login_advice,
    title_of,
    to_ask,
)
from bridge.wire import McpServerSpec

from .findings import Facts

SHOWN = 12
"""Most choices that are named."""


def name_of(about: InitializeResponse) -> str:
    """Return how the agent calls itself."""
    told = about.agent_info
    if told is None:
        return "an agent without a name"
    title = title_of(told.title or told.name)
    named = f" ({title_of(told.name)})" if told.title and told.title != told.name else ""
    return f"{title} {title_of(told.version)}{named}"


def introduction(spec: McpServerSpec, about: InitializeResponse, known: KnownAgent) -> Facts:
    """Return what the agent can do, and what is known of it."""
    capabilities = about.agent_capabilities
    facts = [
        ("protocol", f"version {about.protocol_version}"),
        ("prompts", _prompts(capabilities)),
        ("sessions", _sessions(capabilities)),
        ("MCP servers", _servers(capabilities, known)),
        ("login", _login(spec, about, known)),
        *(("known", fact) for fact in _known(known)),
    ]
    return tuple(facts)


def choices(offered: Choices) -> Facts:
    """Return what can be chosen in a session, and what is."""
    facts: list[tuple[str, str]] = []
    for option in offered.options:
        match option:
            case SessionConfigSelect():
                pairs = [(choice.value, choice.name) for choice in option.choices]
                facts.append((title_of(option.name), _choice(pairs, option.current_value)))
            case SessionConfigBoolean():
                facts.append((title_of(option.name), "on" if option.current_value else "off"))
            case _:
                assert_never(option)
    # The older ways count only if the options don't offer it.
    told = {option.category or option.id for option in offered.options}
    if offered.modes is not None and "mode" not in told:
        pairs = [(mode.id, mode.name) for mode in offered.modes.available_modes]
        facts.append(("mode", _choice(pairs, offered.modes.current_mode_id)))
    if offered.models is not None and "model" not in told:
        pairs = [(model.model_id, model.name) for model in offered.models.available_models]
        facts.append(("model", _choice(pairs, offered.models.current_model_id)))
    return tuple(facts)


def _prompts(capabilities: AgentCapabilities) -> str:
    can = capabilities.prompt_capabilities
    taken = ["text", "links"]
    taken += _those(("images", can.image), ("audio", can.audio), ("files", can.embedded_context))
    missing = _those(("images", not can.image), ("files", not can.embedded_context))
    return ", ".join(taken) + (f"; no {' and no '.join(missing)}" if missing else "")


def _sessions(capabilities: AgentCapabilities) -> str:
    can = capabilities.session_capabilities
    done = _those(
        ("load", capabilities.load_session),
        ("resume", can.resume is not None),
        ("fork", can.fork is not None),
        ("close", can.close is not None),
        ("list", can.list is not None),
        ("delete", can.delete is not None),
    )
    return ", ".join(done) or "only new ones"


def _servers(capabilities: AgentCapabilities, known: KnownAgent) -> str:
    can = capabilities.mcp_capabilities
    remote = _those(("http", can.http), ("sse", can.sse))
    if known.http_tools_only:
        return f"{', '.join(remote) or 'none'}; it silently drops those on stdio"
    return ", ".join(["stdio", *remote])


def _login(spec: McpServerSpec, about: InitializeResponse, known: KnownAgent) -> str:
    if not about.auth_methods:
        return "no login methods"
    names = ", ".join(title_of(method.name) or method.id for method in about.auth_methods)
    advice = login_advice(spec, about.auth_methods, known)
    where = advice.replace(", then ask again.", ".").rstrip(".")
    return f"{names}. If it is needed: {where}" if advice.startswith(("Run", "Set")) else names


def permission(offered: Choices, known: KnownAgent, wanted: str | None) -> Facts:
    """Return what mode an agent works in under `ask`, and why; `wanted` is the settings' mode."""
    current = chosen(offered, "mode")
    if wanted is not None:
        mode = current if change_to(offered, "", "mode", wanted) is None else wanted
        unasked = ""
        if mode in known.asking_modes:
            asking = title_of(known.asking_modes[mode])
            unasked = ", which acts without asking; with `read_only` or `deny` vscodelm selects "
            unasked += asking
        return (("asks", f"as the mode {title_of(wanted)} of your settings{unasked}"),)
    asking = dict(to_ask(offered, known.asking, {})).get("mode")
    if asking is None:
        return ()
    here = f"its default mode is {title_of(current or '')}, which acts without asking"
    return (("asks", f"{here}; with `ask` vscodelm selects {title_of(asking)}"),)


def _known(known: KnownAgent) -> Iterable[str]:
    if known.never_asks:
        yield "it acts without asking, also if `permissions` is `ask`"
    if known.sessions_share_tools:
        yield "its sessions share tools, so each chat has a process of its own"
    if known.http_tools_only:
        yield "it accepts tools only over http"
    if known.login:
        yield f"`{' '.join((known.program, *known.login))}` logs in"


def _choice(offered: Sequence[tuple[str, str]], current: str) -> str:
    shown = [_named(*pair) for pair in offered if pair[0] != current][:SHOWN]
    chosen = next((_named(*pair) for pair in offered if pair[0] == current), title_of(current))
    more = len(offered) - 1 - len(shown)
    others = ", ".join([*shown, *([f"{more} more"] if more > 0 else [])])
    return f"{chosen}; or {others}" if others else chosen


def _named(id_: str, name: str) -> str:
    id_, name = title_of(id_), title_of(name)
    return f"{name} ({id_})" if name and name.casefold() != id_.casefold() else id_


def _those(*pairs: tuple[str, bool]) -> list[str]:
    return [name for name, is_so in pairs if is_so]
