"""That the vectors are what Python says, and the extension's table what Python has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tooling import token_filter, token_table, token_vectors


def test_the_vectors_are_what_python_says() -> None:
    assert token_vectors.main(["--check"]) == 0, "python -m tooling.token_vectors"


def test_the_extension_has_the_same_table() -> None:
    assert token_table.main(["--check"]) == 0, "python -m tooling.token_table"


@pytest.mark.slow
def test_the_filter_is_that_of_the_tokenizer() -> None:
    assert token_filter.main(["--check"]) == 0, "python -m tooling.token_filter"


def test_a_filter_that_differs_is_found_and_written_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "file"
    monkeypatch.setattr(token_filter, "FILTER", file)
    monkeypatch.setattr(token_filter, "whole_pieces", lambda: ["one", " two"])
    assert token_filter.main(["--check"]) == 1
    assert token_filter.main([]) == 0
    assert token_filter.main(["--check"]) == 0
    file.write_bytes(bytes([*file.read_bytes()[:-1], 1]))
    assert token_filter.main(["--check"]) == 1


@pytest.mark.parametrize(("module", "name"), [(token_vectors, "FILE"), (token_table, "TYPESCRIPT")])
def test_a_file_that_differs_is_found_and_written_anew(
    module: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "file"
    monkeypatch.setattr(module, name, file)
    main: Callable[[list[str]], int] = module.main
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0
    file.write_text(file.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert main(["--check"]) == 1
