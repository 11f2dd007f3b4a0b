"""Where a text may be cut without splitting what a reader sees as one character.

Holds the part of UAX #29 that real text needs, a little stricter than the standard: marks, emoji
sequences, flags, Hangul syllables, Indic conjuncts and Thai or Lao vowels stay with their base.
Nothing here walks a whole text: callers ask about single positions (`safe_cut`, `next_cut`).
"""

from unicodedata import category, combining

__all__ = ["is_boundary", "next_cut", "safe_cut"]

# Below this code point only CR LF joins.
_FIRST_JOINER = "\u0300"
_MARKS = frozenset({"Mn", "Mc", "Me"})
_ZWJ = "\u200d"
# What extends the character before it without being of category M: joiners, halfwidth voiced
# marks, and the vowels of Thai and Lao that are written behind their consonant.
_EXTENDS = frozenset("\u200c\u200d\uff9e\uff9f\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3")
# What belongs to the character after it: Arabic and Indic signs with Prepend, and the vowels of
# Thai and Lao that are written before their consonant.
_PREPENDS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46"
)
_VIRAMA = 9


def _extends(char: str) -> bool:
    if char < _FIRST_JOINER:
        return False
    return (
        category(char) in _MARKS
        or char in _EXTENDS
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # emoji skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # emoji tags
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _splits_flag(text: str, i: int, low: int) -> bool:
    """True when an odd number of regional indicators ends at `i`."""
    first = i
    while first > low and _is_flag_letter(text[first - 1]):
        first -= 1
    return (i - first) % 2 == 1


def _splits_conjunct(text: str, i: int, low: int) -> bool:
    """True when the marks before the letter at `i` hold a virama (GB9c of UAX #29)."""
    if category(text[i]) != "Lo":
        return False
    while i > low and _extends(text[i - 1]):
        i -= 1
        if combining(text[i]) == _VIRAMA:
            return True
    return False


def _hangul(char: str) -> str:
    """The Hangul syllable type: L, V, T, LV, LVT, or empty."""
    if "\uac00" <= char <= "\ud7a3":
        return "LVT" if (ord(char) - 0xAC00) % 28 else "LV"
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb":
        return "T"
    return ""


def _splits_syllable(before: str, after: str) -> bool:
    left, right = _hangul(before), _hangul(after)
    if not left or not right:
        return False
    if left == "L":
        return right != "T"
    if right == "T":
        return True
    return right == "V" and left in ("LV", "V")


def is_boundary(text: str, i: int, low: int = 0) -> bool:
    """True when `text` may be cut before index `i`; `low` is a known boundary at or before it."""
    if i <= low or i >= len(text):
        return True
    before, after = text[i - 1], text[i]
    if after < _FIRST_JOINER and before < _FIRST_JOINER:
        return not (before == "\r" and after == "\n")
    if after in "\r\n":
        return True
    if _extends(after) or before == _ZWJ or before in _PREPENDS:
        return False
    if _is_flag_letter(after):
        return not _splits_flag(text, i, low)
    return not (_splits_syllable(before, after) or _splits_conjunct(text, i, low))


def safe_cut(text: str, i: int, low: int = 0) -> int:
    """The nearest boundary at or before `i`, never below `low`."""
    while i > low and not is_boundary(text, i, low):
        i -= 1
    return i


def next_cut(text: str, i: int, high: int, low: int = 0) -> int:
    """The nearest boundary at or after `i`, or `high` when there is none before it."""
    while i < high and not is_boundary(text, i, low):
        i += 1
    return i
