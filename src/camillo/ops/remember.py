"""`remember`: keep a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import normalize

from camillo.errors import InvalidValue, NoteBroken, Refused
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Key, Memory
from camillo.notes.merge import merge
from camillo.ops._lookup import broken_file, unread
from camillo.ops._naming import check_name, check_room, free_id, note_id
from camillo.ops._notes import check_date, milliseconds, root_for, usual_kind, words_of, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.text.normalise import normalise
from camillo.text.passages import passages

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["remember"]


@operation(writes=True, idempotent=True)
def remember(
    vault: Vault,
    text: Annotated[str, Doc("What to keep, in Markdown; - reads it from standard input.")],
    *,
    name: Annotated[str, Doc("What it is called; else made from the title, else the date.")] = "",
    title: Annotated[str | None, Doc("Its title.")] = None,
    summary: Annotated[str | None, Doc("One line that says when it matters.")] = None,
    kind: Annotated[
        str | None, Doc("user, feedback, project, reference, fact, rule …; else fact.")
    ] = None,
    room: Annotated[str | None, Doc("The topic it belongs to.")] = None,
    tag: Annotated[tuple[str, ...], Doc("Tags, a,b or repeated.")] = (),
    load_when: Annotated[
        tuple[str, ...], Doc("When to read it, with commas as it says; may be repeated.")
    ] = (),
    pinned: Annotated[bool | None, Doc("Always offer it.")] = None,
    date: Annotated[str | None, Doc("When it happened.", metavar="DATE")] = None,
    expires: Annotated[str | None, Doc("Until when it holds.", metavar="DATE")] = None,
    scope: Annotated[
        str | None,
        Doc("Into user, project or a root that `camillo roots` names.", metavar="ROOT"),
    ] = None,
    session: Annotated[str, Doc("The conversation it belongs to.")] = "",
    new: Annotated[bool, Doc("Refuse when there is one of this name.")] = False,
    expect: Annotated[str, Doc("Only if its file still has this hash.", metavar="HASH")] = "",
) -> Report:
    """Keep a note, or rewrite the one of that name. Says stored, updated or deduplicated.

    What is not given stays as it is. Notes about you and your wishes (user, feedback) go to your
    own root, those about a project (project, reference) to the project's, any other to the
    project's where there is one. Where that makes a folder for the project, the reply names it. A
    text that is there already is not kept a second time.

    camillo remember "Deploys need two approvals." --title "Deploy rule"
    camillo remember - --name release_steps --summary "Before every release" < steps.md
    """
    _check(text, kind)
    check_name(name or "new", by_path=True)
    check_room(room or "")
    check_date("--date", date)
    optional = {
        "title": title, "summary": summary, "kind": kind, "pinned": pinned,
        "room": room and normalize("NFC", room), "happened_at": date,
        "tags": words_of(tag, comma=True), "load_when": words_of(load_when),
        "expires": milliseconds("--expires", expires),
    }  # fmt: skip
    given: dict[str, Any] = {key: value for key, value in optional.items() if value is not None}
    there = {each.folder for _, each in vault.folders() if each.exists()}
    root = root_for(vault, scope, kind or "fact", name)
    twin = None if name else _same_text(root, text, session)
    if twin is None:
        given["body"] = text
    if twin is not None:
        name = twin.id
    elif name:
        name = note_id(root, name, given.get("room"), kind)
        _check_readable(root, name)
    else:
        name = free_id(root, title or _dated(vault), given.get("room"), kind)
    key = Key("", root.scope, session, name)

    def change(now: Memory | None) -> Memory:
        if now is None:
            own = {"id": name, "scope": root.scope, "session": session, "body": text}
            own["kind"] = usual_kind(root, given.get("room") or name.rpartition("/")[0])
            return merge(None, {**own, **given}, int(vault.clock() * 1000)).memory
        if new and twin is None:
            raise Refused(f"there is a memory called {name!r} already: leave out --new to rewrite")
        if now.kind in NOT_NOTES | INTERNAL_KINDS:
            raise Refused(f"{name!r} is a {now.kind}: choose another name")
        return merge(now, given, int(vault.clock() * 1000)).memory

    report = write_note(vault, root, key, change, "remember", expect, move=bool(room))
    if root.scope == "project" and root.root.folder not in there:
        report.results[0] |= {"made": root.root.folder}
    report.degraded += unread([root])
    return report


def _check(text: str, kind: str | None) -> None:
    if not text.strip():
        raise InvalidValue("there is nothing to remember: give a text")
    if kind is not None and (kind in INTERNAL_KINDS or kind in NOT_NOTES or not kind.strip()):
        raise InvalidValue(f"{kind!r} is no kind of note: use fact, project, reference …")


def _check_readable(root: OpenRoot, name: str) -> None:
    """Raises NoteBroken where a file has this name that cannot be read: it would be a second one of
    it as soon as it is mended."""
    if broken := broken_file(root, name):
        raise NoteBroken(
            f"{broken[0]} has that name and cannot be read as a note ({broken[1]}): mend it, or "
            "choose another name",
            broken[0],
        )


def _dated(vault: Vault) -> str:
    """The title that names a note without one. Not its first words: a name stays in the log of
    changes, also after the text is forgotten."""
    from time import gmtime, strftime

    return strftime("note %Y %m %d", gmtime(vault.clock()))


def _same_text(root: OpenRoot, text: str, session: str) -> Memory | None:
    """A note that says the same already."""
    root.refresh()
    pieces = passages(Memory("", text, title="-"))  # found by the first piece of its body
    keys = root.words.same_text([text, *(piece.text for piece in pieces[1:2])])
    for memory in root.store.get(keys):
        if (
            memory is not None
            and memory.kind not in NOT_NOTES
            and not memory.archived
            and memory.session == session
            and normalise(memory.body) == normalise(text)
        ):
            return memory
    return None
