"""A person's own cases: what a search for a question is to find, and what it is not.

Format owned: a memory of kind `expectation`, whose text is the question; `extra` holds `must` and
`must_not`, lists of keys, and `k`, in how many results (0: as many as a search gives). It is kept
in the store beside the memories that it names, so that it goes wherever they are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from camillo.bench.evaluation import Outcome
from camillo.bench.metrics import reciprocal_rank
from camillo.model import Filter, Key, Memory

__all__ = ["KEPT", "Expectation", "Verdict", "expectation_of", "judge", "outcome"]

_KIND = "expectation"

KEPT = Filter(kinds=(_KIND,), internal=True)  # what finds them in a store


class Expectation(NamedTuple):
    """Among the first k results (0: as many as a search gives) all of `must` and none of
    `must_not`."""

    question: str
    must: tuple[Key, ...]
    must_not: tuple[Key, ...]
    k: int = 0

    @property
    def id(self) -> str:
        """24 hex digits of BLAKE2b over the question: a question has one expectation."""
        text = self.question.encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=12).hexdigest()

    def memory(self, scope: str) -> Memory:
        """As it is kept in a root of this scope."""
        extra: dict[str, Any] = {
            "must": [list(key) for key in self.must],
            "must_not": [list(key) for key in self.must_not],
            "k": self.k,
        }
        return Memory(self.id, self.question, _KIND, scope=scope, extra=extra)


class Verdict(NamedTuple):
    """How a search did: which of `must` are not among its first results, which of `must_not` are,
    and which are in no store any more. `rank` is that of the best of `must`, None for none."""

    passed: bool
    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    gone: tuple[str, ...]
    rank: int | None


def expectation_of(memory: Memory) -> Expectation:
    """What a memory of that kind says."""
    extra = memory.extra
    must, must_not = (
        tuple(Key(*map(str, key)) for key in extra.get(name, ())) for name in ("must", "must_not")
    )
    return Expectation(memory.body, must, must_not, int(extra.get("k", 0)))


def judge(expected: Expectation, found: Sequence[Key], gone: Iterable[Key]) -> Verdict:
    """`found` are the first results, best first; `gone` what the stores do not hold."""
    missing = [key for key in expected.must if key not in found]
    unwanted = [key for key in expected.must_not if key in found]
    ranks = [found.index(key) + 1 for key in expected.must if key in found]
    return Verdict(
        passed=not missing and not unwanted,
        missing=tuple(key.id for key in missing),
        unwanted=tuple(key.id for key in unwanted),
        gone=tuple(key.id for key in gone),
        rank=min(ranks, default=None),
    )


def outcome(
    expected: Expectation, root: str, found: Sequence[Key], verdict: Verdict, ms: float
) -> Outcome:
    """The same as a run keeps it, to be compared with another."""
    scores = {"passed": float(verdict.passed)}
    if expected.must:
        ids, wanted = [key.id for key in found], [key.id for key in expected.must]
        scores["found"] = 1 - len(verdict.missing) / len(wanted)
        scores["mrr"] = reciprocal_rank(ids, wanted)
    return Outcome(expected.id, root, "", True, scores, tuple(key.id for key in found), ms)
