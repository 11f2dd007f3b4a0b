"""Stage `vector`: the passages nearest in meaning, and how near those are that words nominated.

Without an embedder it adds nothing and says so.
"""

from __future__ import annotations

from camillo.retrieval.candidate import BY_COMMAND, Candidate, Context, Nomination, Query
from camillo.retrieval.keyword import MIDDLING, NOMINATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.ports import Embedder, Nearness, TokenVectors
    from camillo.retrieval.candidate import SearchRoot

__all__ = ["vector"]

# Passages that meaning nominates on a server, to which each is a way, in a store of some size and
# without conversations: there the first ten of 150 searches were the same as with 200.
FROM_AFAR = 100


def vector(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if context.embedder is None:
        context.degraded.append("words only: no embedder")
        return candidates
    if not _says_something(query.text):
        return candidates
    asked: dict[str, tuple[Any, TokenVectors | None]] = {}  # the question, by model
    for number, root in enumerate(context.roots):
        embedder = _answering(root, context.embedder, context)
        if embedder.id not in asked:
            asked[embedder.id] = _asked(embedder, query.text)
        question, tokens = asked[embedder.id]
        if tokens is not None:
            context.asked[number] = embedder, tokens
        nearness = root.meaning.nearness(embedder, question)
        behind = _size(number, root, context) - len(nearness)
        if behind > 0:
            how = BY_COMMAND
            if embedder is context.embedder:
                how = context.embed_new(number, behind)
                nearness = root.meaning.nearness(embedder, question)
                behind = _size(number, root, context) - len(nearness)
            if behind > 0:
                context.degraded.append(f"vectors {behind} behind: {how}")
        context.nearness[number] = nearness
        context.models[number] = embedder.id
        few = root.store.remote and context.passages > MIDDLING and not root.words.conversations()
        _nominate(nearness, number, query, context, FROM_AFAR if few else NOMINATED)
    return candidates


def _asked(embedder: Embedder, text: str) -> tuple[Any, TokenVectors | None]:
    """The question's vector, and where the model gives them those of its tokens."""
    if "tokens" not in embedder.capabilities:
        return embedder.embed([text], "query")[0], None
    vectors, tokens = embedder.embed_tokens([text], "query")
    return vectors[0], tokens[0]


def _size(number: int, root: SearchRoot, context: Context) -> int:
    """How many passages a root has; `keyword` has asked already."""
    return context.sizes[number] if number in context.sizes else root.words.size()[0]


def _nominate(nearness: Nearness, number: int, query: Query, context: Context, most: int) -> None:
    wanted = max(most, 4 * query.k)
    here = {each.row: each for each in context.nominated if each.root == number}
    told = list(here)[:wanted]  # what is near and comes later is nominated anyway
    for row, cosine in zip(told, nearness.of(told), strict=True):
        here[row].cosine = cosine
    for row, cosine in nearness.best(wanted, query.filter):
        known = here.get(row)
        if known is None:
            known = here[row] = Nomination(number, row, cosine=cosine)
            context.nominated.append(known)
        known.near = True
    cosines = [each.cosine for each in here.values() if each.cosine is not None]
    if cosines:
        context.cosines[number] = min(cosines), max(cosines)


def _says_something(text: str) -> bool:
    """A model has an answer to blanks and full stops too."""
    return any(char.isalnum() or not char.isascii() for char in text.strip())


def _answering(root: SearchRoot, asked: Embedder, context: Context) -> Embedder:
    """The embedder to search a root with: the one that is asked for, or the former one until every
    passage has a vector of the new one."""
    complete = [model for model in root.meaning.models() if model.complete]
    if not complete or any(model.name == asked.id for model in complete):
        return asked
    former = context.reopen(complete[-1].made_with)
    if former is None or former.id != complete[-1].name:
        return asked
    context.degraded.append(f"{asked.id} is not complete here yet: {former.id} answers")
    return former
