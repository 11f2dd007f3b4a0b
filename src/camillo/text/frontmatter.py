"""A note as text: the frontmatter between its `---` lines, and the body below.

`split` cuts a note into pieces that joined give it back, `read` gives its fields and its body.
A line `---` at the very start opens a frontmatter, the next one closes it; a byte order mark may
come before. Bytes that are no UTF-8 stay what they are while a note is split and edited (each is
one lone surrogate in a `str`); `read` shows them as U+FFFD. What the YAML says is in `yaml_read`.
"""

from __future__ import annotations

import codecs
import re

from camillo.records import NamedTuple
from camillo.text.yaml_read import FrontmatterError, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.text.yaml_read import Value

__all__ = ["FrontmatterError", "Note", "Split", "read", "readable", "split", "to_bytes", "to_text"]

_OPENING = r"---[ \t]*\r?\n"
_CLOSING = r"^---[ \t]*(?:\r?\n|\Z)"
_BOM = "\ufeff"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


class Split(NamedTuple):
    """The pieces of a note. Without a frontmatter `opening`, `text` and `closing` are empty."""

    bom: str
    opening: str
    text: str
    closing: str
    body: str

    @property
    def newline(self) -> str:
        """The note's line ending: that of its first line."""
        end = self.opening.find("\n") if self.opening else self.body.find("\n")
        line = self.opening or self.body
        return "\r\n" if end > 0 and line[end - 1] == "\r" else "\n"

    @property
    def text_start(self) -> int:
        """Offset of `text` in the note, in characters."""
        return len(self.bom) + len(self.opening)

    @property
    def body_start(self) -> int:
        return self.text_start + len(self.text) + len(self.closing)

    @property
    def text_line(self) -> int:
        """The line of the note on which `text` starts, from 1."""
        return 2 if self.opening else 1

    @property
    def body_line(self) -> int:
        pieces = (self.opening, self.text, self.closing)
        return 1 + sum(piece.count("\n") for piece in pieces)

    def join(self) -> str:
        return "".join(self)


class Note(NamedTuple):
    """What a note says. `fields` has the keys in the order of the file."""

    fields: dict[str, Value]
    body: str


def split(content: str | bytes) -> Split:
    """The pieces of `content`. Raises FrontmatterError when a frontmatter is opened, not closed."""
    text = to_text(content) if isinstance(content, bytes) else content
    bom = _BOM if text.startswith(_BOM) else ""
    opening = re.compile(_OPENING).match(text, len(bom))
    if opening is None:
        return Split(bom, "", "", "", text[len(bom) :])
    closing = re.compile(_CLOSING, re.MULTILINE).search(text, opening.end())
    if closing is None:
        raise FrontmatterError("opened here and never closed by a line '---'", 1)
    between = text[opening.end() : closing.start()]
    return Split(bom, opening[0], between, closing[0], text[closing.end() :])


def read(content: str | bytes) -> Note:
    """Fields and body of `content`, as text without lone surrogates that came from bytes.

    Raises FrontmatterError for a frontmatter that is not a mapping in YAML.
    """
    parts = split(content)
    fields = values(parts.text, parts.text_line)
    if re.search("[\udc80-\udcff]", parts.text):
        fields = {readable(key): _readable(value) for key, value in fields.items()}
    return Note(fields, readable(parts.body))


def readable(text: str) -> str:
    """`text` with U+FFFD for what is no Unicode: bytes as a decoder replaces them, lone halves."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return to_bytes(text).decode("utf-8", "replace")


def to_text(content: bytes) -> str:
    """A note's bytes as text: `to_bytes` gives the same bytes back."""
    if content.startswith(_WIDE):
        raise FrontmatterError("this note is in UTF-16 or UTF-32; save it as UTF-8", 1)
    return content.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """As UTF-8; a half of a surrogate pair that stands for no byte becomes U+FFFD."""
    text = re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", text)
    return text.encode("utf-8", "surrogateescape")


def _readable(value: Value) -> Value:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, dict):
        return {readable(key): _readable(item) for key, item in value.items()}
    return value
