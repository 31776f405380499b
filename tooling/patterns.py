"""All regular expressions of the tree, and the texts that would stall a bad one.

`python -m tooling.patterns` prints them. A pattern must have an owner: a name at the top of a
module, or a literal in its call. One that is put together at run time can't be tried, so it is
refused.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import attrs

ROOT = Path(__file__).parent.parent
PACKAGES = ("bridge", "agents", "actors", "vscodelm", "docs", "benchmarks", "tooling")
_THIS = Path(__file__).absolute()
SCRIPTS = ROOT / "extension" / "src"
_CALLS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_parser: Any = importlib.import_module("re._parser")


class Unowned(Exception):
    """A regular expression has no owner; the text says where it is."""


@attrs.frozen
class Pattern:
    """A regular expression, and how it is used: the methods that are called on it."""

    owner: str
    compiled: re.Pattern[Any]
    uses: frozenset[str]


def python_patterns() -> list[Pattern]:
    """Return the patterns of our Python files; raises `Unowned`."""
    trees = {path: ast.parse(path.read_bytes()) for path in _files()}
    uses = _uses(trees.values())
    return [one for path, tree in trees.items() for one in _patterns(path, tree, uses)]


def _files() -> Iterator[Path]:
    """Return our files, but for this one, which compiles the patterns of the others."""
    for package in PACKAGES:
        yield from (one for one in sorted((ROOT / package).rglob("*.py")) if one != _THIS)


def _uses(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Return the methods that are named after a name, by the name."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _CALLS:
                    found.setdefault(name, set()).add(method)
                case _:
                    pass
    return found


def _patterns(path: Path, tree: ast.Module, uses: dict[str, set[str]]) -> Iterator[Pattern]:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for statement in tree.body:
        calls = list(_calls_in(statement, module))
        if not calls:
            continue
        name = _target(statement)
        if name is not None and any(method == "compile" for method, _ in calls):
            yield from _owned(module, name, len(calls), uses.get(name, set()))
            continue
        for method, call in calls:
            where = f"{module}:{call.lineno}"
            first = call.args[0] if call.args else None
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str | bytes)):
                raise Unowned(f"{where}: a pattern without a name at the top of its module")
            yield Pattern(where, re.compile(first.value, _flags(call, where)), frozenset({method}))


def _calls_in(statement: ast.stmt, module: str) -> Iterator[tuple[str, ast.Call]]:
    """Return the calls of the module `re` that take a pattern."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)):
                if method in _CALLS or method == "compile":
                    yield method, node
            case ast.ImportFrom(module="re"):
                raise Unowned(f"{module}:{node.lineno}: import the module `re` itself")
            case _:
                pass


def _target(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return None


def _flags(call: ast.Call, where: str) -> int:
    """Return the flags of a call; raises `Unowned` where they aren't written as `re.NAME`."""
    flags = 0
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="flags", value=ast.Attribute(value=ast.Name(id="re"), attr=name)):
                flags |= int(re.RegexFlag[name])
            case ast.keyword(arg="flags"):
                raise Unowned(f"{where}: flags that can't be read")
            case _:
                pass
    return flags


def _owned(module: str, name: str, calls: int, uses: set[str]) -> Iterator[Pattern]:
    """Return the patterns in the value of a name; there are as many as calls, or more."""
    value = getattr(importlib.import_module(module), name)
    found = list(_compiled_in(value))
    if len(found) < calls:
        raise Unowned(f"{module}.{name}: {calls} patterns, of which {len(found)} can be found")
    for number, one in enumerate(found):
        place = f"[{number}]" if len(found) > 1 else ""
        yield Pattern(f"{module}.{name}{place}", one, frozenset(uses))


def _compiled_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield cast("re.Pattern[Any]", value)
    elif isinstance(value, dict):
        yield from _compiled_in(list(cast("dict[Any, Any]", value).values()))
    elif isinstance(value, tuple | list):
        for item in cast("list[Any]", value):
            yield from _compiled_in(item)


# TypeScript.

_LITERAL = re.compile(
    r"(?<=[(=:,?&|] )/(?![/*])(?P<one>(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[a-z]*)"
    r"|(?<=\()/(?![/*])(?P<two>(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<more>[a-z]*)"
)
_MADE = re.compile(r"\bRegExp\((?P<argument>[^\n]*)")
_EXCUSED = frozenset(
    {
        # The pieces of a tokenizer: the same pattern as bridge.tokens.pieces.PIECE, which is tried.
        ("tokens/text.ts", 'pattern(), "gu");'),
        # The pattern of an agent's form, which is matched with a limit of time.
        ("elicitation/pattern.ts", "pattern, flags);"),
    }
)


def script_patterns() -> list[Pattern]:
    """Return the patterns of the extension, as Python reads them; raises `Unowned`."""
    found: list[Pattern] = []
    for path in sorted(SCRIPTS.rglob("*.ts")):
        name, text = path.relative_to(SCRIPTS).as_posix(), path.read_text()
        for made in _MADE.finditer(text):
            if (name, made["argument"].strip()) not in _EXCUSED:
                raise Unowned(f"{name}: new RegExp({made['argument']}")
        for literal in _LITERAL.finditer(text):
            source = literal["one"] or literal["two"]
            flags = literal["flags"] or literal["more"] or ""
            line = text.count("\n", 0, literal.start()) + 1
            found.append(_from_script(f"{name}:{line}", source, flags))
    return found


def _from_script(where: str, source: str, flags: str) -> Pattern:
    letters = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
    mode = sum(int(flag) for letter, flag in letters.items() if letter in flags)
    try:
        # A bracket opens no class within a class there, and Python only warns that it may.
        compiled = re.compile(source.replace("[\\]", "\\[\\]"), mode)
    except re.error as error:
        raise Unowned(f"{where}: Python can't try /{source}/: {error}") from None
    # With the flag y it begins where it is told to, as `match` does.
    return Pattern(where, compiled, frozenset({"match" if "y" in flags else "sub"}))


# Texts that would stall a pattern that isn't linear.

_EXTRA = "a0 \n!\x00_-"
_ENDS = ("", "\x00", "!")
_MOST_SAMPLES = 3
_MOST_REPEATED = 8
_MOST_BEGINNINGS = 40


def attacks(compiled: re.Pattern[Any], length: int) -> Iterator[Any]:
    """Return texts of about that many characters that make a bad pattern slow.

    Some repeat the beginning of a match, without its end. Others have a beginning, many repetitions
    of an inner part, and then a text that can't follow.
    """
    pattern = compiled.pattern
    source = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    samples = _Samples(source, compiled.flags)
    begins = [*dict.fromkeys(samples.begins)][:_MOST_BEGINNINGS]
    repeated = [*dict.fromkeys(samples.repeated)][:_MOST_REPEATED]
    pairs = [one + other for one in repeated for other in repeated if one != other]
    texts = [_times(one, length) + end for one in begins for end in _ENDS[:2]]
    for begin in ("", "a", "\x00", *begins):
        for one in (*repeated, *(pairs if len(begin) < 2 else ())):
            texts += [begin + _times(one, length) + end for end in _ENDS]
    for text in dict.fromkeys(texts):
        yield text.encode("latin-1", "replace") if isinstance(pattern, bytes) else text


def _times(text: str, length: int) -> str:
    return text * (length // len(text))


class _Samples:
    """Pieces of what a pattern matches: what it begins with, and what it takes many times."""

    def __init__(self, source: str, flags: int) -> None:
        tree = _parser.parse(source, flags & ~re.UNICODE)
        self.begins: list[str] = []
        self.repeated: list[str] = []
        self._groups: dict[int, str] = {}
        self._alphabet = [*dict.fromkeys([*_EXTRA, *_literals(tree)])]
        self._sequence(tree, "")

    def _sequence(self, tree: Any, outer: str) -> list[str]:
        """Return some matches of nodes that stand one after another; note each beginning."""
        nodes: list[Any] = list(tree)
        found = [""]
        for place, node in enumerate(nodes):
            more = self._node(node, outer + found[0])
            found = [head + one for head in found for one in more][: 3 * _MOST_SAMPLES]
            ends_a_word = place + 1 == len(nodes) or str(nodes[place + 1][0]) != "LITERAL"
            if ends_a_word:
                self.begins += [outer + one for one in found if outer + one]
        return found

    def _node(self, node: Any, outer: str) -> list[str]:
        kind, value = str(node[0]), node[1]
        match kind:
            case "LITERAL":
                return [chr(value)]
            case "NOT_LITERAL":
                return [one for one in self._alphabet if one != chr(value)][:_MOST_SAMPLES]
            case "ANY":
                return ["a", *self._alphabet[-1:]]
            case "IN":
                known = [one for one in self._alphabet if _is_in(one, value)]
                return known[:_MOST_SAMPLES] or _first_in(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                once = self._sequence(inner, outer)
                if most > 1:
                    self.repeated += [one for one in once if one]
                return [one * max(1, least) for one in once]
            case "SUBPATTERN":
                found = self._sequence(value[3], outer)
                self._groups[value[0]] = found[0]
                return found
            case "ATOMIC_GROUP":
                return self._sequence(value, outer)
            case "BRANCH":
                each = [self._sequence(branch, outer) for branch in value[1]]
                return [one for found in each for one in found][: 3 * _MOST_SAMPLES]
            case "GROUPREF":
                return [self._groups[value]]
            case "ASSERT" | "ASSERT_NOT":
                self._sequence(value[1], outer)
                return [""]
            case _:
                return [""]


def _literals(tree: Any) -> Iterator[str]:
    """Return the characters that are written in a pattern."""
    for node in tree:
        if isinstance(node, tuple):
            pair = cast("tuple[Any, Any]", node)
            if str(pair[0]) in ("LITERAL", "NOT_LITERAL") and isinstance(pair[1], int):
                yield chr(pair[1])
            else:
                yield from _literals(pair)
        elif isinstance(node, list) or type(node).__name__ == "SubPattern":
            yield from _literals(node)


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _is_in(character: str, items: list[Any]) -> bool:
    """Tell whether a class of characters has this one."""
    is_negated = str(items[0][0]) == "NEGATE"
    has = any(_has(character, str(kind), value) for kind, value in items)
    return has is not is_negated


def _has(character: str, kind: str, value: Any) -> bool:
    match kind:
        case "LITERAL":
            return ord(character) == value
        case "RANGE":
            return value[0] <= ord(character) <= value[1]
        case "CATEGORY":
            return re.fullmatch(_CATEGORIES[str(value)], character) is not None
        case _:
            return False


def _first_in(items: list[Any]) -> list[str]:
    """Return the first character of a class that has none of those that are tried."""
    return [chr(value[0]) for kind, value in items if str(kind) == "RANGE"][:1]


if __name__ == "__main__":
    for one in (*python_patterns(), *script_patterns()):
        shown = repr(one.compiled.pattern)
        sys.stdout.write(f"{one.owner}: {shown if len(shown) < 120 else shown[:120] + '...'}\n")
