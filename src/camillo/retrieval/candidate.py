"""What a search works on: the query, its candidates, and the context that stages share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from camillo.model import Filter, Key, Memory
from camillo.text.tokens import Term

if TYPE_CHECKING:
    from camillo.config import SearchSettings
    from camillo.ports import Store

__all__ = ["Candidate", "Context", "Query", "SearchRoot", "Step"]


class SearchRoot(Protocol):
    """An opened root as stages see it. `lexical` and `closets` are its local indexes."""

    @property
    def store(self) -> Store: ...
    @property
    def lexical(self) -> Any: ...
    @property
    def closets(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `k` is how many results are wanted."""

    text: str
    k: int = 10
    filter: Filter = Filter()


@dataclass(slots=True)
class Candidate:
    """A memory under consideration, through its best passage. `score` is on 0 to 1."""

    memory: Memory
    root: int  # which of the context's roots it lives in
    passage: int = 0
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    closet_boost: float = 0.0
    closet_preview: str = ""
    also_in: list[str] = field(default_factory=list)  # sources of equal texts, folded into this

    @property
    def key(self) -> Key:
        return self.memory.key


class Step(NamedTuple):
    """One line of a search's trace. `ms` is CPU time."""

    stage: str
    before: int
    after: int
    ms: float


@dataclass(slots=True)
class Context:
    """What stages share during one search."""

    roots: Sequence[SearchRoot]
    settings: SearchSettings
    terms: tuple[Term, ...] = ()
    weights: list[float] = field(default_factory=list)  # per term: weight times idf
    average: float = 0.0  # tokens of a passage, on average
    nominating: list[str] = field(default_factory=list)  # tokens that engines are asked for
    trace: list[Step] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
