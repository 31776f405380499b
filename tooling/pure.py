"""The pure modules, as pyproject.toml lists them in the import contract.

`python -m tooling.pure` prints their files for `coverage --include` and `--omit`: the list of what
must be pure is also the list of what must be covered completely.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def pure_modules() -> list[str]:
    """Return the names in the contract."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    contracts = project["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if contract["id"] == "pure")
    return contract["source_modules"]


def file_of(module: str) -> str:
    """Return where a module is, relative to the root."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


if __name__ == "__main__":
    print(",".join(file_of(module) for module in pure_modules()))
