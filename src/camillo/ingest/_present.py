"""What a root holds already, and which of it an imported memory is: the one that came from the same
place, one that says the same, or none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol

from camillo.forgotten import Forgotten
from camillo.ingest.importers.note import Found
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Filter, Key, Memory
from camillo.notes.names import slug, unique_name
from camillo.ports import Store
from camillo.text.normalise import normalise

__all__ = ["MARK", "Held", "LeftAlone", "Planned", "Present", "folded"]

MARK = "import"  # in a memory's `extra`

_NUMBER = re.compile(r"_\d+\Z")
_ERASED = "its text was erased here"


class Holding(Protocol):
    """The root that is imported into."""

    @property
    def scope(self) -> str: ...

    @property
    def store(self) -> Store: ...


class Held(NamedTuple):
    """A memory of the root, or one that this import brings: what another is compared with."""

    key: Key
    text: bytes
    source: str = ""
    item: str = ""


class Planned(NamedTuple):
    """An imported memory with the name that it has or gets here."""

    found: Found
    id: str
    held: Held | None  # the one that came from the same place
    twin: Held | None  # one that says the same


class LeftAlone(NamedTuple):
    """One that does not come in, and why."""

    found: Found
    status: Literal["forgotten", "skipped"]
    reason: str


class Present:
    """By place of origin, by text and by name. Rows, of which a store may hold millions, are asked
    for as they come."""

    def __init__(self, target: Holding) -> None:
        self.ids: set[str] = set()
        self._store, self._scope = target.store, target.scope
        self._forgotten = Forgotten(target.store, target.scope)
        self._by_origin: dict[tuple[str, str], Held] = {}
        self._by_text: dict[bytes, Held] = {}
        self._names: dict[str, set[str]] = {}  # without their number, folded -> names
        kinds = set(target.store.tally("kind", Filter(None, archived=True)))
        kinds -= NOT_NOTES | INTERNAL_KINDS
        filter = Filter("", target.scope, kinds=tuple(sorted(kinds)), archived=True)
        for memory in target.store.scan(filter):
            held = _held(memory)
            if memory.origin:
                self._by_origin[held.source, held.item] = held
            self._by_text.setdefault(held.text, held)
            self._take(memory.id)

    # --- notes ------------------------------------------------------------------------------------

    def plan(
        self, found: Sequence[Found], *, number_names: bool = True
    ) -> Iterator[Planned | LeftAlone]:
        """A name that another note has gets a number after it, or that one is left alone."""
        self._let_change(found)
        for each in found:
            memory = each.memory
            if self._hides(memory):
                yield LeftAlone(each, "forgotten", _ERASED)
                continue
            held = self._by_origin.get((_source(memory), each.item))
            twin = None if held else self._by_text.get(_text_hash(memory))
            if here := held or twin:
                yield Planned(each, here.key.id, held, twin)
            elif not number_names and self._has(slug(memory.id)):
                reason = f"another note has the name {slug(memory.id)!r}"
                yield LeftAlone(each, "skipped", reason)
            else:
                name = self._free_name(memory.id)
                self._take(name)
                text = _text_hash(memory)  # of a second copy in the same import
                self._by_text.setdefault(text, Held(Key("", "", memory.session, name), text))
                yield Planned(each, name, None, None)

    def _let_change(self, found: Iterable[Found]) -> None:
        """What this import rewrites will not say any more what it says now."""
        for each in found:
            held = self._by_origin.get((_source(each.memory), each.item))
            if held and held.text != _text_hash(each.memory) and self._by_text[held.text] == held:
                del self._by_text[held.text]

    def _take(self, name: str) -> None:
        self.ids.add(name)
        self._names.setdefault(_stem(name), set()).add(folded(name))

    def _free_name(self, wanted: str) -> str:
        name = unique_name(wanted, self._names.get(_stem(slug(wanted)), ()))
        if not self._has(name):
            return name
        return unique_name(wanted, self.ids)  # a long one, that is cut to take its number

    def _has(self, name: str) -> bool:
        return folded(name) in self._names.get(_stem(name), ())

    # --- rows -------------------------------------------------------------------------------------

    def plan_rows(self, found: Sequence[Found]) -> Iterator[Planned | LeftAlone]:
        """Each under an id that its session and its item make, so that nothing else need be known.
        Where a row of another source has that id and says something else, it gets one that its
        source makes too."""
        rows = self._store.get([key for each in found for key in self._row_keys(each)])
        there = {row.key: _held(row) for row in rows if row is not None}
        for each in found:
            if self._hides(each.memory):
                yield LeftAlone(each, "forgotten", _ERASED)
            else:
                yield self._row(each, there)

    def _row(self, each: Found, there: dict[Key, Held]) -> Planned:
        text, source = _text_hash(each.memory), _source(each.memory)
        first, second = self._row_keys(each)
        for key in (first, second):
            held = there.get(key)
            if held is None:
                there[key] = Held(key, text, source, each.item)
                return Planned(each, key.id, None, None)
            if (held.source, held.item) == (source, each.item):
                return Planned(each, key.id, held, None)
            if held.text == text:
                return Planned(each, key.id, None, held)
        return Planned(each, second.id, there[second], None)

    def _row_keys(self, each: Found) -> tuple[Key, Key]:
        memory, item = each.memory, each.item or each.memory.id
        own = Key("", self._scope, memory.session, _made_id(memory.session, item))
        return own, own._replace(id=_made_id(memory.session, item, _source(memory)))

    # --- both -------------------------------------------------------------------------------------

    def _hides(self, memory: Memory) -> bool:
        """Was this text erased, or a part of it that was mined from the same file?"""
        forgotten = self._forgotten
        return forgotten.hides(memory) or bool(forgotten.spans(_source(memory), memory.body))


def _held(memory: Memory) -> Held:
    mark = memory.extra.get(MARK)
    item = str(mark.get("item", "")) if isinstance(mark, dict) else ""
    return Held(memory.key, _text_hash(memory), _source(memory), item)


def _source(memory: Memory) -> str:
    return memory.origin.source if memory.origin else ""


def _text_hash(memory: Memory) -> bytes:
    """Of title and text; what two conversations say is twice there."""
    parts = [normalise(memory.title), normalise(memory.body)]
    parts += [memory.session] if memory.session else []
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _made_id(*parts: str) -> str:
    """24 hex digits; no two lists of parts run together into the same text."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def folded(name: str) -> str:
    """As a file system that looks away from case and normal form has it."""
    return unicodedata.normalize("NFC", name.casefold())


def _stem(name: str) -> str:
    return _NUMBER.sub("", folded(name))
