"""Do the tests of the editor's tools notice what they are there for? Faults are planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import Fault, Ground

GROUND = Ground("agents", "tests/agents/mcp", copied=("bridge", "actors", "agents", "tests"))
OWN = "tests/agents/acp/test_own_tools.py"
INTERLEAVINGS = "tests/actors/test_tool_interleavings.py"

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
        "a call that is taken back stays",
        "mcp/toolbox",
        "                self._desk.withdraw(key)\n",
        "                pass\n",
        (INTERLEAVINGS,),
    ),
    Fault(
        "the end of a session isn't told to its calls",
        "mcp/toolbox",
        "        self._perform(self._desk.close())\n",
        "",
        (INTERLEAVINGS,),
    ),
    Fault(
        "a cancel leaves what is called",
        "acp/turn",
        "        self._questions.clear()\n        self._tools.cancel()\n",
        "        self._questions.clear()\n",
        ("tests/agents/acp/test_tools.py",),
    ),
    Fault(
        "the same tools are announced again and again",
        "mcp/toolbox",
        "        if catalogue == self.catalogue:\n",
        "        if False:\n",
        ("toolbox",),
    ),
    Fault(
        "only a name makes tools others",
        "mcp/toolbox",
        "        if catalogue == self.catalogue:\n",
        "        if catalogue.tools.keys() == self.catalogue.tools.keys():\n",
        ("toolbox",),
    ),
    Fault(
        "calls that come without end hold up all",
        "mcp/desk",
        "        return min(self._due, self._latest)\n",
        "        return self._due\n",
        ("desk",),
    ),
    Fault(
        "announced calls that come without end hold up all",
        "mcp/desk",
        "            return min(max(self._due, self._patience_ends), self._latest)\n",
        "            return max(self._due, self._patience_ends)\n",
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
        "    if user != _own_uid():\n",
        "    if False:\n",
        ("relay",),
    ),
    Fault(
        "whoever isn't named may come in",
        "mcp/door",
        "    if user is None:\n",
        "    if False:\n",
        ("relay",),
    ),
    Fault(
        "an answer of another version is believed",
        "mcp/credentials",
        "None if self.says_version and first != _BSD_VERSION else user",
        "user",
        ("credentials",),
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
        "what was handed over in vain stays open",
        "mcp/door",
        "                handover.close()\n",
        "                pass\n",
        ("relay",),
    ),
    Fault(
        "the end of a relay goes unnoticed",
        "mcp/door",
        "            nursery.start_soon(_wait_for_end, relay, nursery.cancel_scope)\n",
        "",
        ("relay",),
    ),
    Fault(
        "a file is waited for as if it were a pipe",
        "mcp/handover",
        " or not all(_can_wait_for(fd) for fd in self._fds)",
        "",
        ("handover",),
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
        "mcp/toolbox",
        "            await report(number)\n",
        "            pass\n",
        ("toolbox",),
    ),
    Fault(
        "progress that the agent never hears of",
        "mcp/server",
        "            await context.session.report_progress(",
        "            str(",
        ("server",),
    ),
    Fault(
        "a title speaks for a command",
        "acp/own_tools",
        "    if not (offer.titles_name_tools or call.kind in _HARMLESS_KINDS):\n",
        "    if False:\n",
        (OWN,),
    ),
    Fault(
        "a title speaks against a name",
        "acp/own_tools",
        "    words = _own_name(call) or call.title\n",
        "    words = call.title or _own_name(call)\n",
        (OWN,),
    ),
    Fault(
        "a title speaks for any input",
        "acp/own_tools",
        "    return _could_be_given(call.raw_input, tool, offer.server)\n",
        "    return True\n",
        (OWN,),
    ),
    Fault(
        "what was once taken for the editor's stays hidden",
        "acp/tool_calls",
        "        if not is_still(call, taken_for, self._offer):\n",
        "        if False:\n",
        ("tests/agents/acp/test_tool_calls.py",),
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
        "a form speaks for any call",
        "acp/own_tools",
        " and call.wrapper == (offer.server, tool.alias)\n",
        "\n",
        (OWN,),
    ),
    Fault(
        "another server's form counts",
        "acp/own_tools",
        "        return asked_about == offer.server and ",
        "        return ",
        (OWN,),
    ),
    Fault(
        "what a call began with names its tool without a form",
        "acp/own_tools",
        "    if tool is None and _server_of_form(call.raw_input) is not None:\n",
        "    if tool is None:\n",
        (OWN,),
    ),
    Fault(
        "a kind speaks against any title",
        "acp/own_tools",
        "(offer.titles_name_tools or call.kind in _HARMLESS_KINDS)",
        "(call.kind in _HARMLESS_KINDS)",
        (OWN,),
    ),
    Fault(
        "no title is believed",
        "acp/session",
        "            dialogue.tools.titles_name_tools = peer.known.titles_name_tools\n",
        "",
        ("tests/agents/acp/test_tools.py",),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_still_fits_the_source(fault: Fault) -> None:
    GROUND.fits(fault)


@pytest.mark.faults
def test_without_a_fault_the_copy_passes(tmp_path: Path) -> None:
    GROUND.passes_without(FAULTS, tmp_path)


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_noticed_by_the_tests_of_its_module(
    fault: Fault, tmp_path: Path
) -> None:
    GROUND.notices(fault, tmp_path)
