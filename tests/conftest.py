"""Hypothesis profiles; HYPOTHESIS_PROFILE names one, else `ci` where CI is set, else `dev`."""

from __future__ import annotations

import os
from importlib.util import find_spec
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = [
    "tests.golden_option",  # --update-golden
    # The table of the real agents; copies into which faults are planted have no such tests.
    *(["tests.real.outcomes"] if find_spec("tests.real") else []),
]

# Time is never asserted here, and a busy machine must not fail a test: so no deadline, and no check
# of how fast examples are drawn.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
_CI = settings(_COMMON, max_examples=300, derandomize=True)

settings.register_profile("dev", _COMMON, max_examples=25)
settings.register_profile("ci", _CI)
settings.register_profile("nightly", _COMMON, max_examples=5_000, print_blob=True)
# For test_planted_faults, which asks whether a test fails and not why.
settings.register_profile("faults", _CI, phases=[Phase.explicit, Phase.generate])
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)

_folders = count()


@pytest.fixture(scope="session")
def state_folders(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where tests' processes remember what outlives them."""
    return str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def _own_state(state_folders: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches what the user of this machine has, nor what another test remembers."""
    monkeypatch.setenv("VSCODELM_STATE_DIR", os.path.join(state_folders, str(next(_folders))))
