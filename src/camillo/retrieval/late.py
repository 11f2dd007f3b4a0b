"""Stage `late`: the first candidates are judged token by token (late interaction).

For each token of the question the best cosine among the tokens of a passage, averaged by how rare
the token is: `late` of the passage, `late_window` of a message with two neighbours on each side,
each step away costing .05, `late_session` the best window of its session. The signals are as they
come, on a scale that does not depend on the other candidates. For the score they are stretched over
the candidates, and over no less than from what says nothing to what is hardly an answer, so that
the best of nothing does not score 1.

What has no token vectors (files of projects, what is beyond the budget) keeps what `fuse` gave it,
and all that comes after the first candidates stays below them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from camillo.model import GLOBAL
from camillo.records import NamedTuple
from camillo.retrieval.beside import beside
from camillo.retrieval.candidate import BY_COMMAND, Candidate, Context, Query
from camillo.retrieval.fuse import Scale, words_said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.ports import Closeness

__all__ = ["CONSIDERED", "MESSAGE", "REACH", "STEP", "TEXT", "LateScale", "late", "late_score"]

CONSIDERED = 200  # candidates that are judged

# What each signal weighs, of a message and of all else: own trials on LoCoMo, and on XQuAD across
# languages. What words weigh counts as much as they know of the question, as in `fuse`.
MESSAGE = {
    "keyword": 0.05, "window": 0.20, "session": 0.03,
    "late": 0.25, "late_window": 0.34, "late_session": 0.13,
}  # fmt: skip
TEXT = {"words": 0.40, "late": 0.40, "vector": 0.20}

REACH, STEP = 2, 0.05  # neighbours on each side, and what a step away takes off a cosine
LONG = 24  # tokens of a question; of a longer one, `fuse` says the more the longer it is
_LEAST, _MOST = 0.3, 0.5  # the range that the signals are stretched over holds this one: own trials

_WORDS = frozenset({"keyword", "window", "session", "words"})


class _Line(NamedTuple):
    """What a signal brings to a score: from 0 at `low` to `most` at `low` + `span`."""

    signal: str
    most: float
    low: float
    span: float


class LateScale(NamedTuple):
    """How signals become a score, of messages and of all else. `share` is how much of it is from
    here: the rest is what `fused` makes of words and meaning."""

    message: tuple[_Line, ...]
    text: tuple[_Line, ...]
    fused: Scale
    share: float

    def parts(self, candidate: Candidate) -> dict[str, float]:
        """What each signal brings to the score, which is their sum, on 0 to 1."""
        signals, said = candidate.signals, _said(candidate)
        found: dict[str, float] = {}
        for name, most, low, span in self.text if _is_text(candidate) else self.message:
            name = said if name == "words" else name
            value = (signals.get(name, low) - low) / span
            if value > 0:
                found[name] = most * min(value, 1.0)
        if self.share < 1:
            cosine = signals.get("vector")
            for name, part in self.fused.parts({said: words_said(candidate)}, cosine).items():
                found[name] = found.get(name, 0.0) + (1 - self.share) * part
        return found


def late(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    closenesses = {number: _closeness(number, context) for number in context.scales}
    if not any(closenesses.values()):
        return candidates
    most = max(CONSIDERED, query.k)
    chosen = {id(each): each for each in candidates[:most] + beside(query, candidates, context)}
    first = list(chosen.values())
    rest = [each for each in candidates[most:] if id(each) not in chosen]
    words, judged = _of_words(first), False
    for number, closeness in closenesses.items():
        here = [each for each in first if each.root == number and each.row]
        if closeness is not None and here:
            judged |= _judge(here, closeness, words, number, context)
    if judged:
        _keep_below(rest, min(each.score for each in first))
    return first + rest


def late_score(candidate: Candidate, context: Context) -> tuple[float, dict[str, float]] | None:
    """The score by the candidate's signals as they are now, and its parts; None where it has no
    late ones."""
    scale = context.late.get(candidate.root)
    if scale is None or "late" not in candidate.signals:
        return None
    parts = scale.parts(candidate)
    return min(1.0, sum(parts.values())), parts


def _closeness(number: int, context: Context) -> Closeness | None:
    tokens = context.roots[number].tokens
    if tokens is None or number not in context.asked:
        return None
    embedder, query = context.asked[number]
    behind = tokens.behind(embedder)
    if behind:
        how = context.embed_new(number, behind) if embedder is context.embedder else BY_COMMAND
        behind = tokens.behind(embedder)
        if behind:
            context.degraded.append(f"token vectors {behind} behind: {how}")
    return tokens.closeness(embedder, query)


def _judge(
    candidates: Sequence[Candidate],
    closeness: Closeness,
    ranges: Mapping[str, tuple[float, float]],
    number: int,
    context: Context,
) -> bool:
    """Give each that has token vectors its signals and its score; were there any?"""
    seen = _tell(candidates, closeness)
    if not seen:
        return False
    fused, share = context.scales[number], min(1.0, LONG / closeness.asked)
    ranges = {
        **ranges,
        **{name: _range(name, seen) for name in ("late", "late_window", "late_session")},
        "words": (0.0, fused.best),
        "vector": (fused.low, fused.high),
    }
    message, text = (_lines(weights, ranges, fused, share) for weights in (MESSAGE, TEXT))
    scale = context.late[number] = LateScale(message, text, fused, share)
    for candidate in seen:
        candidate.parts = scale.parts(candidate)
        candidate.score = min(1.0, sum(candidate.parts.values()))
    return True


def _lines(
    weights: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    fused: Scale,
    share: float,
) -> tuple[_Line, ...]:
    counting = {n: w * fused.trust if n in _WORDS else w for n, w in weights.items()}
    strength = share * fused.strength / sum(counting.values())
    return tuple(
        _Line(name, weight * strength, low, (high - low) or 1.0)
        for name, weight in counting.items()
        for low, high in [ranges[name]]
    )


def _tell(candidates: Sequence[Candidate], closeness: Closeness) -> list[Candidate]:
    """The late signals; of those that have token vectors, which are given back."""
    messages = [each.row for each in candidates if not _is_text(each)]
    # Windows first: they take in all that is compared.
    around = closeness.around(messages, REACH, STEP) @ closeness.weights if messages else ()
    windows = iter(map(float, around))
    own = (closeness.maxima([each.row for each in candidates]) @ closeness.weights).tolist()
    seen: list[Candidate] = []
    sessions: dict[tuple[str, ...], float] = {}
    for candidate, value in zip(candidates, own, strict=True):
        window = None if _is_text(candidate) else next(windows)
        if math.isnan(value):
            continue
        seen.append(candidate)
        candidate.signals["late"] = value
        if window is not None:
            session = _session(candidate)
            candidate.signals["late_window"] = window
            sessions[session] = max(window, sessions.get(session, window))
    for candidate in seen:
        if not _is_text(candidate):
            candidate.signals["late_session"] = sessions[_session(candidate)]
    return seen


def _session(candidate: Candidate) -> tuple[str, ...]:
    memory = candidate.memory
    return memory.namespace, memory.scope, memory.session


def _of_words(candidates: Sequence[Candidate]) -> dict[str, tuple[float, float]]:
    """From nothing to the most that words say at each grain."""
    signals = [each.signals for each in candidates]
    return {
        name: (0.0, max(each.get(name, 0.0) for each in signals))
        for name in ("keyword", "window", "session")
    }


def _range(name: str, candidates: Iterable[Candidate]) -> tuple[float, float]:
    values = [each.signals[name] for each in candidates if name in each.signals]
    return min(_LEAST, *values, _LEAST), max(_MOST, *values, _MOST)


def _is_text(candidate: Candidate) -> bool:
    """Does it belong to no conversation?"""
    return candidate.memory.session == GLOBAL


def _said(candidate: Candidate) -> str:
    """The signal that tells what words say, as `words_said` has it."""
    return "words" if "words" in candidate.signals else "keyword"


def _keep_below(rest: Sequence[Candidate], least: float) -> None:
    most = max((each.score for each in rest), default=0.0)
    if most <= least:
        return
    for candidate in rest:
        candidate.score *= least / most
        candidate.parts = {name: part * least / most for name, part in candidate.parts.items()}
