"""NullClaw's memories in their three forms: which they are, and what a broken one costs."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers._entry_files import Entry, entries, holds_entries
from camillo.ingest.importers._internal import is_bookkeeping, iso, milliseconds, time_in
from camillo.ingest.importers.note import Found, LeftOut
from camillo.ingest.importers.nullclaw import NullclawImporter
from camillo.model import Memory, Place
from flows.command import files
from flows.databases import held_open, make_database

IMPORTER = NullclawImporter()
AT = "1767323045"  # 2026-01-02T03:04:05Z, as NullClaw writes it
MILLIS = 1767323045000


def _read(path: Path) -> list[Found | LeftOut]:
    return list(IMPORTER.read(str(path)))


def _memories(path: Path) -> list[Memory]:
    return [each.memory for each in _read(path) if isinstance(each, Found)]


def _left(path: Path) -> list[tuple[str, str]]:
    """(where, reason), without the folder."""
    left = [each for each in _read(path) if isinstance(each, LeftOut)]
    return [(each.where.rpartition("/")[2], each.reason) for each in left]


def _lines(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), "utf-8")
    return path


def _entry(key: str, content: str = "x", **more: object) -> dict[str, object]:
    return {"schema_version": 1, "key": key, "content": content, "category": "core",
            "timestamp": AT, "session_id": None, **more}  # fmt: skip


@pytest.fixture(params=["database", "snapshot", "export"])
def tea(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One entry, in each form."""
    if request.param == "database":
        row = ("Favourite Tea", "oolong\n", "core", None, AT, AT)
        return make_database(tmp_path / "memory.db", [row])
    if request.param == "snapshot":
        said = {"key": "Favourite Tea", "content": "oolong\n", "category": "core", "timestamp": AT}
        return _lines(tmp_path / "MEMORY_SNAPSHOT.json", json.dumps([said], indent=1))
    return _lines(tmp_path / "out.txt", _entry("Favourite Tea", "oolong\n"))


class TestEachForm:
    def test_is_told_by_its_structure(self, tea: Path) -> None:
        assert IMPORTER.recognises(str(tea))
        renamed = tea.rename(tea.with_name("anything"))
        assert IMPORTER.recognises(str(renamed))
        assert _memories(renamed)[0].body == "oolong\n"

    def test_gives_a_memory_word_for_word(self, tea: Path) -> None:
        (found,) = _read(tea)
        assert isinstance(found, Found)
        memory = found.memory
        assert (memory.id, memory.title, memory.body) == (
            "Favourite Tea", "Favourite Tea", "oolong\n"
        )  # fmt: skip
        assert (memory.kind, memory.place, memory.session) == ("core", Place(room="core"), "")
        assert (memory.aliases, memory.created) == (("Favourite Tea",), MILLIS)
        assert (found.item, found.known_as) == ("g:Favourite Tea", ("Favourite Tea",))

    def test_is_left_as_it_is(self, tea: Path, tmp_path: Path) -> None:
        before = files(tmp_path)
        _read(tea)
        assert files(tmp_path) == before


class TestCategories:
    @pytest.mark.parametrize(
        ("category", "kind"),
        [
            ("core", "core"),
            ("daily", "daily"),
            ("okf:Howto", "okf:Howto"),
            ("archive", "archive"),
            ("", "core"),
            (" drawer ", "core"),
            ("source", "core"),
            ("x" * 65, "core"),
            ("a\nb", "core"),
        ],
    )
    def test_become_kinds(self, tmp_path: Path, category: str, kind: str) -> None:
        (memory,) = _memories(_lines(tmp_path / "e", _entry("k", category=category)))
        assert memory.kind == kind

    def test_of_a_day_say_which(self, tmp_path: Path) -> None:
        (memory,) = _memories(_lines(tmp_path / "e", _entry("k", category="daily")))
        assert memory.happened_at == "2026-01-02"

    def test_of_a_conversation_have_their_session(self, tmp_path: Path) -> None:
        path = _lines(
            tmp_path / "e",
            _entry("autosave_user_1767323045000000000", "hi", category="conversation",
                   session_id="tg:1", timestamp=None),
            _entry("plan", "tea at five", category="conversation"),
            _entry("archive:conversation:autosave_user_1767323045000000000:chunk:0", "then",
                   category="archive", session_id="tg:1"),
        )  # fmt: skip
        message, plan, archived = _memories(path)
        assert (message.kind, message.session, message.title) == ("conversation", "tg:1", "")
        assert (message.created, message.happened_at) == (MILLIS, "2026-01-02T03:04:05Z")
        assert message.extra == {"role": "user"}
        assert (plan.kind, plan.title, plan.session) == ("conversation", "plan", "")
        assert (archived.kind, archived.session) == ("conversation", "tg:1")

    def test_one_key_in_two_sessions_is_two_memories(self, tmp_path: Path) -> None:
        lines = [_entry("mood", "fine", session_id=each) for each in (None, "a", "b", "b")]
        items = [each.item for each in _read(_lines(tmp_path / "e", *lines))
                 if isinstance(each, Found)]  # fmt: skip
        assert items == ["g:mood", "s:1:a:mood", "s:1:b:mood", "s:1:b:mood (2)"]


class TestBookkeeping:
    def test_is_counted(self, tmp_path: Path) -> None:
        keys = ("last_hygiene_at", "summary_latest/tg:1", "__bootstrap.prompt.SOUL.md")
        rows = [_entry(key) for key in keys]
        path = _lines(tmp_path / "e", *rows, _entry("m", "**last_hygiene_at**: 17"), _entry("k"))
        assert [reason for _, reason in _left(path)] == [
            "bookkeeping", "bookkeeping", "instructions", "bookkeeping"
        ]  # fmt: skip
        assert [memory.id for memory in _memories(path)] == ["k"]

    @pytest.mark.parametrize("key", ["last_hygiene_at_home", "my summary_latest/x", "summary"])
    def test_is_not_taken_for_it_by_half_a_name(self, key: str) -> None:
        assert not is_bookkeeping(key, "text")

    def test_of_files_two_hold_memories(self, tmp_path: Path) -> None:
        path = _lines(
            tmp_path / "e",
            _entry("__bootstrap.prompt.USER.md", "# Ada\n"),
            _entry("__bootstrap.prompt.MEMORY.md", "- **tea**: oolong\n## S\nx\n"),
        )
        found = [each for each in _read(path) if isinstance(each, Found)]
        assert [(each.memory.id, each.memory.kind) for each in found] == [
            ("USER", "user"), ("tea", "core"), ("S", "core")
        ]  # fmt: skip
        assert len({each.item for each in found}) == 3
        assert {each.where for each in found} == {f"{path}:1", f"{path}:2"}


class TestBroken:
    def test_lines_are_told_with_their_number(self, tmp_path: Path) -> None:
        path = _lines(
            tmp_path / "e", "{broken", "", "[]", {"key": 1}, _entry("k", schema_version=2),
            _entry("blank", " \n"), "[" * 100_000, _entry("ok"),
        )  # fmt: skip
        told = dict(_left(path))
        assert set(told) == {f"e:{number}" for number in (1, 3, 4, 5, 6, 7)}
        assert told["e:5"] == "schema_version 2 is not known; 1 is"
        assert told["e:6"] == "no text"
        assert [memory.id for memory in _memories(path)] == ["ok"]

    def test_a_line_that_is_too_long_does_not_end_the_reading(self, tmp_path: Path) -> None:
        path = _lines(tmp_path / "e", _entry("a"), _entry("b", "x" * 9_000_000), _entry("c"))
        assert [memory.id for memory in _memories(path)] == ["a", "c"]
        assert _left(path) == [("e:2", "a line of more than 4,194,304 characters")]

    def test_a_snapshot_that_ends_in_the_middle_gives_what_is_whole(self, tmp_path: Path) -> None:
        text = json.dumps([_entry("a"), "odd", _entry("b")])
        path = tmp_path / "e"
        path.write_text(text[:-20], "utf-8")
        assert [memory.id for memory in _memories(path)] == ["a"]
        assert _left(path) == [("e:2", "no JSON object"), ("e", "no JSON after entry 2")]

    def test_texts_that_are_no_unicode_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        make_database(path, [])
        connection = apsw.Connection(str(path))
        connection.execute(
            "INSERT INTO memories (id, key, content) VALUES ('i', 'k', CAST(x'61ff62' AS TEXT)), "
            "('j', 'n', CAST(7 AS INTEGER)), ('m', 'p', x'6869')"
        )
        connection.close()
        assert [memory.body for memory in _memories(path)] == ["a\N{REPLACEMENT CHARACTER}b", "7",
                                                               "hi"]  # fmt: skip
        lines = tmp_path / "e"
        lines.write_bytes(b'\xef\xbb\xbf{"key": "k\\ud800", "content": "\xff"}')
        assert _memories(lines)[0].body == "\N{REPLACEMENT CHARACTER}"

    def test_a_damaged_database_is_told(self, tmp_path: Path) -> None:
        rows = [(f"k{n}", "text " * 500, "core", None, AT, AT) for n in range(50)]
        path = make_database(tmp_path / "memory.db", rows)
        content = bytearray(path.read_bytes())
        content[8192:60000] = b"\xff" * (60000 - 8192)
        path.write_bytes(content)
        assert any("malformed" in reason for _, reason in _left(path))

    @pytest.mark.parametrize("content", [b"", b"plain words", b'"text"', b'[{"a": 1}]', b"{}\n{}"])
    def test_a_file_of_something_else_is_refused(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "e"
        path.write_bytes(content)
        assert not IMPORTER.recognises(str(path))
        with pytest.raises(InvalidValue, match="neither a database nor JSON with key and content"):
            _read(path)

    def test_a_database_of_something_else_is_refused(self, tmp_path: Path) -> None:
        path = make_database(tmp_path / "x.db", [(1, 2)], "CREATE TABLE notes (a, content)")
        assert not IMPORTER.recognises(str(path))
        with pytest.raises(InvalidValue, match="a database without a table of memories"):
            _read(path)

    def test_what_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match=r"give NullClaw's workspace, or its memory\.db"):
            _read(tmp_path / "none")


class TestDatabases:
    @pytest.mark.parametrize(
        ("schema", "row", "wanted"),
        [
            ("CREATE TABLE memories (name, value, kind)", ("k", "v", "lesson"), ("k", "lesson")),
            ("CREATE TABLE memories (id, TEXT, type)", ("k", "v", "daily"), ("k", "daily")),
            ("CREATE TABLE memories (memory)", ("v",), ("1", "core")),
            ("CREATE TABLE Memories (key PRIMARY KEY, content) WITHOUT ROWID", ("k", "v"),
             ("k", "core")),
            ("CREATE TABLE lancedb_memories (id, key, text, category)", ("i", "k", "v", "fact"),
             ("k", "fact")),
        ],
    )  # fmt: skip
    def test_columns_are_found_by_their_names(
        self, tmp_path: Path, schema: str, row: tuple[str, ...], wanted: tuple[str, str]
    ) -> None:
        path = make_database(tmp_path / "brain.db", [row], schema)
        (memory,) = _memories(path)
        assert (memory.id, memory.kind, memory.body) == (*wanted, "v")

    def test_what_stands_in_the_log_is_read_and_nothing_is_touched(self, tmp_path: Path) -> None:
        folder = tmp_path / "ws"
        with held_open(folder / "memory.db", [("tea", "oolong", "core", None, AT, AT)]) as path:
            assert (folder / "memory.db-wal").stat().st_size > 0
            before = files(folder)
            assert [memory.id for memory in _memories(path)] == ["tea"]
            assert files(folder) == before

    def test_a_log_that_a_killed_program_left_is_read(self, tmp_path: Path) -> None:
        with held_open(tmp_path / "a" / "memory.db", [("tea", "x", "core", None, AT, AT)]) as path:
            left = tmp_path / "left"
            left.mkdir()
            for end in ("", "-wal"):
                (left / f"memory.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        before = files(left)
        assert [memory.id for memory in _memories(left)] == ["tea"]
        assert files(left) == before
        assert sorted(each.name for each in left.iterdir()) == ["memory.db", "memory.db-wal"]

    def test_a_database_that_is_written_meanwhile_is_told(self, tmp_path: Path) -> None:
        rows = [(f"k{n}", "x", "core", None, AT, AT) for n in range(3)]
        path = make_database(tmp_path / "memory.db", rows)
        reading = entries(str(path))
        assert isinstance(next(reading), Entry)
        writer = apsw.Connection(str(path))
        writer.execute("UPDATE memories SET content = 'y'")
        writer.close()
        rest = list(reading)
        assert isinstance(rest[-1], LeftOut)
        assert rest[-1].reason == "was written while it was read: run this again"

    def test_messages_are_counted_and_come_in_order(self, tmp_path: Path) -> None:
        rows = [
            (f"autosave_user_176732304{n}", str(n), "conversation", f"s{n % 2}", AT, AT)
            for n in range(4)
        ]
        path = make_database(tmp_path / "memory.db", rows)
        connection = apsw.Connection(str(path))
        connection.execute("CREATE TABLE messages (content)")
        connection.execute("INSERT INTO messages VALUES (1), (2)")
        connection.close()
        assert [memory.body for memory in _memories(path)] == ["0", "2", "1", "3"]
        assert [reason for _, reason in _left(path)] == ["message of a conversation"] * 2

    def test_a_text_that_is_too_long_is_told(self, tmp_path: Path) -> None:
        rows = [("a", "x" * 4_194_305, "core", None, AT, AT), ("b", "x", "core", None, AT, AT)]
        path = make_database(tmp_path / "memory.db", rows)
        assert [memory.id for memory in _memories(path)] == ["b"]
        assert _left(path) == [
            ("memory.db:1", "4,194,305 bytes are too many for a memory (4,194,304)")
        ]


def test_a_workspace_gives_its_pages_and_each_entry_once(tmp_path: Path) -> None:
    row = ("tea", "oolong", "core", "tg:1", AT, AT)
    make_database(tmp_path / "memory.db", [row])
    _lines(tmp_path / "MEMORY_SNAPSHOT.json", json.dumps([_entry("tea", "oolong"), _entry("b")]))
    (tmp_path / "MEMORY.md").write_text("- **c**: d\n", "utf-8")
    assert [memory.id for memory in _memories(tmp_path)] == ["c", "tea", "b"]
    assert _left(tmp_path) == [("", "in another file too")]
    assert IMPORTER.recognises(str(tmp_path))


class TestTimes:
    @pytest.mark.parametrize(
        ("value", "wanted"),
        [
            (1767323045, MILLIS),
            ("1767323045", MILLIS),
            (1767323045.25, MILLIS + 250),
            (1767323045000, MILLIS),
            (1767323045000000, MILLIS),
            ("1767323045000000000", MILLIS),
            ("2026-01-02T03:04:05Z", MILLIS),
            ("2026-01-02 03:04:05", MILLIS),
            ("", 0), (None, 0), (True, 0), ("soon", 0), (float("nan"), 0), ("9" * 30, 0), ([], 0),
        ],
    )  # fmt: skip
    def test_their_size_tells_what_they_count(self, value: object, wanted: int) -> None:
        assert milliseconds(value) == wanted

    def test_a_key_of_a_message_holds_one(self) -> None:
        assert time_in("autosave_assistant_1767323045000000000") == MILLIS
        assert time_in("conv_1767323045_3") == MILLIS
        assert (time_in("conversation"), time_in("autosave_user_x")) == (0, 0)
        assert (iso(MILLIS), iso(0), iso(2**63)) == ("2026-01-02T03:04:05Z", "", "")


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=2000)), max_size=30), st.booleans())
def test_a_snapshot_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], indented: bool
) -> None:
    path = tmp_path_factory.mktemp("s") / "s.json"
    said = [{"key": key, "content": text, "category": "core"} for key, text in pairs]
    path.write_text(json.dumps(said, indent=1 if indented else None), "utf-8")
    read = [each for each in entries(str(path)) if isinstance(each, Entry)]
    assert [(each.key, each.text) for each in read] == pairs
    assert holds_entries(str(path)) == bool(pairs)
