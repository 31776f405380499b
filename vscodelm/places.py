"""Name the folders of our files: caches, state that outlives a process, and configuration."""

from __future__ import annotations

import os
from pathlib import Path

_NAME = "vscodelm"


def cache_folder(named: Path | None = None) -> Path:
    """Return the folder for what can be fetched again: named by an option or the environment."""
    chosen = named or os.environ.get("VSCODELM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs  # here, because a run with a named folder doesn't need it

    return platformdirs.user_cache_path(_NAME)


def state_folder(named: Path | None = None) -> Path:
    """Return the folder for what outlives a process: named by an option or the environment."""
    chosen = named or os.environ.get("VSCODELM_STATE_DIR")
    return Path(chosen) if chosen else own_state_folder()


def own_state_folder() -> Path:
    """Return the state folder of this user, whatever is named."""
    import platformdirs

    return platformdirs.user_state_path(_NAME)


def config_path(named: Path | None) -> Path:
    """Return where the models' file is, or would be: named by an option or the environment."""
    chosen = named or os.environ.get("VSCODELM_CONFIG")
    if chosen:
        return Path(chosen)
    import platformdirs

    return platformdirs.user_config_path(_NAME) / "config.toml"
