"""The `vectors` index: what passages mean, as numbers. Part of `index/index.db`.

Format owned: `models` and `vectors`. A vector is int8 with one scale, keyed by (model, hash of the
embedded text): the table is the cache as well, so equal texts are embedded once and a text that
comes back is not embedded again. What is still to embed is not kept in a list but asked of the
passages, so that a crash at any point loses nothing and repeats nothing. Vectors of two models are
never compared: searches use the newest model that is complete. A vector that does not match its
checksum is dropped, and then is one that is still to be made.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence

from camillo.errors import InvalidValue, MissingExtra, StoreBusy, StoreDamaged, StoreFull
from camillo.indexes import fast
from camillo.indexes._file import IndexFile
from camillo.indexes._passages import Columns, stamp_of
from camillo.model import Filter, Health, Key, Memory
from camillo.ports import Model, Store
from camillo.records import NamedTuple
from camillo.text.passages import passage, text_hash

TYPE_CHECKING = False  # NumPy is imported where it computes: to sweep takes none
if TYPE_CHECKING:
    from typing import Any

    import apsw
    from numpy import bool_, float32, int8, intp
    from numpy.typing import NDArray

    from camillo.database import Database
    from camillo.ports import Embedder

__all__ = ["Nearness", "VectorIndex", "quantised"]

_BATCH = 256  # passages that are embedded and written together
_BLOCK = 1024  # rows that are scanned together: their float copy stays in the processor's cache
_MORE, _LEAST = 2, 200  # of k, and at all: how many codes nominate for the k nearest
_PATIENCE = 0.5  # seconds that a read, or a sweep, waits to write
_BRIEFLY = 0.05  # the same for what is only to spare work
_REMOVED = (
    "INSERT INTO meta VALUES ('vectors_removed', 1) "
    "ON CONFLICT(key) DO UPDATE SET value = value + 1"
)
_SCALE = 4  # bytes
_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = p.hash AND v.model = ?)"


class _Wanting(NamedTuple):
    """A passage without a vector: `row` is its row, `hash` that of its text when it was indexed."""

    row: int
    key: Key
    number: int
    hash: bytes


class _Vectors(NamedTuple):
    """One state of a model's vectors: row i belongs to passage i of the columns, where `there`.
    What comes later may be written where nothing is yet."""

    columns: Columns
    there: NDArray[bool_]
    scales: NDArray[float32]
    codes: NDArray[int8]


class _Loaded:
    """All vectors of one model in memory, as they come."""

    def __init__(self, columns: Columns, dim: int) -> None:
        from camillo.numeric import np

        self.columns = columns
        self.stamp: tuple[Any, ...] = ()
        self.removed = -1  # the counter `vectors_removed` when they were read
        self.newest = 0  # the last vector that was looked at
        self.upto = int(columns.rows[-1]) if len(columns.rows) else 0  # the last passage likewise
        self.there = np.zeros(len(columns.rows), np.bool_)
        self.scales = np.zeros(len(columns.rows), np.float32)
        self.codes = np.zeros((len(columns.rows), dim), np.int8)

    def extend(self, columns: Columns) -> None:
        """Passages were appended; they have no vectors yet."""
        from camillo.numeric import np

        more = len(columns.rows) - len(self.columns.rows)
        if more:
            self.there = np.concatenate([self.there, np.zeros(more, np.bool_)])
            self.scales = np.concatenate([self.scales, np.zeros(more, np.float32)])
            fresh = np.zeros((more, self.codes.shape[1]), np.int8)
            self.codes = np.concatenate([self.codes, fresh])
        self.columns = columns

    def take(self, rows: Sequence[int], vectors: Sequence[bytes]) -> None:
        """The vectors of these passages, as they are kept."""
        from camillo.numeric import np

        if not rows:
            return
        places = np.searchsorted(self.columns.rows, rows)
        packed = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(rows), -1)
        self.scales[places] = packed[:, :_SCALE].copy().view("<f4")[:, 0]
        self.codes[places] = packed[:, _SCALE:].view(np.int8)
        self.there = self.there.copy()  # another thread may be at work on the former state
        self.there[places] = True

    def state(self) -> _Vectors:
        return _Vectors(self.columns, self.there, self.scales, self.codes)


class Nearness:
    """The cosines of one root's passages to one query. All of them are computed, or with codes
    those that are asked for, and of the passages that the codes nominate."""

    def __init__(
        self,
        index: VectorIndex,
        vectors: _Vectors,
        asked: tuple[int, NDArray[float32]],
        codes: fast.Codes | None = None,
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._columns = vectors.columns
        self._there = vectors.there
        self._model, self._vector = asked
        self._codes = codes
        self._cosines = _cosines(vectors, self._vector) if codes is None else None

    def __len__(self) -> int:
        """How many passages have a vector."""
        return int(self._there.sum())

    def of(self, rows: Sequence[int]) -> list[float | None]:
        """The cosine of each passage by its row; None where it has no vector."""
        from camillo.numeric import np

        held = self._columns.rows
        if not len(held):
            return [None] * len(rows)
        at = np.searchsorted(held, rows).clip(max=len(held) - 1)
        known = self._there[at] & (held[at] == rows)
        found = zip(self._at(at).tolist(), known.tolist(), strict=True)
        return [cosine if there else None for cosine, there in found]

    def of_texts(self, texts: Sequence[str]) -> list[float | None]:
        """The cosine of each embedded text of a passage; None where it has no vector."""
        from camillo.numeric import np

        hashes = [text_hash(text) for text in texts]
        kept = self._index.kept(self._model, hashes)
        found: list[float | None] = []
        for data in map(kept.get, hashes):
            if data is None:
                found.append(None)
            else:
                scale = np.frombuffer(data, "<f4", 1)[0]
                codes = np.frombuffer(data, np.int8, offset=_SCALE).astype(np.float32)
                found.append(float(scale * (codes @ self._vector)))
        return found

    def best(self, k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, cosine) of the k nearest passages that the filter admits, nearest first."""
        if not len(self):
            return []
        admitted = self._index.admitted(self._columns, filter)
        allowed = self._there if admitted is None else self._there & admitted
        places = self._nominated(k, allowed, everything=admitted is None)
        cosines = self._at(places)
        chosen = _best(cosines, k)
        rows = self._columns.rows[places[chosen]]
        return list(zip(rows.tolist(), cosines[chosen].tolist(), strict=True))

    def _nominated(self, k: int, allowed: NDArray[bool_], *, everything: bool) -> NDArray[intp]:
        """Places, rising, among which the k nearest of those allowed are."""
        from camillo.numeric import np

        wanted = max(_MORE * k, _LEAST)
        if self._codes is None or int(allowed.sum()) <= wanted:
            return np.flatnonzero(allowed)
        mask = None if everything else allowed
        rows = self._codes.nearest(self._vector, wanted, self._columns, mask)
        held = self._columns.rows
        at = np.searchsorted(held, rows).clip(max=len(held) - 1)
        # Another thread may have taken in what this state does not have.
        known: NDArray[intp] = at[allowed[at] & (held[at] == rows)]
        return np.sort(known)

    def _at(self, places: NDArray[intp]) -> NDArray[float32]:
        """The cosines of the passages at these places."""
        from camillo.numeric import np

        if self._cosines is not None:
            return self._cosines[places]
        codes = self._vectors.codes[places].astype(np.float32)
        cosines: NDArray[float32] = codes @ self._vector * self._vectors.scales[places]
        return cosines


class VectorIndex:
    """Vectors of one store's passages. `lexical` keeps the passages; this follows them."""

    name = "vectors"

    def __init__(self, file: IndexFile, by: str = "auto") -> None:
        """`by` as the setting `search.vectors`."""
        self._file = file
        self._folder = os.path.dirname(file.path)
        self._by = by
        self._loaded: dict[int, _Loaded] = {}
        self._codes: dict[int, fast.Codes] = {}

    # --- filling -------------------------------------------------------------------------------

    def missing(self, embedder: Embedder) -> int:
        """How many texts have no vector of this model yet."""
        model = self._model(embedder)
        sql = f"SELECT count(DISTINCT p.hash) FROM passages p WHERE {_WITHOUT}"
        return int(self._file.database.value(sql, (model,)))

    def fill(
        self,
        store: Store,
        embedder: Embedder,
        made_with: str,
        *,
        at_most: int | None = None,
        told: Callable[[int], None] = lambda done: None,
    ) -> int:
        """Embed what has no vector; how many texts are left. May be killed and run again: each
        batch is kept as soon as it is embedded. The model counts as complete when none is left."""
        model = self._model(embedder, made_with)
        after = done = written = 0
        while at_most is None or done < at_most:
            wanting = self._wanting(model, after)
            if not wanting:
                if not written:
                    break
                after = written = 0  # rows may have come in below the last one
                continue
            after = wanting[-1].row
            batch = _with_texts(wanting, store)
            if batch:
                vectors = embedder.embed([text for _, text in batch], "passage")
                written += self._write(model, embedder.dim, [each for each, _ in batch], vectors)
                done += len(batch)
                told(len(batch))
        left = self.missing(embedder)
        if not left:
            self._completed(model)
        return left

    def _wanting(self, model: int, after: int) -> list[_Wanting]:
        """The next passages without a vector, each text once."""
        rows = self._file.database.rows(
            "SELECT p.rowid, f.namespace, f.scope, f.session, p.id, p.number, p.hash "
            "FROM passages p JOIN facets f ON f.rowid = p.facet "
            f"WHERE p.rowid > ? AND {_WITHOUT} ORDER BY p.rowid LIMIT ?",
            (after, model, _BATCH),
        )
        return list({row[6]: _Wanting(row[0], Key(*row[1:5]), *row[5:]) for row in rows}.values())

    def _write(
        self,
        model: int,
        dim: int,
        passages: Sequence[_Wanting],
        vectors: NDArray[float32],
    ) -> int:
        """Keep the vectors; how many. That of a text which was forgotten meanwhile is not kept."""
        if vectors.shape != (len(passages), dim):
            raise InvalidValue(
                f"the embedder gave vectors of shape {vectors.shape}, not {(len(passages), dim)}; "
                "check its settings"
            )
        rows = [
            (each.hash, data, zlib.crc32(data), each.row, each.hash, model)
            for each, data in zip(passages, _packed(vectors), strict=True)
        ]
        with self._file.database.write(durable=False) as connection:
            before = connection.total_changes()
            connection.executemany(
                "INSERT OR IGNORE INTO vectors(model, hash, data, crc) SELECT m.rowid, ?, ?, ? "
                "FROM passages p, models m WHERE p.rowid = ? AND p.hash = ? AND m.rowid = ?",
                rows,
            )
            return connection.total_changes() - before

    def _model(self, embedder: Embedder, made_with: str = "") -> int:
        """The row of the embedder's model, made when it is new and `made_with` is given; else 0."""
        database = self._file.database
        sql = "SELECT rowid FROM models WHERE name = ?"
        found = database.value(sql, (embedder.id,))
        if found is None and made_with:
            with database.write(durable=False) as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO models(name, dim, made_with) VALUES (?, ?, ?)",
                    (embedder.id, embedder.dim, made_with),
                )
            found = database.value(sql, (embedder.id,))
        return int(found or 0)

    def _completed(self, model: int) -> None:
        """From now on searches use this model; vectors of others go."""
        rows = self._file.database.rows("SELECT rowid, complete FROM models")
        if rows == [(model, 1)]:
            return
        with self._file.database.write(durable=False) as connection:
            connection.execute("UPDATE models SET complete = 1 WHERE rowid = ?", (model,))
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            self._went(connection)
            connection.execute("DELETE FROM models WHERE rowid <> ?", (model,))

    def sweep(self) -> bool:
        """Drop vectors of texts that no passage holds any more. False while another process
        writes: call again later."""
        database = self._file.database
        gone = database.rows(
            "SELECT rowid FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)"
        )
        if gone:
            return self._drop([row[0] for row in gone])
        try:
            fast.drop_strays(database, self._folder)
        except OSError:  # another process has it open
            return False
        return True

    # --- searching -----------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """The models that have vectors here, oldest first."""
        rows = self._file.database.rows(
            "SELECT name, dim, made_with, complete FROM models ORDER BY rowid"
        )
        return [Model(name, dim, made_with, bool(done)) for name, dim, made_with, done in rows]

    def nearness(self, embedder: Embedder, vector: NDArray[float32]) -> Nearness:
        """How near every passage is to a query's vector (float32, (dim,), unit length) of this
        embedder. Exact: what codes nominate is scored from the vectors. Raises MissingExtra."""
        model = self._model(embedder)
        with self._file.database.lock:
            vectors = self._load(model, embedder.dim)
            codes = self._coded(model, embedder, vectors)
        return Nearness(self, vectors, (model, vector), codes)

    def kept(self, model: int, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors of these texts as they are kept, those that are there and sound."""
        rows = self._file.database.rows(
            "SELECT v.hash, CAST(v.data AS BLOB), v.crc, m.dim FROM vectors v "
            "JOIN models m ON m.rowid = v.model WHERE v.model = ? "
            f"AND v.hash IN ({', '.join('?' * len(hashes))})",
            (model, *hashes),
        )
        return {hash_: data for hash_, data, *rest in rows if _is_sound(data, *rest)}

    def count(self, embedder: Embedder) -> int:
        """How many vectors of this model there are."""
        sql = "SELECT count(*) FROM vectors v JOIN models m ON m.rowid = v.model WHERE m.name = ?"
        return int(self._file.database.value(sql, (embedder.id,)))

    def _load(self, model: int, dim: int) -> _Vectors:
        """The model's vectors in memory: what came since the last time is added, and all are read
        again when some have gone."""
        database = self._file.database
        with database.reading():
            columns, stamp = self._file.passages.current(), stamp_of(database)
            held = self._loaded.get(model)
            if held is not None and held.codes.shape[1] != dim:
                held = None  # of another model that has no row either
            if held is not None and held.stamp == stamp:
                return held.state()
            removed = _removals(database)
            newest = database.value("SELECT max(rowid) FROM vectors") or 0
            if (
                held is None
                or held.removed != removed
                or held.columns.generation != columns.generation
            ):
                held, damaged = self._read_all(model, dim, columns)
            else:
                held.extend(columns)
                damaged = self._read_new(model, held, newest)
            held.stamp, held.removed, held.newest = stamp, removed, newest
            self._loaded = {model: held}
            state = held.state()
        if damaged:
            self._drop(damaged)  # or not: they are left out anyway
        return state

    def _coded(self, model: int, embedder: Embedder, vectors: _Vectors) -> fast.Codes | None:
        """The codes of these vectors, or None where all of them are compared."""
        if self._by == "scan" or not fast.fits(embedder.dim):
            return None
        if self._by == "fast":
            return self._followed(model, embedder, vectors)
        if len(vectors.there) < fast.FROM or int(vectors.there.sum()) < fast.FROM:
            return None
        try:
            return self._followed(model, embedder, vectors)
        except MissingExtra:
            return None

    def _followed(self, model: int, embedder: Embedder, vectors: _Vectors) -> fast.Codes:
        """Codes of these vectors: those of the last search, or of a file, brought up to date."""
        codes = self._codes.get(model)
        if codes is None:
            kept = fast.load_codes(self._file.database, self._folder, embedder.id, embedder.dim)
            codes = kept if kept is not None else fast.Codes(embedder.dim)
        codes.follow(vectors)
        self._codes = {model: codes}
        if codes.drifted:
            self._keep(model, embedder, codes)
        return codes

    def _keep(self, model: int, embedder: Embedder, codes: fast.Codes) -> None:
        """Write the codes down, unless a vector that they were made of has gone meanwhile."""
        database = self._file.database
        form = fast.form(embedder.id, embedder.dim, codes)
        codes.settle()
        try:
            with database.patience(_BRIEFLY), database.write(durable=False) as connection:
                if _removals(database) == self._loaded[model].removed:
                    fast.save_codes(connection, self._folder, embedder.id, form)
        except (OSError, StoreBusy, StoreFull):  # they are made again, that is all
            pass

    def _read_all(self, model: int, dim: int, columns: Columns) -> tuple[_Loaded, list[int]]:
        loaded = _Loaded(columns, dim)
        return loaded, self._take(model, loaded, "1", ())

    def _read_new(self, model: int, loaded: _Loaded, newest: int) -> list[int]:
        """The vectors of passages that had none, of which few are read: those that are new, since
        their texts may have vectors of old, and those whose texts got a vector since."""
        damaged: list[int] = []
        lacking = loaded.columns.rows[~loaded.there]
        old, upto = lacking[lacking <= loaded.upto], loaded.upto
        if len(lacking) > len(old):
            damaged += self._take(model, loaded, "p.rowid > ?", (upto,))
            loaded.upto = int(loaded.columns.rows[-1])
        if len(old) and newest > loaded.newest:
            damaged += self._take(
                model,
                loaded,
                "p.rowid BETWEEN ? AND ? AND p.hash IN (SELECT hash FROM vectors WHERE rowid > ?)",
                (int(old[0]), int(old[-1]), loaded.newest),
            )
        return damaged

    def _take(self, model: int, loaded: _Loaded, where: str, arguments: Sequence[int]) -> list[int]:
        """Read vectors of some passages into memory; which are damaged."""
        rows = self._file.database.rows(
            "SELECT p.rowid, CAST(v.data AS BLOB), v.crc, v.rowid FROM passages p "
            f"CROSS JOIN vectors v ON v.hash = p.hash AND v.model = ? WHERE {where}",
            (model, *arguments),
        )
        dim = loaded.codes.shape[1]
        sound = [row for row in rows if _is_sound(row[1], row[2], dim)]
        loaded.take([row[0] for row in sound], [row[1] for row in sound])
        return [row[3] for row in rows if not _is_sound(row[1], row[2], dim)]

    def admitted(self, columns: Columns, filter: Filter) -> NDArray[bool_] | None:
        return columns.admitted(self._file.database, filter)

    def _drop(self, rows: Sequence[int]) -> bool:
        """These vectors go; False while another process writes, or when nothing can be written."""
        database = self._file.database
        try:
            with database.patience(_PATIENCE), database.write(durable=False) as connection:
                connection.executemany(
                    "DELETE FROM vectors WHERE rowid = ?", [(row,) for row in rows]
                )
                self._went(connection)
        except (OSError, StoreBusy, StoreFull):
            return False
        return True

    def _went(self, connection: apsw.Connection) -> None:
        """Inside the transaction that takes vectors away: what was made of them goes too."""
        connection.execute(_REMOVED)
        fast.drop_files(connection, self._folder)

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            connection.execute("DELETE FROM vectors")
            self._went(connection)
            connection.execute("DELETE FROM models")
        self._loaded.clear()
        self._codes.clear()

    def check(self) -> Health:
        rows = self._file.database.rows(
            "SELECT CAST(v.data AS BLOB), v.crc, m.dim FROM vectors v "
            "LEFT JOIN models m ON m.rowid = v.model"
        )
        bad = sum(not _is_sound(*row) for row in rows)
        problems = (f"{bad} vectors do not match their checksum",) if bad else ()
        facts = [("vectors", str(len(rows)))]
        facts += [
            ("model", f"{each.name}, {'complete' if each.complete else 'not complete'}")
            for each in self.models()
        ]
        return Health(self.name, problems, tuple(facts))

    def close(self) -> None:
        """The file is the vault's to close."""


def quantised(vectors: NDArray[float32]) -> tuple[NDArray[int8], NDArray[float32]]:
    """int8 codes (n, dim) and scales (n,) with codes * scale ≈ vectors."""
    from camillo.numeric import np

    scales = np.abs(vectors).max(axis=1) / 127
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(vectors / safe[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def _removals(database: Database) -> int:
    """A counter that moves whenever vectors go."""
    return int(database.value("SELECT value FROM meta WHERE key = 'vectors_removed'") or 0)


def _cosines(vectors: _Vectors, vector: NDArray[float32]) -> NDArray[float32]:
    from camillo.numeric import np

    scores = np.empty(len(vectors.codes), np.float32)
    buffer = np.empty((min(_BLOCK, len(scores)), len(vector)), np.float32)
    for start in range(0, len(scores), _BLOCK):
        codes = vectors.codes[start : start + _BLOCK]
        block = buffer[: len(codes)]
        np.copyto(block, codes)
        np.dot(block, vector, out=scores[start : start + len(codes)])
    scores *= vectors.scales
    return scores


def _with_texts(wanting: Sequence[_Wanting], store: Store) -> list[tuple[_Wanting, str]]:
    """Each with its text. One that has changed since it was indexed waits for the catch-up, one
    that is damaged for its mending."""
    memories = list(_held(store, [each.key for each in wanting]))
    found = []
    for each, memory in zip(wanting, memories, strict=True):
        if memory is not None:
            text = passage(memory, each.number).embedded
            if text_hash(text) == each.hash:
                found.append((each, text))
    return found


def _held(store: Store, keys: Sequence[Key]) -> Iterator[Memory | None]:
    try:
        yield from store.get(keys)
    except StoreDamaged:
        if len(keys) == 1:
            yield None
        else:
            for key in keys:
                yield from _held(store, [key])


def _packed(vectors: NDArray[float32]) -> list[bytes]:
    """Each vector as it is kept: its scale, then its codes."""
    codes, scales = quantised(vectors)
    return [
        scale.tobytes() + row.tobytes()
        for scale, row in zip(scales.astype("<f4"), codes, strict=True)
    ]


def _is_sound(data: Any, crc: Any, dim: Any) -> bool:
    """Is this what was written? Overwritten rows may hold anything."""
    return isinstance(data, bytes) and len(data) - _SCALE == dim and zlib.crc32(data) == crc


def _best(scores: NDArray[float32], k: int) -> NDArray[intp]:
    """Places of the k highest, highest first; equal ones in order of place."""
    from camillo.numeric import np

    k = min(k, len(scores))
    if not k:
        return np.empty(0, np.intp)
    found = np.argpartition(-scores, k - 1)[:k]
    return found[np.lexsort((found, -scores[found]))]
