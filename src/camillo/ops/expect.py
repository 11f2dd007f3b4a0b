"""`expect`: keep a question with what a search is to find for it, and what not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from camillo.bench.expectations import KEPT, Expectation, expectation_of
from camillo.errors import Ambiguous, InvalidValue, NotFound
from camillo.model import Author, Key
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import find_memory
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.model import Memory
    from camillo.vault import OpenRoot, Vault

__all__ = ["Expected", "expect", "expectations"]


class Expected(NamedTuple):
    """A case that is kept, and in which root; `k` is 0 for as many results as a search gives."""

    id: str
    question: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    k: int
    root: str
    status: str = "kept"


@operation(writes=True, idempotent=True, positional=("question",))
def expect(
    vault: Vault,
    question: Annotated[str, Doc("What is asked.")] = "",
    *,
    must: Annotated[
        tuple[str, ...], Doc("A memory that has to be found; may be repeated.", metavar="ID")
    ] = (),
    must_not: Annotated[
        tuple[str, ...], Doc("One that must not be found; may be repeated.", metavar="ID")
    ] = (),
    k: Annotated[
        int | None,
        Doc("Among so many results; else search.k.", metavar="N", short="-k", min=1, max=1000),
    ] = None,
    list: Annotated[bool, Doc("Show the cases that are kept.")] = False,
    remove: Annotated[
        tuple[str, ...], Doc("Drop a case by its id; may be repeated.", metavar="CASE")
    ] = (),
    scope: InRoot = None,
) -> Report:
    """Keep a case of your own: a question, and what a search for it must or must not find.

    `camillo bench mine` runs all of them. A case is kept beside the memories that it names, and
    goes where they are copied; the same question again replaces it.

    camillo expect "why redis" --must 1a2b3c4d --must-not redis_old
    camillo expect --list
    camillo expect --remove 5e6f7a8b
    """
    if question and not list and not remove:
        if not must and not must_not:
            raise InvalidValue("say what is to be found: --must ID or --must-not ID")
        return Report(results=[_keep(vault, question, must, must_not, k or 0, scope)])
    if must or must_not or (question and not remove):
        raise InvalidValue("--must and --must-not need the question they are about")
    roots = [*vault.roots(scope)]
    if remove:
        return Report(results=[_drop(id, roots) for id in dict.fromkeys(remove)])
    report = Report(results=[_shown(case, root) for root, case in expectations(roots)])
    if not report.results:
        report.exit_code = NOTHING_FOUND
        report.degraded.append("no case is kept: `camillo expect QUESTION --must ID` begins")
    return report


def expectations(roots: Sequence[OpenRoot]) -> Iterator[tuple[OpenRoot, Expectation]]:
    """The cases that are kept in these roots, oldest first."""
    for root in roots:
        for memory in root.store.scan(KEPT._replace(scope=root.scope)):
            yield root, expectation_of(memory)


def _keep(
    vault: Vault,
    question: str,
    must: Sequence[str],
    must_not: Sequence[str],
    k: int,
    scope: str | None,
) -> Expected:
    named = {id: find_memory(vault, id, scope) for id in (*must, *must_not)}
    both = {named[id][1].key for id in must} & {named[id][1].key for id in must_not}
    if both:
        raise InvalidValue(f"{min(both).id!r} cannot be what must and must not be found")
    # A project's memories are found inside of it only, and so is a case that names one.
    roots = [root for root, _ in named.values()]
    home = next((root for root in roots if root.scope == "project"), roots[0])
    case = Expectation(question, _keys(must, named), _keys(must_not, named), k)
    [written] = home.store.put([case.memory(home.scope)], Author(vault.author.who, "expect"))
    home.catch_up()
    return _shown(case, home)._replace(status=written.status)


def _keys(ids: Sequence[str], named: dict[str, tuple[OpenRoot, Memory]]) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(named[id][1].key for id in ids))


def _drop(id: str, roots: Sequence[OpenRoot]) -> Expected:
    found = [(root, key) for root in roots for key in root.store.find(id, KEPT)]
    whole = [each for each in found if each[1].id == id]
    if len(whole or found) > 1:
        raise Ambiguous(f"{id!r} could be any of {len(found)} cases: give more of the id")
    if not found:
        raise NotFound(f"no case has the id {id!r}; `camillo expect --list` shows them")
    root, key = (whole or found)[0]
    [memory] = root.store.get([key])
    root.store.delete([key], Author(via="expect"))
    root.catch_up()
    root.scrub()
    if memory is None:
        raise NotFound(f"the case {id!r} is gone already")
    return _shown(expectation_of(memory), root)._replace(status="removed")


def _shown(case: Expectation, root: OpenRoot) -> Expected:
    must, must_not = (tuple(key.id for key in keys) for keys in (case.must, case.must_not))
    return Expected(case.id, case.question, must, must_not, case.k, root.name)
