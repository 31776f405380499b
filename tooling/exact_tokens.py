"""The exact tokenizer that the estimate is fitted to and measured against: o200k_base.

`tiktoken` fetches its ranks from a server; bpe-openai has them in its package.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its data in an old way
    import bpe_openai  # pyright: ignore[reportMissingTypeStubs]  # it has none

    _ENCODING: Any = bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """Return how many tokens a text has."""
    return len(_ENCODING.encode_ordinary(text))


def vocabulary() -> Mapping[bytes, int]:
    """Return each token, and when it was learned."""
    return _ENCODING._mergeable_ranks
