"""Keys under which NullClaw keeps its own books among the memories, and times as it writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from camillo.ingest.importers._pages import millis

__all__ = ["INSTRUCTIONS", "is_autosaved", "is_bookkeeping", "iso", "milliseconds", "time_in"]

INSTRUCTIONS = "__bootstrap.prompt."  # before the name of a file that tells the agent what to do

_AUTOSAVED = "autosave_"
_BOOK = re.compile(
    r"last_hygiene_at\Z|context_anchor_current\Z|session_checkpoint_"
    r"|(?:summary_latest|timeline_summary|session_summary)/"
)
_IN_MARKDOWN = re.compile(r"(?:- )?\*\*([^*\n]{1,200})\*\*:")
_TIMED = re.compile(r"\A(?:autosave_(?:user|assistant)|conv)_(\d{9,19})(?:\D|\Z)")
_NUMBER = re.compile(r"[-+]?\d{1,20}(?:\.\d+)?")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI, _MICRO, _NANO = 10**11, 10**14, 10**17  # from here on a number counts these, not seconds


def is_autosaved(key: str) -> bool:
    """Is it a message that was kept without being asked?"""
    return key.startswith(_AUTOSAVED)


def is_bookkeeping(key: str, text: str) -> bool:
    """Does it say nothing but where a machine stands? Its Markdown form is `**key**: …`."""
    within = _IN_MARKDOWN.match(text)
    return any(_BOOK.match(each) for each in (key, within[1] if within else ""))


def time_in(key: str) -> int:
    """The time that a key of a message holds, in milliseconds; 0 for none."""
    found = _TIMED.match(key)
    return milliseconds(found[1]) if found else 0


def milliseconds(value: object) -> int:
    """Of a number, also as text, of seconds or something smaller, which its size tells; of an ISO
    date; 0 for none."""
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return millis({"at": text}, "at")
        value = float(text) if "." in text else int(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    size = abs(value)
    if not size < 2**63:  # nor what is no number
        return 0
    for least, parts in ((_NANO, 10**6), (_MICRO, 10**3), (_MILLI, 1)):
        if size >= least:
            return int(value // parts)
    return int(value * 1000)


def iso(milliseconds: int) -> str:
    """The moment in UTC, to the second; "" for one that no calendar has."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if milliseconds else ""
