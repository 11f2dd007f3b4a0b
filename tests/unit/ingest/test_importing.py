"""Imported notes in a root: names, links, and that twice changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.ingest.importers.note import Found, LeftOut, Link
from camillo.ingest.importing import Imported, import_notes
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
