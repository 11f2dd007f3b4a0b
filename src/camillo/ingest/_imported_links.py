"""Links of imported notes: what the source calls its notes, and what they are called here."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from camillo.ingest._present import Planned, folded
from camillo.ingest.importers.note import RELATED, SUPERSEDED
from camillo.model import Edge, Memory, replace
from camillo.text.mentions import mentions

__all__ = ["Linked", "Links"]


class Linked(NamedTuple):
    """A note under its name, with its links as edges; `loose` says which lead nowhere."""

    memory: Memory
    links: int
    loose: list[str]


class Links:
    """`here` are the names of the root. Where a source has two notes of one name, the one nearest
    to its top is meant."""

    def __init__(self, plans: Sequence[Planned], here: Container[str]) -> None:
        self._here = here
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        nearest = sorted(plans, key=lambda plan: plan.found.where.count("/"))
        for rank in range(max((len(plan.found.known_as) for plan in nearest), default=0)):
            for plan in nearest:
                for name in plan.found.known_as[rank : rank + 1]:
                    self._exact.setdefault(name, plan.id)
                    self._folded.setdefault(folded(name), plan.id)

    def resolved(self, plan: Planned) -> Linked:
        memory = plan.found.memory
        edges: dict[Edge, None] = {}
        words: list[dict[str, str]] = []
        plainly: dict[Edge, None] = {}
        loose: dict[str, None] = {}
        newer = ""
        for link in plan.found.links:
            target = self._target(link.target)
            if not target:
                loose[f"{link.where or plan.found.where}: {link.target}"] = None
            elif target == plan.id:
                continue
            elif link.relation == SUPERSEDED:
                newer = target
            elif link.relation == RELATED and not link.said:
                plainly[Edge(RELATED, target)] = None
            else:
                edges[Edge(link.relation, target)] = None
                if link.said:
                    words.append({"to": target, "type": link.said})
        # A mention in the text, or a link with a meaning of its own, says it already.
        linked = {edge.target for edge in edges} | set(mentions(memory.body)) | {newer}
        edges |= {edge: None for edge in plainly if edge.target not in linked}
        extra = {**memory.extra, **({"relations": words} if words else {})}
        made = replace(
            memory,
            id=plan.id,
            edges=(*memory.edges, *edges),
            superseded_by=newer or memory.superseded_by,
            extra=extra,
        )
        return Linked(made, len(edges) + bool(newer), list(loose))

    def _target(self, name: str) -> str:
        """The note here that a link of the source leads to; "" for none. A path leads to a page of
        its last name too, as Obsidian has it."""
        for wanted in dict.fromkeys((name, name.rpartition("/")[2])):
            found = self._exact.get(wanted) or self._folded.get(folded(wanted))
            if found:
                return found
        return name if name in self._here else ""
