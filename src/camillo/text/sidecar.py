"""The `.embedding` sidecar of commonplace: two vectors beside a note, as bytes.

    "CMEM" | version | length of the model's id | id in UTF-8 | dim | SHA-256 of the note | vectors

Little-endian; dim has four bytes, a vector dim float32. Version 2 (0.7) has the description's
vector, then the body's; version 1 the body's alone. Both are read, 2 is written. What the files are
called and where they lie is for others.
"""

from __future__ import annotations

import re

from camillo.errors import InvalidValue
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable
    from typing import Literal

    State = Literal["missing", "foreign", "stale", "fresh"]

__all__ = ["Sidecar", "content_sha", "decode", "encode", "floats", "packed", "reusable", "state"]

_MAGIC = b"CMEM"
_VERSIONS = {1: 1, 2: 2}  # -> how many vectors
_LONGEST_ID = 255
_MOST = 2**32


class Sidecar(NamedTuple):
    """`summary` and `body` are vectors as bytes, float32 little-endian, 4 × dim of them; a version
    1 has no `summary`. `sha` is that of the note when it was embedded, in hex."""

    model: str
    dim: int
    sha: str
    summary: bytes
    body: bytes
    version: int = 2


def encode(sidecar: Sidecar) -> bytes:
    """The file, version 2. Raises InvalidValue for what it cannot hold."""
    model = sidecar.model.encode("utf-8", "surrogatepass")
    if len(model) > _LONGEST_ID:
        raise InvalidValue(f"a model's id has at most {_LONGEST_ID} bytes, not {len(model)}")
    if type(sidecar.dim) is not int or not 0 <= sidecar.dim < _MOST:
        raise InvalidValue(f"a dimension is a whole number from 0, not {sidecar.dim!r}")
    if not re.fullmatch("[0-9a-f]{64}", sidecar.sha):
        raise InvalidValue(f"a SHA-256 is 64 lower-case hex digits, not {sidecar.sha!r}")
    for name, vector in (("summary", sidecar.summary), ("body", sidecar.body)):
        if len(vector) != 4 * sidecar.dim:
            raise InvalidValue(
                f"the {name}'s vector has {len(vector)} bytes; dimension {sidecar.dim} needs "
                f"{4 * sidecar.dim}"
            )
    head = _MAGIC + bytes((2, len(model))) + model + sidecar.dim.to_bytes(4, "little")
    return head + bytes.fromhex(sidecar.sha) + sidecar.summary + sidecar.body


def decode(content: bytes) -> Sidecar:
    """Raises InvalidValue for bytes that are no sidecar of a known version, whole and alone."""
    if not content.startswith(_MAGIC):
        raise InvalidValue(f"no sidecar: it starts with {content[:4]!r}, not {_MAGIC!r}")
    if len(content) < 6 or content[4] not in _VERSIONS:
        known = ", ".join(map(str, _VERSIONS))
        raise InvalidValue(f"a sidecar of version {content[4:5].hex() or '?'}; known: {known}")
    vectors = _VERSIONS[content[4]]
    end = 6 + content[5]
    dim = int.from_bytes(content[end : end + 4], "little")
    start = end + 36
    size = 4 * dim
    if len(content) != start + vectors * size:
        raise InvalidValue(
            f"a sidecar of {len(content)} bytes where its head asks for {start + vectors * size}"
        )
    try:
        model = content[6:end].decode()
    except UnicodeDecodeError:
        raise InvalidValue(f"no sidecar: its model's id is no UTF-8 ({content[6:end]!r})") from None
    summary = content[start : start + size] if vectors == 2 else b""
    body = content[len(content) - size :] if size else b""
    return Sidecar(model, dim, content[end + 4 : start].hex(), summary, body, content[4])


def state(content: bytes | None, model: str, dim: int, sha: str) -> State:
    """Of a note's sidecar, None for none: `foreign` when it is damaged or of another model or
    dimension, `stale` when the note was another or one vector is missing (version 1)."""
    if content is None:
        return "missing"
    try:
        found = decode(content)
    except InvalidValue:
        return "foreign"
    if (found.model, found.dim) != (model, dim):
        return "foreign"
    return "fresh" if found.sha == sha and found.version == 2 else "stale"


def reusable(content: bytes | None, model: str, dim: int, sha: str) -> Sidecar | None:
    """The sidecar, when its vectors are those of this note: all of a fresh one, the body's of a
    version 1."""
    if state(content, model, dim, sha) not in ("fresh", "stale"):
        return None
    found = decode(content or b"")
    return found if found.sha == sha else None


def content_sha(kind: str, name: str, description: str, body: str) -> str:
    """What a sidecar knows a note by: relations, supersedes and pinned are no part of it."""
    import hashlib  # loads OpenSSL

    text = re.sub("[\ud800-\udfff]", "\ufffd", "\n".join((kind, name, description, body)))
    return hashlib.sha256(text.encode()).hexdigest()


def packed(values: Iterable[float]) -> bytes:
    """A vector as bytes; a number beyond float32 becomes infinite."""
    from array import array

    made = array("f", values)
    return _little(made).tobytes()


def floats(vector: bytes) -> list[float]:
    from array import array

    return _little(array("f", vector)).tolist()


def _little(vector: array[float]) -> array[float]:
    import sys

    if sys.byteorder == "big":
        vector.byteswap()
    return vector
