"""An agent as an entry of the models' file. Pure."""

from __future__ import annotations

import re

from bridge.wire import McpServerSpec

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f-\x9f]')


def model_entry(id_: str, name: str, spec: McpServerSpec) -> str:
    """Return the TOML of a model that an ACP agent answers for."""
    lines = ["[[models]]", f"id = {_string(id_)}", f"name = {_string(name)}", ""]
    lines += ["[models.agent.acp]", f"name = {_string(spec.name)}"]
    lines.append(f"command = {_string(spec.command)}")
    if spec.args:
        lines.append(f"args = [{', '.join(map(_string, spec.args))}]")
    if spec.env:
        pairs = (f"{{ name = {_string(v.name)}, value = {_string(v.value)} }}" for v in spec.env)
        lines.append(f"env = [{', '.join(pairs)}]")
    if spec.cwd is not None:
        lines.append(f"cwd = {_string(spec.cwd)}")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"
