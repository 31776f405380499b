"""Write the vectors that hold the token estimators of both languages together.

    python -m tooling.token_vectors            writes tests/tokens/vectors.json
    python -m tooling.token_vectors --check    fails if that is not what Python says

The tests of Python and of TypeScript both read them; so neither can change alone.
"""

# ruff: noqa: RUF001  # so are marks that look like others
from __future__ import annotations

import base64
import json
import random
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridge.history.transcript import decode_message
from bridge.tokens.hybrid import HybridEstimator
from bridge.tokens.message import estimate_image, estimate_message, estimate_text, estimate_tools
from bridge.tokens.pieces import PIECE
from bridge.wire import ChatMessage, ToolSpec

FILE = Path(__file__).parent.parent / "tests" / "tokens" / "vectors.json"

TEXTS = (
    "",
    " ",
    "\n",
    "\r\n",
    "\t\t",
    "a",
    "Z",
    "7",
    "é",
    "你",
    "ß",
    "𝒳",
    "😀",
    "👩‍👩‍👧",
    "🇩🇪",
    "❤️",
    "hello",
    "hello world",
    " hello  world ",
    "it's, we'll, I'VE, don'the, l'état",
    "'s",
    "x's't",
    "camelCaseName HTTPServer XMLHttpRequest2 snake_case_name SCREAMING_CASE kebab-case-name",
    "1234567890 3.14159 1_000_000 0xdeadbeef ²³ ½ ٣٤٥ ４５６ Ⅳ",
    "def f(x):\n    return x + 1\n\n\nclass A:\n\tpass\n",
    'if (a && b) { return !c; } // => "x"; </div>\n',
    '{"id": 7, "name": "x", "tags": ["a", "b"], "parent": null}',
    "diff --git a/x.py b/x.py\n@@ -1,2 +1,2 @@\n-old\n+new\n",
    "2026-03-17 09:14:02,123 INFO app.main: started in 17 ms id=3f9a0c44",
    "日本語の文章と、かな。",
    "简体中文，没有空格。",
    "繁體中文也是。",
    "한국어 문장입니다.",
    "Привет, МИР! Ελληνικά ΚΕΦΑΛΑΙΑ. עברית שלום العربية مرحبا",
    "हिन्दी में वाक्य। ภาษาไทย Tiếng Việt İstanbul",
    "\ud800",
    "\udc00x",
    "a\ud83d",
    "\ud83d\ude00",
    "\ud83d \ude00",
    "\udfff\udbff",
    "\x00\x01\x7f\x80\x85\xa0\u2028\u2029\u3000\ufeff\uffff\U0010ffff",
    "a\u0301e\u0308",
    "=" * 80,
    "-" * 3,
    "#" * 33,
    " " * 79 + "x",
    "\n" * 40,
    " \n \n\t\n x",
    "/\n//\r\n/",
    "abc\r\r\ndef",
    "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz",
    "the " * 50,
    "x" * 400,
    "é" * 25,
    "thequickbrownfoxjumpsoverthelazydog" * 3,
    " THEQUICKBROWNFOXJUMPSOVERTHELAZYDOG",
    "x" * 20 + " " + "x" * 21 + " " + "y" * 31,
    "rindfleischetikettierungsüberwachungsaufgaben превысокомногорассмотрительствующий",
    "ab" * 11 + "ࠀ",
    "é" * 20 + "=" + " " + "=" * 20 + "é" + "≠" * 30,
    ".internationalisierungsmassnahmen's " + "×" * 30,
    "你" * 100,
    "😀" * 30,
    "it'S he'LL HE'Ll we'Ve x'rE é'T 你's 7's ='s 's''s x'l x'",
    "\U00020000a\U00020001B \U00020002' \U00020003's\U0001d7ce\U0001d7cf12\U0001d7d03",
    "ABCdef ABC 1ABCdef\rABC\u3000ABC =ABC ==ABC \ud83dABC \ud83d\ud83dABC",
    " =\n/\r/=\n\n//\n =/ ==\n =\ud83d\n/\ude00/",
    "\n  \n  x \t x\u2003\n\u2003x\u20031 \u2003= \n 1\r= \r\n",
    "x\t\t1  22 333  4444 55555\u0665\u06666",
    "xkqzvjwpf QXKQZVJWPFHG (xkqzvjwpfhg xkqzvjwpfhg's xkqzvjwpféhg xkqzvjwpfhg漢 漢xkqzvjwpfhg",
    "[}=)(;#=~]*< thequickbrownfoxjumps internationalisierungsmassnahmen QJXQZJQXJZQJXQVJ",
    ",CAAC;IACD,CA,CAa,CaA,cAA,C;CAAC ,CAAC =CAAC ,CAAÉ,CAAC字,ÉAAC,CAé",
    "ᏂᎦᏓ ᎠᏂᏴᏫ漢字Ꮒx ꊿꂷꃅꄿꐨꐥ ܟܠ 字ܟ xܟ 𞤋𞤲𞥆𞤢𞤥𞤢 🀀𞤋 Ⴀⴰⵣ",
    " ",
    "x ",
    "x  ",
    "= ",
    "\n ",
    "x'",
    "7'",
    " '",
)
RANGES = ((32, 126), (9, 13), (0xA0, 0x24F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x109F),
          (0x2000, 0x2BFF), (0x2E80, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7FF), (0xD800, 0xDFFF),
          (0xF900, 0xFFFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF),
          (0x10000, 0x10FFFF))  # fmt: skip
RANDOM_TEXTS = 200


def texts() -> Iterator[str]:
    """Yield the texts: chosen ones, and random ones of every part of Unicode."""
    yield from TEXTS
    chance = random.Random(7)
    for _ in range(RANDOM_TEXTS):
        ranges = chance.choices(RANGES, weights=[12, *[1] * (len(RANGES) - 1)], k=3)
        characters = (
            chr(chance.randint(*chance.choice(ranges))) for _ in range(chance.randint(1, 40))
        )
        yield "".join(characters)


def message(role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message as it is on the wire."""
    return {"role": role, "content": list(parts), **more}


def text(value: str) -> dict[str, Any]:
    """Return a part of text as it is on the wire."""
    return {"type": "text", "value": value}


CALL = {
    "type": "tool_call",
    "toolCallId": "c1",
    "toolName": "read_file",
    "parameters": {"path": "src/a.py", "10": [1, 2.5, True, None], "é": {"z": "q\n", "a": ""}},
}


def png(size: tuple[int, int]) -> bytes:
    """Return the beginning of a PNG."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", *size)


def gif(size: tuple[int, int]) -> bytes:
    """Return the beginning of a GIF."""
    return b"GIF89a" + struct.pack("<HH", *size)


def jpeg(size: tuple[int, int], before: int = 60) -> bytes:
    """Return the beginning of a JPEG, with a record of so many bytes before its size."""
    records = b"\xff\xd8"
    while before > 0:
        length = min(before, 65_537)
        if before - length in range(1, 4):
            length -= 4
        records += struct.pack(">BBH", 0xFF, 0xE1, length - 2) + bytes(length - 4)
        before -= length
    frame = struct.pack(">BBBBHBHH", 0xFF, 0xFF, 0xFF, 0xC2, 17, 8, size[1], size[0])
    return records + frame


def webp(size: tuple[int, int], form: str) -> bytes:
    """Return the beginning of a WebP of one of its three forms."""
    width, height = size
    if form == "VP8 ":
        data = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height | 0xC000)
    elif form == "VP8L":
        data = b"\x2f" + struct.pack("<I", 1 << 28 | (height - 1) << 14 | (width - 1))
    else:
        data = bytes(4) + b"".join((side - 1).to_bytes(3, "little") for side in size)
    return b"RIFF" + bytes(4) + b"WEBP" + form.encode() + bytes(4) + data


IMAGE = {
    "type": "data",
    "mimeType": "image/png",
    "data": base64.b64encode(png((1920, 1080))).decode(),
}
MESSAGES: tuple[dict[str, Any], ...] = (
    message("user"),
    message("user", text("hello world")),
    message("system", text("You are"), text(" helpful."), name="rules"),
    message("assistant", {"type": "thinking", "value": ["first ", "second"]}, CALL),
    message("assistant", {"type": "thinking", "value": "hmm"}, text("Done.")),
    message("user", {"type": "tool_result", "toolCallId": "c1", "result": "plain"}),
    message("user", {"type": "tool_result", "toolCallId": "c1"}),
    message("user", {"type": "tool_result", "toolCallId": "c1", "result": {"b": 1, "a": [0.5]}}),
    message(
        "user",
        {
            "type": "tool_result",
            "toolCallId": "c1",
            "result": [text("def f(): ..."), IMAGE, "bare", 7, None, {"type": "x", "value": [1]}],
        },
    ),
    message("user", IMAGE, text("What is this?")),
    message("user", {"type": "data", "mimeType": "text/plain", "data": "77u/aGVsbG8g/w=="}),
    message("user", {"type": "data", "mimeType": "application/json", "data": "eyJhIjoxfQ=="}),
    message("user", {"type": "data", "mimeType": "usage", "data": "eyJhIjoxfQ=="}),
    message("user", {"type": "hologram", "value": "unknown"}),
)
FAMILIES = ("", "gpt-5", "Claude Sonnet", "anthropic", "gemini-2.5-pro", "Google")
SIZES = ((1, 1), (384, 384), (512, 513), (800, 600), (1920, 1080), (4000, 3000), (16_000, 9))
IMAGES = (
    *(form(size) for form in (png, gif, jpeg) for size in SIZES),
    *(webp(size, form) for form in ("VP8 ", "VP8L", "VP8X") for size in SIZES),
    jpeg((640, 480), 70_000),
    png((65_535, 65_535)),
    png((65_536, 1)),
    png((0, 7)),
    png((7, 7))[:22],
    gif((7, 7))[:9],
    jpeg((7, 7))[:-1],
    webp((7, 7), "VP8L")[:24],
    webp((7, 7), "VP8X")[:29],
    b"\xff\xd8" + b"\xff" * 50,
    b"",
    b"<svg/>",
)
TOOLS: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"name": "now"}],
    [
        {
            "name": "read_file",
            "description": "Read a file of the workspace.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where it is."},
                    "lines": {"type": "array", "items": [{}, [], 0, "x"], "minItems": 0},
                },
                "required": ["path"],
                "additionalProperties": False,
                "default": None,
            },
        },
        {"name": "list_files", "description": "", "inputSchema": {}},
    ],
)
LONG = " ".join(f"Sentence number {number} of a longer story." for number in range(30))
QUESTION, ANSWER = message("user", text(LONG)), message("assistant", text(f"No. {LONG}"))
MORE, OTHER = message("user", text("And then?")), message("user", text("Something else."))
STEPS: tuple[dict[str, Any], ...] = (
    {"estimate": []},
    {"estimate": [QUESTION]},
    {"estimate": [QUESTION], "tools": TOOLS[2]},
    {"calibrate": [QUESTION], "tokens": 0},
    {"calibrate": [], "tokens": 100},
    {"calibrate": [QUESTION], "tokens": 330},
    {"estimate": [QUESTION]},
    {"estimate": [QUESTION, ANSWER]},
    {"estimate": [QUESTION, ANSWER, MORE], "tools": TOOLS[2]},
    {"calibrate": [QUESTION, ANSWER], "tokens": 700},
    {"estimate": [QUESTION, ANSWER]},
    {"estimate": [QUESTION, ANSWER, MORE]},
    {"estimate": [QUESTION, OTHER]},
    {"estimate": [OTHER, ANSWER]},
    {"calibrate": [OTHER], "tokens": 15_000},
    {"calibrate": [QUESTION, ANSWER, MORE], "tokens": 5},
    {"estimate": [QUESTION, ANSWER, MORE]},
    {"reset": True},
    {"estimate": [QUESTION, ANSWER]},
)


def vectors() -> dict[str, Any]:
    """Return everything, with what Python says of it."""
    return {
        "texts": [
            {"text": one, "tokens": estimate_text(one), "pieces": _lengths(one)} for one in texts()
        ],
        "images": [
            {
                "data": base64.b64encode(image).decode(),
                "family": family,
                "tokens": estimate_image(image, family),
            }
            for image in IMAGES
            for family in FAMILIES
        ],
        "messages": [
            {"message": one, "family": family, "tokens": estimate_message(_read(one), family)}
            for one in MESSAGES
            for family in FAMILIES[1:3]
        ],
        "tools": [{"tools": one, "tokens": estimate_tools(_read_tools(one))} for one in TOOLS],
        "conversation": list(conversation()),
    }


def conversation() -> Iterator[dict[str, Any]]:
    """Yield the steps, each with what is known after it."""
    hybrid = HybridEstimator("gpt-5")
    for step in STEPS:
        tools = _read_tools(step.get("tools", []))
        expected: dict[str, Any] = {}
        if "estimate" in step:
            estimate = hybrid.estimate_conversation([_read(one) for one in step["estimate"]], tools)
            expected = {"expected": msgspec.structs.asdict(estimate)}
        elif "calibrate" in step:
            hybrid.calibrate([_read(one) for one in step["calibrate"]], step["tokens"], tools)
        else:
            hybrid.reset()
        yield {**step, **expected, "ratio": hybrid.ratio, "hello": hybrid.estimate_text(LONG)}


def _lengths(text: str) -> str:
    """Return the lengths of a text's pieces, as JavaScript counts them."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    pieces = (piece.encode("utf-16-le", "surrogatepass") for piece in PIECE.findall(joined))
    return " ".join(str(len(piece) // 2) for piece in pieces)


def _read(one: dict[str, Any]) -> ChatMessage:
    return decode_message(msgspec.Raw(msgspec.json.encode(one)), "$")


def _read_tools(tools: list[dict[str, Any]]) -> list[ToolSpec]:
    return msgspec.json.decode(msgspec.json.encode(tools), type=list[ToolSpec])


def content() -> str:
    """Return the file; ASCII, since half characters have no other form."""
    return json.dumps(vectors(), indent=1) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the file, or say whether it is up to date."""
    if "--check" in arguments:
        return int(not FILE.exists() or FILE.read_text(encoding="utf-8") != content())
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(content(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
