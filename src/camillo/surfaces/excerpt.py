"""The few lines of a text that show why it was found.

Plain matching of the query's words, for the eye only: what matches was decided by the search.
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = ["excerpt", "query_words", "words_pattern"]

_MOST_WORDS = 64  # of a query that may be a whole page


def query_words(query: str) -> tuple[str, ...]:
    """Lower-case words of a query; runs of letters without case (Han, kana) also as pairs."""
    words: dict[str, None] = {}
    letters = [each if each == "_" or each.isalnum() else " " for each in query.lower()]
    for whole in "".join(letters).split():
        if len(words) >= _MOST_WORDS:
            break
        word = whole[:_MOST_WORDS]
        words[word] = None
        if len(word) > 2 and word.lower() == word.upper() and not word.isdecimal():
            words.update((word[i : i + 2], None) for i in range(len(word) - 1))
    return tuple(words)


def words_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Finds the words in a text, the longest first; None when there is none."""
    if not words:
        return None
    import re  # only a terminal with colors needs it, and it takes 5 ms

    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def excerpt(lines: Sequence[str], words: Sequence[str], limit: int) -> tuple[int, int]:
    """The range of at most `limit` neighbouring lines that holds most of the words; the earliest
    of equals. Empty lines at its ends are left out."""
    start, end = 0, len(lines)
    if end > limit:
        scores = _scores([line.lower() for line in lines], words)
        sums = [sum(scores[i : i + limit]) for i in range(len(lines) - limit + 1)]
        start = sums.index(max(sums))
        end = start + limit
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _scores(lines: Sequence[str], words: Sequence[str]) -> list[float]:
    """Per line: a word that few lines have counts more. Rounded, so that equals stay equal."""
    scores = [0.0] * len(lines)
    for word in words:
        holders = [index for index, line in enumerate(lines) if word in line]
        for index in holders:
            scores[index] += 1 / len(holders)
    return [round(score, 6) for score in scores]
