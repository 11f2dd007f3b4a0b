"""The outline index: notes in the order of their pages, and which pages have to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo import registry
from camillo.engines.memory import MemoryStore
from camillo.indexes._file import IndexFile
from camillo.indexes.outline import OutlineIndex
from camillo.model import Key, Memory, Origin, Place, replace
from camillo.ports import Entry, Room
from camillo.projection import BATCH, catch_up


class Unfed(MemoryStore):
    """Tells what changed, not what it was."""

    capabilities = frozenset({"manifest", "keeps"})


class Outlined:
    """A store with its outline, caught up before each question."""

    def __init__(self, store: Any, file: IndexFile) -> None:
        self.store = store
        self.file = file
        self._index = OutlineIndex(file)

    def put(self, *memories: Memory) -> None:
        self.store.put(memories)

    def drop(self, *paths: str) -> None:
        self.store.delete([note(path).key for path in paths])

    @property
    def index(self) -> OutlineIndex:
        if "feed" in self.store.capabilities:
            catch_up(self.store, [self._index])
        else:
            self._index.update(self.store.changes(self._index.cursor(), BATCH), self.store)
        return self._index

    def paths(self, room: str) -> list[str]:
        return [entry.path for entry in self.index.entries(room)]

    def settle(self) -> None:
        """As after a compile."""
        index = self.index
        index.compiled(index.stale(), index.cursor(), {})
        assert index.stale() == []


def note(path: str, body: str = "", **more: Any) -> Memory:
    room = path.rpartition("/")[0]
    frontmatter = more.pop("frontmatter", {})
    extra = {"file": path, "frontmatter": frontmatter}
    return Memory(path.removesuffix(".md"), body, place=Place(room=room), extra=extra, **more)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[IndexFile]:
    made: IndexFile = registry.open_index_file(str(tmp_path / "index.db"), "x")
    yield made
    made.close()


@pytest.fixture
def outlined(file: IndexFile) -> Outlined:
    return Outlined(MemoryStore(""), file)


class TestRows:
    def test_a_note_is_there_as_its_head_says(self, outlined: Outlined) -> None:
        outlined.put(
            note("a/b.md", "text", kind="rule", title="T", summary="S", load_when=("x", "y\n"),
                 pinned=True, superseded_by="c", created=1, updated=2,
                 frontmatter={"highlight": "H", "category_desc": 7, "other": []})
        )  # fmt: skip
        assert outlined.index.entries("a") == [
            Entry(Key("", "user", "", "a/b"), "a/b.md", "a", "T", "S", "H", "7", "rule",
                  ("x", "y\n"), True, True, "c", 1, 2)
        ]  # fmt: skip

    def test_a_summary_that_is_missing_is_made_of_the_text(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md", "# H\nfirst words"), note("a/c.md", summary=" "))
        assert [entry.summary for entry in outlined.index.entries("a")] == ["first words", "c"]

    @pytest.mark.parametrize("value", [None, [], ["x"], {"a": 1}])
    def test_a_highlight_that_is_no_single_value_is_none(
        self, outlined: Outlined, value: Any
    ) -> None:
        outlined.put(note("a/b.md", frontmatter={"highlight": value, "category_desc": value}))
        (entry,) = outlined.index.entries("a")
        assert (entry.highlight, entry.description) == ("", "")

    def test_only_notes_are_there(self, outlined: Outlined) -> None:
        outlined.put(
            *(Memory(kind, "b", kind, origin=Origin("/s"), place=Place(room="a"))
              for kind in ("drawer", "diary", "conversation", "source", "setting")),
            note("a/put-away.md", archived=5),
        )  # fmt: skip
        assert outlined.index.rooms() == []
        assert outlined.index.stale() == []

    def test_a_note_without_a_file_is_in_its_room(self, outlined: Outlined) -> None:
        outlined.put(Memory("n", "b", place=Place(room="a")))
        (entry,) = outlined.index.entries("a")
        assert (entry.path, entry.summary) == ("", "b")

    def test_a_room_is_the_folder_as_it_is_written(self, outlined: Outlined) -> None:
        decomposed = "e\u0301"
        memory = note(f"{decomposed}/a.md")
        outlined.put(replace(memory, place=Place(room="é")))
        assert [room.name for room in outlined.index.rooms()] == [decomposed]

    def test_a_new_version_a_move_and_an_end_are_seen(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"), note("a/c.md"))
        assert outlined.paths("a") == ["a/b.md", "a/c.md"]
        outlined.put(replace(note("a/b.md"), extra={"file": "z/b.md"}))
        assert (outlined.paths("a"), outlined.paths("z")) == (["a/c.md"], ["z/b.md"])
        outlined.drop("a/c.md")
        outlined.put(replace(note("a/b.md"), archived=1))
        assert outlined.index.rooms() == []

    def test_what_was_a_note_and_is_a_drawer_goes(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"))
        assert outlined.paths("a")
        outlined.put(replace(note("a/b.md", "changed"), kind="drawer", origin=Origin("/s")))
        assert not outlined.paths("a")

    def test_an_unfed_store_replaces_by_key(self, file: IndexFile) -> None:
        outlined = Outlined(Unfed(""), file)
        outlined.put(note("a/b.md", "one"))
        assert outlined.paths("a")
        outlined.put(note("a/b.md", "two"))
        assert [entry.summary for entry in outlined.index.entries("a")] == ["two"]


class TestOrder:
    @pytest.mark.case("OC11")
    def test_notes_stand_by_their_file_as_readers_sort(self, outlined: Outlined) -> None:
        order = ["_x", "10", "9", "a", "A", "a_b", "a-b", "ab", "b", "B", "é"]
        outlined.put(*(note(f"r/{name}.md") for name in reversed(order)))
        assert outlined.paths("r") == [f"r/{name}.md" for name in order]

    def test_rooms_do_too_and_the_top_comes_first(self, outlined: Outlined) -> None:
        order = ["", "_z", "a", "a/b", "B", "目录"]
        outlined.put(*(note(f"{name}/x.md".lstrip("/")) for name in reversed(order)))
        assert [room.name for room in outlined.index.rooms()] == order

    def test_rules_come_before_what_is_pinned(self, outlined: Outlined) -> None:
        outlined.put(
            note("b/pinned.md", pinned=True), note("a/pinned.md", pinned=True), note("a/no.md"),
            note("z/r.md", kind="rule"), note("rules/a.md", pinned=True),
        )  # fmt: skip
        assert [entry.path for entry in outlined.index.standing()] == [
            "rules/a.md", "z/r.md", "a/pinned.md", "b/pinned.md",
        ]  # fmt: skip


class TestRooms:
    def test_a_room_counts_and_has_the_words_of_its_first(self, outlined: Outlined) -> None:
        outlined.put(
            note("r/b.md", summary="second", frontmatter={"category_desc": "said"}),
            note("r/c.md", pinned=True, kind="rule", frontmatter={"category_desc": "later"}),
            note("r/A.md", summary="first", pinned=True),
        )
        assert outlined.index.rooms() == [Room("r", 3, 2, 1, "said", "first")]

    def test_routes_are_all_that_say_when(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md", load_when=("x", "y")), note("a/c.md"))
        outlined.put(note("d.md", load_when=("x",)))
        routes = sorted((when, entry.path) for when, entry in outlined.index.routes())
        assert routes == [("x", "a/b.md"), ("x", "d.md"), ("y", "a/b.md")]


class TestPages:
    def test_a_room_is_stale_until_its_page_is_compiled(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"), note("c/d.md"))
        assert outlined.index.stale() == ["a", "c"]
        outlined.settle()
        outlined.put(note("c/d.md", "new"))
        assert outlined.index.stale() == ["c"]
        outlined.settle()
        outlined.put(note("a/e.md"))
        outlined.settle()
        outlined.drop("a/b.md")
        assert outlined.index.stale() == ["a"]

    def test_of_a_room_that_emptied_nothing_is_kept(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"))
        assert outlined.index.stale() == ["a"]
        outlined.drop("a/b.md")
        assert outlined.index.stale() == [""]
        outlined.put(note("a/b.md"))
        assert outlined.index.stale() == ["", "a"]

    def test_in_whatever_order_rooms_empty_the_last_change_counts(self, outlined: Outlined) -> None:
        outlined.put(*(note(path) for path in ("a/1.md", "a/2.md", "b/1.md")))
        outlined.settle()
        for path in ("a/1.md", "b/1.md"):
            outlined.drop(path)
        seen = outlined.store.last_change()
        outlined.drop("a/2.md")
        outlined.index.compiled([""], seen, {})
        assert outlined.index.stale() == [""]

    def test_both_rooms_of_a_note_that_moved_are(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"), note("a/e.md"))
        outlined.settle()
        outlined.put(replace(note("a/b.md"), extra={"file": "c/b.md"}))
        assert outlined.index.stale() == ["a", "c"]

    def test_a_change_while_it_is_compiled_counts(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"))
        index = outlined.index
        seen = index.cursor()
        outlined.put(note("a/b.md", "new"))
        outlined.index.compiled(["a"], seen, {})
        assert outlined.index.stale() == ["a"]

    def test_pages_are_known_by_their_digest(self, outlined: Outlined) -> None:
        index = outlined.index
        assert index.pages() == {}
        index.update((), outlined.store)
        index.compiled([], 0, {"ROOT.md": b"1", "a/index.md": b"2"})
        index.compiled([], 0, {"ROOT.md": b"3", "a/index.md": b""})
        assert index.pages() == {"ROOT.md": b"3"}

    def test_a_drawer_makes_no_room_stale(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"), Memory("d", "b", "drawer", origin=Origin("/s")))
        outlined.settle()
        outlined.put(Memory("d", "c", "drawer", origin=Origin("/s"), place=Place(room="a")))
        outlined.store.delete([Key("", "user", "", "d")])
        assert outlined.index.stale() == []


class TestCare:
    def test_taking_in_again_changes_nothing(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"))
        index = outlined.index
        index.update(outlined.store.changes(0, BATCH), outlined.store)
        assert outlined.paths("a") == ["a/b.md"]

    def test_a_reset_forgets_all_of_it(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md"))
        outlined.settle()
        outlined.index.reset()
        assert OutlineIndex(outlined.file).rooms() == []
        assert outlined.paths("a") == ["a/b.md"]
        assert outlined.index.stale() == ["a"]

    def test_other_rules_begin_anew(
        self, outlined: Outlined, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        outlined.put(note("a/b.md"))
        outlined.settle()
        monkeypatch.setattr("camillo.indexes.outline._VERSION", 99)
        again = Outlined(outlined.store, outlined.file)
        assert OutlineIndex(outlined.file).cursor() == 0
        assert again.index.stale() == ["a"]
        assert again.paths("a") == ["a/b.md"]

    def test_a_file_from_before_gets_the_tables(self, outlined: Outlined) -> None:
        with outlined.file.database.write() as connection:
            for table in ("outline", "outline_rooms", "outline_pages"):
                connection.execute(f"DROP TABLE {table}")
        index = OutlineIndex(outlined.file)
        assert (index.cursor(), index.rooms(), index.stale(), index.pages()) == (0, [], [], {})
        assert index.check().problems == ()
        outlined.put(note("a/b.md"))
        assert outlined.paths("a") == ["a/b.md"]

    def test_check_counts_and_finds_damage(self, outlined: Outlined) -> None:
        outlined.put(note("a/b.md", load_when=("x",)))
        assert outlined.index.check().facts == (("notes", "1"),)
        with outlined.file.database.write() as connection:
            connection.execute("UPDATE outline SET load_when = '[\"x'")
        assert outlined.index.check().problems

    def test_no_byte_of_an_erased_note_is_left(self, outlined: Outlined) -> None:
        secret = "correcthorse"
        outlined.put(
            note(f"{secret}/{secret}.md", summary=secret, title=secret, load_when=(secret,),
                 frontmatter={"highlight": secret, "category_desc": secret})
        )  # fmt: skip
        assert outlined.paths(secret)
        outlined.drop(f"{secret}/{secret}.md")
        assert not outlined.paths(secret)
        outlined.file.compact()
        outlined.file.database.empty_log()
        for path in Path(outlined.file.path).parent.iterdir():
            assert secret.encode() not in path.read_bytes()


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["a/1.md", "a/2.md", "b/1.md", "3.md"]),
        st.sampled_from(["put", "put", "drop", "archive", "drawer", "move", "settle"]),
        st.sampled_from(["x", "y"]),
    ),
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES, st.booleans())
def test_it_is_what_the_store_holds_however_it_came(
    file: IndexFile, changes: list[tuple[str, str, str]], often: bool
) -> None:
    OutlineIndex(file).reset()
    outlined = Outlined(MemoryStore(""), file)
    for path, what, text in changes:
        _do(outlined, path, what, text)
        if often:
            assert outlined.index.cursor() == outlined.store.last_change()
    notes = [m for m in outlined.store.scan() if m.kind != "drawer" and not m.archived]
    found = {
        entry.path: entry.summary
        for room in outlined.index.rooms()
        for entry in outlined.index.entries(room.name)
    }
    assert found == {m.extra["file"]: m.summary for m in notes}
    assert sum(room.notes for room in outlined.index.rooms()) == len(notes)


def _do(outlined: Outlined, path: str, what: str, text: str) -> None:
    if what == "drop":
        outlined.drop(path)
    elif what == "settle":
        outlined.settle()
    else:
        more: dict[str, Any] = {
            "archive": {"archived": 1},
            "drawer": {"kind": "drawer", "origin": Origin("/s")},
            "move": {"extra": {"file": f"moved/{path}"}},
        }.get(what, {})
        outlined.put(replace(note(path, text, summary=text), **more))
