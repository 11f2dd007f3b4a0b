"""Imported notes in a root: names, links, and that twice changes nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.ingest.importers.note import SUPERSEDED, Found, LeftOut, Link
from camillo.ingest.importing import Imported, import_notes
from camillo.lifecycle.forget import erase
from camillo.model import Author, Edge, Filter, Memory, Origin
from camillo.vault import OpenRoot, open_vault


class Listed:
    """An importer of what it is given."""

    name = "listed"
    default = ""

    def __init__(self, found: Sequence[Found | LeftOut]) -> None:
        self._found = found

    def recognises(self, path: str) -> bool:
        return True

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        yield from self._found


@pytest.fixture
def user() -> Iterator[OpenRoot]:
    """A root whose notes are files."""
    with open_vault() as vault:
        yield vault.root("user", create=True)


def _found(name: str, body: str = "text", *links: str | Link, at: str = "") -> Found:
    made = [Link(link) if isinstance(link, str) else link for link in links]
    memory = Memory(id=name, body=body, title=name, origin=Origin(f"/s/{at or name}"))
    return Found(memory, known_as=(name,), links=tuple(made))


def _import(root: OpenRoot, *found: Found | LeftOut) -> Imported:
    return import_notes(root, Listed(found), "/s", by=Author(), clock=time.time)


def _notes(root: OpenRoot) -> dict[str, Memory]:
    return {memory.id: memory for memory in root.store.scan(Filter())}


def test_links_lead_to_the_names_that_notes_get_here() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        done = _import(
            root,
            _found("Two Words", "a", "THREE", "Two Words", "Nowhere"),
            _found("Three", "b", "x/Two Words", Link("Two Words", "child-of")),
        )
        notes = _notes(root)
        assert notes["two_words"].edges == (Edge("related-to", "three"),)
        assert notes["three"].edges == (Edge("child-of", "two_words"),)
        assert (done.links, done.loose) == (2, ["/s/Two Words: Nowhere"])


def test_a_mention_in_the_text_needs_no_edge_besides() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        _import(root, _found("a", "see [[b]]", "b"), _found("b", "other"))
        assert _notes(root)["a"].edges == ()


def test_links_reach_what_is_in_the_root_already() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        root.store.put([Memory("ours", "here before", kind="fact")])
        _import(root, _found("a", "text", "ours"))
        assert _notes(root)["a"].edges == (Edge("related-to", "ours"),)


def test_equal_title_and_text_is_one_note() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        done = _import(
            root, _found("A", "same  text\n"), _found("A", "same text", at="copy"), _found("B", "x")
        )
        assert [item.status for item in done.items] == ["stored", "deduplicated", "stored"]
        assert set(_notes(root)) == {"a", "b"}


def test_an_archived_note_stays_archived() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        _import(root, _found("A"))
        memory = _notes(root)["a"]
        root.store.put([memory._replace(archived=1)])
        assert [item.status for item in _import(root, _found("A", "new")).items] == ["deduplicated"]
        assert _notes(root) == {}


def test_a_drawer_does_not_take_a_name() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        root.store.put([Memory("a", "a line", kind="diary", session="s")])
        done = _import(root, _found("a", "text"))
        assert [item.id for item in done.items] == ["a"]
        assert {memory.body for memory in root.store.scan(Filter())} == {"a line", "text"}


_names = st.text(max_size=12) | st.sampled_from(["a", "A", "a_2", "CON", "index", "x" * 300])


@settings(max_examples=60)
@given(st.lists(st.tuples(_names, st.text(max_size=20)), max_size=6))
def test_twice_changes_nothing_whatever_notes_are_called(pages: list[tuple[str, str]]) -> None:
    found = [_found(name, body, *(n for n, _ in pages), at=str(n)) for n, (name, body) in
             enumerate(pages)]  # fmt: skip
    with open_vault() as vault:
        root = vault.scratch()
        first = _import(root, *found)
        notes = _notes(root)
        assert {item.status for item in first.items} <= {"stored", "deduplicated"}
        assert len(notes) == first.count("stored")
        assert {" ".join(body.split()) for _, body in pages} >= {
            " ".join(note.body.split()) for note in notes.values()
        }
        second = _import(root, *found)
        assert {item.status for item in second.items} <= {"deduplicated"}
        assert _notes(root) == notes


def _message(key: str, body: str, session: str = "s", at: str = "log") -> Found:
    memory = Memory(key, body, kind="conversation", session=session, origin=Origin(f"/s/{at}"))
    return Found(memory, item=f"{session}:{key}")


class TestRows:
    """What is no note goes into the store as it is."""

    def test_a_message_is_a_row_in_its_session(self, user: OpenRoot) -> None:
        done = _import(user, _message("k", "hello [[a]]"), _found("a", "text"))
        (row,) = (memory for memory in _notes(user).values() if memory.kind == "conversation")
        assert (row.body, row.session, row.edges) == ("hello [[a]]", "s", ())
        assert re.fullmatch("[0-9a-f]{24}", row.id)
        assert [path.name for path in Path(user.root.folder).rglob("*.md")] == ["a.md"]
        assert [item.status for item in done.items] == ["stored", "stored"]

    @pytest.mark.promise(24)
    def test_twice_changes_nothing_and_a_changed_source_updates(self, user: OpenRoot) -> None:
        _import(user, *(_message(f"k{n}", f"text {n}") for n in range(1200)))
        before = _notes(user)
        assert len(before) == 1200
        again = _import(user, *(_message(f"k{n}", f"text {n}") for n in range(1200)))
        assert again.count("deduplicated") == 1200
        assert _notes(user) == before
        assert _import(user, _message("k7", "new")).count("updated") == 1
        assert [memory.body for memory in _notes(user).values()].count("new") == 1
        assert len(_notes(user)) == 1200

    def test_one_key_in_two_sessions_is_two_rows(self, user: OpenRoot) -> None:
        found = [_message("k", "same", session) for session in ("a", "b", "")]
        assert _import(user, *found).count("stored") == 3
        assert sorted(memory.session for memory in _notes(user).values()) == ["", "a", "b"]

    def test_two_sources_share_a_row_only_where_they_say_the_same(self, user: OpenRoot) -> None:
        both = [_message("k", "same", at="one"), _message("k", "same", at="two")]
        assert [item.status for item in _import(user, *both).items] == ["stored", "deduplicated"]
        other = _message("k", "another", at="three")
        for status in ("stored", "deduplicated"):
            assert [item.status for item in _import(user, *both[1:], other).items] == [
                "deduplicated", status
            ]  # fmt: skip
        assert sorted(memory.body for memory in _notes(user).values()) == ["another", "same"]

    @pytest.mark.promise(12)
    def test_what_was_forgotten_or_put_away_stays_so(self, user: OpenRoot) -> None:
        _import(user, _message("k", "the secret"), _message("l", "put away"))
        by_body = {memory.body: memory for memory in _notes(user).values()}
        erase(user, [by_body["the secret"]], Author())
        user.store.put([by_body["put away"]._replace(archived=1)])
        done = _import(user, _message("k", "the secret"), _message("l", "put away, changed"))
        assert [item.status for item in done.items] == ["forgotten", "deduplicated"]
        assert _notes(user) == {}

    def test_a_dry_run_says_the_same_and_writes_nothing(self, user: OpenRoot) -> None:
        found = [_message("k", "same", at="one"), _message("k", "same", at="two")]
        dry = import_notes(user, Listed(found), "/s", by=Author(), clock=time.time, dry_run=True)
        assert [item.status for item in dry.items] == ["stored", "deduplicated"]
        assert _notes(user) == {}


def test_the_same_text_of_two_sessions_is_two_notes(user: OpenRoot) -> None:
    one, two = _found("a", "text", at="x"), _found("a", "text", at="y")
    scoped = two._replace(memory=two.memory._replace(session="s"))
    done = _import(user, one, scoped, scoped._replace(item="again"))
    assert [item.status for item in done.items] == ["stored", "stored", "deduplicated"]
    assert {memory.id: memory.session for memory in _notes(user).values()} == {"a": "", "a_2": "s"}
    user.rebuild()
    user.look_through_notes()
    again = _import(user, one, scoped)
    assert [item.status for item in again.items] == ["deduplicated", "deduplicated"]


def test_an_older_note_says_what_supersedes_it() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        older = _found("Old", "a", Link("New", SUPERSEDED), "New")
        assert _import(root, older, _found("New", "b")).links == 1
        assert _notes(root)["old"].superseded_by == "new"
        assert _notes(root)["old"].edges == ()
        lost = _found("Other", "c", Link("Gone", SUPERSEDED))
        assert _import(root, lost).loose == ["/s/Other: Gone"]


def test_a_value_that_moves_to_another_place_is_not_lost() -> None:
    def at(item: str, body: str) -> Found:
        return _found("k", body, at="file")._replace(item=item)

    with open_vault() as vault:
        root = vault.scratch()
        _import(root, at("k", "first"))
        moved = [at("k", "second"), at("k (2)", "first")]
        assert [item.status for item in _import(root, *moved).items] == ["updated", "stored"]
        assert {memory.body for memory in _notes(root).values()} == {"first", "second"}
        assert {item.status for item in _import(root, *moved).items} == {"deduplicated"}


def test_what_is_elsewhere_is_counted() -> None:
    with open_vault() as vault:
        root = vault.scratch()
        found = [_found("a"), _found("b"), LeftOut("/s/b:3", "broken", "failed")]
        done = import_notes(
            root, Listed(found), "/s", by=Author(), clock=time.time,
            elsewhere=lambda where: "is open" if where.startswith("/s/b") else "",
        )  # fmt: skip
        assert [item.id for item in done.items] == ["a"]
        assert done.counted == {"is open": 2}


@pytest.mark.parametrize(
    "change",
    [{"load_when": ("x",)}, {"extra": {"frontmatter": {"highlight": "h"}}}, {"pinned": True}],
)
def test_a_source_that_changed_in_one_field_updates(change: dict[str, Any]) -> None:
    with open_vault() as vault:
        root = vault.scratch()
        _import(root, _found("a"))
        changed = _found("a")
        changed = changed._replace(memory=changed.memory._replace(**change))
        assert _import(root, changed).count("updated") == 1
        assert _import(root, changed).count("deduplicated") == 1
