"""Memories to test with: plain ones by hand, and any that a store must keep, by Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from camillo.model import RELATIONS, Edge, Memory, Origin, Place, drawer_id, replace, source_id
from camillo.ports import Store

__all__ = ["drawer", "held", "memories", "memory", "source_of", "untimed", "varied"]


def memory(id: str = "a", body: str = "a text", **fields: Any) -> Memory:
    return Memory(id=id, body=body, **fields)


def drawer(source: str, part: int, body: str, **fields: Any) -> Memory:
    return Memory(
        id=drawer_id(source, part),
        body=body,
        kind="drawer",
        place=Place("wing", "room"),
        origin=Origin(source, part, part + 1, part + 1, 100 * part, 100 * part + len(body)),
        **fields,
    )


def source_of(name: str, **fields: Any) -> Memory:
    """The record of a mined source."""
    return Memory(id=source_id(name), body="", kind="source", origin=Origin(name), **fields)


def varied(memory: Memory, **fields: Any) -> Memory:
    """The same with other values; which fields is known only when the test runs."""
    return replace(memory, **fields)


def held(store: Store, memory: Memory) -> Memory:
    """What the store has under the key of `memory`, which must be there."""
    (found,) = store.get([memory.key])
    assert found is not None, f"{memory.key} is gone"
    return found


def untimed(memory: Memory | None) -> Memory | None:
    """A memory without the two times that the store sets."""
    return memory and replace(memory, created=0, updated=0)


_text = st.text(st.characters(codec="utf-8"), max_size=30)
_id = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
_owner = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
_number = st.integers(-(2**63), 2**63 - 1)
_texts = st.lists(_text, max_size=3).map(tuple)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_origin = st.builds(
    Origin, st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), *[_number] * 5
)


def memories() -> st.SearchStrategy[Memory]:
    """Any memory that a store must keep and give back."""
    return st.builds(
        Memory,
        id=_id,
        body=_text,
        kind=_text,
        title=_text,
        summary=_text,
        namespace=_owner,
        scope=_owner,
        session=_owner,
        place=st.builds(Place, _text, _text, _text),
        origin=st.none() | _origin,
        edges=st.lists(st.builds(Edge, st.sampled_from(RELATIONS) | _text, _text), max_size=3).map(
            tuple
        ),
        load_when=_texts,
        tags=_texts,
        aliases=_texts,
        pinned=st.booleans(),
        trust=st.sampled_from(["normal", "untrusted", "quarantined"]),
        written_by=_text,
        happened_at=_text,
        created=st.integers(1, 2**62),
        updated=st.integers(0, 2**62),
        expires=_number,
        archived=_number,
        superseded_by=_text,
        extra=st.dictionaries(_text, _json, max_size=3),
    )
