"""The house: import-linter checks the contracts; here are its sizes, and the contract on purity."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from grimp import ImportGraph
from importlinter.domain.contract import InvalidContractOptions

from tooling.pure import ROOT, PureContract, impure_modules, pure_files

PACKAGES = ("bridge", "actors", "agents", "vscodelm")
MOST_FILES = {"bridge": 14, "agents/acp": 22, "agents/open_responses": 10, "vscodelm": 10}
MOST_FILES_ELSEWHERE = 24
LONG_FUNCTION = 60
"""Lines, from its `def` to its end; every function has fewer."""


def test_every_module_is_pure_that_the_contract_does_not_name() -> None:
    files = {path.relative_to(ROOT).as_posix() for root in PACKAGES for path in modules(root)}
    assert set(pure_files()) <= files
    assert len(files) == len(pure_files()) + len(impure_modules())


def test_no_module_of_the_bridge_but_stdio_does_io_or_imports_trio() -> None:
    assert [module for module in impure_modules() if module.startswith("bridge")] == [
        "bridge.stdio"
    ]


@pytest.mark.parametrize("impure", [{}, {"bridge.waits": "It waits."}])
def test_a_pure_module_imports_nothing_that_is_forbidden(impure: dict[str, str]) -> None:
    graph = ImportGraph()
    graph.add_import(importer="bridge.waits", imported="trio")
    graph.add_import(importer="bridge.rules", imported="time")
    broken = broken_by(graph, impure)
    assert "bridge.rules imports time" in broken
    assert ("bridge.waits imports trio" in broken) == (not impure)


def test_a_pure_module_imports_no_module_that_is_named() -> None:
    graph = ImportGraph()
    graph.add_import(importer="bridge.waits", imported="trio")
    graph.add_import(importer="bridge.rules", imported="bridge.waits")
    assert broken_by(graph, {"bridge.waits": "It waits."}) == ["bridge.rules imports bridge.waits"]


def test_a_module_that_needs_no_exception_is_not_named() -> None:
    graph = ImportGraph()
    graph.add_import(importer="bridge.reads", imported="pathlib")
    graph.add_import(importer="bridge.rules", imported="re")
    reasons = {f"bridge.{name}": "It waits." for name in ("gone", "reads", "rules")}
    assert broken_by(graph, reasons) == [
        "bridge.gone is named as impure, and isn't there",
        "bridge.rules is named as impure, and imports nothing that is",
    ]


def test_each_module_that_is_named_has_a_reason() -> None:
    with pytest.raises(InvalidContractOptions) as raised:
        contract({"bridge.waits": ""})
    assert raised.value.errors == {"impure": "without a reason: bridge.waits"}


def test_each_folder_can_be_seen_at_once() -> None:
    folders = {path.parent for root in PACKAGES for path in modules(root)}
    names = {folder: folder.relative_to(ROOT).as_posix() for folder in folders}
    assert MOST_FILES.keys() <= set(names.values())
    assert {
        name: count
        for folder, name in names.items()
        if (count := len([path for path in folder.glob("*.py") if path.name != "__init__.py"]))
        > MOST_FILES.get(name, MOST_FILES_ELSEWHERE)
    } == {}


def test_each_function_can_be_seen_at_once() -> None:
    assert {
        f"{path.relative_to(ROOT)}: {name}": lines
        for root in PACKAGES
        for path in modules(root)
        for name, lines in functions(path)
        if lines >= LONG_FUNCTION
    } == {}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def functions(path: Path) -> list[tuple[str, int]]:
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def contract(impure: dict[str, str]) -> PureContract:
    return PureContract(
        "pure",
        session_options={"root_packages": ["bridge"]},
        contract_options={"forbidden": ["time", "trio"], "uses": ["pathlib"], "impure": impure},
    )


def broken_by(graph: ImportGraph, impure: dict[str, str]) -> list[str]:
    check = contract(impure).check(graph, verbose=False)
    assert check.kept == (not check.metadata["broken"])
    return check.metadata["broken"]
