"""Recognise an agent's calls of the editor's tools. Pure.

An agent asks permission for every tool of an MCP server, and then the editor asks its user again.
So for the editor's tools the agent's question is answered without asking the user. The call isn't
shown either, because the editor shows it. A model must not get this by a trick. It may choose the
title of a call, for example as the description of a command.

- The agent's own name of a call's tool decides, for or against. It is the programmatic name, or a
  field in the `_meta` of Claude and of Codex.
- The title counts only if both are missing. It must be the name of a tool that this session's
  server offers now, exactly as agents write it. No other field may point to another tool: neither
  the kind, nor the arguments, nor files or changes.
- A call that was announced by such a title stays the editor's if its question names the tool alone,
  without the server. The kind that counts is the question's: agents guess that of the announcement.
- An agent that calls every tool by its bare name asks about servers' tools with a fixed sentence.
  This sentence and the title together decide, unless the agent was given servers of the user's:
  their tools may have the same names.
- In some agents no model can choose a title. There the kind doesn't count against the title:
  `run_in_terminal` has the kind `execute` because of its name.
- Gemini's own code begins the id of a call with the name of the tool. There the id decides, for or
  against, together with the kind and the arguments. The title is only the command.
- Codex names the tool when a call begins, in a wrapper around the input. Its question is a fixed
  form with the server's name, but without the tool's. Both together decide.

A call that isn't recognised is asked about and shown like any other: the user sees two questions.

Some agents offer a chat's model the servers of other chats, too. A question about such a tool is
recognised by the same rules. It is no question for the user, because that server refuses the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import attrs

from agents.acp.schema.content import Content, TextContent
from agents.mcp.offer import Offer, ToolsOwner
from agents.mcp.tools import OfferedTool, ToolCatalogue

from .state import WRAPPED, WRAPPED_ALONE, CallRecord

_HARMLESS_KINDS = frozenset({"", "other", "read", "search", "think"})
"""Agents say `execute`, `edit` and so on of tools of their own."""
_ASKS = "Requesting approval to perform: Call MCP tool `{}`."
"""The fixed sentence with which kimi-cli asks about a tool of a server.

It knows no servers but those of the session, and asks about its own tools in other words."""

_NAME_IN_ID = re.compile(r"(?:__.|-\d+-\d+$)")
"""The part of a Gemini id after the name of the tool."""


def spellings(server: str, alias: str) -> frozenset[str]:
    """Return the ways in which agents write a server's tool."""
    return frozenset(
        {
            f"mcp__{server}__{alias}",
            f"mcp_{server}_{alias}",
            f"mcp.{server}.{alias}",
            f"mcp_{server}.{alias}",
            f"{server}__{alias}",
            f"{server}_{alias}",
            f"{server}-{alias}",
            f"{server}.{alias}",
            f"{server}/{alias}",
            f"Tool: {server}/{alias}",
            f"{alias} ({server} MCP Server)",
        }
    )


def editors_tool(call: CallRecord, offer: Offer) -> OfferedTool | None:
    """Return the editor's tool that a call is of, None if that isn't beyond doubt."""
    if _own_name(call):
        tool = _named(_own_name(call), offer)
    elif offer.owner.ids_name_tools and _NAME_IN_ID.search(call.call_id):
        tool = _of_id(call.call_id, offer)
    else:
        tool = _named(call.title, offer) or _still_named(call, offer) or _asked_for(call, offer)
    if tool is None and _server_of_form(call.raw_input) is not None:
        _, alias = call.wrapper
        tool = offer.catalogue.tools.get(alias)
    return tool if tool is not None and is_still(call, tool, offer) else None


@attrs.frozen
class _Elsewhere:
    """The tools of another session, assumed to be the same as here."""

    server: str
    catalogue: ToolCatalogue
    owner: ToolsOwner


def is_of_another(call: CallRecord, offer: Offer, servers: Iterable[str]) -> bool:
    """Return whether a call is beyond doubt of such a tool on one of these other servers."""
    return any(
        editors_tool(call, _Elsewhere(server, offer.catalogue, offer.owner)) is not None
        for server in servers
    )


def is_still(call: CallRecord, tool: OfferedTool, offer: Offer) -> bool:
    """Return whether nothing has been said since that makes a call one of another tool.

    A title that has changed doesn't: agents put the outcome there.
    """
    name = _own_name(call)
    if name:
        return name in spellings(offer.server, tool.alias)
    if not (offer.owner.titles_name_tools or call.kind in _HARMLESS_KINDS):
        return False
    return _fits(call, tool, offer)


def _fits(call: CallRecord, tool: OfferedTool, offer: Offer) -> bool:
    """Return whether a call has no argument that the tool doesn't take."""
    if call.locations or not all(isinstance(part, Content) for part in call.content):
        return False
    asked_about = _server_of_form(call.raw_input)
    if asked_about is not None:
        return asked_about == offer.server and call.wrapper == (offer.server, tool.alias)
    return _could_be_given(call, tool, offer.server)


def may_be_editors(call: CallRecord, offer: Offer) -> bool:
    """Return whether a call may turn out to be of an editor's tool, by its title.

    It is enough to wait before the call is shown, and for nothing else.
    """
    if _own_name(call):
        return False
    if call.status != "pending" and call.kind not in _HARMLESS_KINDS:
        return False
    bare = offer.catalogue.tools.get(_bare_name(call))
    tool = _named(call.first_title, offer) or bare
    return tool is not None and _fits(call, tool, offer)


def _own_name(call: CallRecord) -> str:
    """Return what the agent itself calls a call's tool, if it does."""
    return call.name or call.meta_name


def _named(words: str, offer: Offer) -> OfferedTool | None:
    if offer.server not in words:
        return None  # nearly all calls; some have thousands of updates
    tools = offer.catalogue.tools.values()
    return next((tool for tool in tools if words in spellings(offer.server, tool.alias)), None)


def _of_id(call_id: str, offer: Offer) -> OfferedTool | None:
    """Return the tool with whose name an id begins."""
    if offer.server not in call_id:
        return None
    tools = {f"mcp_{offer.server}_{tool.alias}": tool for tool in offer.catalogue.tools.values()}
    ends = (found.start() for found in _NAME_IN_ID.finditer(call_id))
    return next((tools[call_id[:end]] for end in ends if call_id[:end] in tools), None)


def _still_named(call: CallRecord, offer: Offer) -> OfferedTool | None:
    """Return the tool by whose whole name a call was announced, if it is now called so, too."""
    tool = _named(call.first_title, offer)
    return tool if tool is not None and call.title == tool.alias else None


def _asked_for(call: CallRecord, offer: Offer) -> OfferedTool | None:
    """Return the tool that a question is about in the agent's own words.

    Only the fields of the question count: they replace those of the announcement.
    """
    if offer.owner.has_users_servers:
        return None
    match call.content:
        case (Content(content=TextContent(text=text)),) if call.raw_input is None or (
            call.is_input_written
        ):
            tool = offer.catalogue.tools.get(_bare_name(call))
            return tool if tool is not None and text == _ASKS.format(tool.alias) else None
        case _:
            return None


def _bare_name(call: CallRecord) -> str:
    """Return the name at the beginning of a title, before the arguments."""
    return call.title.partition(": ")[0]


def _server_of_form(raw: Any) -> str | None:
    """Return the server that codex asks about, if this is its form before a tool call."""
    match raw:
        case {
            "server_name": str(server),
            "request": {"_meta": {"codex_approval_kind": "mcp_tool_call"}},
        }:
            return server
        case _:
            return None


def _could_be_given(call: CallRecord, tool: OfferedTool, server: str) -> bool:
    """Return whether the input of a call is one for the tool; an agent may not tell it yet."""
    raw: Any = call.raw_input
    if raw is None:
        return True
    if not isinstance(raw, dict):
        return False
    given = cast("dict[str, Any]", raw)
    if given.keys() <= WRAPPED and "server" in given:
        return given["server"] == server and given.get("tool") in (tool.alias, None)
    if given.keys() == {WRAPPED_ALONE}:
        given = call.arguments
    return given.keys() <= tool.schema.get("properties", {}).keys()
