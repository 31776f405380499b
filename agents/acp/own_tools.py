"""Which of an agent's tool calls are of the editor's tools. Pure.

An agent asks permission for every tool of an MCP server, and then the editor asks its user again.
So for ours the agent's question is answered without asking; and the call isn't shown, because the
editor shows it. Neither must be had by a trick: a model may choose the title of a call, for
instance as the description of a command to run.

- What the agent itself says of a call's tool decides, for or against: its programmatic name, or
  what stands for it in one agent's `_meta`.
- Only where it says neither, the title counts. It must be one of the ways in which agents write the
  name of a tool that is offered now, exactly and with nothing beside it, on the server of this very
  session. And nothing else may speak of another tool: neither the kind, nor what it is given, nor
  files or changes that it names.

What isn't recognised is asked, as any other question, and shown: the user sees two instead of one.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

from agents.mcp.catalogue import Catalogue, OfferedTool

from .tool_call import CallRecord

_HARMLESS_KINDS = frozenset({"", "other", "read", "search", "think"})
"""Agents say `execute`, `edit` and so on of tools of their own."""
_WRAPPED = frozenset({"server", "tool", "arguments"})


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


class Offer(Protocol):
    """What a session's agent is offered now."""

    @property
    def server(self) -> str:
        """The name of the server, of this session alone."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The tools."""
        ...


def editors_tool(call: CallRecord, offer: Offer) -> OfferedTool | None:
    """Return the editor's tool that a call is of, None if that isn't beyond doubt."""
    words = _own_name(call) or call.title
    tool = _named(words, offer.server, offer.catalogue)
    return tool if tool is not None and is_still(call, tool, offer.server) else None


def is_still(call: CallRecord, tool: OfferedTool, server: str) -> bool:
    """Return whether nothing has been said since that makes a call one of another tool.

    A title that has changed doesn't: agents put the outcome there.
    """
    name = _own_name(call)
    if name:
        return name in spellings(server, tool.alias)
    if call.kind not in _HARMLESS_KINDS:
        return False
    if call.locations or any(not hasattr(part, "content") for part in call.content):
        return False
    return _could_be_given(call.raw_input, tool, server)


def _own_name(call: CallRecord) -> str:
    """Return what the agent itself calls a call's tool, if it does."""
    return call.name or call.meta_name


def _named(words: str, server: str, catalogue: Catalogue) -> OfferedTool | None:
    return next(
        (tool for tool in catalogue.tools.values() if words in spellings(server, tool.alias)), None
    )


def _could_be_given(raw: Any, tool: OfferedTool, server: str) -> bool:
    """Return whether the input of a call is one for the tool; an agent may not tell it yet."""
    if raw is None:
        return True
    if not isinstance(raw, dict):
        return False
    given = cast("dict[str, Any]", raw)
    if given.keys() <= _WRAPPED and "server" in given:
        return given["server"] == server and given.get("tool") in (tool.alias, None)
    return given.keys() <= tool.schema.get("properties", {}).keys()
