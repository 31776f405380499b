from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from vscodelm.places import cache_folder

if TYPE_CHECKING:
    import pytest


def test_an_option_comes_before_the_environment_and_that_before_our_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VSCODELM_CACHE_DIR", raising=False)
    assert cache_folder() == platformdirs.user_cache_path("vscodelm")
    monkeypatch.setenv("VSCODELM_CACHE_DIR", "/named")
    assert cache_folder() == Path("/named")
    assert cache_folder(Path("/given")) == Path("/given")
