"""Records: what ours have in common with those of the standard library."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from camillo.records import NamedTuple, Record


class Ours(NamedTuple):
    """A place on a line."""

    start: int
    end: int = 9
    names: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        return self.end - self.start


class Often(NamedTuple):
    start: int
    end: int = 9
    names: tuple[str, ...] = ()


class Theirs(typing.NamedTuple):
    start: int
    end: int = 9
    names: tuple[str, ...] = ()


class Nothing(NamedTuple):
    pass


class Tally(Record):
    seen: list[str] = []
    total: int = 0


class Named(Tally):
    name: str = ""


def test_a_record_is_an_ordinary_named_tuple() -> None:
    ours, theirs = Ours(1, names=("a",)), Theirs(1, names=("a",))
    assert ours == theirs == (1, 9, ("a",))
    assert hash(ours) == hash(theirs)
    assert ours._asdict() == theirs._asdict()
    assert Ours._make([1, 2, ()]) == Theirs._make([1, 2, ()])
    assert ours._replace(end=3) == theirs._replace(end=3)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)


def test_a_record_that_is_made_often_is_the_same() -> None:
    for start in range(50):
        assert Often(start, names=("a",)) == Theirs(start, names=("a",))
        assert Often(names=(), start=start, end=2) == (start, 2, ())


def test_a_record_has_methods_and_its_docstring() -> None:
    assert (Ours(2).length, Ours.__doc__) == (7, "A place on a line.")


def test_a_record_is_matched_by_position() -> None:
    match Ours(1, 2):
        case Ours(start, end):
            assert (start, end) == (1, 2)


@pytest.mark.parametrize("record", [Ours(1, 2, ("x",)), Nothing()])
def test_a_record_is_copied_and_pickled(record: tuple[object, ...]) -> None:
    assert copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert type(pickle.loads(pickle.dumps(record))) is type(record)


def test_a_record_refuses_what_it_has_no_field_for() -> None:
    for made in (Ours, Theirs):
        with pytest.raises(TypeError, match="start"):
            made()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="stop"):
            made(1, stop=2)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="stop"):
            made(1)._replace(stop=2)  # type: ignore[call-arg]


def test_nothing_can_be_set_in_a_record() -> None:
    with pytest.raises(AttributeError):
        Ours(1).start = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Ours(1).other = 2  # type: ignore[attr-defined]


def test_each_report_has_lists_of_its_own() -> None:
    first, second = Tally(), Tally()
    first.seen.append("x")
    assert (second.seen, Tally.seen) == ([], [])


def test_fields_of_a_base_come_first() -> None:
    assert Named(["a"], 2, "b") == Named(name="b", total=2, seen=["a"])
    assert repr(Named(["a"])) == "Named(seen=['a'], total=0, name='')"
    assert Named() != Tally()


def test_a_report_refuses_what_it_has_no_field_for() -> None:
    for values, named in (([1, 2, 3], {}), ([], {"other": 1}), ([[]], {"seen": []})):
        with pytest.raises(TypeError, match="seen, total"):
            Tally(*values, **named)  # type: ignore[arg-type]
