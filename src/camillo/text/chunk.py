"""A text cut into pieces of about 800 characters, each of which knows where it came from.

A cut is made at the best place in the second half of the window: a blank line, a line's end, a
sentence's end, a word's end, and only then between two graphemes. Headings go with what is below
them; fenced code stays whole where it fits. Nothing is stripped or dropped: without overlap the
pieces laid end to end are the text, and `join` gives back the file's bytes.

A chunk has at most `size` characters, with two exceptions. White space never makes a chunk of its
own: a run that does not fit hangs over the end of the chunk before it, or leads the first one.
A grapheme longer than `size` stays whole up to 64 characters; beyond both it is cut between code
points. A text of white space alone has no chunks.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from camillo.errors import InvalidValue
from camillo.text.decode import Decoded, byte_order_mark, encode_piece
from camillo.text.graphemes import next_cut, safe_cut

__all__ = ["CHUNKER_VERSION", "Chunk", "chunk", "chunk_text", "join"]

# Raised whenever the same text would be cut elsewhere: sources are mined again then.
CHUNKER_VERSION = 1

_LONGEST_GRAPHEME = 64

_INK = re.compile(r"\S")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# A blank line or several, by the newline that the text uses; CR LF counts as LF.
_BLANK_LINES = {
    "\n": re.compile(r"\n(?:[ \t]*\r?\n)+"),
    "\r": re.compile(r"\r(?:[ \t]*\r)+"),
}
_HEADING = re.compile(r"(?:#{1,6}|={1,6})[ \t]+\S")
# More in a row are the lines of a comment in source code.
_MOST_HEADINGS = 3
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\r\n]*)", re.MULTILINE)

# Scripts written without spaces: kana, Han, full-width forms.
_IDEOGRAPHS = "\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
# Closing punctuation that must not begin a line.
_CLOSING = frozenset("、。，．！？；：」』】〕》〉）〗々ー…’”")

# `.*` runs to the window's end and backtracks: each finds the last place of its sort.
_SENTENCE = re.compile(r".*(?:[.!?…؟।॥]['\"’”»)\]]*\s+|[。！？｡][」』】）’”]*)", re.DOTALL)
_WORD = re.compile(rf".*(?:\s|[{_IDEOGRAPHS}]|(?=[{_IDEOGRAPHS}]))", re.DOTALL)
_PUNCTUATION = re.compile(r".*[!-/:-@\[-^`{-~]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file: characters `[char_start, char_start + len(text))` of its decoded text.

    `line_start` and `line_end` are 1-indexed lines of the file, of the first character and of the
    last that is no trailing newline; a line ends with LF, CR LF or a lone CR.
    `[byte_start, byte_end)` is its place in the file; the first chunk's begins at 0, with the byte
    order mark that is no part of its text.
    `raw` holds the piece's own bytes where they are not valid in the file's encoding (`text` then
    has U+FFFD in their place), and is None everywhere else.
    """

    text: str
    part: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    char_start: int
    raw: bytes | None = None


def chunk(decoded: Decoded, size: int = 800, overlap: int = 0) -> Iterator[Chunk]:
    """The chunks of a decoded file in order; each begins `overlap` characters before the last end.

    Raises InvalidValue for a size below 1 or an overlap that is not between 0 and half the size.
    """
    if size < 1:
        raise InvalidValue(f"chunk size {size} is too small; use at least 1 character")
    if not 0 <= overlap <= size // 2:
        raise InvalidValue(f"chunk overlap {overlap} is out of range; use 0 to {size // 2}")
    return _located(decoded, _spans(decoded.text, size, overlap))


def chunk_text(text: str, size: int = 800, overlap: int = 0) -> Iterator[Chunk]:
    """The chunks of a text that is not a file's; byte ranges are those of its UTF-8."""
    return chunk(Decoded(text), size, overlap)


def join(chunks: Iterable[Chunk], encoding: str = "utf-8", bom: int = 0) -> bytes:
    """The bytes of the file that `chunks` came from, whether or not they overlap.

    Raises InvalidValue when a chunk is missing between two others.
    """
    pieces = [byte_order_mark(encoding, bom)]
    end = bom
    for each in chunks:
        start = max(each.byte_start, bom)
        if start > end:
            raise InvalidValue(f"chunk {each.part} begins at byte {start}, the last ended at {end}")
        piece = encode_piece(each.text, encoding) if each.raw is None else each.raw
        pieces.append(piece[end - start :])
        end = max(end, each.byte_end)
    return b"".join(pieces)


def _located(decoded: Decoded, spans: Iterator[tuple[int, int, int]]) -> Iterator[Chunk]:
    """The chunks at `spans`, with lines and bytes counted on from one to the next."""
    encoding, text = decoded.encoding, decoded.text
    has_cr = "\r" in text
    line, byte, bom = 1, decoded.bom, decoded.bom
    for part, (start, end, following) in enumerate(spans):
        piece = text[start:end]
        shown, raw, length = _as_stored(piece, encoding)
        last_line = line + _newlines(piece.rstrip("\r\n"), has_cr)
        byte_start = byte - bom if part == 0 else byte
        yield Chunk(shown, part, line, last_line, byte_start, byte + length, start, raw)
        if following < end:
            piece = text[start:following]
            length = _byte_length(piece, encoding)
        line += _newlines(piece, has_cr)
        byte += length


def _as_stored(piece: str, encoding: str) -> tuple[str, bytes | None, int]:
    """A piece as readers see it, its bytes where that loses them, and their number."""
    if piece.isascii():
        return piece, None, _byte_length(piece, encoding)
    data = encode_piece(piece, encoding)
    try:
        piece.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", piece), data, len(data)
    return piece, None, len(data)


def _byte_length(piece: str, encoding: str) -> int:
    if encoding == "utf-8" and piece.isascii():
        return len(piece)
    return len(encode_piece(piece, encoding))


def _newlines(piece: str, has_cr: bool) -> int:
    count = piece.count("\n")
    if has_cr:
        count += piece.count("\r") - piece.count("\r\n")
    return count


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, start of the next) of each chunk, in characters."""
    cuts = _Cuts(text, size)
    start = covered = 0
    while (ink := _INK.search(text, covered)) is not None:
        end = cuts.after(start, covered, ink.start())
        following = end
        if overlap and end < len(text):
            moved = safe_cut(text, end - overlap, start)
            following = moved if moved > start and end - moved <= size // 2 else end
        yield start, end, following
        start, covered = following, end


class _Cuts:
    """Where to end a chunk of one text."""

    def __init__(self, text: str, size: int) -> None:
        self._text = text
        self._size = size
        self._newline = "\r" if "\r" in text and "\n" not in text else "\n"
        self._fences = _fences(text, size) if "```" in text or "~~~" in text else []

    def after(self, start: int, covered: int, ink: int) -> int:
        """The end of the chunk from `start`, beyond `covered` and the first non-space, `ink`."""
        text, size = self._text, self._size
        led_by_space = start == covered and ink - start > size // 4
        origin = ink if led_by_space else start
        if self._fits(origin):
            return len(text)
        limit = origin + size
        floor = max(covered, ink)
        low = max(origin + size // 2, floor)
        cut = safe_cut(text, self._best(floor, low, limit), floor)
        if cut <= floor:
            limit = max(limit, floor + 1)
            cut = next_cut(text, limit, max(limit, origin + _LONGEST_GRAPHEME), floor)
        return self._with_hanging_space(cut)

    def _fits(self, origin: int) -> bool:
        """True when all that is left, but for white space at its end, is one chunk."""
        left = len(self._text) - origin
        if left <= self._size:
            return True
        return left <= 2 * self._size and len(self._text[origin:].rstrip()) <= self._size

    def _with_hanging_space(self, cut: int) -> int:
        """`cut`, moved behind white space that would fill much of the next chunk, or all of it."""
        ink = _INK.search(self._text, cut)
        if ink is None:
            return len(self._text)
        if ink.start() - cut > self._size // 4:
            return safe_cut(self._text, ink.start(), cut)
        return cut

    def _best(self, floor: int, low: int, limit: int) -> int:
        """The best place to cut in `(low, limit]`, or before it where a fence or heading begins."""
        cut = self._line_cut(low, limit) or self._word_cut(low, limit)
        fence = self._fence_around(cut)
        if fence is not None:
            start, end = fence
            if end <= limit:
                return end
            if start > floor:
                headed = self._before_heading(start, floor)
                return headed if end - headed <= self._size else start
        return self._before_heading(cut, floor)

    def _line_cut(self, low: int, limit: int) -> int | None:
        """Behind the last blank line in the window, else behind the last line that ends there."""
        cut = None
        for found in _BLANK_LINES[self._newline].finditer(self._text, low, limit):
            cut = found.end()
        if cut is not None:
            return cut
        last = self._text.rfind(self._newline, low, limit)
        return last + 1 if last >= 0 else None

    def _word_cut(self, low: int, limit: int) -> int:
        """Behind the last sentence, word or punctuation in the window, else at its end."""
        cut = limit
        for pattern in (_SENTENCE, _WORD, _PUNCTUATION):
            found = pattern.match(self._text, low, limit)
            if found is not None and found.end() > low:
                cut = found.end()
                break
        while cut > low + 1 and self._text[cut] in _CLOSING:
            cut -= 1
        return cut

    def _fence_around(self, cut: int) -> tuple[int, int] | None:
        at = bisect_left(self._fences, (cut, 0)) - 1
        if at < 0 or self._fences[at][1] <= cut:
            return None
        return self._fences[at]

    def _before_heading(self, cut: int, floor: int) -> int:
        """`cut`, moved before the headings that would end the chunk, unless they begin it."""
        moved = cut
        for _ in range(_MOST_HEADINGS + 1):
            above = self._text[floor:moved].rstrip()
            line = max(above.rfind("\n"), above.rfind("\r")) + 1
            if line == 0 or not _HEADING.match(above, line):
                return moved
            moved = floor + line
        return cut


def _fences(text: str, size: int) -> list[tuple[int, int]]:
    """(start, end) of each block of fenced code that fits into `size`, whole lines."""
    fences = []
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opening is None:
            if "`" not in mark[2]:  # else it is code within a line
                opening = mark
        elif mark[1].startswith(opening[1]) and not mark[2].strip():
            end = text.find("\n", mark.end()) + 1 or len(text)
            if end - opening.start() <= size:
                fences.append((opening.start(), end))
            opening = None
    return fences
