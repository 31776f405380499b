"""import-linter checks the contracts; here, that the one on purity leaves nothing out."""

from __future__ import annotations

from tooling.pure import ROOT, file_of, pure_modules

IMPURE = {"bridge/stdio.py"}


def test_every_module_of_the_bridge_but_stdio_is_under_the_contract_on_purity() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "bridge").rglob("*.py")}
    missing = files - IMPURE - {file_of(module) for module in pure_modules()}
    assert not missing, "add these to the contract `pure` in pyproject.toml"


def test_what_the_contract_on_purity_names_is_there() -> None:
    assert [module for module in pure_modules() if not (ROOT / file_of(module)).exists()] == []


def test_stdio_waits_and_is_not_called_pure() -> None:
    assert IMPURE.isdisjoint(file_of(module) for module in pure_modules())
