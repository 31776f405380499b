"""The models' file: what is in it, and how a model is added to it."""

from __future__ import annotations

import os
from pathlib import Path

from agents.acp.launch.completed import completed
from agents.files import write_whole
from bridge.models import (
    Catalogue,
    ConfigError,
    parse_catalogue,
    parse_json_catalogue,
    with_endpoints,
)

from .places import config_path


def load_catalogue(named: Path | None) -> Catalogue:
    """Return the models; raises `ConfigError` where the file is wrong, or is named and missing.

    A file whose name ends in .json is JSON, any other is TOML.
    """
    path = config_path(named)
    is_named = named or os.environ.get("VSCODELM_CONFIG")
    if not is_named and not path.exists():
        return Catalogue()
    try:
        parse = parse_json_catalogue if path.suffix == ".json" else parse_catalogue
        return parse(path.read_text(encoding="utf-8"), completed)
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from None


def with_editor_endpoints(catalogue: Catalogue) -> tuple[Catalogue, list[str]]:
    """Return a catalogue with the endpoints that the editor's settings have, and their faults."""
    text = os.environ.get("VSCODELM_ENDPOINTS")
    return with_endpoints(catalogue, text) if text else (catalogue, [])


def add_model(path: Path, entry: str) -> None:
    """Write an entry to the end of the file, which needn't exist; raises `ConfigError`.

    The file stays as it is unless the whole is right with it.
    """
    try:
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = f"{old.rstrip()}\n\n{entry}" if old.strip() else entry
        parse_catalogue(old, completed)
        parse_catalogue(new, completed)
        write_whole(path.resolve(), new.encode(), keeps_mode=True)
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from None
