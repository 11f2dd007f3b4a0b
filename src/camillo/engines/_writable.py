"""What every engine can keep and give back unchanged; all of them refuse the same memories.

Checked before anything is written. What a memory should say is no matter of this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from camillo.errors import InvalidValue
from camillo.model import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_writable"]

_TRUSTS = frozenset({"normal", "untrusted", "quarantined"})
_MOST = 2**63  # every engine's integers have 64 bits


def check_writable(memory: Memory) -> None:
    """Raises InvalidValue that names the field and the way out."""
    if not memory.id:
        raise InvalidValue("a memory needs an id: got an empty one")
    try:
        "\n".join([text for _, text in _texts(memory)]).encode()
    except (UnicodeEncodeError, TypeError):
        raise _bad_text(memory) from None
    if any("\0" in part for part in memory.key):
        raise InvalidValue(f"{memory.key!r}: a key cannot hold a NUL; write it without")
    if memory.origin is not None and not memory.origin.source:
        raise InvalidValue(f"{memory.id!r}: its origin names no source; leave the origin out")
    if memory.trust not in _TRUSTS:
        known = ", ".join(sorted(_TRUSTS))
        raise InvalidValue(f"{memory.id!r}: trust is {memory.trust!r}; known: {known}")
    _check_numbers(memory)
    if memory.extra:
        _check_extra(memory.id, memory.extra)


def _texts(m: Memory) -> Iterator[tuple[str, Any]]:
    """Every text of a memory but those in `extra`, with the name of its field."""
    yield from (
        ("id", m.id), ("body", m.body), ("kind", m.kind), ("title", m.title),
        ("summary", m.summary), ("namespace", m.namespace), ("scope", m.scope),
        ("session", m.session), ("wing", m.place.wing), ("room", m.place.room),
        ("hall", m.place.hall), ("trust", m.trust), ("written_by", m.written_by),
        ("happened_at", m.happened_at), ("superseded_by", m.superseded_by),
    )  # fmt: skip
    if m.origin is not None:
        yield "source", m.origin.source
    for name, values in (("load_when", m.load_when), ("tags", m.tags), ("aliases", m.aliases)):
        for value in values:
            yield name, value
    for edge in m.edges:
        yield "edges", edge.relation
        yield "edges", edge.target


def _bad_text(memory: Memory) -> InvalidValue:
    for name, text in _texts(memory):
        if not isinstance(text, str):
            return InvalidValue(f"{memory.id!r}: {name} must be text, got {type(text).__name__}")
        at = _lone_surrogate(text)
        if at is not None:
            return InvalidValue(
                f"{memory.id!r}: {name} holds half of a surrogate pair ({text[at]!r} at {at}), "
                "which is no character; take it out or replace it by U+FFFD"
            )
    raise AssertionError("a text that could not be encoded can be")  # pragma: no cover


def _lone_surrogate(text: str) -> int | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _check_numbers(m: Memory) -> None:
    numbers = {
        "created": m.created, "updated": m.updated, "expires": m.expires, "archived": m.archived
    }  # fmt: skip
    if m.origin is not None:
        numbers.update(zip(m.origin._fields[1:], m.origin[1:], strict=True))
    for name, number in numbers.items():
        if not -_MOST <= number < _MOST:
            raise InvalidValue(f"{m.id!r}: {name} is {number}, which does not fit in 64 bits")


def _check_extra(id_: str, extra: Mapping[str, Any]) -> None:
    import json  # few memories have any

    try:
        text = json.dumps(extra, ensure_ascii=False, allow_nan=False)
        text.encode()
        back = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"{id_!r}: extra must be plain JSON ({error})") from None
    if back != extra:
        raise InvalidValue(
            f"{id_!r}: extra would not come back from JSON as it is: "
            "use text as keys, and lists instead of tuples"
        )
