"""Where what can be fetched again is kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(named: Path | None = None) -> Path:
    """Return the folder that is named, by an option or in the environment, or else our own."""
    found = named or os.environ.get("VSCODELM_CACHE_DIR")
    if found:
        return Path(found)
    import platformdirs  # here, because a run with a named folder doesn't need it

    return platformdirs.user_cache_path("vscodelm")
