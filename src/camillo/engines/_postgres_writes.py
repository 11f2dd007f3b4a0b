"""One write of one space: what it changes, found out and then carried out, each in one round trip.

Who may write beside whom, and what is said of it afterwards, is left to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.engines._postgres_connections import together
from camillo.engines._postgres_rows import COLUMNS, TYPES, key_digest, row_of
from camillo.engines._postgres_transactions import BASE, Crossed, Transaction
from camillo.engines._postgres_words import add_passages, remove_passages
from camillo.model import Key, Memory, Outcome
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.engines._postgres_connections import Connection
    from camillo.engines._postgres_words import Labels

__all__ = ["Plan", "write"]

_ALL = ", ".join(f"m.{column}" for column in COLUMNS)
_CREATED, _UPDATED = COLUMNS.index("created"), COLUMNS.index("updated")
_LOCK_ROWS = (
    "SELECT key, seq, hash, created FROM memories WHERE key = ANY(%s::bytea[]) "
    "ORDER BY key FOR UPDATE"
)
_INSERT = (
    f"INSERT INTO memories(seq, {', '.join(COLUMNS)}) SELECT * FROM unnest(%s::bigint[], "
    f"{', '.join(f'%s::{type_}[]' for type_ in TYPES)}) ON CONFLICT (key) DO NOTHING"
)
_RETIRE = (
    f"INSERT INTO retired(seq, former, erased, {', '.join(COLUMNS)}) "
    f"SELECT n.number, m.seq, n.erased, {_ALL} FROM memories m JOIN "
    "unnest(%s::bigint[], %s::bigint[], %s::boolean[]) n(former, number, erased) "
    "ON m.seq = n.former"
)


class Plan(NamedTuple):
    """What one call writes: former versions that go (number of each, is it erased?), rows with
    their numbers, what becomes of each memory, and which of the keys that are to go were there."""

    retired: dict[int, tuple[int, bool]]
    rows: dict[bytes, tuple[int, list[Any], Memory]]
    outcomes: list[Outcome]
    gone: list[Key]


def write(
    held: Transaction,
    labels: Labels,
    memories: Sequence[Memory],
    gone: Sequence[Key],
    *,
    now: int,
    erase: bool = False,
) -> Plan:
    """In the transaction. `now` in milliseconds; `erase`: no byte of what goes may be left by
    `scrub`. Raises Crossed."""
    fresh = [(memory, row_of(memory)) for memory in memories]
    going = {key_digest(key): key for key in gone}
    there = _lock_rows(held, [*(row[0] for _, row in fresh), *going])
    plan = Plan({}, {}, [], [])
    for digest, key in going.items():
        if digest in there:
            plan.retired[there[digest][0]] = (held.take_number(), erase)
            plan.gone.append(key)
    for memory, row in fresh:
        plan.outcomes.append(_planned(held, plan, there.get(row[0]), memory, row, now))
    _carry_out(held, plan, labels)
    return plan


def _planned(
    held: Transaction,
    plan: Plan,
    there: tuple[int, bytes, int] | None,
    memory: Memory,
    row: list[Any],
    now: int,
) -> Outcome:
    key = row[0]
    planned = plan.rows.get(key)
    former = planned[1][-1] if planned else there and there[1]
    if former == row[-1]:
        return Outcome("deduplicated", memory.key)
    if former is None:
        row[_CREATED] = memory.created or now
        plan.rows[key] = (held.take_number(), row, memory)
        return Outcome("stored", memory.key)
    row[_UPDATED] = now
    if planned:  # twice in one call: nobody ever sees the first
        row[_CREATED] = planned[1][_CREATED]
        plan.rows[key] = (planned[0], row, memory)
    else:
        assert there is not None
        row[_CREATED] = there[2]
        plan.retired[there[0]] = (held.take_number(), False)
        plan.rows[key] = (held.take_number(), row, memory)
    return Outcome("updated", memory.key)


def _lock_rows(held: Transaction, keys: Iterable[bytes]) -> dict[bytes, tuple[int, bytes, int]]:
    """Key -> (number, hash, created) of what is there, kept from others until the end. Always
    in the order of the keys, so that no two writers wait for each other."""
    wanted = sorted(set(keys))
    base, there = together(held.connection, [(BASE, ()), (_LOCK_ROWS, (wanted,))])
    held.base = base[0][0]
    return {key: (seq, hash_, created) for key, seq, hash_, created in there}


def _carry_out(held: Transaction, plan: Plan, labels: Labels) -> None:
    statements: list[tuple[str, Sequence[Any]]] = []
    if plan.retired:
        seqs = list(plan.retired)
        numbers, erased = zip(*plan.retired.values(), strict=True)
        statements += [
            (_RETIRE, (seqs, list(numbers), list(erased))),
            remove_passages(seqs),
            ("DELETE FROM memories WHERE seq = ANY(%s::bigint[])", (seqs,)),
        ]
    if plan.rows:
        in_order = sorted(plan.rows.values(), key=lambda each: bytes(each[1][0]))
        seqs = [seq for seq, _, _ in in_order]
        columns = map(list, zip(*(row for _, row, _ in in_order), strict=True))
        statements.append((_INSERT, (seqs, *columns)))
        by_number = [(seq, memory) for seq, _, memory in sorted(plan.rows.values(), key=_first)]
        statements += add_passages(by_number, labels)
    if not statements:
        return
    written_ = _counts(held.connection, statements)
    at = next((n for n, (sql, _) in enumerate(statements) if sql is _INSERT), None)
    if at is not None and written_[at] != len(plan.rows):
        raise Crossed


def _counts(connection: Connection, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[int]:
    """How many rows each statement wrote, in one round trip."""
    with connection.pipeline():
        cursors = [connection.execute(sql.encode(), values) for sql, values in statements]
    return [cursor.rowcount for cursor in cursors]


def _first(row: Sequence[Any]) -> int:
    number: int = row[0]
    return number
