"""The `tokens` index: token vectors of notes and of what was said. Part of `index/index.db`.

Format owned: the tables of `_token_schema.py`. It follows the passages of `lexical`, is filled in
the same pass as `vectors`, and keeps within its budget what is newest. A text's tokens are keyed by
(model, hash), so equal texts have them once; a row that does not match its checksum is dropped, and
then is one that is still to be made. Which numbers are kept of a token is the projection's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from camillo.errors import StoreBusy, StoreFull
from camillo.indexes._file import IndexFile
from camillo.indexes._passages import stamp_of
from camillo.indexes._token_rows import bytes_of, counted, evict, is_sound, remove
from camillo.indexes._token_schema import SCHEMA, SUITED, SUITED_FACET
from camillo.model import GLOBAL, Health
from camillo.records import NamedTuple

TYPE_CHECKING = False  # NumPy is imported where it computes: to sweep takes none
if TYPE_CHECKING:
    from typing import Any

    import apsw
    from numpy import float32, int64
    from numpy.typing import NDArray

    from camillo.indexes._closeness import Closeness
    from camillo.indexes._loaded_tokens import LoadedTokens
    from camillo.indexes._token_filling import TokenFilling
    from camillo.ports import Embedder, Projection, TokenVectors

__all__ = ["TokenIndex"]

_PATIENCE = 0.5  # seconds that a read, or a sweep, waits to write
_AT_ONCE = 500  # rows that one statement asks for
_COMPARED = 64  # tokens of a question, the rarest of a longer one
_ROOMY = 0.8  # of the budget: with less in use there is room again for what had been left out
_LACKING = "NOT EXISTS (SELECT 1 FROM tokens t WHERE t.hash = p.hash AND t.model = ?)"


class _Model(NamedTuple):
    """A row of `token_models`."""

    rowid: int
    texts: int
    tokens: int
    budget: int
    floor: int
    upto: int


class TokenIndex:
    """Token vectors of one store's passages. `projection_of` an embedder is None where it has
    none; `megabytes` is the budget, 0 keeps nothing."""

    name = "tokens"

    def __init__(
        self,
        file: IndexFile,
        projection_of: Callable[[Embedder], Projection | None],
        megabytes: int,
    ) -> None:
        self._file = file
        self._projection_of = projection_of
        self._budget = megabytes * 1_000_000
        self._loaded: dict[int, LoadedTokens] = {}
        self._without: set[str] = set()  # embedders that turned out to give no token vectors
        self._there = False

    # --- filling -------------------------------------------------------------------------------

    def lacking(self, embedder: Embedder) -> tuple[str, tuple[int, ...]] | None:
        """What is to be true, as SQL, of a passage `p` with facet `f` that should have tokens and
        has none; None where this embedder gives none to keep. Loads no model."""
        if self._kept_by(embedder) is None:
            return None
        model = self._model(embedder)
        if model is None:
            return SUITED, ()
        return f"{_LACKING} AND p.version > ? AND {SUITED}", (model.rowid, model.floor)

    def filling(self, embedder: Embedder) -> TokenFilling | None:
        """For a pass over the passages; None as above."""
        projection = self._kept_by(embedder)
        if projection is None:
            return None
        from camillo.indexes._token_filling import TokenFilling

        model = self._model(embedder) or self._new_model(embedder, projection)
        most = self._budget // bytes_of(projection.dim)
        if model.budget != self._budget or (model.floor and model.tokens < _ROOMY * most):
            with self._file.database.write(durable=False) as connection:
                connection.execute(
                    "UPDATE token_models SET budget = ?, floor = 0 WHERE rowid = ?",
                    (self._budget, model.rowid),
                )
                evict(connection, model.rowid, most)
        return TokenFilling(self, embedder, projection, model.rowid, most)

    def _new_model(self, embedder: Embedder, projection: Projection) -> _Model:
        name = _name(embedder, projection)
        with self._file.database.write(durable=False) as connection:
            connection.execute(SCHEMA).fetchall()
            connection.execute(
                "INSERT OR IGNORE INTO token_models(name, dim, budget) VALUES (?, ?, ?)",
                (name, projection.dim, self._budget),
            )
        model = self._named(name)
        assert model is not None
        return model

    def give_up(self, embedder: Embedder) -> None:
        """It gives no token vectors after all."""
        self._without.add(embedder.id)

    def wanting(self, embedder: Embedder, rows: Sequence[int]) -> set[int]:
        """Which of these passages should have tokens and have none."""
        asked = self.lacking(embedder)
        if asked is None:
            return set()
        sql, arguments = asked
        found = self._file.database.rows(
            "SELECT p.rowid FROM passages p JOIN facets f ON f.rowid = p.facet "
            f"WHERE p.rowid IN ({_marks(rows)}) AND {sql}",
            (*rows, *arguments),
        )
        return {row[0] for row in found}

    def completed(self, embedder: Embedder) -> None:
        """None is missing any more: those of other models go."""
        if not self._made():
            return
        projection = self._kept_by(embedder)
        own = self._named(_name(embedder, projection)) if projection else None
        database = self._file.database
        last = int(database.value("SELECT max(rowid) FROM passages") or 0)
        others = database.rows(
            "SELECT rowid FROM token_models WHERE rowid <> ?", (own.rowid if own else 0,)
        )
        if not others and (own is None or own.upto == last):
            return
        with database.write(durable=False) as connection:
            if own is not None:
                connection.execute(
                    "UPDATE token_models SET upto = ? WHERE rowid = ?", (last, own.rowid)
                )
            for model in others:
                _forget(connection, model)

    def behind(self, embedder: Embedder) -> int:
        asked = self.lacking(embedder)
        any_suited = f"SELECT 1 FROM facets f WHERE {SUITED_FACET} LIMIT 1"
        if asked is None or not self._file.database.value(any_suited):
            return 0  # of a root of files alone it is known without looking at them
        model = self._model(embedder)
        sql, arguments = asked
        return int(
            self._file.database.value(
                "SELECT count(*) FROM passages p JOIN facets f ON f.rowid = p.facet "
                f"WHERE p.rowid > ? AND {sql}",
                (model.upto if model else 0, *arguments),
            )
        )

    def sweep(self) -> bool:
        if not self._made():
            return True
        gone = self._file.database.rows(
            "SELECT rowid FROM tokens WHERE hash NOT IN (SELECT hash FROM passages)"
        )
        return self._drop([row[0] for row in gone]) if gone else True

    def _drop(self, rowids: Sequence[int]) -> bool:
        """These rows go; False while another process writes, or when nothing can be written."""
        database = self._file.database
        try:
            with database.patience(_PATIENCE), database.write(durable=False) as connection:
                remove(connection, rowids)
        except (OSError, StoreBusy, StoreFull):
            return False
        return True

    # --- searching -----------------------------------------------------------------------------

    def count(self, embedder: Embedder) -> int:
        model = self._model(embedder)
        return model.texts if model else 0

    def closeness(self, embedder: Embedder, query: TokenVectors) -> Closeness | None:
        model, projection = self._model(embedder), self._kept_by(embedder)
        if model is None or projection is None or not model.texts:
            return None
        from camillo.indexes._closeness import Closeness
        from camillo.numeric import np

        tokens = projection.of(query, embedder.pieces)
        if not len(tokens.ids):
            return None
        weights = self._idf(model, tokens.ids.tolist())
        chosen = np.sort(np.argsort(-weights, kind="stable")[:_COMPARED])
        own = weights[chosen] / weights[chosen].sum()
        return Closeness(self, model.rowid, tokens.vectors[chosen], own, len(weights))

    def _idf(self, model: _Model, ids: Sequence[int]) -> NDArray[float32]:
        """ln(1 + (N - df + ½) / (df + ½)) of each token over the texts that are kept."""
        from camillo.numeric import np

        asked = list(dict.fromkeys(ids))
        df: dict[int, int] = {}
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            sql = f"SELECT id, df FROM token_df WHERE model = ? AND id IN ({_marks(some)})"
            df.update(self._file.database.rows(sql, (model.rowid, *some)))
        counts = np.array([df.get(each, 0) for each in ids], np.float32)
        texts = np.float32(model.texts)
        found: NDArray[float32] = np.log1p(
            (np.maximum(texts, counts) - counts + 0.5) / (counts + 0.5)
        )
        return found

    @contextmanager
    def loaded(self, model: int, dim: int) -> Iterator[LoadedTokens]:
        """What is in memory, brought up to date; inside, the file stays as it is."""
        from camillo.indexes._loaded_tokens import LoadedTokens

        database = self._file.database
        with database.reading():
            columns, stamp = self._file.passages.current(), stamp_of(database)
            held = self._loaded.get(model)
            if held is None or held.columns.generation != columns.generation:
                held = LoadedTokens(columns, dim)
            elif held.stamp != stamp:
                held.follow(columns)
            held.stamp = stamp
            self._loaded = {model: held}
            yield held
            damaged, held.damaged = held.damaged, []
        if damaged:
            self._drop(damaged)  # or not: they are left out anyway

    def load(self, loaded: LoadedTokens, model: int, places: NDArray[int64]) -> None:
        """Have the tokens of these places in memory, where there are any."""
        fresh = loaded.unknown(places)
        if not len(fresh):
            return
        found = self._read(loaded, model, fresh)
        if not loaded.fits([row[1] for row in found]):
            loaded.forget()
            fresh = places
            found = self._read(loaded, model, fresh)
        loaded.take(fresh, *map(list, zip(*found, strict=True)) if found else ([], [], []))

    def _read(
        self, loaded: LoadedTokens, model: int, places: NDArray[int64]
    ) -> list[tuple[int, int, bytes]]:
        """(passage, how many tokens, `data`) of those that have some."""
        rows = loaded.columns.rows[places].tolist()
        found: list[tuple[int, int, bytes]] = []
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            held = self._file.database.rows(
                "SELECT p.rowid, t.rowid, t.count, t.crc, CAST(t.ids AS BLOB), "
                "CAST(t.data AS BLOB) FROM passages p "
                "CROSS JOIN tokens t ON t.hash = p.hash AND t.model = ? "
                f"WHERE p.rowid IN ({_marks(some)})",
                (model, *some),
            )
            for passage, rowid, count, crc, ids, data in held:
                if is_sound(ids, data, count, crc, loaded.dim):
                    found.append((passage, count, data))
                else:
                    loaded.damaged.append(rowid)
        return found

    def sessions(self, facets: Sequence[int]) -> NDArray[int64]:
        """For each of these facets a number for its session, -1 for none."""
        from camillo.numeric import np

        held: dict[int, tuple[str, ...]] = {}
        for start in range(0, len(facets), _AT_ONCE):
            some = facets[start : start + _AT_ONCE]
            rows = self._file.database.rows(
                "SELECT rowid, namespace, scope, session FROM facets "
                f"WHERE rowid IN ({_marks(some)})",
                some,
            )
            held.update((row[0], row[1:]) for row in rows if row[3] != GLOBAL)
        numbers = {session: n for n, session in enumerate(dict.fromkeys(held.values()))}
        return np.array(
            [numbers[held[facet]] if facet in held else -1 for facet in facets], np.int64
        )

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        if self._made():
            with self._file.database.write(durable=False) as connection:
                models: list[Any] = connection.execute("SELECT rowid FROM token_models").fetchall()
                for model in models:
                    _forget(connection, model)
        self._loaded.clear()

    def check(self) -> Health:
        """Reads every row."""
        problems: list[str] = []
        facts: list[tuple[str, str]] = []
        database = self._file.database
        models: list[Any] = []
        if self._made():
            models = database.rows("SELECT rowid, name, dim, texts, tokens FROM token_models")
        for model, name, dim, texts, tokens in models:
            rows = database.rows(
                "SELECT count, crc, CAST(ids AS BLOB), CAST(data AS BLOB) FROM tokens "
                "WHERE model = ?",
                (model,),
            )
            bad = sum(not is_sound(ids, data, count, crc, dim) for count, crc, ids, data in rows)
            if bad:
                problems.append(f"tokens of {bad} texts do not match their checksum")
            else:
                df = dict(database.rows("SELECT id, df FROM token_df WHERE model = ?", (model,)))
                if counted((row[0], row[2]) for row in rows) != (texts, tokens, df):
                    problems.append(f"tokens of {name} are not counted right")
            facts += [("texts", str(len(rows))), ("tokens", str(tokens)), ("model", name)]
        return Health(self.name, tuple(problems), tuple(facts))

    def close(self) -> None:
        """The file is the vault's to close."""

    def _kept_by(self, embedder: Embedder) -> Projection | None:
        """The projection of what is kept of this embedder; None where nothing is."""
        if not self._budget or embedder.id in self._without:
            return None
        return self._projection_of(embedder)

    def _model(self, embedder: Embedder) -> _Model | None:
        projection = self._kept_by(embedder)
        return self._named(_name(embedder, projection)) if projection else None

    def _named(self, name: str) -> _Model | None:
        if not self._made():
            return None
        rows = self._file.database.rows(
            "SELECT rowid, texts, tokens, budget, floor, upto FROM token_models WHERE name = ?",
            (name,),
        )
        return _Model(*rows[0]) if rows else None

    def _made(self) -> bool:
        """Has the file these tables? One of an earlier camillo gets them with the next filling."""
        if not self._there:
            sql = "SELECT 1 FROM sqlite_schema WHERE name = 'token_df'"
            self._there = bool(self._file.database.value(sql))
        return self._there


def _name(embedder: Embedder, projection: Projection) -> str:
    return f"{embedder.id}+{projection.id}"


def _forget(connection: apsw.Connection, model: Sequence[int]) -> None:
    """A model with all that was kept of it."""
    for table in ("tokens", "token_df"):
        connection.execute(f"DELETE FROM {table} WHERE model = ?", model)
    connection.execute("DELETE FROM token_models WHERE rowid = ?", model)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
