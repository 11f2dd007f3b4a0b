"""A file's bytes as text, without losing one of them.

`decode` finds the encoding from the content alone and answers None for binary data.
Whatever it answers goes back to the same bytes: piece by piece by `encode_piece`, after the byte
order mark (`byte_order_mark`). In `text`, a byte that is not valid in the encoding is one lone
surrogate U+DC80..U+DCFF; the chunker turns those into U+FFFD for readers.
"""

import codecs
import re
from dataclasses import dataclass
from unicodedata import category

__all__ = ["Decoded", "byte_order_mark", "decode", "encode_piece", "is_binary"]

_SAMPLE = 64 * 1024
_HEAD = 8 * 1024

# UTF-32 before UTF-16: the little-endian marks share their first two bytes.
_MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")

# Control bytes that text does not hold. Left out: BS, TAB, LF, VT, FF, CR, and the ESC of
# terminal logs.
_CONTROLS = bytes(b for b in range(32) if b not in b"\b\t\n\v\f\r\x1b") + b"\x7f"
_CONTROL_SHARE = 0.1
# Compressed or binary data has a NUL in every 256 bytes; a log that a crash padded has few.
_NUL_SHARE = 0.001
# Formats whose small files may come without a NUL byte.
_SIGNATURES = (b"%PDF-", b"\x1f\x8b", b"BZh", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8")

# Categories that text has few of: controls, unassigned, private use, lone surrogates.
_STRANGE = frozenset({"Cc", "Cn", "Co", "Cs"})
_ASCII = bytes(range(128))
_SURROGATE = re.compile("[\ud800-\udfff]")
# Up to this share of a file's non-ASCII bytes may be invalid in the encoding it is said to have.
_DAMAGE = 0.1

# Code pages without shift states, in which each character is encoded by itself.
_PAGES = (
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp874", "koi8_r", "cp866"),
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
# A line's rest from its first non-ASCII byte, and the ASCII of the word that this byte is in.
_TELLING = re.compile(rb"[\x80-\xff][^\r\n]*[\r\n]*")
_WORD_BEGUN = re.compile(rb"[!-~]*\Z")
_LONG_WORD = 20
# Non-ASCII bytes as Western European text has them: an accented letter, quote, dash or sign of
# cp1252 by itself, or two such letters within a word, or one and a quote at a word's end.
_WESTERN = re.compile(
    rb"(?<![\x80-\xff])"
    rb"[\x80\x85\x91-\x97\x99\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb5\xb7\xba\xbb\xbf-\xff]"
    rb"(?![\x80-\xff])"
    rb"|(?<=[a-z])[\xc0-\xff](?:[\xc0-\xff](?=[a-z])|[\x92\x94\xbb](?![\x80-\xff]))"
)
# So few say too little to a statistical detector, and are most often Western.
_FEW = 16
# No page has these bytes inside a character.
_BREAKS = re.compile(rb"[^\x00-\x2f]*[\x00-\x2f]*")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text; `encoding` as Python names it, `bom` the bytes of its byte order mark."""

    text: str
    encoding: str = "utf-8"
    bom: int = 0


def decode(data: bytes) -> Decoded | None:
    """The text of `data`, or None when it is binary."""
    wide = _wide(data)
    if wide is not None:
        return wide
    if _looks_binary(data):
        return None
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    body = data[bom:] if bom else data
    try:
        return Decoded(body.decode(), "utf-8", bom)
    except UnicodeDecodeError:
        pass
    text = body.decode("utf-8", "surrogateescape")
    if bom or _is_mostly_valid(text, body):
        return Decoded(text, "utf-8", bom)
    return _legacy(body) or Decoded(text, "utf-8", 0)


def is_binary(data: bytes) -> bool:
    """True when `data` is not text in any encoding that `decode` knows."""
    return _wide(data) is None and _looks_binary(data)


def encode_piece(text: str, encoding: str) -> bytes:
    """The bytes that a piece of a decoded text came from, lone surrogates included."""
    if encoding != "utf-8":
        return text.encode(encoding, "surrogatepass" if encoding in _WIDE else "surrogateescape")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair that a str source held, not an invalid byte
        return b"".join(map(_encode_char, text))


def byte_order_mark(encoding: str, bom: int) -> bytes:
    """The `bom` bytes that stand before a file's text."""
    return _MARKS[encoding] if bom else b""


def _encode_char(char: str) -> bytes:
    escaped = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")


def _looks_binary(data: bytes) -> bool:
    if data.startswith(_SIGNATURES) or b"\0" in data[:_HEAD]:
        return True
    if data.count(0) > len(data) * _NUL_SHARE:
        return True
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > len(sample) * _CONTROL_SHARE


def _wide(data: bytes) -> Decoded | None:
    """`data` as UTF-16 or UTF-32, told by its mark or by where its zero bytes are."""
    for encoding in _WIDE:
        mark = _MARKS[encoding]
        if data.startswith(mark):
            decoded = _decode_wide(data, encoding, len(mark))
            if decoded is not None:
                return decoded
    if b"\0" not in data[:_HEAD]:
        return None
    for encoding in _WIDE:
        if _zeros_fit(data[:_HEAD], encoding):
            return _decode_wide(data, encoding, 0)
    return None


def _decode_wide(data: bytes, encoding: str, bom: int) -> Decoded | None:
    try:
        text = data[bom:].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return None
    strange = _strangers(text[:_HEAD])
    allowed = 0.02 * min(len(text), _HEAD) + (1 if bom else 0)
    return Decoded(text, encoding, bom) if strange <= allowed else None


def _zeros_fit(head: bytes, encoding: str) -> bool:
    """True when the high bytes of the units are zero as they are in mostly Latin text,
    or are zero and one other value as they are in text of another alphabet."""
    unit = 4 if "32" in encoding else 2
    head = head[: len(head) // unit * unit]
    planes = [head[i::unit] for i in range(unit)]
    if encoding.endswith("be"):
        planes.reverse()
    low, high, *rest = planes
    if not low or any(plane.strip(b"\0") for plane in rest):
        return False
    zeros = high.count(0)
    if zeros >= 0.75 * len(high):
        return True
    others = high.replace(b"\0", b"")
    alphabet = max(map(others.count, set(others)))
    return len(high) >= 16 and zeros >= 0.05 * len(high) and zeros + alphabet >= 0.9 * len(high)


def _strangers(text: str) -> int:
    """How many characters are of a sort that text has few of."""
    return sum(category(c) in _STRANGE and c not in "\b\t\n\v\f\r\x1b" for c in text)


def _is_mostly_valid(text: str, data: bytes) -> bool:
    """True when few of the non-ASCII bytes of `data` became surrogates in `text`."""
    invalid = len(text) - len(_SURROGATE.sub("", text))
    return invalid <= _DAMAGE * len(data.translate(None, _ASCII))


def _legacy(data: bytes) -> Decoded | None:
    """`data` in the code page that it seems to be in."""
    page = _code_page(_telling(data))
    if page is None:
        return None
    try:
        text = data.decode(page, "surrogateescape")
        if encode_piece(text, page) != data:
            text = _as_spelled(text, data, page)
        lossless = encode_piece(text, page) == data
    except UnicodeError:
        return None
    return Decoded(text, page, 0) if lossless and _is_mostly_valid(text, data) else None


def _as_spelled(text: str, data: bytes, page: str) -> str:
    """`text` with surrogates for the characters that `page` has twice and would write otherwise."""
    chars = []
    at = 0
    for char in text:
        usual = encode_piece(char, page)
        spelled = data[at : at + len(usual)]
        chars.append(char if spelled == usual else spelled.decode("ascii", "surrogateescape"))
        at += len(usual)
    return "".join(chars)


def _telling(data: bytes) -> bytes:
    """A bounded sample of `data` without the ASCII, source code for one, that blurs the rest."""
    pieces = []
    length = 0
    for found in _TELLING.finditer(data):
        start, end = found.span()
        word = _WORD_BEGUN.search(data, max(0, start - _LONG_WORD), start)
        begin = word.start() if word else start
        pieces.append(data[begin : min(end, start + _SAMPLE)])
        length += len(pieces[-1])
        if length >= _SAMPLE:
            break
    return b"".join(pieces)


def _code_page(sample: bytes) -> str | None:
    runs = len(_HIGH_RUN.findall(sample))
    if runs <= _FEW and len(_WESTERN.findall(sample)) >= 0.9 * runs:
        return "cp1252"
    # The detector refuses a page for one bad byte: one half of the sample may be without.
    pieces = _BREAKS.findall(sample)
    half = len(pieces) // 2
    for part in (sample, b"".join(pieces[:half]), b"".join(pieces[half:])):
        page = _detected(part)
        if page is not None:
            return page
    return None


def _detected(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes  # only files that are not UTF-8 pay for it

    best = from_bytes(sample, cp_isolation=list(_PAGES)).best()
    return best.encoding if best is not None and best.encoding in _PAGES else None
