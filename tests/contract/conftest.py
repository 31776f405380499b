"""A skip of the contract says why."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from .subjects import SKIPPED_FOR


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the reason back that was lost."""
    report = yield
    reason = item.stash.get(SKIPPED_FOR, "")
    if report.skipped and reason:
        report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {reason}")
    return report
