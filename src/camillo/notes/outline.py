"""The pages of an outline as texts: `ROOT.md` of a root, `index.md` of a room. Pure.

A table stands in a region of its page; what people wrote around it is never changed. In Chinese the
pages are those that oc compiles, apart from marks that are closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from camillo.ports import Entry, Room
from camillo.records import NamedTuple
from camillo.text.regions import Region, block, filled, label_of, regions, with_region
from camillo.text.rules import is_rule
from camillo.text.summary import head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Language = Literal["en", "zh"]

__all__ = [
    "REGISTRY", "ROUTING", "VERSION", "emptied_page", "language_of", "leads", "room_page",
    "root_page"
]  # fmt: skip

VERSION = 1  # of what is generated: pages that another one wrote are made anew

REGISTRY, ROUTING = "registry", "routing"
_SHORT = 40  # units of a summary that describes its room
_NONE = "—"
_NO_PROSE = r"(?sm)<!--.*?-->|^```.*?^```|`[^`\n]*`"
_HAN = "[\u3400-\u9fff\uf900-\ufaff]"
_WORD = "[A-Za-z]{2,}"
_HEAD = 10_000  # characters of a page that tell its language
_FEWEST = 4  # words, or signs of Chinese, that tell a language


class _Words(NamedTuple):
    """What the pages say in one language."""

    heading: str
    files: tuple[str, str, str]
    folders: tuple[str, str, str]
    routes: tuple[str, str, str]
    no_routes: str
    pinned: str
    rules: str
    everywhere: str
    project: str
    for_user: str
    for_project: str
    root: str

    def tables(self) -> list[str]:
        heads = (self.files, self.folders, self.routes)
        return [*map(_row, heads), self.no_routes]

    def titles(self) -> list[str]:
        """Of the parts of a root's page that are generated."""
        return re.findall("^## .+$", self.root, re.MULTILINE)[2:]


_ENGLISH = _Words(
    heading="# {} index",
    files=("File", "Summary", "Highlight"),
    folders=("Folder", "Summary", "Entries"),
    routes=("When", "Read", "Kind"),
    no_routes="_No note says when to read it. One that has `load_when:` in its head is listed "
    "here._",
    pinned="{} ({} pinned)",
    rules="Hard rules: always present, never broken",
    everywhere="all projects",
    project="this project",
    for_user="What holds in every project: preferences, decisions, conventions, pitfalls.",
    for_project="What this project remembers: goals, facts, decisions, pitfalls. It comes before "
    "what holds everywhere.",
    root="""\
# Memory of {label}

> {where}
> The tables between `auto:begin` and `auto:end` are made from the notes: change the notes instead.
> All else on this page is yours.

## Goals

<!-- By hand: what is being done now. Nothing here is ever changed. -->

## Hard rules

<!-- By hand: what must always hold. The notes in rules/ count besides. -->

## Registry

<!-- auto:begin registry -->
<!-- auto:end -->

## When to read what

<!-- auto:begin routing -->
<!-- auto:end -->
""",
)

_CHINESE = _Words(
    heading="# {} 索引",
    files=("文件", "概述", "重点"),
    folders=("目录", "概述", "条目"),
    routes=("场景 / 触发", "读哪个文件", "类型"),
    no_routes="_暂无 load_when 标记的记忆。给文件加 frontmatter 的 `load_when:` "
    "即可自动进入路由表。_",
    pinned="{} ({} 钉住)",
    rules="不可违反的硬规则,常驻",
    everywhere="全局",
    project="项目",
    for_user="跨项目通用记忆:你的偏好、技术决策、通用约定、踩过的坑。",
    for_project="本项目专属记忆:项目目标、事实、决策、坑。优先级高于全局根。",
    root="""\
# 记忆总纲 — {label}
> {where}
> 由 memory 插件维护。`auto:begin` / `auto:end` 之间的表格是编译产物,不要手改;
> 其余区域随便写。
## 当前目标
<!-- 手写:现在在做什么。插件不会碰这里。 -->
## 铁规则(常驻,永不衰减)
<!-- 手写:只写硬性要求。rules/ 目录下的文件会被自动常驻注入。 -->
## 目录登记
<!-- auto:begin registry -->
<!-- auto:end -->
## 加载路由表
<!-- auto:begin routing -->
<!-- auto:end -->
""",
)

_WORDS: dict[Language, _Words] = {"en": _ENGLISH, "zh": _CHINESE}


def language_of(page: str) -> Language | None:
    """The language of what was generated in a page, else of what people wrote in it; None where
    nothing tells."""
    for signs in (_Words.tables, _Words.titles):
        for language, words in _WORDS.items():
            if any(line in page for line in signs(words)):
                return language
    return _language_of_prose(page)


def _language_of_prose(page: str) -> Language | None:
    """Chinese where it has a sign for every two words at least: names of programs are words too."""
    parts, at = [], 0
    for region in regions(page):
        parts.append(page[at : page.rfind("<!--", at, region.named)])
        at = region.end
    prose = re.sub(_NO_PROSE, " ", "".join([*parts, page[at:]])[:_HEAD])
    signs, words = len(re.findall(_HAN, prose)), len(re.findall(_WORD, prose))
    if signs + words < _FEWEST:
        return None
    return "zh" if 2 * signs > words else "en"


def room_page(
    room: str, entries: Sequence[Entry], existing: str | None, language: Language
) -> str | None:
    """The page of a room that holds notes. None: leave it, since no region in it is the room's. One
    that has the label of another room was moved with its folder, and gets the new one."""
    words, label = _WORDS[language], label_of(room)
    table = _table(words.files, [_listed(entry) for entry in entries])
    heading = words.heading.format(room)
    if existing is None:
        return f"{heading}\n\n{block(label, table)}"
    region = _region_of(existing, label)
    if region is None:
        return None
    page = filled(existing, region, label, table)
    above = page[: region.named]
    return _headed(above, _headings(room, region), heading) + page[region.named :]


def emptied_page(room: str, existing: str, language: Language) -> str | None:
    """The page of a room that has no notes left: "" where nothing but what we generate is in it,
    else with an empty table. None: leave it, since no region in it is the room's."""
    region = _region_of(existing, label_of(room))
    if region is None:
        return None
    above = existing[: existing.rfind("\n", 0, region.named) + 1].strip("\ufeff \t\r\n")
    beside = existing[region.named : region.inner].partition("-->")[2].strip()
    below = existing[region.end :].strip().removeprefix("-->")
    if above in ("", *_headings(room, region)) and not (beside or below):
        return ""
    return filled(existing, region, region.label, _table(_WORDS[language].files, []))


def root_page(
    rooms: Sequence[Room],
    routes: Iterable[tuple[str, Entry]],
    existing: str | None,
    language: Language,
    label: str,
    scope: str,
) -> str | None:
    """The page of a root, made where there is none; `label` is what a new one calls the root, ""
    for the user's. None: leave it, since it has none of our regions."""
    if existing is not None and not leads(existing):
        return None
    words = _WORDS[language]
    page = _new_root(words, label, scope) if existing is None else existing
    page = with_region(page, REGISTRY, _registry(rooms, words))
    return with_region(page, ROUTING, _routing(routes, words))


def leads(page: str) -> bool:
    """Has this page of a root a region of ours?"""
    return any(region.label in (REGISTRY, ROUTING) for region in regions(page))


def _new_root(words: _Words, label: str, scope: str) -> str:
    if scope == "user":
        return words.root.format(label=label or words.everywhere, where=words.for_user)
    name = " ".join(label.split()) or words.project
    return words.root.format(label=name, where=words.for_project)


def _registry(rooms: Sequence[Room], words: _Words) -> str:
    rows = []
    for room in rooms:
        count = words.pinned.format(room.notes, room.pinned) if room.pinned else str(room.notes)
        rows.append(_row((_cell(f"{room.name or '.'}/"), _cell(_described(room, words)), count)))
    return _table(words.folders, rows)


def _routing(routes: Iterable[tuple[str, Entry]], words: _Words) -> str:
    rows = [
        _row((_cell(when), _cell(entry.path), _cell(entry.kind or "fact")))
        for when, entry in routes
    ]
    if not rows:
        return f"\n{words.no_routes}\n"
    from camillo.text.collation import sort_key  # where nothing changed, nothing is sorted

    return _table(words.routes, sorted(rows, key=lambda row: (sort_key(row), row)))


def _described(room: Room, words: _Words) -> str:
    if room.rules and is_rule(room.name, ""):
        return words.rules
    return room.description or head(room.first, _SHORT)


def _listed(entry: Entry) -> str:
    name = entry.path.rpartition("/")[2]
    return _row((_cell(name), _cell(entry.summary), _cell(entry.highlight)))


def _table(heads: Sequence[str], rows: Sequence[str]) -> str:
    lines = "\n".join(rows)
    return f"\n{_row(heads)}\n{'|---' * len(heads)}|\n{lines}\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """One line, in which nothing ends the cell or the region."""
    if "|" in text or "\n" in text or "\r" in text or "<" in text:
        text = re.sub(r"\r\n?|\n", " ", text.replace("|", "\\|"))
        text = text.replace("<!-- auto:", "&lt;!-- auto:")
    return text.strip() or _NONE


def _region_of(page: str, label: str) -> Region | None:
    """The region of a room's page: the first of its label, else the only one of all that holds
    nothing or a table of ours."""
    found = regions(page)
    for region in found:
        if region.label == label:
            return region
    if len(found) == 1 and _is_ours(page[found[0].inner : found[0].outer]):
        return found[0]
    return None


def _is_ours(generated: str) -> bool:
    first = generated.strip().partition("\n")[0].strip()
    return not first or any(first == _row(words.files) for words in _WORDS.values())


def _headings(room: str, region: Region) -> list[str]:
    """What the page of this room may be headed, or of the one that it was before."""
    return [
        words.heading.format(name) for words in _WORDS.values() for name in (room, region.label)
    ]


def _headed(above: str, headings: Sequence[str], heading: str) -> str:
    """With the first line that is one of the headings as the one that is wanted."""
    lines = "|".join(map(re.escape, headings))
    return re.sub(
        rf"^(\ufeff?)(?:{lines})(?=\r?$)",
        lambda mark: f"{mark[1]}{heading}",
        above,
        count=1,
        flags=re.MULTILINE,
    )
