"""A frontmatter as text: the bytes that commonplace 0.7 writes, for the values that notes hold.

commonplace writes with the `yaml` package of npm at its defaults, so two tools that rewrite a note
in turn leave no differences behind. Its rules: plain where that reads back as the same string, else
quoted or, over several lines, a block; 80 columns, counted in UTF-16 units. Where its own output
does not read back as what was written (an emoji cut in two by a fold, blanks between two line
breaks, a folded block whose first line is indented), ours differs and does. Edits of an existing
frontmatter are in `yaml_edit`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from camillo.errors import InvalidValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["KEY_ORDER", "frontmatter_text", "item_text", "pair_text"]

KEY_ORDER = ("name", "description", "type", "relations", "supersedes", "pinned")
# These are not written when they say nothing, and an entry stands in them once.
_LISTS = ("relations", "supersedes")

_WIDTH = 80
_LEAST = 20  # a line holds at least so many units of text, however deep it is indented
_LONG_QUOTED = 40  # from this length on, a quoted text breaks where its line breaks are
_LONGEST_KEY = 1024  # YAML's own limit for a key on one line

_FORCES_QUOTES = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
_NOT_PLAIN = (
    r"""^[\n\t ,\[\]{}#&*!|>'"%@`]"""  # an indicator, or a blank that would be lost
    r"|^[?-](?:[ \t]|\Z)"
    r"|[\n:][ \t]|[ \t]\n|[\n\t ]\#|[\n\t :]\Z"
)
_OTHER_TYPE = (
    r"~|null|Null|NULL|"
    r"|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+"
    r"|[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)"
)
_STARTS_DOCUMENT = r"(?:\A|[\n\r\u2028\u2029])(?:%|---|\.\.\.)"

_SHORT_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\0": "\\0", "\a": "\\a", "\v": "\\v", "\x1b": "\\e",
}  # fmt: skip
_ESCAPED = '["\\\\\0-\x1f\ud800-\udfff]'

_BLANK = (" ", "\t")
_GAP = r"(?<=[^ \t\n]) (?=[^ \t\n])"
_ATOM = r"\\(?:x..|u....|.)|."


def frontmatter_text(fields: Mapping[str, Any]) -> str:
    """`fields` between its two `---` lines: a note is this and its body.

    Keys of `KEY_ORDER` come first, the others follow as they are given. Empty relations and
    supersedes and a false pinned are left out. Raises InvalidValue for a value that a frontmatter
    cannot hold.
    """
    known = [key for key in KEY_ORDER if key in fields]
    others = [key for key in fields if key not in KEY_ORDER]
    written = [_pair(key, fields[key]) for key in (*known, *others)]
    return "---\n" + "".join(written) + "---\n"


def pair_text(key: str, value: Any, indent: int = 0) -> str:
    """`key` and `value` as lines, each with its line break, in a mapping at column `indent`."""
    pad = " " * indent
    return pad + _whole(_mapping_pair(key, value, indent)) + "\n"


def item_text(value: Any, indent: int) -> str:
    """`value` as lines of a sequence whose dashes stand at column `indent`."""
    return " " * indent + _whole("- " + _node(value, indent + 2)) + "\n"


def _pair(key: str, value: Any) -> str:
    if key == "pinned" and value is False:
        return ""
    if key in _LISTS and isinstance(value, Sequence) and not isinstance(value, str):
        value = [item for at, item in enumerate(value) if item not in value[:at]]
        if not value:
            return ""
    return pair_text(key, value)


def _mapping_pair(key: str, value: Any, indent: int) -> str:
    """A pair without the indentation of its first line, in UTF-16 units."""
    name = _key(key, indent) + ":"
    inner = indent + 2
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str) and value:
        return f"{name}\n{' ' * inner}{_node(value, inner)}"
    text = _string(value, inner, len(name) + 1) if isinstance(value, str) else _node(value, inner)
    return name + text if text.startswith("\n") else f"{name} {text}"


def _node(value: Any, indent: int) -> str:
    """A value whose further lines start at column `indent`, in UTF-16 units."""
    if isinstance(value, str):
        return _string(value, indent, None)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    between = "\n" + " " * indent
    if isinstance(value, Mapping):
        pairs = (_mapping_pair(key, inner, indent) for key, inner in value.items())
        return between.join(pairs) or "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return between.join("- " + _node(item, indent + 2) for item in value) or "[]"
    raise InvalidValue(
        f"a frontmatter cannot hold {value!r}; it holds text, numbers, true and false, lists and "
        "mappings of those"
    )


def _number(value: float) -> str:
    if value != value:
        return ".nan"
    return repr(value).replace("inf", ".inf")


def _key(key: str, indent: int) -> str:
    if not isinstance(key, str):
        raise InvalidValue(f"a key of a frontmatter is text, not {key!r}")
    text = _joined(key)
    marker = indent == 0 and re.search(_STARTS_DOCUMENT, text)
    if "\n" in text or marker or _forces_quotes(text) or not _reads_as_itself(text):
        quoted = _escaped(text).replace(" \\n", "\\ \\n")
        name = _single(text) if _prefers_single(text) else f'"{quoted}"'
    else:
        name = _units(text)
    if len(name) > _LONGEST_KEY:
        raise InvalidValue(f"a key of {len(key)} characters ({key[:20]!r}…) is too long for YAML")
    return name


def _string(value: str, indent: int, start: int | None) -> str:
    """Text as a value, in UTF-16 units. `start` is where its first line is counted from; None says
    as any other line, from `indent`."""
    text = _joined(value)
    # Of blanks alone a block would read back fewer.
    unsafe = r"\n[\t ]+\Z|\A\n* [ \n]*\Z"
    if _forces_quotes(text) or re.search(unsafe, text):
        return _double(text, indent, start)
    if "\n" in text:
        return _block(_units(text), indent)
    if _reads_as_itself(text):
        return _wrapped(_units(text), indent, start)
    if _prefers_single(text):
        return _wrapped(_single(text), indent, start)
    return _double(text, indent, start)


def _joined(text: str) -> str:
    """`text` with each pair of surrogates as the one character that it stands for."""
    if not re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        return text
    return _whole(text)


def _whole(units: str) -> str:
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _units(text: str) -> str:
    """`text` with one character for each UTF-16 unit: the reference counts those."""
    if text.isascii():
        return text
    return re.sub("[\U00010000-\U0010ffff]", _pair_of, text)


def _pair_of(match: re.Match[str]) -> str:
    beyond = ord(match[0]) - 0x10000
    return chr(0xD800 + (beyond >> 10)) + chr(0xDC00 + (beyond & 0x3FF))


def _reads_as_itself(text: str) -> bool:
    """Whether a reader takes `text` without quotes for a string of these characters."""
    return not re.search(_NOT_PLAIN, text) and not re.fullmatch(_OTHER_TYPE, text)


def _forces_quotes(text: str) -> bool:
    return re.search(_FORCES_QUOTES, text) is not None


def _prefers_single(text: str) -> bool:
    return '"' in text and not re.search("['\n]", text) and not _forces_quotes(text)


def _single(text: str) -> str:
    return "'" + _units(text).replace("'", "''") + "'"


def _escaped(text: str) -> str:
    return _units(re.sub(_ESCAPED, _escape, text))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def _double(text: str, indent: int, start: int | None) -> str:
    """In double quotes. A long text breaks its line where it has line breaks: the first break
    reads as nothing, each further one as a line break."""
    broken = _length_as_json(text) >= _LONG_QUOTED
    pieces = re.split(r"(\n+)", text)
    last = len(pieces) - 1
    written = ""
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            written += _guarded(piece, after=broken and at > 0, before=at < last)
            continue
        # The last line break of the text stays an escape: the closing quote has no line to itself.
        escapes = int(at + 1 == last and not pieces[last]) if broken else len(piece)
        real = len(piece) - escapes
        if real:
            written += "\n" * (real + 1) + " " * indent
        written += "\\n" * escapes
    return _wrapped_quoted(f'"{written}"', indent, start)


def _guarded(piece: str, after: bool, before: bool) -> str:
    """A line inside double quotes, its outer blanks escaped where a line break would take them."""
    written = _escaped(piece)
    if before and written.endswith(" "):
        written = written[:-1] + "\\ "
    if after and written.startswith(" "):
        written = "\\" + written
    return written


def _length_as_json(text: str) -> int:
    short = len(re.findall('["\\\\\b\f\n\r\t]', text))
    long = len(re.findall("[\0-\x07\x0b\x0e-\x1f\ud800-\udfff]", text))
    return 2 + len(_units(text)) + short + 5 * long


def _block(text: str, indent: int) -> str:
    """Several lines as a block, each at column `indent`: `|`, or `>` where a line is too long and
    can be folded."""
    pad = " " * indent
    body = text.rstrip("\n\t ")
    tail = text[len(body) :]
    chomp = _chomp(body, tail)
    tail = re.sub(r"\n+(?=[^\n])", rf"\g<0>{pad}", tail.removesuffix("\n"))
    blanks = body[: len(body) - len(body.lstrip(" \n"))]
    head = blanks[: blanks.rfind("\n") + 1]
    body = body[len(head) :]
    head = re.sub(r"\n+", rf"\g<0>{pad}", head)
    header = ("2" if " " in blanks else "") + chomp
    if any(len(line) > _WIDTH - indent for line in text.split("\n")):
        folded = _folded(head + re.sub(r"\n+", rf"\g<0>{pad}", _doubled(body)) + tail, indent)
        if folded is not None:
            return f">{header}\n{pad}{folded}"
    return f"|{header}\n{pad}{head}" + re.sub(r"\n+", rf"\g<0>{pad}", body) + tail


def _chomp(body: str, tail: str) -> str:
    if "\n" not in tail:
        return "-"
    return "" if body and tail.index("\n") == len(tail) - 1 else "+"


def _doubled(body: str) -> str:
    """`body` with one line break more in each run of them, since a fold reads as a blank; beside an
    indented line it does not."""
    pieces = re.split(r"(\n+)", body)
    for at in range(1, len(pieces), 2):
        if not pieces[at - 1].startswith(_BLANK) and not pieces[at + 1].startswith(_BLANK):
            pieces[at] += "\n"
    return "".join(pieces)


def _folded(text: str, indent: int) -> str | None:
    """The lines of a `>` block, folded; None where one is too long and cannot be."""
    rest = max(_LEAST, _WIDTH - indent)
    if len(text) <= rest + 1:
        return text
    pad = "\n" + " " * indent
    lines = text.split("\n")
    # The reference knows an indented first line by more blanks than the indentation, and gives the
    # line after such ones less room. With fewer it folds the line, which changes its meaning.
    first = lines[0]
    ahead = len(first) > indent and not first[: indent + 1].strip(" \t")
    if first.startswith(_BLANK) and not ahead and len(first) > rest:
        return None
    written = []
    for at, line in enumerate(lines):
        content = line[indent:] if at else line
        if content.startswith(_BLANK):
            written.append(line)
            continue
        pieces = _at_gaps(content, rest - indent if ahead else rest, rest, strict=True)
        if pieces is None:
            return None
        ahead = False
        written.append((line[:indent] if at else "") + pad.join(pieces))
    return "\n".join(written)


def _wrapped(text: str, indent: int, start: int | None) -> str:
    """One line of text, folded at single blanks."""
    rest = max(_LEAST, _WIDTH - indent)
    if len(text) <= rest + 1:
        return text
    pad = "\n" + " " * indent
    begin, first = _beginning(pad, indent, start)
    return begin + pad.join(_at_gaps(text, first, rest) or [text])


def _wrapped_quoted(text: str, indent: int, start: int | None) -> str:
    """Text in double quotes, folded at single blanks, else anywhere behind a backslash."""
    rest = max(_LEAST, _WIDTH - indent)
    if len(text) <= rest + 1:
        return text
    pad = "\n" + " " * indent
    begin, limit = _beginning(pad, indent, start)
    written = []
    for at, line in enumerate(text.split("\n")):
        content = line[indent:] if at else line
        pieces = _anywhere(content, limit, rest)
        written.append((line[:indent] if at else "") + pad.join(pieces))
        limit = rest
    return begin + "\n".join(written)


def _beginning(pad: str, indent: int, start: int | None) -> tuple[str, int]:
    """What goes before a folded value, and the units that its first line holds."""
    if start is None:
        return "", _WIDTH - indent
    if start > _WIDTH - _LEAST:
        return pad, _WIDTH - indent
    return "", _WIDTH - start


def _at_gaps(line: str, first: int, rest: int, strict: bool = False) -> list[str] | None:
    """`line` in pieces of at most `first`, then `rest` units, cut at single blanks. A word that is
    longer gets a piece to itself, or with `strict` there is no answer."""
    gaps = [match.start() for match in re.finditer(_GAP, line)]
    pieces: list[str] = []
    base, end = 0, first
    while len(line) > end:
        fitting = [gap for gap in gaps if base < gap <= end]
        if not fitting and strict:
            return None
        gap = fitting[-1] if fitting else next((gap for gap in gaps if gap > end), None)
        if gap is None:
            break
        pieces.append(line[base:gap])
        base = gap + 1
        end = base + rest
    return [*pieces, line[base:]]


def _anywhere(line: str, first: int, rest: int) -> list[str]:
    atoms = [match.span() for match in re.finditer(_ATOM, line)]
    pieces: list[str] = []
    base, end = 0, first
    gap = 0
    at = 0
    while at < len(atoms):
        start, stop = atoms[at]
        if _is_gap(line, atoms, at):
            gap = start
        if stop > end:
            if gap > base:
                pieces.append(line[base:gap])
                base = gap + 1
            else:
                at, cut = _forced(line, atoms, at)
                pieces.append(line[base:cut] + "\\")
                base = cut
            end = base + rest
        at += 1
    return [*pieces, line[base:]]


def _is_gap(line: str, atoms: list[tuple[int, int]], at: int) -> bool:
    """Whether atom `at` is a single blank; an escaped one beside it does not count as one."""
    start, stop = atoms[at]
    if line[start:stop] != " " or at == 0 or stop == len(line):
        return False
    return line[stop] not in _BLANK and line[atoms[at - 1][0]] not in _BLANK


def _forced(line: str, atoms: list[tuple[int, int]], at: int) -> tuple[int, int]:
    """Where to cut a line that has no gap before atom `at`, and the atom to go on from.

    The line keeps room for the backslash; the next one must not start with a blank, which a reader
    would drop, nor between the halves of a pair.
    """
    cut = atoms[at][0]
    if line[atoms[at - 1][0]] in _BLANK:
        while at < len(atoms) and line[atoms[at - 1][0]] in _BLANK:
            at += 1
        cut = atoms[at - 1][0]
    elif line[cut] != "\\":
        cut = atoms[at - 1][0]
    if "\udc00" <= line[cut] <= "\udfff":
        cut -= 1
    return at, cut
