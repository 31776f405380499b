"""A result that is written as Python shows an object: `content='Hi' error=None`. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

_LONGEST = 200_000
"""Characters of such a result; a longer text is shown as it is."""
_BEGINS = re.compile(r"[A-Za-z_]\w*=")
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.?)*'?|"(?:[^"\\]|\\.?)*"?|\s+|[()\[\]{}]|[^\s'"()\[\]{}]+""", re.DOTALL
)


def fields_in(text: str) -> dict[str, Any] | None:
    """Return the fields of the object that a text shows, None if it shows none."""
    text = text.strip()
    if len(text) > _LONGEST or not _BEGINS.match(text):
        return None
    level = 0
    pieces: list[str] = []
    for found in _TOKEN.finditer(text):
        piece = found[0]
        level += (piece in tuple("([{")) - (piece in tuple(")]}"))
        pieces.append("," if not level and piece.isspace() else piece)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the text may have escapes that Python doesn't know
        try:
            tree = ast.parse(f"shown({''.join(pieces)})", mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    match tree.body:
        case ast.Call(func=ast.Name(), args=[], keywords=[_, _, *_] as fields):
            read = {str(field.arg): _value(field.value) for field in fields}
            return read if len(read) == len(fields) else None
        case _:
            return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return [_value(part) for part in parts]
        case ast.Call(args=[], keywords=fields):
            return {str(field.arg): _value(field.value) for field in fields}
        case _:
            try:
                return ast.literal_eval(node)
            except (ValueError, TypeError):
                return ast.unparse(node)
