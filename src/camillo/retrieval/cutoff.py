"""Stage `cutoff`: which results are answers to be confident of, and which are merely the best there
are.

A memory that the question names is one (stage `aliases`). Of the others evidence decides: what its
words say of the question, how near it is in meaning, and token by token where there are token
vectors. What these are worth beside each other, and how much is enough, belongs to a model, since
cosines of two are not alike. Nothing is left out here, and no score moves.
"""

from __future__ import annotations

from camillo.model import GLOBAL
from camillo.records import NamedTuple
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.fuse import words_said

__all__ = ["ALIASED", "MODELS", "WORDS", "Evidence", "Measured", "cutoff", "measured"]


class Evidence(NamedTuple):
    """Words + `cosine` times the cosine + `late` times the late signal, of a message that of its
    window, have to reach `least`."""

    least: float
    cosine: float = 0.0
    late: float = 0.0


class Measured(NamedTuple):
    """What is enough of a message and of another text, and of each where it has a late signal;
    `near` is the cosine that is enough where no words were asked."""

    message: Evidence
    text: Evidence
    near: float = 1.0
    late_message: Evidence = Evidence(1.0)
    late_text: Evidence = Evidence(1.0)


# Each keeps 93% of the answerable questions of a set of its sort: four LoCoMo conversations, and
# XQuAD in Chinese. docs/BENCH.md has what they stay silent on.
WORDS = Measured(Evidence(0.155), Evidence(0.155))  # also with a model that is not measured
MODELS = {  # by the beginning of the embedder's id
    "multilingual-e5-small/": Measured(
        message=Evidence(1.14, cosine=1.2),
        text=Evidence(1.235, cosine=1.2),
        near=0.83,
        late_message=Evidence(1.895, cosine=1.5, late=1.0),
        late_text=Evidence(1.735, cosine=1.0, late=1.0),
    ),
    "use-multilingual-v3/": Measured(
        message=Evidence(0.345, cosine=0.5), text=Evidence(0.23, cosine=0.2), near=0.425
    ),
}

# What has aliases says what it wants to be called: without one of them it takes so much more, and
# meaning alone is not enough.
ALIASED = 0.30


def cutoff(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    for candidate in candidates:
        model = measured(context.models.get(candidate.root, ""))
        candidate.confident = candidate.confident or _says_enough(candidate, model, context)
    return candidates


def measured(model: str) -> Measured:
    """What is enough with an embedder, by its id; for words alone where it has none."""
    return next((each for name, each in MODELS.items() if model.startswith(name)), WORDS)


def _says_enough(candidate: Candidate, model: Measured, context: Context) -> bool:
    cosine = candidate.signals.get("vector")
    aliased = bool(candidate.memory.aliases)
    if not context.terms:
        return not aliased and cosine is not None and cosine >= model.near
    late = _late(candidate)
    enough = _enough(candidate, model if cosine is not None else WORDS, late)
    found = words_said(candidate) + enough.cosine * (cosine or 0.0) + enough.late * (late or 0.0)
    return found >= enough.least + aliased * ALIASED


def _enough(candidate: Candidate, model: Measured, late: float | None) -> Evidence:
    message = candidate.memory.session != GLOBAL
    if late is not None and model.late_message.late:
        return model.late_message if message else model.late_text
    return model.message if message else model.text


def _late(candidate: Candidate) -> float | None:
    signals = candidate.signals
    return signals.get("late_window", signals.get("late"))
