"""Write the token estimator's table: as Python when it is fitted, and from there to TypeScript.

python -m tooling.token_table            writes extension/src/tokens/table.ts
python -m tooling.token_table --check    fails if that is not what the Python modules have
"""

from __future__ import annotations

import base64
import sys
import textwrap
from array import array
from collections.abc import Sequence
from pathlib import Path

from bridge.tokens import pieces as tokens_pieces
from bridge.tokens import table as tokens_table

TYPESCRIPT = Path(__file__).parent.parent / "extension" / "src" / "tokens" / "table.ts"
WIDTH = 96


def python_module(weights: Sequence[int]) -> str:
    """Return the source of `bridge.tokens.table`."""
    lines = textwrap.wrap(base64.b64encode(array("b", weights)).decode(), WIDTH)
    return "\n".join(
        [
            '"""The prices of characters and of pairs. Written by `tooling.fit_tokens`."""',
            "",
            'WEIGHTS = """',
            *lines,
            '"""',
            "",
        ]
    )


def typescript_module() -> str:
    """Return the source of `table.ts`."""
    pieces = tokens_pieces
    return "\n".join(
        [
            "// The ranges of bridge/tokens/pieces.py and the prices of bridge/tokens/table.py.",
            "// Written by `python -m tooling.token_table`.",
            "",
            *_constant("CAPITALS", pieces.CAPITALS),
            *_constant("LETTERS", pieces.LETTERS),
            *_constant("NUMBERS", pieces.NUMBERS),
            *_constant("BLANKS", pieces.BLANKS),
            *_constant("PAIRED", pieces.PAIRED),
            *_constant("SPELT", pieces.SPELT),
            *_constant("WEIGHTS", tokens_table.WEIGHTS),
        ]
    )


def _constant(name: str, text: str) -> list[str]:
    return [f"export const {name} = `", *text.strip().splitlines(), "`;", ""]


def main(arguments: Sequence[str]) -> int:
    """Write the module, or say whether it is up to date."""
    wanted = typescript_module()
    if "--check" in arguments:
        found = TYPESCRIPT.read_text(encoding="utf-8") if TYPESCRIPT.exists() else ""
        return int(found != wanted)
    TYPESCRIPT.parent.mkdir(parents=True, exist_ok=True)
    TYPESCRIPT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
