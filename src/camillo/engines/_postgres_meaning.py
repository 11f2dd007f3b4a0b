"""Vectors of one space: a table `vectors_<n>` of pgvector's `halfvec` for each model.

Format owned: `models`, `wanting`, `freed` and those tables. A vector is keyed by the hash of the
embedded text, so equal texts have one. `wanting` holds passages since they came in until they have
a vector; what it says is checked against the vectors themselves, so that a crash at any point
repeats nothing. `freed` holds the hashes of texts that a passage ceased to hold, for a sweep.
Below some thousands all vectors are compared; above, an HNSW graph answers, unless the filter
admits so few passages that comparing those is as fast and misses none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import psycopg

from camillo.engines._postgres_connections import Connections, rows, together, value
from camillo.engines._postgres_rows import digest_of, read_text
from camillo.engines._postgres_schema import FAMILY, lock_number
from camillo.engines._postgres_words import admitted
from camillo.errors import StoreBusy
from camillo.model import Filter, Key
from camillo.ports import Model, Store
from camillo.unembedded import Unembedded, embed_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy import float32
    from numpy.typing import NDArray

    from camillo.engines._postgres_connections import Connection
    from camillo.engines._postgres_words import Run
    from camillo.ports import Embedder

__all__ = ["PostgresMeaning", "PostgresNearness"]

GRAPH_FROM = 2_000  # vectors above which a graph is built
FEW = 4_000  # passages up to which those that a filter admits are compared one by one
_BATCH = 256  # texts that are embedded and written together
_LARGE = 30_000  # vectors above which a walk is broader, for as good an answer
_BREADTH_FOR = 200  # nearest that a model's breadth of walk is meant for
_GRAPH = "m = 24, ef_construction = 128"
_MOST_DIM = 4_000  # that a graph takes
_GRAPH_MB = 1_024  # memory for building one, at most
_PATIENCE = "10min"  # that building one waits for transactions of others

_LACKING = (
    'FROM wanting w JOIN passages p ON p."row" = w."row" WHERE w.model = %s AND NOT EXISTS '
    "(SELECT FROM {table} v WHERE v.hash = p.hash)"
)
# The graph is asked in order of distance, and hands out more as long as the filter turns some down.
_BY_GRAPH = (
    "SET LOCAL hnsw.ef_search = {breadth}", "SET LOCAL enable_seqscan = off",
    "SET LOCAL enable_sort = off",
    "SET LOCAL enable_hashjoin = off", "SET LOCAL enable_mergejoin = off",
)  # fmt: skip


class PostgresNearness:
    """The cosine of passages to one query. Each question is one round trip."""

    def __init__(self, run: Run, model: int, asked: str, breadth: int) -> None:
        self._run = run
        self._model = model
        self._table = f"vectors_{model}"
        self._asked = asked
        self._breadth = breadth  # of a walk through the graph; 0 = there is none

    def __len__(self) -> int:
        if not self._model:
            return 0
        sql = (
            "SELECT (SELECT passages FROM totals) + (SELECT coalesce(sum(passages), 0) "
            f"FROM tallies) - (SELECT count(*) {_LACKING.format(table=self._table)})"
        )
        return max(0, int(self._ask(sql, (self._model,))[0][0]))

    def of(self, rows: Sequence[int]) -> list[float | None]:
        sql = (
            f'SELECT p."row", -(v.v <#> %s::halfvec) FROM passages p '
            f'JOIN {self._table} v ON v.hash = p.hash WHERE p."row" = ANY(%s::bigint[])'
        )
        found = dict(self._ask(sql, (self._asked, list(rows)))) if rows else {}
        return [found.get(row) for row in rows]

    def of_texts(self, texts: Sequence[str]) -> list[float | None]:
        hashes = [digest_of(text) for text in texts]
        sql = (
            f"SELECT v.hash, -(v.v <#> %s::halfvec) FROM {self._table} v "
            "WHERE v.hash = ANY(%s::bytea[])"
        )
        found = dict(self._ask(sql, (self._asked, hashes))) if hashes else {}
        return [found.get(each) for each in hashes]

    def best(self, k: int, filter: Filter) -> list[tuple[int, float]]:
        if not self._model:
            return []
        clause, arguments = admitted(filter)
        few = f"SELECT count(*) FROM (SELECT FROM passages p WHERE {clause} LIMIT {FEW + 1}) each"
        if self._breadth and self._ask(few, arguments)[0][0] > FEW:
            found = self._nearest(clause, arguments, k, graph=True)
            if len(found) >= k:
                return found
        return self._nearest(clause, arguments, k, graph=False)

    def _nearest(
        self, clause: str, arguments: Sequence[Any], k: int, *, graph: bool
    ) -> list[tuple[int, float]]:
        # Without the graph the distance is hidden from the planner's eyes, or it would use it.
        order = "v.v <#> %s::halfvec" if graph else "(v.v <#> %s::halfvec) + 0"
        sql = (
            f'SELECT p."row", {order} AS far FROM {self._table} v '
            f"JOIN passages p ON p.hash = v.hash WHERE {clause} ORDER BY {order} LIMIT %s"
        )
        values = (self._asked, *arguments, self._asked, k)
        breadth = max(k, self._breadth * k // _BREADTH_FOR)
        settings = [each.format(breadth=breadth) for each in _BY_GRAPH] if graph else ()
        found = self._ask(sql, values, settings)
        return sorted(((row, -far) for row, far in found), key=lambda each: (-each[1], each[0]))

    def _ask(self, sql: str, arguments: Sequence[Any], settings: Sequence[str] = ()) -> list[Any]:
        if not self._model:
            return []
        statements: list[tuple[str, Sequence[Any]]] = [(sql, arguments)]
        if settings:
            sets = [(setting, ()) for setting in settings]
            statements = [("BEGIN", ()), *sets, *statements, ("COMMIT", ())]
        return self._run(lambda c: _answer(c, statements))  # type: ignore[no-any-return]


class PostgresMeaning:
    """`run` hands out a connection; `alone` one whose transaction keeps all other writers out."""

    def __init__(
        self,
        connections: Connections,
        space: str,
        run: Run,
        alone: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._connections = connections
        self._lock = (FAMILY, lock_number(space, "fill"))
        self._shared = (FAMILY, lock_number(space, "write"))
        self._run = run
        self._alone = alone
        self._known: dict[str, tuple[int, int]] = {}  # name -> number, breadth

    # --- asking --------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        found = self._run(lambda c: rows(c, _MODELS))
        self._known = {row[1]: (row[0], row[5]) for row in found}
        return [Model(*row[1:5]) for row in found]

    def missing(self, embedder: Embedder) -> int:
        model = self._model(embedder)
        if not model:
            sql = "SELECT count(DISTINCT hash) FROM passages"
            return int(self._run(lambda c: value(c, sql)))
        sql = f"SELECT count(DISTINCT p.hash) {_LACKING.format(table=f'vectors_{model}')}"
        return int(self._run(lambda c: value(c, sql, (model,))))

    def count(self, embedder: Embedder) -> int:
        model = self._model(embedder)
        if not model:
            return 0
        return int(self._run(lambda c: value(c, f"SELECT count(*) FROM vectors_{model}")))

    def nearness(self, embedder: Embedder, vector: NDArray[float32]) -> PostgresNearness:
        if embedder.id not in self._known:
            self.models()
        model, breadth = self._known.get(embedder.id, (0, 0))
        return PostgresNearness(self._run, model, _literal([vector])[0], breadth)

    def _model(self, embedder: Embedder) -> int:
        sql = "SELECT number FROM models WHERE name = %s"
        return int(self._run(lambda c: value(c, sql, (embedder.id,))) or 0)

    # --- filling -------------------------------------------------------------------------------

    def fill(
        self,
        store: Store,
        embedder: Embedder,
        made_with: str,
        *,
        at_most: int | None = None,
        told: Callable[[int], None] = lambda done: None,
    ) -> int:
        """One process at a time: another one only says how many are left."""
        with self._connections.translated(), self._connections.lent() as (connection, _):
            mine = "SELECT pg_try_advisory_lock(%s::integer, %s::integer)"
            if not value(connection, mine, self._lock):
                return self.missing(embedder)
            try:
                return self._fill(connection, store, embedder, made_with, at_most, told)
            finally:
                if not connection.closed:
                    unlock = "SELECT pg_advisory_unlock(%s::integer, %s::integer)"
                    rows(connection, unlock, self._lock)

    def _fill(
        self,
        connection: Connection,
        store: Store,
        embedder: Embedder,
        made_with: str,
        at_most: int | None,
        told: Callable[[int], None],
    ) -> int:
        model = self._model(embedder) or self._make(embedder, made_with)
        embed_all(
            lambda after: _wanting(connection, model, after),
            lambda batch, vectors: self._write(connection, model, batch, vectors),
            digest_of,
            store,
            embedder,
            at_most=at_most,
            told=told,
        )
        left = self.missing(embedder)
        if not left:
            self._completed(connection, model, embedder)
        return left

    def _write(
        self,
        connection: Connection,
        model: int,
        batch: Sequence[Unembedded],
        vectors: NDArray[float32],
    ) -> int:
        """Keep the vectors; how many. That of a text which was forgotten meanwhile is not kept."""
        hashes = [each.hash for each in batch]
        done = [each.row for each in batch]
        answers = together(connection, [
            ("BEGIN", ()), ("SET LOCAL synchronous_commit = off", ()),
            ("SELECT pg_advisory_xact_lock_shared(%s::integer, %s::integer)", self._shared),
            (_KEEP.format(table=f"vectors_{model}"), (hashes, _literal(vectors))),
            ('DELETE FROM wanting WHERE model = %s AND "row" = ANY(%s::bigint[])', (model, done)),
            ("COMMIT", ()),
        ])  # fmt: skip
        return len(answers[3])

    def _make(self, embedder: Embedder, made_with: str) -> int:
        """A new model's table; all passages are wanting."""
        with self._alone() as connection:
            made = (
                "INSERT INTO models(name, dim, made_with) VALUES (%s, %s, %s) "
                "ON CONFLICT (name) DO NOTHING RETURNING number"
            )
            model = value(connection, made, (embedder.id, embedder.dim, made_with))
            if model is not None:
                rows(connection, f"CREATE TABLE vectors_{model}(hash bytea PRIMARY KEY, "
                     f"v halfvec({embedder.dim}) NOT NULL)")  # fmt: skip
                rows(connection, f"ALTER TABLE vectors_{model} ALTER COLUMN v SET STORAGE PLAIN")
                rows(connection, 'INSERT INTO wanting SELECT %s, "row" FROM passages', (model,))
        return int(model) if model is not None else self._model(embedder)

    def _completed(self, connection: Connection, model: int, embedder: Embedder) -> None:
        """From now on searches use this model; vectors of others go."""
        lacking = f'SELECT p."row" {_LACKING.format(table=f"vectors_{model}")}'
        satisfied = f'DELETE FROM wanting WHERE model = %s AND "row" NOT IN ({lacking})'
        rows(connection, satisfied, (model, model))
        self._build_graph(connection, model, embedder.dim)
        self._known.clear()
        known = rows(connection, "SELECT number, complete FROM models")
        if known == [(model, True)]:
            return
        # What was written in bulk is unknown to the planner until the server looks by itself.
        rows(connection, f"ANALYZE passages, facets, sessions, sources, memories, vectors_{model}")
        with self._alone() as alone:
            others = [row[0] for row in rows(alone, "SELECT number FROM models WHERE number <> %s",
                                             (model,))]  # fmt: skip
            rows(alone, "UPDATE models SET complete = true WHERE number = %s", (model,))
            for other in others:
                rows(alone, f"DROP TABLE IF EXISTS vectors_{other}")
            rows(alone, "DELETE FROM wanting WHERE model = ANY(%s::integer[])", (others,))
            rows(alone, "DELETE FROM models WHERE number = ANY(%s::integer[])", (others,))

    def _build_graph(self, connection: Connection, model: int, dim: int) -> None:
        """Other writers go on meanwhile; one that was broken off is built anew."""
        name = f"vectors_{model}_near"
        sound = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
        state = value(connection, sound, (name,))
        count = int(value(connection, f"SELECT count(*) FROM vectors_{model}"))
        if state or count < GRAPH_FROM or dim > _MOST_DIM:
            return
        if state is False:
            rows(connection, f"DROP INDEX CONCURRENTLY {name}")
        needed = count * (2 * dim + 400) * 3 // 2 // 2**20 + 64
        former = rows(connection, "SELECT current_setting('maintenance_work_mem'), "
                      "current_setting('lock_timeout')")[0]  # fmt: skip
        sets = (
            "SELECT set_config('maintenance_work_mem', %s, false), "
            "set_config('lock_timeout', %s, false)"
        )
        rows(connection, sets, (f"{min(_GRAPH_MB, needed)}MB", _PATIENCE))
        try:
            rows(connection, f"CREATE INDEX CONCURRENTLY {name} ON vectors_{model} "
                 f"USING hnsw (v halfvec_ip_ops) WITH ({_GRAPH})")  # fmt: skip
        except psycopg.errors.LockNotAvailable:  # without it all are compared; next time
            pass
        rows(connection, sets, former)

    # --- care ----------------------------------------------------------------------------------

    def sweep(self) -> bool:
        try:
            if not self._run(lambda c: value(c, "SELECT EXISTS (SELECT FROM freed)")):
                return True
            with self._alone() as connection:  # nobody writes the same text at this moment
                for (model,) in rows(connection, "SELECT number FROM models"):
                    rows(connection, f"DELETE FROM vectors_{model} v USING freed f "
                         "WHERE v.hash = f.hash AND NOT EXISTS "
                         "(SELECT FROM passages p WHERE p.hash = f.hash)")  # fmt: skip
                rows(connection, "DELETE FROM freed")
        except StoreBusy:
            return False
        return True


_MODELS = f"""
SELECT m.number, m.name, m.dim, m.made_with, m.complete,
    CASE WHEN (SELECT indisvalid FROM pg_index
        WHERE indexrelid = to_regclass('vectors_' || m.number || '_near')) THEN
        CASE WHEN (SELECT reltuples FROM pg_class
            WHERE oid = to_regclass('vectors_' || m.number)) > {_LARGE} THEN 300 ELSE 200 END
    ELSE 0 END
FROM models m ORDER BY m.number
"""
_NEXT = """
SELECT p."row", f.namespace, f.scope, coalesce(s.name, ''), p.id, p.number, p.hash
FROM wanting w JOIN passages p ON p."row" = w."row" JOIN facets f ON f.number = p.facet
LEFT JOIN sessions s ON s.number = p.session
WHERE w.model = %s AND w."row" > %s
    AND NOT EXISTS (SELECT FROM {table} v WHERE v.hash = p.hash)
ORDER BY w."row" LIMIT %s
"""
_KEEP = """
INSERT INTO {table} SELECT u.hash, u.v::halfvec FROM unnest(%s::bytea[], %s::text[]) u(hash, v)
WHERE EXISTS (SELECT FROM passages p WHERE p.hash = u.hash) ON CONFLICT (hash) DO NOTHING
RETURNING 1
"""


def _answer(connection: Connection, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
    """The rows of the one statement that gives some."""
    try:
        if len(statements) == 1:
            return rows(connection, *statements[0])
        return next(filter(None, together(connection, statements)), [])
    except psycopg.errors.UndefinedTable:  # another model was completed meanwhile
        return []


def _wanting(connection: Connection, model: int, after: int) -> list[Unembedded]:
    """The next passages without a vector."""
    sql = _NEXT.format(table=f"vectors_{model}")
    return [
        Unembedded(row[0], Key(*map(read_text, row[1:5])), row[5], row[6])
        for row in rows(connection, sql, (model, after, _BATCH))
    ]


def _literal(vectors: Any) -> list[str]:
    """Each as pgvector reads it; a half has three digits and a bit."""
    form = f"[{','.join(['%.5g'] * len(vectors[0]))}]" if len(vectors) else ""
    return [form % tuple(vector.tolist()) for vector in vectors]
