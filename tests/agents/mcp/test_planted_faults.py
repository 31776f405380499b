"""Do the tests of the editor's tools notice what they are there for? Faults are planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import Fault, Ground

GROUND = Ground("agents", "tests/agents/mcp", copied=("bridge", "actors", "agents", "tests"))
OWN = "tests/agents/acp/test_own_tools.py"

FAULTS = [
    Fault(
        "a call that is taken back goes out all the same",
        "mcp/desk",
        "            if call.key == key:\n",
        "            if call.key == key and call.is_out:\n",
        ("desk",),
    ),
    Fault(
        "a result is handed out twice",
        "mcp/desk",
        "        del self._calls[answer.call_id]\n        return (Reply",
        "        return (Reply",
        ("desk",),
    ),
    Fault(
        "calls go out again and again",
        "mcp/desk",
        "            call.is_out = True\n",
        "            pass\n",
        ("desk",),
    ),
    Fault(
        "a cancel forgets to answer what is out",
        "mcp/desk",
        "        keys = [call.key for call in self._calls.values()]\n",
        "        keys = [call.key for call in self._calls.values() if not call.is_out]\n",
        ("desk",),
    ),
    Fault(
        "what comes between turns never goes out",
        "mcp/desk",
        "            self._phase = _Phase.BETWEEN\n",
        "            self._phase = _Phase.SHUT\n",
        ("desk",),
    ),
    Fault(
        "dropped results are remembered for ever",
        "mcp/desk",
        "            self._ended.clear()",
        "            pass",
        ("desk",),
    ),
    Fault(
        "an agent that calls one by one is waited for each time",
        "mcp/desk",
        "            self._keeps_word = False\n",
        "            pass\n",
        ("desk",),
    ),
    Fault(
        "two names become one",
        "mcp/names",
        "not in taken\n",
        "\n",
        ("names",),
    ),
    Fault(
        "the longest prefix is forgotten",
        "mcp/names",
        'len(f"mcp__{server}__")',
        "0",
        ("names",),
    ),
    Fault(
        "a schema loses what isn't in the standard",
        "mcp/catalogue",
        'return {**kept, "type": "object"}',
        'return {"type": "object", "properties": kept.get("properties", {})}',
        ("server",),
    ),
    Fault(
        "any token is good",
        "mcp/door",
        "if hmac.compare_digest(one.token.encode(), shown)]",
        "]",
        ("relay",),
    ),
    Fault(
        "another user may come in",
        "mcp/door",
        "    if uid != _own_uid():\n",
        "    if False:\n",
        ("relay",),
    ),
    Fault(
        "a revoked pass lets in who waits",
        "mcp/door",
        "            if self._is_revoked:\n",
        "            if False:\n",
        ("relay",),
    ),
    Fault(
        "the socket is open to all",
        "mcp/door",
        "os.chmod(path, 0o600)",
        "os.chmod(path, 0o666)",
        ("relay",),
    ),
    Fault(
        "a guest may stay for ever",
        "mcp/door",
        "    with trio.move_on_after(HANDSHAKE_SECONDS):\n        while",
        "    with trio.CancelScope():\n        while",
        ("relay",),
    ),
    Fault(
        "the host isn't looked at",
        "mcp/gate",
        "            return MISDIRECTED\n",
        "            pass\n",
        ("gate",),
    ),
    Fault(
        "a web page may call",
        "mcp/gate",
        "            return FORBIDDEN\n",
        "            pass\n",
        ("gate",),
    ),
    Fault(
        "the token isn't looked at",
        "mcp/gate",
        "            return UNAUTHORIZED\n",
        "            pass\n",
        ("gate",),
    ),
    Fault(
        "no progress",
        "mcp/server",
        "            tasks.start_soon(_report, context.session)\n",
        "",
        ("server",),
    ),
    Fault(
        "a title speaks for a command",
        "acp/own_tools",
        "    if tool is None or not (titles_name_tools or call.kind in _HARMLESS_KINDS):\n",
        "    if tool is None:\n",
        (OWN,),
    ),
    Fault(
        "a title speaks against a name",
        "acp/own_tools",
        "        return _named(name, server, catalogue)\n",
        "        return _named(name, server, catalogue) or _named(call.title, server, catalogue)\n",
        (OWN,),
    ),
    Fault(
        "a title speaks for any input",
        "acp/own_tools",
        "    return tool if _could_be_given(call.raw_input, tool, server) else None\n",
        "    return tool\n",
        (OWN,),
    ),
    Fault(
        "an agent is prompted before it has its tools",
        "mcp/toolbox",
        "            await mcp.asked.wait()\n",
        "",
        ("toolbox",),
    ),
    Fault(
        "an agent that never asks is waited for again",
        "mcp/toolbox",
        "        self._is_awaited = True\n",
        "",
        ("toolbox",),
    ),
    Fault(
        "a form speaks for any tool",
        "acp/own_tools",
        "        return catalogue.tools.get(alias) if known_server == server else None\n",
        "        return catalogue.tools.get(alias)\n",
        (OWN,),
    ),
    Fault(
        "another server's form counts",
        "acp/own_tools",
        "            return asking == server\n",
        "            return True\n",
        (OWN,),
    ),
    Fault(
        "every title names a tool",
        "acp/own_tools",
        "(titles_name_tools or call.kind in _HARMLESS_KINDS)",
        "True",
        (OWN,),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_still_fits_the_source(fault: Fault) -> None:
    GROUND.fits(fault)


@pytest.mark.slow
def test_without_a_fault_the_copy_passes(tmp_path: Path) -> None:
    GROUND.passes_without(FAULTS, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_noticed_by_the_tests_of_its_module(
    fault: Fault, tmp_path: Path
) -> None:
    GROUND.notices(fault, tmp_path)
