from __future__ import annotations

import importlib.metadata

import pytest

from bridge.version import UNKNOWN, own_version


def test_the_version_is_that_of_the_package() -> None:
    assert own_version() == importlib.metadata.version("vscodelm")


@pytest.mark.parametrize("error", [importlib.metadata.PackageNotFoundError, KeyError])
def test_without_metadata_there_is_a_version_all_the_same(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        raise error(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert own_version() == UNKNOWN
