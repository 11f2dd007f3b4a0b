"""`[[name]]` in a body: a link to a note, written in passing. Whether there is such a note, and
that one does not mention itself, is for the caller.

commonplace's names are lower-case ASCII letters, digits and underscores, in code too; all else in
brackets is text to it. Everywhere else a name is what people write: `[[Name]]`, `[[Name|label]]`,
`[[Name#heading]]` and `![[Name]]`, out of code, up to 100 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["NARROW", "called", "meant", "mentions", "prose", "reader", "target_of", "wikilinks"]

NARROW = "commonplace"  # the form whose mentions are its own

_LONGEST = 100  # characters of a name
_MENTION = r"(?<!\[)\[\[([a-z0-9_]+)\]\](?!\])"
_WIKILINK = r"\[\[([^\[\]\n]+)\]\]"
_FENCE = r"[ \t>]*(`{3,}|~{3,})"
_CODE = r"(?s)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)"


def reader(
    form: str, notes: Iterable[tuple[str, str, Iterable[str]]]
) -> Callable[[str], Iterable[str]]:
    """What finds the ids that a body mentions, in a root of this form that holds these notes: each
    its id, its room and its aliases."""
    if form == NARROW:
        return mentions
    ids = meant((name, id_) for id_, room, also in notes for name in called(id_, room, also))
    return lambda body: dict.fromkeys(ids.get(name, name) for name in wikilinks(body))


def mentions(body: str) -> tuple[str, ...]:
    """The names that `body` mentions as commonplace has it, each once, in the order in which they
    first come."""
    return tuple(dict.fromkeys(re.findall(_MENTION, body)))


def wikilinks(body: str) -> tuple[str, ...]:
    """The names that `body` mentions as people write them."""
    if "[[" not in body:
        return ()
    found = (target_of(inside) for inside in re.findall(_WIKILINK, prose(body)))
    return tuple(dict.fromkeys(name for name in found if 0 < len(name) <= _LONGEST))


def target_of(inside: str) -> str:
    """What `[[inside]]` leads to: without label, heading and block; "" for a place in the note."""
    target = re.split(r"\\?\|", inside, maxsplit=1)[0].partition("#")[0].strip()
    return target.removesuffix(".md")


def prose(body: str) -> str:
    """The body with its code blanked, line for line."""
    if "`" not in body and "~~~" not in body:
        return body
    lines, fence = [], ""
    for line in body.split("\n"):
        mark = re.match(_FENCE, line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and fence:
            fence = ""
        elif not fence:
            lines.append(line)
            continue
        lines.append("")
    return re.sub(_CODE, lambda found: "\n" * found[0].count("\n"), "\n".join(lines))


def called(id_: str, room: str, aliases: Iterable[str]) -> Iterator[str]:
    """What a note may be mentioned by: its id, of one that is called by its path the file's name,
    else its path, and its aliases."""
    _, slash, name = id_.rpartition("/")
    path = name if slash else f"{room}/{id_}" if room else id_
    yield from dict.fromkeys((id_, path, *aliases))


def meant(names: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """By name the id that is meant, of (name, id): the very one, else the only one that is called
    so. A name that several have means none of them."""
    ids: dict[str, set[str]] = {}
    for name, id_ in names:
        ids.setdefault(name, set()).add(id_)
    return {
        name: name if name in found else min(found)
        for name, found in ids.items()
        if name in found or len(found) == 1
    }
