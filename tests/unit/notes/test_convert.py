"""Notes on their way into another dialect: names, rooms, kinds, links, and what is told as lost."""

from __future__ import annotations

from camillo import registry
from camillo.model import Edge, Memory, Place
from camillo.notes.convert import Fitted, Names, fitted, only_here


def _fitted(form: str, *notes: Memory) -> list[Fitted]:
    dialect = registry.load("dialect", form)()
    names = Names(dialect)
    for memory in notes:
        names.give(memory)
    return [fitted(memory, names, dialect) for memory in notes]


def test_what_a_dialect_holds_arrives_whole() -> None:
    note = Memory("deploy_rule", "Two.\n", "rule", "Deploys", "two approvals", pinned=True,
                  place=Place(room="rules"), load_when=("deploy",))  # fmt: skip
    made = _fitted("camillo", note)[0]
    assert (made.memory, made.path, made.lost) == (note, "rules/deploy_rule.md", [])


def test_a_kind_that_commonplace_has_not_is_told() -> None:
    made = _fitted("commonplace", Memory("a", "x", "rule", "a", place=Place(room="rules")))[0]
    assert (made.memory.kind, made.path) == ("reference", "a.md")
    assert made.lost == ["kind 'rule' becomes 'reference'", "room 'rules'"]


def test_links_follow_the_names_that_change() -> None:
    first = Memory("日记", "x", title="日记")
    second = Memory("b", "y", title="b", edges=(Edge("builds-on", "日记"), Edge("supersedes", "c")))
    made = _fitted("commonplace", first, second)
    assert made[0].path == "note.md"
    assert "name '日记' becomes 'note'" in made[0].lost
    assert made[1].memory.edges == (Edge("builds-on", "note"), Edge("supersedes", "c"))


def test_notes_of_two_rooms_stay_two_in_a_flat_folder() -> None:
    notes = [Memory(f"{room}/sqlite", room, title="t", place=Place(room=room)) for room in "ab"]
    assert [each.path for each in _fitted("commonplace", *notes)] == ["sqlite.md", "sqlite_2.md"]
    assert [each.path for each in _fitted("camillo", *notes)] == ["a/sqlite.md", "b/sqlite_2.md"]


def test_names_that_a_file_system_folds_together_stay_two() -> None:
    notes = [Memory("Plan", "x", title="t"), Memory("plan", "y", title="t")]
    paths = [each.path for each in _fitted("camillo", *notes)]
    assert len({path.casefold() for path in paths}) == 2


def test_fields_without_a_key_are_told() -> None:
    note = Memory("a", "x", "project", "A", tags=("t",), pinned=True, happened_at="2026-01-02")
    lost = " ".join(_fitted("claude", note)[0].lost)
    assert "tags" in lost
    assert "pinned" in lost
    assert "happened_at '2026-01-02'" in lost
    assert "title" not in lost


def test_what_only_a_row_holds_is_told_from_what_its_file_says() -> None:
    said = Memory("a", "x", "project", "A", "s", extra={"file": "a.md"}, created=1, updated=2)
    claude, camillo = registry.load("dialect", "claude")(), registry.load("dialect", "camillo")()
    assert not only_here(said, claude)
    assert only_here(said._replace(extra={}), camillo)  # it has no file
    for more in (
        {"edges": (Edge("builds-on", "b"),)},
        {"place": Place(hall="east")},
        {"tags": ("t",)},
        {"archived": 3},
        {"superseded_by": "b"},
    ):
        marked = said._replace(**more)  # type: ignore[arg-type]
        assert only_here(marked, claude)
        assert not only_here(marked, camillo)
