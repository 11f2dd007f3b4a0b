"""`index.db`: belongs to one store, is thrown away when anything about it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from camillo.model import Filter, Session
from camillo.registry import open_index_file


def _open(path: Path, identity: str = "store-1") -> Any:
    return open_index_file(str(path / "index" / "index.db"), identity)


def _mark(file: Any) -> None:
    with file.database.write() as connection:
        connection.execute("INSERT INTO sources(name) VALUES ('kept')")


def _is_marked(file: Any) -> bool:
    return bool(file.database.value("SELECT count(*) FROM sources"))


def test_it_is_made_with_its_folder_and_kept(tmp_path: Path) -> None:
    file = _open(tmp_path)
    _mark(file)
    file.close()
    again = _open(tmp_path)
    assert _is_marked(again)
    again.close()


@pytest.mark.promise(4)
def test_one_of_another_store_is_thrown_away(tmp_path: Path) -> None:
    file = _open(tmp_path)
    _mark(file)
    file.close()
    other = _open(tmp_path, "store-2")
    assert not _is_marked(other)
    other.close()


@pytest.mark.promise(3)
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE meta SET value = 99 WHERE key = 'format'",
        "DELETE FROM meta WHERE key = 'store'",
        "DROP TABLE meta",
        "PRAGMA user_version = 99",
    ],
)
def test_one_of_another_form_is_thrown_away(tmp_path: Path, sql: str) -> None:
    file = _open(tmp_path)
    _mark(file)
    file.close()
    connection = apsw.Connection(str(tmp_path / "index" / "index.db"))
    connection.execute(sql).fetchall()
    connection.close()
    again = _open(tmp_path)
    assert not _is_marked(again)
    again.close()


@pytest.mark.promise(3)
@pytest.mark.parametrize(
    "content", [b"", b"x", b"no database " * 3000, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_one_that_is_no_database_is_thrown_away(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "index.db").write_bytes(content)
    file = _open(tmp_path)
    _mark(file)
    file.close()
    again = _open(tmp_path)
    assert _is_marked(again)
    again.close()


@pytest.mark.promise(3)
def test_another_handle_goes_on_after_a_rebuild(tmp_path: Path) -> None:
    """As another process would: the file is emptied in place, not taken from under it."""
    first, second = _open(tmp_path), _open(tmp_path)
    _mark(first)
    assert _is_marked(second)
    first.rebuild()
    assert not _is_marked(second)
    _mark(second)
    assert _is_marked(first)
    first.close()
    second.close()


def test_it_is_its_owners_alone(tmp_path: Path) -> None:
    file = _open(tmp_path)
    for path in (tmp_path / "index", *(tmp_path / "index").iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    file.close()


@pytest.mark.parametrize(
    ("session", "found"),
    [
        (Session(), ["", "s1", "s2"]),
        (Session("global"), [""]),
        (Session("only", "s1"), ["s1"]),
        (Session("with-global", "s1"), ["", "s1"]),
    ],
)
def test_facets_answer_the_four_values_of_a_session(
    tmp_path: Path, session: Session, found: list[str]
) -> None:
    from camillo.indexes._facets import facet_clause, facet_of
    from camillo.model import Memory

    file = _open(tmp_path)
    with file.database.write() as connection:
        for name in ("", "s1", "s2"):
            facet_of(connection, Memory("m", "text", session=name))
    clause, arguments = facet_clause(Filter(session=session))
    rows = file.database.rows(f"SELECT session FROM facets f WHERE {clause} ORDER BY 1", arguments)
    assert [row[0] for row in rows] == found
    file.close()
