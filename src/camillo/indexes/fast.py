"""Codes of a model's vectors, four bits a dimension: what a large store is searched by first.

Part of the extra `fast` (turbovec). Codes only nominate: `vectors` scores what they name from the
vectors themselves. Format owned: `index/fast-<model>.bin`: a header, the name of the model, the
passages' rows and a mark of each one's vector (8 bytes each, little-endian), the library's bytes.
The header holds a checksum, and a token that stands in `meta` as well for as long as no vector
went: a file without it is of another state or another index, and goes.
"""

from __future__ import annotations

import os
import struct
from glob import escape, glob
from hashlib import blake2b
from threading import Lock

from camillo.config import one_thread_for_new_libraries
from camillo.errors import MissingExtra
from camillo.records import NamedTuple

TYPE_CHECKING = False  # NumPy is imported where it computes: to drop a file takes none
if TYPE_CHECKING:
    from typing import Any, Protocol

    import apsw
    from numpy import bool_, float32, int8, int64, uint64
    from numpy.typing import NDArray

    from camillo.database import Database
    from camillo.indexes._passages import Columns

    class Vectors(Protocol):
        """Row i of each belongs to passage i of the columns, where `there`."""

        @property
        def columns(self) -> Columns: ...
        @property
        def there(self) -> NDArray[bool_]: ...
        @property
        def scales(self) -> NDArray[float32]: ...
        @property
        def codes(self) -> NDArray[int8]: ...


__all__ = ["FROM", "Codes", "Form", "drop_files", "fits", "form", "load_codes", "save_codes"]

FROM = 50_000  # vectors from which codes are worth their memory (docs/BENCH.md)

_LIBRARY = "turbovec"
_BITS = 4
_STEP = 8  # the library takes dimensions that are a multiple of it
_BLOCK = 8192  # vectors that are made into codes together
_MAGIC = b"camillo codes 1\n"
_HEADER = struct.Struct("<16s32s16sIIQ")  # magic, checksum, token, dim, bytes of the name, rows
_TOKEN = slice(48, 64)
_META = "codes"  # the key of the token
_ODD = 0x9E3779B97F4A7C15
_DRIFT = 10  # a file is written anew when more than one in so many codes is not as in it


class Codes:
    """Codes that follow the vectors of one model. Threads may share one."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._lock = Lock()
        self._followed: tuple[object, object] = (None, None)
        self._begin()

    def _begin(self) -> None:
        from camillo.numeric import np

        self._index = _library().TurboQuantIndex(self._dim, _BITS)
        self._rows = np.empty(0, np.int64)  # of each code, in the library's order
        self._marks = np.empty(0, np.uint64)
        self._placed: tuple[object, Any] = (None, None)
        self._changed = 0  # codes that are not as in the file

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def drifted(self) -> bool:
        """Would the next process win by a file of this state?"""
        return self._changed * _DRIFT > len(self._rows)

    def settle(self) -> None:
        """They are written down, or could not be: not to be tried again until much has changed."""
        self._changed = 0

    def follow(self, vectors: Vectors) -> None:
        """Take in what came, let go of what went or changed."""
        from camillo.numeric import np

        if self._followed[0] is vectors.columns and self._followed[1] is vectors.there:
            return
        places = np.flatnonzero(vectors.there)
        rows = vectors.columns.rows[places]
        marks = _marks(vectors.codes, vectors.scales)[places]
        with self._lock:
            at, same = _matched(rows, marks, self._rows, self._marks)
            if 2 * int(same.sum()) < len(same):
                self._begin()
                at = same = np.empty(0, np.intp)
            else:
                self._let_go(np.flatnonzero(~same))
            fresh = np.ones(len(rows), np.bool_)
            fresh[at[same]] = False
            self._add(vectors, places[fresh], marks[fresh])
            self._placed = (None, None)
            self._followed = (vectors.columns, vectors.there)

    def nearest(
        self, vector: NDArray[float32], k: int, columns: Columns, allowed: NDArray[bool_] | None
    ) -> NDArray[int64]:
        """Rows of the k passages that seem nearest among the allowed (all, when None)."""
        from camillo.numeric import np

        query = np.ascontiguousarray(vector, np.float32)[None]
        with self._lock:
            mask = None if allowed is None else self._mask(columns, allowed)
            if not len(self._rows) or (mask is not None and not mask.any()):
                return np.empty(0, np.int64)
            _, found = self._index.search(query, min(k, len(self._rows)), mask=mask)
            rows: NDArray[int64] = self._rows[found[0]]
            return rows

    def _mask(self, columns: Columns, allowed: NDArray[bool_]) -> NDArray[bool_]:
        from camillo.numeric import np

        of, places = self._placed
        if of is not columns:
            last = len(columns.rows) - 1
            places = np.searchsorted(columns.rows, self._rows).clip(max=last)
            self._placed = (columns, places)
        mask: NDArray[bool_] = allowed[places] & (columns.rows[places] == self._rows)
        return mask

    def _let_go(self, gone: NDArray[Any]) -> None:
        """The last code takes the place of each that goes, here as in the library."""
        for at in reversed(gone.tolist()):
            self._index.swap_remove(at)
            self._rows[at], self._marks[at] = self._rows[-1], self._marks[-1]
            self._rows, self._marks = self._rows[:-1], self._marks[:-1]
        self._changed += len(gone)

    def _add(self, vectors: Vectors, places: NDArray[Any], marks: NDArray[uint64]) -> None:
        from camillo.numeric import np

        for start in range(0, len(places), _BLOCK):
            part = places[start : start + _BLOCK]
            block = vectors.codes[part].astype(np.float32)
            block *= np.nan_to_num(vectors.scales[part])[:, None]
            self._index.add(block)
        self._rows = np.concatenate([self._rows, vectors.columns.rows[places]])
        self._marks = np.concatenate([self._marks, marks])
        self._changed += len(places)

    def written(self) -> bytes:
        """What is kept of them."""
        with self._lock:
            rows, marks = self._rows.astype("<i8"), self._marks.astype("<u8")
            return rows.tobytes() + marks.tobytes() + bytes(self._index.to_bytes())

    @classmethod
    def read(cls, dim: int, count: int, data: memoryview) -> Codes | None:
        """From what was written; None when it does not fit."""
        from camillo.numeric import np

        codes = cls(dim)
        codes._index = _library().TurboQuantIndex.from_bytes(bytes(data[16 * count :]))
        codes._rows = np.frombuffer(data, "<i8", count).astype(np.int64)
        codes._marks = np.frombuffer(data, "<u8", count, 8 * count).astype(np.uint64)
        fitting = (len(codes._index), codes._index.dim, codes._index.bit_width)
        return codes if fitting == (count, dim, _BITS) else None


def fits(dim: int) -> bool:
    """Can vectors of this dimension be made into codes?"""
    return dim > 0 and dim % _STEP == 0


def load_codes(database: Database, folder: str, model: str, dim: int) -> Codes | None:
    """The codes that were kept for the model; None when there are none, or not of this state."""
    try:
        with open(_path(folder, model), "rb") as file:
            data = memoryview(file.read())
    except OSError:
        return None
    if len(data) < _HEADER.size or data[_TOKEN] != _token(database):
        return None
    magic, checksum, _, theirs, name, count = _HEADER.unpack_from(data)
    sound = magic == _MAGIC and checksum == _checksum(data[_TOKEN.start :])
    body = _HEADER.size + name
    if not sound or theirs != dim or data[_HEADER.size : body] != model.encode():
        return None
    try:
        return Codes.read(dim, count, data[body:])
    except ValueError:  # of another version of the library
        return None


class Form(NamedTuple):
    """A file as it is to be written, and the token that ties it to an index."""

    token: bytes
    data: bytes


def form(model: str, dim: int, codes: Codes) -> Form:
    token, name = os.urandom(16), model.encode()
    head = _HEADER.pack(b"", b"", token, dim, len(name), len(codes))[_TOKEN.start :]
    rest = head + name + codes.written()
    return Form(token, _MAGIC + _checksum(rest) + rest)


def save_codes(connection: apsw.Connection, folder: str, model: str, form: Form) -> None:
    """Inside a write transaction in which the vectors that they are of are all still there:
    whoever takes one away waits for it, and then drops the file."""
    path = _path(folder, model)
    with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(form.data)
    os.replace(f"{path}.new", path)
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (_META, form.token),
    )


def drop_files(connection: apsw.Connection, folder: str) -> None:
    """Inside the transaction that takes vectors away: the codes made of them go first."""
    connection.execute("DELETE FROM meta WHERE key = ?", (_META,))
    for path in _files(folder):
        os.unlink(path)


def drop_strays(database: Database, folder: str) -> None:
    """Files that an interrupted process, or an index that was thrown away, has left."""
    for path in _files(folder):
        with open(path, "rb") as file:
            head = file.read(_TOKEN.stop)
        if path.endswith(".new") or head[_TOKEN] != _token(database):
            os.unlink(path)


def _library() -> Any:
    try:
        # It reads how many threads it may have when it first computes: one is enough for a query,
        # and makes it no slower than the cores it would take from others.
        with one_thread_for_new_libraries():
            import turbovec

            turbovec.TurboQuantIndex(_STEP, _BITS).prepare()
    except ImportError as error:
        raise MissingExtra(
            f"search.vectors = 'fast' needs {_LIBRARY}, which is not installed here: "
            "run CAMILLO_EXTRAS=fast ./camillo --version or pip install 'camillo[fast]', "
            "or set it to 'auto'"
        ) from error
    return turbovec


def _path(folder: str, model: str) -> str:
    return os.path.join(folder, f"fast-{blake2b(model.encode(), digest_size=8).hexdigest()}.bin")


def _files(folder: str) -> list[str]:
    return glob(os.path.join(escape(folder), "fast-*.bin*"))


def _token(database: Database) -> Any:
    return database.value("SELECT value FROM meta WHERE key = ?", (_META,))


def _checksum(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=32).digest()


def _marks(codes: NDArray[int8], scales: NDArray[float32]) -> NDArray[uint64]:
    """A number for each vector that differs when the vector does, but for a chance of 2⁻⁶³."""
    from camillo.numeric import np

    words = np.ascontiguousarray(codes).view(np.uint64)
    factors = np.cumprod(np.full(words.shape[1] + 1, _ODD, np.uint64))
    marks: NDArray[uint64] = words @ factors[1:] + scales.view(np.uint32) * factors[0]
    return marks


def _matched(
    rows: NDArray[int64], marks: NDArray[uint64], ours: NDArray[int64], our_marks: NDArray[uint64]
) -> tuple[NDArray[Any], NDArray[bool_]]:
    """For each of ours its place in `rows` (rising), and whether it stands there unchanged."""
    from camillo.numeric import np

    if not len(rows):
        return np.zeros(len(ours), np.intp), np.zeros(len(ours), np.bool_)
    at = np.searchsorted(rows, ours).clip(max=len(rows) - 1)
    return at, (rows[at] == ours) & (marks[at] == our_marks)
