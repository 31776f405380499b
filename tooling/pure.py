"""The import contract that makes purity the default, and the files of the pure modules.

The contract `pure` in pyproject.toml names the modules that may do I/O, read a clock or draw
chance, each with its reason. Every other module is pure: it imports nothing that the contract
forbids, and no module that is named. Tests cover it completely: `python -m tooling.pure` prints the
files for `coverage --include` and `--omit`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from importlinter.application import output
from importlinter.domain import fields
from importlinter.domain.contract import Contract, ContractCheck

if TYPE_CHECKING:
    from grimp import ImportGraph

ROOT = Path(__file__).parent.parent


class Names(fields.Field[frozenset[str]]):
    """Parse a list of packages."""

    def parse(self, raw_data: str | list[str]) -> frozenset[str]:
        """Return the names."""
        return frozenset(raw_data)


class Reasons(fields.Field[dict[str, str]]):
    """Parse a table of modules; each needs a reason."""

    def parse(self, raw_data: Any) -> dict[str, str]:
        """Return the reasons; raises `ValidationError`."""
        reasons = cast("dict[str, str]", raw_data)
        if unreasoned := [module for module, reason in reasons.items() if not reason]:
            raise fields.ValidationError(f"without a reason: {', '.join(unreasoned)}")
        return reasons


class PureContract(Contract):
    """Forbid I/O, clocks and chance to every module that isn't named.

    - forbidden: Packages that a pure module doesn't import.
    - uses: Packages that a pure module may import, and that a module may be named for.
    - impure: The modules that may do I/O, each with its reason.
    """

    type_name = "pure"
    forbidden = Names()
    uses = Names()
    impure = Reasons()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return which imports are forbidden, and which modules are named without need."""
        forbidden = cast("frozenset[str]", self.forbidden)
        impure = cast("dict[str, str]", self.impure)
        roots = self.session_options["root_packages"]
        modules = {module for module in graph.modules if module.split(".")[0] in roots}
        imports = [
            f"{module} imports {imported}"
            for module in sorted(modules - impure.keys())
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if imported in forbidden or imported in impure
        ]
        needs = forbidden | cast("frozenset[str]", self.uses)
        needless = [
            f"{module} is named as impure, and imports nothing that is"
            if module in modules
            else f"{module} is named as impure, and isn't there"
            for module in sorted(impure)
            if module not in modules or needs.isdisjoint(graph.find_upstream_modules(module))
        ]
        broken = [*imports, *needless]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print what is wrong, a line each."""
        for line in cast("Iterable[str]", check.metadata["broken"]):
            output.print_error(f"- {line}", bold=False)


def impure_modules() -> dict[str, str]:
    """Return the modules that the contract names, with their reasons."""
    (contract,) = (one for one in _settings()["contracts"] if one["id"] == "pure")
    return contract["impure"]


def pure_files() -> list[str]:
    """Return the files of the pure modules, relative to the root."""
    impure = {file_of(module) for module in impure_modules()}
    files = (file for root in _settings()["root_packages"] for file in (ROOT / root).rglob("*.py"))
    return sorted({file.relative_to(ROOT).as_posix() for file in files} - impure)


def file_of(module: str) -> str:
    """Return where a module is, relative to the root."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def _settings() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]


if __name__ == "__main__":
    print(",".join(pure_files()))
