"""Content dates: the day a source speaks of, from its name or its first lines.

The order is that of MemPalace: name, front matter, body, and the file's own time as a marked
last resort. Only whole dates count: a year or a month alone says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from functools import cache
from unicodedata import normalize

__all__ = ["content_date", "leading_moment", "month_of"]

_HEAD_CHARS = 2_000
_HEAD_LINES = 10
_YEARS = range(1900, 2101)


def content_date(name: str, text: str, mtime: float | None = None) -> tuple[str | None, str]:
    """The ISO date and its origin: filename, frontmatter, body, mtime (UTC) or none."""
    head = text[:_HEAD_CHARS].lstrip("\ufeff")
    front, body = _split_front_matter(head)
    lines = "\n".join(body.split("\n")[:_HEAD_LINES])
    found = _in_name(name)
    if found:
        return found, "filename"
    found = _in_front_matter(front)
    if found:
        return found, "frontmatter"
    found = _in_text(lines)
    if found:
        return found, "body"
    found = _of_stamp(mtime)
    return (found, "mtime") if found else (None, "none")


def leading_moment(name: str) -> str:
    """The day, or the minute, that the name of an agent's page begins with: `2026-05-02`,
    `2026-05-02T09:30` of `2026-05-02-0930-tea`; "" for none."""
    found = re.match(r"(?a)(\d{4}-\d\d-\d\d)(?:-(\d\d)(\d\d)(?:\d\d)?)?(?=\D|\Z)", name)
    try:
        day = date.fromisoformat(found[1]).isoformat() if found else ""
    except ValueError:
        return ""
    if found and found[2] and int(found[2]) < 24 and int(found[3]) < 60:
        return f"{day}T{found[2]}:{found[3]}"
    return day


def _in_name(name: str) -> str | None:
    base = re.split(r"[/\\]", name)[-1]
    return _first(_iso(base)) or _first(_compact(base)) or _in_text(re.sub(r"[_\-+]+", " ", base))


def _in_text(text: str) -> str | None:
    # macOS hands out decomposed names: "février" with a separate accent.
    text = text if text.isascii() else normalize("NFC", text)
    return _first(_iso(text)) or _first(_slashed(text)) or _first(_natural(text))


def _first(dates: Iterable[str | None]) -> str | None:
    return next((found for found in dates if found), None)


def _day(year: int, month: int, day: int) -> str | None:
    if year not in _YEARS:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _of_stamp(mtime: float | None) -> str | None:
    if mtime is None:
        return None
    try:
        stamp = datetime.fromtimestamp(mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return _day(stamp.year, stamp.month, stamp.day)


# Front matter

_FRONT = r"(?sm)(---|\+\+\+)[ \t]*\r?\n(.*?)^(?:\1|\.\.\.)[ \t]*\r?$"
_KEYS = ("date", "created", "published")


def _split_front_matter(head: str) -> tuple[str, str]:
    match = re.match(_FRONT, head)
    return (match[2], head[match.end() :]) if match else ("", head)


def _in_front_matter(front: str) -> str | None:
    for key in _KEYS:
        for match in re.finditer(rf"^{key}[ \t]*[:=]([^\n]*)", front, re.M | re.I):
            found = _in_text(match[1])
            if found:
                return found
    return None


# Forms in figures

_ISO = r"(?a)(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)"
_ISO_LOOSE = r"(?a)(?<!\d)(\d{4})(_?)(\d\d)\2(\d\d)(?!\d)"
_SLASHED = r"(?a)(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)(?![\d/])"


def _iso(text: str) -> Iterator[str | None]:
    return (_day(int(m[1]), int(m[3]), int(m[4])) for m in re.finditer(_ISO, text))


def _compact(text: str) -> Iterator[str | None]:
    """20241108 and 2024_11_08, which only a file's name may hold."""
    return (_day(int(m[1]), int(m[3]), int(m[4])) for m in re.finditer(_ISO_LOOSE, text))


def _slashed(text: str) -> Iterator[str | None]:
    """Day first for the whole text as soon as one first number cannot be a month."""
    found = [(int(m[1]), int(m[2]), m[3]) for m in re.finditer(_SLASHED, text)]
    day_first = any(first > 12 for first, _, _ in found)
    for first, second, year in found:
        month, day = (second, first) if day_first else (first, second)
        yield _day(_full_year(year), month, day)


def _full_year(year: str) -> int:
    if len(year) == 4:
        return int(year)
    return int(year) + (1900 if int(year) >= 70 else 2000)


# Forms in words

_YEAR = r"(?a)(?<!\d)(?:19|20|21)\d\d(?!\d)"
# What may stand before a year: "April 6th", "6. April", "6 de abril de", "08.11."
_MONTH_DAY = r"(?i)([^\W\d_]{3,12})\.?\s{1,2}(\d{1,2})(?:st|nd|rd|th|\.)?,?\s{1,2}\Z"
_DAY_MONTH = (
    r"(?i)(?<![\d.])(\d{1,2})(?:st|nd|rd|th|er|\.|º|°|-?го)?\s{1,2}(?:of\s|de\s|di\s)?([^\W\d_]{3,12})\.?,?"
    r"\s{1,2}(?:de\s|del\s|of\s)?\Z"
)
_DOTTED = r"(?a)(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?\Z"
# What may stand after it: " November 8", "年11月8日", "년 11월 8일"
_AFTER = r"[,\s]{1,2}([^\W\d_]{3,12})\.?\s(\d{1,2})(?!\d)"
_EAST_ASIAN = r"\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})(?!\d)"
_LONGEST_BEFORE = 32


def _natural(text: str) -> Iterator[str | None]:
    return (_around_year(text, match) for match in re.finditer(_YEAR, text))


def _around_year(text: str, match: re.Match[str]) -> str | None:
    year, start, end = int(match[0]), match.start(), match.end()
    east = re.compile(_EAST_ASIAN).match(text, end)
    if east:
        return _day(year, int(east[1]), int(east[2]))
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    dotted = re.search(_DOTTED, before)
    if dotted:
        return _day(year, int(dotted[2]), int(dotted[1]))
    named = re.search(_MONTH_DAY, before)
    if named:
        return _named_day(year, named[1], named[2])
    named = re.search(_DAY_MONTH, before)
    if named:
        return _named_day(year, named[2], named[1])
    named = re.compile(_AFTER).match(text, end)
    return _named_day(year, named[1], named[2]) if named else None


def _named_day(year: int, month: str, day: str) -> str | None:
    number = _months().get(month.casefold())
    return _day(year, number, int(day)) if number else None


# One line a month: English, German, French, Spanish, Italian, Portuguese, Dutch, Russian.
_MONTHS = """
january jan januar jänner janvier janv enero ene gennaio gen janeiro januari январь января янв
february feb februar février fevrier févr fevr febrero febbraio febr fevereiro fev februari \
  февраль февраля фев
march mar märz maerz mär mars marzo março marco maart mrt март марта мар
april apr avril avr abril abr aprile апрель апреля апр
may mai mayo maggio mag maio mei май мая
june jun juni juin junio giugno giu junho июнь июня июн
july jul juli juillet juil julio luglio lug julho июль июля июл
august aug août aout agosto ago augustus август августа авг
september sept sep septembre septiembre settembre set setembro сентябрь сентября сен сент
october oct oktober okt octobre octubre ottobre ott outubro out октябрь октября окт
november nov novembre noviembre novembro ноябрь ноября ноя нояб
december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro декабрь декабря дек
"""


@cache
def _months() -> dict[str, int]:
    lines = _MONTHS.strip().split("\n")
    return {
        name.casefold(): number for number, line in enumerate(lines, 1) for name in line.split()
    }


def month_of(word: str) -> int:
    """The number of a month by its name or its abbreviation in one of eight languages; 0 where it
    is none."""
    return _months().get(word.casefold(), 0)
