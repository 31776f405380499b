"""One word, one meaning: no two modules define a public class or type of the same name.

In the extension that goes for exported functions, too.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("bridge", "actors", "agents", "vscodelm")
EXTENSION = ROOT / "extension" / "src"
EXPORTED = re.compile(
    r"^export (?:default |declare |abstract |async )*"
    r"(?:class|interface|type|enum|function\*?) (\w+)",
    re.MULTILINE,
)
"""A definition in TypeScript; `export { ... }` hands on what another file defines."""
STANDARD: dict[str, str] = {}
"""Names that stand in two modules, each with the specification that gives both their name."""
MOST_STANDARD = 8


def test_no_two_modules_define_a_class_of_the_same_name() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for name in types_of(ast.parse(path.read_bytes())):
                modules[name].append(path.relative_to(ROOT).as_posix())
    twice = {name: found for name, found in modules.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if name not in STANDARD} == {}
    assert STANDARD.keys() <= twice.keys(), "these stand in one module alone"


def test_few_names_are_there_twice_and_each_is_a_word_of_a_specification() -> None:
    assert len(STANDARD) <= MOST_STANDARD
    assert all(STANDARD.values())


def test_no_two_files_of_the_extension_export_the_same_name() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(EXTENSION.rglob("*.ts")):
        for name in EXPORTED.findall(path.read_text(encoding="utf-8")):
            files[name].append(path.relative_to(EXTENSION).as_posix())
    assert "Provider" in files
    assert {name: found for name, found in files.items() if len(found) > 1} == {}


def test_what_a_file_of_the_extension_defines_is_found_and_what_it_hands_on_is_not() -> None:
    source = """
export class A<T> extends Base {
export abstract class B {}
export interface C {
export type D = string;
export function e(): void {}
export async function* f() {}
export default function g() {}
export enum H { One }
interface Own {}
export const NUMBER = 1;
export { I, type J } from "./i.ts";
export type { K } from "./k.ts";
export * from "./l.ts";
  export class Inner {}
"""
    assert EXPORTED.findall(source) == ["A", "B", "C", "D", "e", "f", "g", "H"]


def test_classes_and_type_aliases_are_found() -> None:
    source = "class A: ...\nclass _B: ...\nC: TypeAlias = int\nD: Final = 1\nE = TypeVar('E')\n"
    plain = (
        "Pair = tuple[int, int]\nEither = A | C\nSame = A\n_Own = A | C\nMOST = A | C\nlog = A\n"
    )
    assert list(types_of(ast.parse(source + plain))) == ["A", "C", "Pair", "Either", "Same"]


def types_of(module: ast.Module) -> Iterator[str]:
    """Yield the public classes and type aliases of a module."""
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                pass
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(op=ast.BitOr()) | ast.Subscript() | ast.Name(),
            ) if _is_written_as_a_type(name):
                pass
            case _:
                continue
        if not name.startswith("_"):
            yield name


def _is_written_as_a_type(name: str) -> bool:
    return name[0].isupper() and not name.isupper()
