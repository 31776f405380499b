"""How many tokens a text has, estimated.

Byte-pair tokenizers spend about one token on a short word with the blank before it, more on long
words, numbers and runs of punctuation, and about one on a character of a script without blanks.
"""

from __future__ import annotations

import re

from .message import canonical_json
from .wire import ChatMessage, DataPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart

MESSAGE_OVERHEAD = 4
"""What a message costs beside its content: role and separators."""
IMAGE_TOKENS = 765
"""An image of common size, as the large vendors bill it."""

_PIECE = re.compile(r"[A-Za-z]+|\d+|[^\W\d_a-zA-Z]|[^\w\s]+|_+|\n+|[ \t]{2,}")
_LETTERS_PER_TOKEN = 6
_DIGITS_PER_TOKEN = 3
_MARKS_PER_TOKEN = 2


def estimate_text(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return sum(_piece_tokens(piece) for piece in _PIECE.findall(text))


def _piece_tokens(piece: str) -> int:
    first = piece[0]
    if first.isascii() and first.isalpha():
        per_token = _LETTERS_PER_TOKEN
    elif first.isdigit():
        per_token = _DIGITS_PER_TOKEN
    elif first.isspace():
        return 1
    else:
        per_token = _MARKS_PER_TOKEN
    return -(-len(piece) // per_token)


def estimate_message(message: ChatMessage) -> int:
    """Return the estimated number of tokens of a message, its overhead included."""
    total = MESSAGE_OVERHEAD
    for part in message.content:
        match part:
            case TextPart(value=value):
                total += estimate_text(value)
            case ToolCallPart(tool_name=name, parameters=parameters):
                total += estimate_text(name) + estimate_text(canonical_json(parameters).decode())
            case ToolResultPart(result=str(result)):
                total += estimate_text(result)
            case ToolResultPart(result=result):
                total += estimate_text(canonical_json(result).decode())
            case ThinkingPart(value=value):
                total += estimate_text(value if isinstance(value, str) else "".join(value))
            case DataPart(mime_type=mime) if mime.startswith("image/"):
                total += IMAGE_TOKENS
            case _:
                pass  # bookkeeping of the host's, which no model reads
    return total
