"""Notes as commonplace reads them.

Three differences are meant. A byte order mark is accepted: editors write them, and the note would
be lost to search. Anchors and aliases are refused: a few hundred bytes of them can stand for
gigabytes. A frontmatter without keys is empty, not an error: what must be there is for the dialect.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from camillo.text.frontmatter import FrontmatterError, Note, read, split
from camillo.text.yaml_write import frontmatter_text

FILES = ("parse.json",)

YAML_ERRORS = (
    "memory file is missing closing `---`",
    "memory file frontmatter is not valid YAML",
    "memory file frontmatter must be a YAML mapping",
)
LISTS = ("relations", "supersedes")
ANCHOR = r"^[^#\n]*[:\-,\[{][ \t]+[&*]\w"
ABSENT = object()


def test_a_note_reads_as_commonplace_reads_it(case: dict[str, Any]) -> None:
    raw = bytes.fromhex(case["raw_hex"]) if "raw_hex" in case else case["raw"].encode()
    text = raw.decode("utf-8", "replace")
    if raw.startswith(b"\xef\xbb\xbf"):
        assert read(raw) == read(raw[3:])
    elif "error" not in case and re.search(ANCHOR, _text(raw), re.MULTILINE):
        with pytest.raises(FrontmatterError, match="anchors"):
            read(raw)
    elif "error" in case:
        _assert_refused(raw, case["error"])
    else:
        _assert_read(read(raw), case, text)


def _assert_read(note: Note, case: dict[str, Any], text: str) -> None:
    wanted = case["parsed"]
    assert note.body == wanted["body"]
    for key in ("name", "description", "type"):
        assert note.fields[key] == wanted[key]
    assert note.fields.get("pinned", False) is wanted["pinned"]
    for key in LISTS:
        assert _once(note.fields.get(key, [])) == wanted[key]
    if "reserialized" in case:
        fields = {key: value for key, value in wanted.items() if key != "body"}
        assert (frontmatter_text(fields) + wanted["body"] == text) is case["reserialized"]


def _assert_refused(raw: bytes, error: str) -> None:
    """A note that commonplace refuses is refused here, or read so that the dialect can refuse it
    for the same reason: with the value that the error names."""
    if error.startswith("memory file is missing opening"):
        assert split(raw).opening == ""
        return
    if error.startswith(YAML_ERRORS) and _text(raw).strip():
        with pytest.raises(FrontmatterError):
            read(raw)
        return
    if re.search(ANCHOR, _text(raw), re.MULTILINE):
        with pytest.raises(FrontmatterError, match="anchors"):
            read(raw)
        return
    _assert_names(read(raw).fields, error)


def _text(raw: bytes) -> str:
    try:
        return split(raw).text
    except FrontmatterError:
        return "not closed"


def _assert_names(fields: dict[str, Any], error: str) -> None:
    if missing := re.search(r"required field `(\w+)` \(string\)", error):
        assert not isinstance(fields.get(missing[1]), str)
    elif missing := re.match(r"(\w+)\[(\d+)\] is missing required key `(\w+)`", error):
        assert missing[3] not in fields[missing[1]][int(missing[2])]
    elif named := re.match(r"(?:memory frontmatter )?`?(\w+)`?(?:\[(\d+)\])?(?:\.(\w+))?", error):
        found: Any = fields.get(named[1], ABSENT)
        for step in (int(named[2]) if named[2] else None, named[3]):
            found = found if step is None else found[step]
        got = error.rpartition("; got ")[2]
        wanted = {"undefined": ABSENT, "an empty string": ""}
        assert found == (wanted[got] if got in wanted else json.loads(got))


def _once(items: Any) -> list[Any]:
    return [item for at, item in enumerate(items) if item not in items[:at]]
