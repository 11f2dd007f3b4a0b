"""Which characters make words: the classes of characters, and words told apart by them.

A class is written as in a regular expression, without the brackets. The expressions themselves are
in patterns.py, which only texts load that need them: `re` takes 5 ms of a cold start.
"""

from __future__ import annotations

__all__ = ["FLAG", "MARKS", "SYMBOLS", "UNSEEN", "UNSPACED", "is_run", "words_of"]

# Written without spaces between words: indexed by character. Digits and punctuation of these
# scripts are left out.
_HAN_KANA_HANGUL = (
    "\u1100-\u115e\u1161-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u3163\u3165-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff"
    "\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
# Marks that continue a word (general category M), with letters and gaps between them swallowed.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u074a\u07a6-\u07b0"
    "\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe"
    "\u0a01-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18\u0f19\u0f35\u0f37"
    "\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734"
    "\u1752-\u17d3\u17dd\u180b-\u180d\u180f\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0"
    "\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua672\ua674-\ua67d"
    "\ua69e\ua69f\ua6f0\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea"
    "\uabec\uabed\ufb1e\ufe20-\ufe2f\U00010a01-\U00010a3f\U00011000-\U00011046"
    "\U00011070-\U000110ba\U00011100-\U00011134\U00011180-\U000111c0\U0001122c-\U00011237"
    "\U000112df-\U00011446\U000114b0-\U000114c3\U000115af-\U000115c0\U00011630-\U00011640"
    "\U000116ab-\U000116b7\U0001e130-\U0001e136\U0001e2ec-\U0001e2ef\U0001e8d0-\U0001e94a"
)
# Inside a word without being seen: soft hyphen, joiners, direction marks, variation selectors.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200c-\u200f\u2060-\u2064\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef"
)
SYMBOLS = (
    "\u00a2-\u00a5\u00a9\u00ae\u00b0\u00b1\u20a0-\u20bf\u2100-\u214f\u2190-\u23ff\u2460-\u24ff"
    "\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2900-\u297f\u2b00-\u2bff\u3004\u3012\u3013"
    "\u3200-\u33ff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
UNSPACED = _HAN_KANA_HANGUL + _SOUTH_EAST_ASIAN

_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_ASCII_WORD_BYTES = bytes(byte if byte in _WORD_BYTES else 0x20 for byte in range(256))
_REGIONAL = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def words_of(text: str) -> list[str]:
    """Words as they are written: letters, digits, marks and underscores from a letter or digit on,
    but an underscore may begin one in ASCII; a symbol or a flag is one by itself."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORD_BYTES).decode().split()
    words = text.translate(_APART).split()
    if not _REGIONAL.isdisjoint(words):
        from camillo.text.patterns import unicode_word

        return unicode_word().findall(text)
    begun = [word if word[0].isalnum() else _begun(word) for word in words]
    return begun if all(begun) else list(filter(None, begun))


def extent(word: str) -> int:
    """How long a word is: 1, or what it holds of characters without spaces, and 1 for the rest."""
    if word.isascii() or max(word) < _UNSPACED_FROM:
        return 1
    unspaced = sum(map(_UNSPACED_ONE.__getitem__, word))
    return unspaced + (unspaced < len(word))


def is_run(word: str) -> bool:
    """Is it nothing but characters that are indexed singly and in pairs?"""
    return word[0] >= _UNSPACED_FROM and all(map(_UNSPACED_ONE.__getitem__, word))


def _begun(word: str) -> str:
    """A word without what cannot begin one."""
    if len(word) == 1 and _SYMBOL[word]:
        return word
    at = 0
    while at < len(word) and not word[at].isalnum():
        at += 1
    return word[at:]


class _Members(dict[str, bool]):
    """Character -> does it belong to a class? Filled on demand."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._ranges: list[tuple[str, str]] = []

    def __missing__(self, character: str) -> bool:
        ranges = self._ranges or self._read()
        self[character] = held = any(low <= character <= high for low, high in ranges)
        return held

    def _read(self) -> list[tuple[str, str]]:
        written, ranges = self._written, []
        at = 0
        while at < len(written):
            span = 3 if written[at + 1 : at + 2] == "-" else 1
            ranges.append((written[at], written[at + span - 1]))
            at += span
        self._ranges = ranges
        return ranges


class _Apart(dict[int, str | int]):
    """Code point -> itself inside a word, itself between spaces as a symbol, else a space; for
    `str.translate`, which is as fast as a regular expression and costs no import."""

    def __missing__(self, point: int) -> str | int:
        character = chr(point)
        if character == "_" or character.isalnum() or _MARK[character] or _HIDDEN[character]:
            self[point] = point
        else:
            self[point] = f" {character} " if _SYMBOL[character] else " "
        return self[point]


_UNSPACED_FROM = "\u0e01"  # Thai: the first script without spaces
_UNSPACED_ONE = _Members(UNSPACED)
_MARK = _Members(MARKS)
_HIDDEN = _Members(UNSEEN)
_SYMBOL = _Members(SYMBOLS)
_APART = _Apart()
