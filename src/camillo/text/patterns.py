"""Regular expressions over words in any script. Each is compiled on first use: together 4 ms."""

from __future__ import annotations

import re
from functools import cache

from camillo.text.characters import FLAG, MARKS, SYMBOLS, UNSEEN, UNSPACED

__all__ = ["clitics", "piece", "unicode_word", "unseen"]


@cache
def clitics() -> re.Pattern[str]:
    """Grammar glued to a word by an apostrophe: Melanie's, don't, l'homme, dell'arte."""
    return re.compile(
        r"(?:\bca|\bwo)?n['’]t\b|(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b"
        r"|\b(?:[dljmnstc]|qu|dell|all|nell|sull|un)['’](?=\w)",
        re.IGNORECASE,
    )


@cache
def unicode_word() -> re.Pattern[str]:
    return re.compile(rf"[^\W_][\w{MARKS}{UNSEEN}]*|{FLAG}|[{SYMBOLS}]")


@cache
def piece() -> re.Pattern[str]:
    """One normalised word: groups are a run without spaces, a symbol, an ordinary word."""
    other = rf"(?![{UNSPACED}])"
    return re.compile(
        rf"([{UNSPACED}]+)|({FLAG}|[{SYMBOLS}])"
        rf"|({other}[^\W_](?:{other}[\w{MARKS}])*)"
    )


@cache
def unseen() -> re.Pattern[str]:
    return re.compile(f"[{UNSEEN}]")
