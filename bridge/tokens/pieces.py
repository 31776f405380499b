"""Text, cut where a byte-pair tokenizer cuts before it merges.

No token reaches over the edge of a piece, so each can be priced alone. A piece is a word with the
character before it, up to three digits, a run of marks, or blanks. A change from small to capital
letters begins a new word. Which character is a letter is written out as ranges, since neither `re`
knows Unicode's properties nor do two Unicode versions agree on them. The extension has the same
ranges, generated from here.
"""

from __future__ import annotations

import re

CAPITALS = "41-5A C0-D6 D8-DE 391-3A9 400-42F"
"""Capital letters of the scripts whose tokens depend on case; others count as letters."""

LETTERS = """
61-7A AA B5 BA DF-F6 F8-2C1 2C6-2D1 2E0-2E4 2EC 2EE 300-374 376-37D 37F-383 386 388-390 3AA-3F5
3F7-3FF 430-481 483-559 560-588 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7-5F2 610-61A 620-65F 66E-6D3 6D5-6EF
6FA-6FF 710-7BF 7CA-963 971-9E5 9F0-A65 A70-AE5 AF0-B65 B70-BE5 BF0-C65 C70-CE5 CF0-D65 D70-DE5
DF0-E3E E40-E4E E5C-ECF EDA-F1F F2A-103F 104C-108F 109A-10FA 10FC-1360 137D-167F 1681-17DF 17EA-180F
181A-1945 1950-1FFF 2071-2073 207F 2090-209F 20D0-20FF 2C00-2DFF 3005-3006 302A-302F 3031-3035
303B-303C 3041-309A 309D-309F 30A1-30FA 30FC-318F 31A0-31BF 31F0-31FF 3400-4DBF 4E00-A61F A62A-A6FF
A717-A8CF A8DA-A8FF A90A-A9CF A9DA-AA4F AA5A-ABEF AC00-D7FF F900-FE0F FE20-FE2F FE70-FEFE FF21-FF3A
FF41-FF5A FF66-FFDC 10000-1CEFF 1D400-1D7CD 1E000-1EFFF 20000-3FFFF E0100-E01EF
"""
"""Every other letter, and the marks that are set on letters."""

NUMBERS = """
30-39 B2-B3 B9 BC-BE 660-669 6F0-6F9 7C0-7C9 966-96F 9E6-9EF A66-A6F AE6-AEF B66-B6F BE6-BEF C66-C6F
CE6-CEF D66-D6F DE6-DEF E50-E59 ED0-ED9 F20-F29 1040-1049 1090-1099 1369-137C 17E0-17E9 1810-1819
1946-194F 2070 2074-2079 2080-2089 2150-218B 2460-249B 24EA-24FF 2776-2793 3007 3021-3029 3220-3229
3248-324F 3251-325F 3280-3289 32B1-32BF A620-A629 A8D0-A8D9 A900-A909 A9D0-A9D9 AA50-AA59 ABF0-ABF9
FF10-FF19 1D7CE-1D7FF 1F100-1F10C
"""

BLANKS = "9-D 20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000"

PAIRED = """
E00-107F 1200-137F 1780-17FF 1D00-1DFF 2D80-9FFF 10000-1027F 10D80-10DFF 11380-1147F 11500-1157F
11700-167FF 16C00-1E8FF 1E980-10FFFF
"""
"""Characters that are priced alone and in twos, in whole blocks of 128. Their words stand together
without blanks (Thai, Chinese), or tokens are parts of them (Lao, Ethiopic, emoji).
"""

SPELT = """
700-7FF 800-8FF 1380-177F 1800-1CFF 2C00-2D7F A000-ABFF 10280-10D7F 10E00-1137F 11480-114FF
11580-116FF 16800-16BFF 1E900-1E97F
"""
"""Characters with a token for each byte, in whole blocks of 128: Syriac, Cherokee, Yi and others.
All of one range have the same number of bytes.
"""


def inside_brackets(ranges: str) -> str:
    """Return ranges as a class of characters has them."""
    return "".join(
        "-".join(f"\\U{int(end, 16):08X}" for end in one.split("-")) for one in ranges.split()
    )


_C, _L, _N, _B = map(inside_brackets, (CAPITALS, LETTERS, NUMBERS, BLANKS))

PIECE = re.compile(
    "|".join(
        (
            # A word, with one character before it that is no letter and no number: most often a
            # blank. English contractions stay with their word; the empty branch is a faster `?`.
            rf"[^\r\n{_C}{_L}{_N}]?(?:[{_C}]*[{_L}]+|[{_C}]+)"
            r"(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|)",
            rf"[{_N}]{{1,3}}",
            rf" ?[^{_C}{_L}{_N}{_B}]+[\r\n/]*",
            rf"[{_B}]*[\r\n]+",
            rf"[{_B}]+(?![^{_B}])",  # but the last blank before a word, which goes with the word
            rf"[{_B}]+",
        )
    )
)
"""One piece. Matches follow each other without a gap, so they are the whole text."""
