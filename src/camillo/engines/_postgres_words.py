"""Words of one space: which passages hold which tokens, written in the transaction of the memories.

Format owned: `passages`, `terms`, `totals`, `tallies`. A token lies in `passages.tokens`
as one integer: 61 bits of its hash, and 3 for how often it stands in the passage. So the index
alone says which passages hold a word and how often, and BM25 is computed without reading a text.
How many passages hold a token is counted without one writer waiting for another: each call adds one
row to `tallies`, and from time to time whoever is free adds those up into `terms` and `totals`.
It nominates; scoring is the pipeline's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b

from camillo.engines._postgres_connections import rows, together, value
from camillo.engines._postgres_rows import (
    after,
    asked,
    demand_times,
    digest_of,
    read_text,
    written,
)
from camillo.model import GLOBAL, INTERNAL_KINDS, Filter, Key, Memory
from camillo.ports import Hit
from camillo.text.passages import PassageText, passages
from camillo.text.tokens import TOKENISER_VERSION, token_text, word_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.engines._postgres_connections import Connection

    Labels = dict[tuple[str, ...], int]  # (table, what it says …) -> its number there
    Run = Callable[[Callable[[Connection], Any]], Any]

__all__ = [
    "RULES",
    "LabelTable",
    "PostgresWords",
    "add_passages",
    "admitted",
    "begin_anew",
    "compact",
    "remove_passages",
]

RULES = str(TOKENISER_VERSION)  # by which the rows here were made

K1, B = 1.2, 0.75  # of BM25, as the pipeline scores
_LABELS = 50_000  # that are kept
_KEPT = 200_000  # tokens whose numbers are kept: some 30 MB
# A value leaves its row, which is then fast to pass over, only where the row has more than 2 kB.
# Shorter lists of tokens are filled up with their first one, which takes no room when compressed.
_LONG_ROW = 256
_CROWDED = 32  # rows of `tallies` …
_LONG = 1_000  # … or tokens in them, above which they are added up

# How often a token stands in a passage, by the lowest three bits of its number: 1, 2, 3, 4 or 5 …
_TIMES = (1.0, 2.0, 3.0, 4.5, 7.0, 11.0, 20.0, 40.0)
_FROM = (1, 2, 3, 4, 6, 9, 15, 30)
_BUCKET = [bisect_right(_FROM, max(times, 1)) - 1 for times in range(31)]

_ADD = f"""
WITH taken AS MATERIALIZED (SELECT take_rows(%s::bigint) AS first),
added AS (
    INSERT INTO passages("row", seq, number, facet, session, source, words, archived, id,
        happened_at, hash, held, tokens)
    SELECT taken.first + u.at - 1, u.seq, u.number, u.facet, u.session, u.source, u.words,
        u.archived, u.id, u.happened_at, u.hash, cardinality(t.tokens),
        t.tokens || array_fill(t.tokens[1], ARRAY[CASE WHEN cardinality(t.tokens) > 0
            THEN greatest({_LONG_ROW} - cardinality(t.tokens), 0) ELSE 0 END])
    FROM taken, unnest(%s::bigint[], %s::integer[], %s::integer[], %s::integer[], %s::integer[],
        %s::integer[], %s::boolean[], %s::text[], %s::text[], %s::bytea[], %s::text[])
        WITH ORDINALITY u(seq, number, facet, session, source, words, archived, id, happened_at,
            hash, tokens, at),
        LATERAL (SELECT u.tokens::bigint[] AS tokens OFFSET 0) t
    RETURNING "row", words, held, tokens),
marked AS (INSERT INTO wanting SELECT m.number, a."row" FROM models m, added a)
INSERT INTO tallies SELECT n.passages, n.words, coalesce(k.keys, '{{}}'), coalesce(k.counts, '{{}}')
FROM (SELECT count(*) AS passages, coalesce(sum(words), 0) AS words FROM added) n,
    (SELECT array_agg(key) AS keys, array_agg(times) AS counts FROM (
        SELECT token & -8 AS key, count(*) AS times FROM added, unnest(tokens[1:held]) token
        GROUP BY 1
    ) each) k
"""
_REMOVE = """
WITH gone AS (
    DELETE FROM passages WHERE seq = ANY(%s::bigint[]) RETURNING "row", words, hash, held, tokens),
unmarked AS (DELETE FROM wanting WHERE "row" IN (SELECT "row" FROM gone)),
freed AS (INSERT INTO freed SELECT hash FROM gone WHERE EXISTS (SELECT FROM models))
INSERT INTO tallies SELECT -n.passages, -n.words, coalesce(k.keys, '{}'), coalesce(k.counts, '{}')
FROM (SELECT count(*) AS passages, coalesce(sum(words), 0) AS words FROM gone) n,
    (SELECT array_agg(key) AS keys, array_agg(-times) AS counts FROM (
        SELECT token & -8 AS key, count(*) AS times FROM gone, unnest(tokens[1:held]) token
        GROUP BY 1
    ) each) k
WHERE n.passages > 0
"""
_SIZE = """
SELECT (SELECT passages FROM totals) + coalesce(sum(passages), 0)::bigint AS passages,
    (SELECT words FROM totals) + coalesce(sum(words), 0)::bigint AS words FROM tallies
"""
_DF = """
SELECT key, sum(n)::bigint AS n FROM (
    SELECT key, n FROM terms WHERE key = ANY(%s::bigint[])
    UNION ALL
    SELECT u.key, u.n FROM tallies, unnest(keys, counts) u(key, n) WHERE u.key = ANY(%s::bigint[])
) each GROUP BY key
"""
_BUCKETS = ", ".join(f"({number}, {times}::real)" for number, times in enumerate(_TIMES))
# OFFSET 0 keeps the filter from leading: what holds the tokens is found first, then filtered.
_NOMINATED = f"""
WITH size AS MATERIALIZED ({_SIZE}),
asked AS MATERIALIZED (
    SELECT (df.key | b.bits)::bigint AS token, b.times,
        (ln(1 + (size.passages - df.n + 0.5) / (df.n + 0.5)))::real * b.times AS gain
    FROM ({_DF}) df, size, (VALUES {_BUCKETS}) b(bits, times)
    WHERE df.n > 0 AND df.n <= size.passages),
slope AS MATERIALIZED (
    SELECT ({K1} * {B} * passages / greatest(words, 1))::real AS each_word FROM size)
SELECT p."row", sum(p.part) AS score FROM (
    SELECT p."row", p.facet, p.session, p.source, p.archived, p.happened_at,
        a.gain / (a.times + {K1 * (1 - B):.3f}::real + slope.each_word * p.words) AS part
    FROM asked a CROSS JOIN slope JOIN passages p ON p.tokens @> ARRAY[a.token]
    OFFSET 0) p
"""
_BEST_FIRST = 'GROUP BY p."row" ORDER BY score DESC, p."row" LIMIT %s'
_HITS = """
SELECT p."row", f.namespace, f.scope, s.name, p.id, p.number FROM passages p
JOIN facets f ON f.number = p.facet LEFT JOIN sessions s ON s.number = p.session
"""
_CROWD = "SELECT count(*), coalesce(sum(cardinality(keys)), 0) FROM tallies"
_COMPACT = """
WITH taken AS (DELETE FROM tallies RETURNING passages, words, keys, counts),
sums AS (SELECT key, sum(n)::bigint AS n FROM taken, unnest(keys, counts) u(key, n)
    GROUP BY key HAVING sum(n) <> 0 ORDER BY key),
added AS (INSERT INTO terms SELECT key, n FROM sums
    ON CONFLICT (key) DO UPDATE SET n = terms.n + excluded.n RETURNING key, n),
total AS (UPDATE totals SET passages = totals.passages + t.passages, words = totals.words + t.words
    FROM (SELECT coalesce(sum(passages), 0) AS passages, coalesce(sum(words), 0) AS words
        FROM taken) t)
SELECT key FROM added WHERE n = 0
"""


class LabelTable:
    """Numbers of what many passages share. A new one is committed at once, by a connection of its
    own, so that no writer waits for another; one that is never used does no harm."""

    def __init__(self) -> None:
        self._known: Labels = {}

    def of(self, memories: Iterable[Memory], run: Run) -> Labels:
        """Those that these memories need."""
        known = self._known
        wanted = {label for memory in memories for label in _labels(memory)}
        missing = sorted(label for label in wanted if label not in known)
        if missing and len(known) > _LABELS:
            self._known = known = {each: known[each] for each in wanted if each in known}
        for table in _TABLES:
            new = [label for label in missing if label[0] == table]
            if new:
                known.update(run(partial(_label, table=table, labels=new)))
        return {label: known[label] for label in wanted}


def _labels(memory: Memory) -> list[tuple[str, ...]]:
    if memory.kind in INTERNAL_KINDS:
        return []
    place = memory.place
    found: list[tuple[str, ...]] = [
        ("facets", memory.namespace, memory.scope, memory.kind, place.wing, place.room)
    ]
    if memory.session != GLOBAL:
        found.append(("sessions", memory.session))
    if memory.origin is not None:
        found.append(("sources", memory.origin.source))
    return found


_TABLES = ("facets", "sessions", "sources")
_COLUMNS = {"facets": ("namespace", "scope", "kind", "wing", "room")}


def _label(
    connection: Connection, table: str, labels: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], int]:
    digests = {digest_of(*label[1:]): label for label in labels}
    ask = f"SELECT digest, number FROM {table} WHERE digest = ANY(%s::bytea[])"
    found = dict(rows(connection, ask, (sorted(digests),)))
    new = sorted(digests.keys() - found.keys())  # in order: two that insert the same never cross
    if new:
        columns = _COLUMNS.get(table, ("name",))
        values = [[written(digests[digest][n]) for digest in new]
                  for n in range(1, len(columns) + 1)]  # fmt: skip
        arrays = ", ".join(["%s::bytea[]", *["%s::text[]"] * len(columns)])
        insert = (
            f"INSERT INTO {table}(digest, {', '.join(columns)}) SELECT * FROM unnest({arrays}) "
            "ON CONFLICT (digest) DO NOTHING"
        )
        _, kept = together(connection, [(insert, (new, *values)), (ask, (new,))])
        found.update(kept)
    return {label: found[digest] for digest, label in digests.items()}


# --- taking in --------------------------------------------------------------------------------


def add_passages(
    written_: Sequence[tuple[int, Memory]], labels: Labels
) -> list[tuple[str, Sequence[Any]]]:
    """The statement that adds the passages of memories under their numbers; [] for none."""
    columns: list[list[Any]] = [[] for _ in range(11)]
    for seq, memory in written_:
        if memory.kind in INTERNAL_KINDS:
            continue
        numbers = {label[0]: labels[label] for label in _labels(memory)}
        facet, session, source = (numbers.get(table, 0) for table in _TABLES)
        for passage in passages(memory):
            row = (
                seq, passage.number, facet, session, source, word_count(passage.text),
                bool(memory.archived), memory.id, written(memory.happened_at) or None,
                digest_of(passage.embedded), _tokens(passage),
            )  # fmt: skip
            for column, each in zip(columns, row, strict=True):
                column.append(each)
    if not columns[0]:
        return []
    columns[7] = list(map(written, columns[7]))
    return [(_ADD, (len(columns[0]), *columns))]


def remove_passages(seqs: Sequence[int]) -> tuple[str, Sequence[Any]]:
    """The statement that takes back what versions held. Their vectors are left to a sweep."""
    return _REMOVE, (seqs,)


def begin_anew(connection: Connection) -> None:
    """Throw all of it away, for the memories to be added again by the rules of today."""
    rows(connection, "TRUNCATE passages, terms, tallies, wanting")
    rows(connection, "UPDATE totals SET passages = 0, words = 0")
    rows(
        connection,
        "INSERT INTO meta VALUES ('rules', %s) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (RULES,),
    )


def compact(connection: Connection, lock: Sequence[int]) -> None:
    """Add the tallies up, when they are many and nobody else does."""
    count, length = rows(connection, _CROWD)[0]
    if count < _CROWDED and length < _LONG:
        return
    with connection.transaction():
        if value(connection, "SELECT pg_try_advisory_xact_lock(%s::integer, %s::integer)", lock):
            connection.execute("SET LOCAL synchronous_commit = off")
            empty = [row[0] for row in rows(connection, _COMPACT)]
            if empty:
                sql = "DELETE FROM terms WHERE n = 0 AND key = ANY(%s::bigint[])"
                rows(connection, sql, (empty,))


class _Numbers(dict[str, int]):
    """Token -> its number, the lowest three bits 0. Filled on demand."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _KEPT:
            self.clear()
        digest = blake2b(token.encode(), digest_size=8).digest()
        self[token] = number = int.from_bytes(digest, "big", signed=True) & -8
        return number


_NUMBERS = _Numbers()


def _tokens(passage: PassageText) -> str:
    """The tokens of a passage as a PostgreSQL array of numbers."""
    counts: Counter[str] = Counter()
    for text in (passage.title, passage.summary, passage.body):
        if text:
            counts.update(token_text(text).split())
    numbers = [_NUMBERS[token] | _BUCKET[min(times, 30)] for token, times in counts.items()]
    return f"{{{','.join(map(str, numbers))}}}"


# --- nominating -------------------------------------------------------------------------------


class PostgresWords:
    """`run` hands out a connection: that of the transaction which is open, or any."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def size(self) -> tuple[int, int]:
        passages, words = self._run(lambda c: rows(c, _SIZE))[0]
        return int(passages), int(words)

    def df(self, tokens: Iterable[str]) -> dict[str, int]:
        numbers = {token: _number(token) for token in tokens}
        keys = list(numbers.values())
        found = dict(self._run(lambda c: rows(c, _DF, (keys, keys)))) if keys else {}
        return {token: found.get(number, 0) for token, number in numbers.items()}

    def keyword(self, tokens: Sequence[str], k: int, filter: Filter) -> list[tuple[int, float]]:
        if not tokens:
            return []
        keys = sorted({_number(token) for token in tokens})
        clause, arguments = admitted(filter)
        sql = f"{_NOMINATED} WHERE {clause} {_BEST_FIRST}"
        found = self._run(lambda c: rows(c, sql, (keys, keys, *arguments, k)))
        return [(row, float(score)) for row, score in found]

    def hits(self, chosen: Sequence[tuple[int, float]]) -> list[Hit]:
        if not chosen:
            return []
        asked_for = [row for row, _ in chosen]
        sql = f'{_HITS} WHERE p."row" = ANY(%s::bigint[])'
        found = self._run(lambda c: rows(c, sql, (asked_for,)))
        held = {row[0]: (_key(row[1:5]), row[5]) for row in found}
        return [Hit(*held[row], score, row) for row, score in chosen if row in held]

    def occurrences(self, tokens: Sequence[str]) -> None:
        """The server's postings are not this process's memory: `keyword` is cheaper."""
        return

    def conversations(self) -> bool:
        return bool(self._run(lambda c: value(c, "SELECT EXISTS (SELECT FROM sessions)")))

    def kinds(self) -> frozenset[str]:
        found = self._run(lambda c: rows(c, "SELECT DISTINCT kind FROM facets"))
        return frozenset(read_text(row[0]) for row in found)

    def same_text(self, texts: Sequence[str]) -> list[Key]:
        hashes = sorted({digest_of(text) for text in texts})
        sql = f"{_HITS} WHERE p.hash = ANY(%s::bytea[])"
        found = self._run(lambda c: rows(c, sql, (hashes,)))
        return list(dict.fromkeys(_key(row[1:5]) for row in found))


def admitted(filter: Filter) -> tuple[str, list[Any]]:
    """The filter as SQL over a passage `p`."""
    clauses: list[str] = []
    arguments: list[Any] = []

    def demand(clause: str, *values: Any) -> None:
        clauses.append(clause)
        arguments.extend(values)

    columns = ("namespace", "scope", "wing", "room")
    given = [column for column in columns if getattr(filter, column) is not None]
    facets = [f"{column} = %s" for column in given]
    values: list[Any] = [asked(getattr(filter, column)) for column in given]
    if filter.kinds is not None:
        facets.append("kind = ANY(%s::text[])")
        values.append([asked(kind) for kind in filter.kinds])
    if facets:
        demand(f"p.facet IN (SELECT number FROM facets WHERE {' AND '.join(facets)})", *values)
    _demand_session(filter, demand)
    if filter.source is not None:
        demand("p.source = (SELECT number FROM sources WHERE digest = %s)",
               digest_of(filter.source))  # fmt: skip
    if filter.under:
        prefix = asked(filter.under)
        short = prefix[:200]
        demand(
            "p.source IN (SELECT number FROM sources WHERE left(name, 200) >= %s "
            "AND left(name, 200) < %s AND name >= %s AND name < %s)",
            short, after(short), prefix, after(prefix),
        )  # fmt: skip
    demand_times(filter, "p", demand)
    if not filter.archived:
        demand("NOT p.archived")
    return " AND ".join(clauses) or "true", arguments


def _demand_session(filter: Filter, demand: Callable[..., None]) -> None:
    mode, name = filter.session
    if mode == "global" or (mode != "any" and name == GLOBAL):
        demand("p.session = 0")
    elif mode != "any":
        own = "p.session = (SELECT number FROM sessions WHERE digest = %s)"
        clause = own if mode == "only" else f"(p.session = 0 OR {own})"
        demand(clause, digest_of(name))


def _number(token: str) -> int:
    try:
        return _NUMBERS[token]
    except UnicodeEncodeError:  # half a surrogate pair: in no passage
        return 1  # no token has such a number


def _key(texts: Sequence[str | None]) -> Key:
    return Key(*(read_text(text or "") for text in texts))
