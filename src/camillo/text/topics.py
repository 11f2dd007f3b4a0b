"""Topics: short phrases that say what a text is about, each with the places where it stands.

Verb phrases, headings and definitions of code make topics; quotations are found the same way.
Which drawers a place belongs to, and how a line is written, is left to `closets`.
Positions are characters of the text handed in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from operator import itemgetter

from camillo.records import NamedTuple

__all__ = [
    "Place",
    "Topic",
    "find_quotes",
    "find_topics",
    "lowered",
    "next_mention",
    "reads_code",
    "reads_headings",
]

Place = tuple[int, int]
_Found = tuple[str, int, int]

# Up to this many characters a text counts as one region, and its first topics are kept.
_REGION = 5_000
_HEADING = range(5, 61)
_QUOTE = range(15, 151)


class Topic(NamedTuple):
    """A phrase and its places, the first one first."""

    text: str
    places: tuple[Place, ...]


def find_topics(
    text: str, *, source_name: str = "", limit: int = 12, definitions: bool = True
) -> list[Topic]:
    """At most `limit` topics: verb phrases, then headings, then definitions.

    A short text keeps its first ones; a long one gives each of its regions a fair share.
    Headings are read where the name of the source says prose, definitions where it says code.
    """
    found: list[Iterable[_Found]] = [_verb_phrases(lowered(text))]
    if reads_headings(source_name):
        found.append(_headings(text, source_name))
    if definitions and reads_code(source_name):
        found.append(_definitions(text))
    return _spread(_gathered(chain.from_iterable(found)), limit, len(text))


def find_quotes(text: str, *, source_name: str = "", limit: int = 3) -> list[Topic]:
    """At most `limit` quotations of 15 to 150 characters on one line, in their own spelling.

    In code only what reads as words counts, so that no pattern or path is taken for speech.
    """
    found = _quotes(text)
    if reads_code(source_name):
        found = (quote for quote in found if re.search(_WORDS, quote[0]))
    return _spread(_gathered(found), limit, len(text))


def next_mention(low: str, phrase: str, at: int) -> Place | None:
    """Where a lower-case phrase stands next as whole words in a lower-case text."""
    while (at := low.find(phrase, at)) >= 0:
        end = at + len(phrase)
        if not (_joined(low[at - 1 : at], phrase[0]) or _joined(phrase[-1], low[end : end + 1])):
            return at, end
        at = end
    return None


def _joined(left: str, right: str) -> bool:
    # Han and kana are written without gaps: there every neighbour is a border.
    return left.isalnum() and right.isalnum() and left < "\u3000" > right


def reads_headings(source_name: str) -> bool:
    """Whether a line that opens with `#` is a heading there, and not a comment."""
    stem, suffix = _name_parts(source_name)
    if suffix:
        return suffix in _PROSE_SUFFIXES.split()
    return stem not in _SCRIPT_NAMES.split() and not stem.startswith(".")


def reads_code(source_name: str) -> bool:
    """Whether the name is that of a programming source."""
    return _name_parts(source_name)[1] in _CODE_SUFFIXES.split()


_PROSE_SUFFIXES = "md markdown mdx mkd mdc qmd rmd rst txt text adoc asciidoc json jsonl html htm"
_SCRIPT_NAMES = "makefile dockerfile containerfile gemfile rakefile justfile vagrantfile procfile"
_CODE_SUFFIXES = (
    "py pyi pyx js jsx mjs cjs ts tsx mts go rs java kt kts swift c h cc cpp cxx hpp cs rb php "
    "scala lua zig sh bash zsh ps1 sql pl pm ex exs erl hs ml dart vue svelte r jl nim proto "
    "graphql groovy clj el lisp m mm sol v d fs elm"
)


def _name_parts(source_name: str) -> tuple[str, str]:
    name = re.split(r"[/\\]", source_name)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    # "notes.2024" and "v1.2 plan" have no suffix, and a dot file is all stem.
    if not (dot and stem and re.fullmatch(r"[a-z][a-z0-9]{0,9}", suffix)):
        return name, ""
    return stem, suffix


# Gathering and choosing


def _gathered(found: Iterable[_Found]) -> list[Topic]:
    places: dict[str, list[Place]] = {}
    for text, start, end in found:
        places.setdefault(text, []).append((start, end))
    return [Topic(text, tuple(where)) for text, where in places.items()]


def _spread(topics: Sequence[Topic], limit: int, length: int) -> list[Topic]:
    """Round robin over equal regions of the text, then back into the order of `topics`."""
    if len(topics) <= limit:
        return list(topics)
    regions: list[list[int]] = [[] for _ in range(max(1, min(limit, -(-length // _REGION))))]
    ranks: Iterable[int] = range(len(topics))
    if len(regions) > 1:
        ranks = sorted(ranks, key=lambda rank: bool(re.match(_VAGUE, topics[rank].text)))
    for rank in ranks:
        regions[topics[rank].places[0][0] * len(regions) // (length + 1)].append(rank)
    rounds = (rank for turn in zip_longest(*regions) for rank in turn if rank is not None)
    return [topics[rank] for rank in sorted(islice(rounds, limit))]


# "created in the", "added to it": taken last where a long text offers something better.
_VAGUE = (
    r"(?:built|fixed|wrote|added|pushed|tested|created|decided|migrated|reviewed|deployed"
    r"|configured|removed|updated) (?:about|after|also|and|as|at|automatically|before|below|but|by"
    r"|during|for|from|here|if|in|internally|into|it|later|of|on|once|only|or|over|that|then|this|to"
    r"|via|when|whenever|where|which|while|with|without|yet|(?:a|an|the)$)\b"
)


def lowered(text: str) -> str:
    """Lower case of the same length, so that positions carry over."""
    low = text.lower()
    # U+0130 is the one character that lower() makes longer.
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()


def _collapsed(text: str) -> str:
    return " ".join(text.split())


# Verb phrases

# Verbs that come before their object; the English fourteen are those of MemPalace.
_VERBS = """
built fixed wrote added pushed tested created decided migrated reviewed deployed configured removed
updated
baute bauten behob behoben schrieb schrieben ergänzte ergänzten testete testeten erstellte
erstellten entschied entschieden beschloss beschlossen migrierte migrierten prüfte prüften
konfigurierte konfigurierten entfernte entfernten aktualisierte aktualisierten korrigierte
korrigierten
construit corrigé écrit ajouté poussé testé créé décidé migré revu déployé configuré supprimé
retiré rédigé
construí construyó construimos corregí corrigió corregimos escribí escribió escribimos añadí añadió
añadimos agregué agregó agregamos probé probó probamos creé creó creamos decidí decidió decidimos
migré migró migramos revisé revisó revisamos desplegué desplegó desplegamos configuré configuró
configuramos eliminé eliminó eliminamos actualicé actualizó actualizamos
construiu corrigi corrigiu corrigimos escrevi escreveu escrevemos adicionei adicionou adicionamos
testei testou testamos criei criou criamos decidiu migrei migrou migramos revisei revisou revisamos
implantei implantou implantamos configurei configurou removi removeu removemos atualizei atualizou
atualizamos
costruito corretto scritto aggiunto testato creato deciso migrato revisionato distribuito
configurato rimosso aggiornato
построил построила построили собрал собрала собрали исправил исправила исправили написал написала
написали добавил добавила добавили запушил запушила запушили протестировал протестировала
протестировали создал создала создали решил решила решили мигрировал мигрировала мигрировали
перенёс перенес перенесла перенесли проверил проверила проверили развернул развернула развернули
настроил настроила настроили удалил удалила удалили обновил обновила обновили
"""
# Participles that close a German clause: "den Fehler behoben".
_CLOSING = """
gebaut behoben geschrieben hinzugefügt ergänzt gepusht getestet erstellt entschieden beschlossen
migriert geprüft bereitgestellt konfiguriert entfernt gelöscht aktualisiert korrigiert
"""
_CHINESE = """
构建 搭建 修复 修正 编写 撰写 写了 添加 新增 增加 推送 测试 创建 新建 决定 迁移 审查 评审
部署 配置 删除 移除 更新
構建 建構 修復 編寫 撰寫 寫了 測試 創建 建立 決定 遷移 審查 設定 刪除
"""
_JAPANESE = """
構築 修正 書い 執筆 追加 プッシュ テスト 作成 決定 決め 移行 レビュー デプロイ 設定 削除 更新 実装
"""
_KOREAN = "구축 수정 작성 추가 푸시 테스트 생성 결정 이전 검토 배포 설정 삭제 제거 업데이트 구현"

# What may not stand before a Latin or Cyrillic word for it to be whole. Han and kana may.
_LETTERS = "0-9A-Z_a-z\u00aa-\u024f\u0370-\u052f\u1e00-\u1fff"
_EAST_ASIAN = "[\u3041-\u30fa\u3400-\u9fff\uac00-\ud7af]"


def _verb_phrases(low: str) -> list[_Found]:
    found = [_after_verb(low, _verb_pattern())]
    if " den " in low or " die " in low or " das " in low or " der " in low:
        found.append(_before_verb(low, _closing_pattern(), 40))
    if not low.isascii() and re.search(_EAST_ASIAN, low):
        found.append(_places(_chinese_pattern(), low))
        found.append(_before_verb(low, _object_pattern(), 20))
    return sorted(chain.from_iterable(found), key=itemgetter(1))


def _after_verb(low: str, pattern: re.Pattern[str]) -> Iterator[_Found]:
    # The pattern opens with the character before the verb, which is faster than a look-behind.
    return ((text, start - 1, end - 1) for text, start, end in _places(pattern, "\n" + low))


def _places(pattern: re.Pattern[str], low: str) -> Iterator[_Found]:
    return ((_collapsed(match[1]), *match.span(1)) for match in pattern.finditer(low))


_OBJECT = r"(?<!\w)\w[\w \t]+\Z|\w{2,}\Z"


def _before_verb(low: str, pattern: re.Pattern[str], reach: int) -> Iterator[_Found]:
    for match in pattern.finditer(low):
        before = re.compile(_OBJECT).search(low, max(0, match.start() - reach), match.start())
        if before:
            start, end = before.start(), match.end()
            yield _collapsed(low[start:end]), start, end


@cache
def _verb_pattern() -> re.Pattern[str]:
    # 3 to 40 characters, ending with a whole word unless a single word is longer than that.
    phrase = r"\w(?:[\w \t]{1,38}\w(?!\w)|\w{39})"
    words = _VERBS.split()
    first = "".join(sorted({word[0] for word in words}))
    return re.compile(rf"[^{_LETTERS}](?=[{first}])((?:{_trie(words)})[ \t\u00a0]+{phrase})")


@cache
def _closing_pattern() -> re.Pattern[str]:
    return re.compile(rf"[ \t](?:{_trie(_CLOSING.split())})(?!\w)")


@cache
def _chinese_pattern() -> re.Pattern[str]:
    # 2 to 20 characters; the cut does not fall inside a Latin word. A kana next means Japanese.
    phrase = r"(?![\u3041-\u3096\u30a1-\u30fa])\w[\w \t]{0,18}\w(?![0-9a-z])"
    return re.compile(rf"((?:{_trie(_CHINESE.split())})[了好完]?[ \t]?{phrase})")


@cache
def _object_pattern() -> re.Pattern[str]:
    return re.compile(rf"を(?:{_trie(_JAPANESE.split())})|[을를][ ]?(?:{_trie(_KOREAN.split())})")


def _trie(words: Iterable[str]) -> str:
    """One expression for all words, factored by their beginnings, so that it fails early."""
    tails: dict[str, list[str]] = {}
    for word in sorted(set(words)):
        tails.setdefault(word[:1], []).append(word[1:])
    optional = tails.pop("", None) is not None
    branches = [re.escape(head) + _trie(rest) for head, rest in tails.items()]
    if not branches:
        return ""
    if len(branches) == 1 and not optional:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if optional else ''}"


# Headings

_ATX = r"\n(#{1,3})[ \t]+([^\n]+)"
_ADOC = r"\n(={1,4})[ \t]+([^\n]+)"
_UNDERLINE = r"\n([=~-])\1{2,}[ \t\r]*+(?=\n|\Z)"
_FENCE = r"\n[ \t]*+(`{3,}+|~{3,}+)([^\n]*)"


def _headings(text: str, source_name: str) -> Iterator[_Found]:
    framed = "\n" + text
    fences = _fences(framed)
    lines = chain(_marked_lines(framed, source_name), _underlined(framed))
    for start, end in sorted(lines):
        title = _collapsed(lowered(framed[start:end]).rstrip("# \t\r"))
        # The number of borders to the left is odd inside a fence.
        if _is_title(title) and bisect_right(fences, start) % 2 == 0:
            yield title, start - 1, end - 1


def _marked_lines(framed: str, source_name: str) -> Iterator[Place]:
    pattern = _ADOC if source_name.lower().endswith(("adoc", "asciidoc")) else _ATX
    return (match.span(2) for match in re.finditer(pattern, framed))


def _underlined(framed: str) -> Iterator[Place]:
    """Titles with a rule below, as Markdown and reStructuredText write them."""
    front = _front_matter_end(framed)
    for match in re.compile(_UNDERLINE).finditer(framed, front):
        end = match.start()
        start = framed.rfind("\n", max(0, end - 80), end) + 1
        above = framed.rfind("\n", max(0, start - 80), max(0, start - 1)) + 1
        opens = start > 0 and (start == 1 or not framed[above : start - 1].strip(" \t\r=~-"))
        if opens and framed[start : start + 1] not in "#=~->|`":
            yield start, end


def _front_matter_end(framed: str) -> int:
    if not framed.startswith("\n---"):
        return 0
    return max(0, framed.find("\n---", 4) + 4)


def _fences(framed: str) -> list[int]:
    """Borders of fenced blocks: openings at even places, closings at odd ones."""
    borders: list[int] = []
    mark = ""
    for match in re.finditer(_FENCE, framed):
        if not mark:
            mark = match[1]
            borders.append(match.start())
        elif match[1].startswith(mark) and not match[2].strip():
            mark = ""
            borders.append(match.end())
    return borders


def _is_title(title: str) -> bool:
    if len(title) in _HEADING:
        return True
    # Two characters of Han or kana say as much as a word.
    return 2 <= len(title) < _HEADING.stop and bool(re.search(_EAST_ASIAN, title))


# Definitions


@cache
def _definition_pattern() -> re.Pattern[str]:
    modifiers = (
        r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|abstract"
        r"|final|sealed|async|unsafe|extern|override|virtual|inline|open|data|partial|declare)"
        r"[ \t]+)*+"
    )
    named = (
        r"(def|class|function|fn|func|fun|struct|interface|enum|trait|impl|type|module|namespace"
        r"|protocol|object|record|message|service|defmodule|sub|proc|CREATE[ ]TABLE|create[ ]table)"
        r"[ \t]+(?:\([^)\n]{0,60}\)[ \t]*)?([A-Za-z_$][\w$.:]{1,60})"
        r"(?=[^\w\n]{0,2}[(\[{<:=;\n]|[ \t]+(?:extends|implements|struct|interface|for|where|is)\b)"
    )
    bound = r"(const|let|var)[ \t]+([\w$]{2,60})[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\()"
    return re.compile(rf"\n([ \t]*+){modifiers}(?:{named}|{bound})")


def _definitions(text: str) -> list[_Found]:
    """`class Name`, `def name` …: outer and public ones before inner and private ones."""
    outer: list[_Found] = []
    inner: list[_Found] = []
    for match in _definition_pattern().finditer("\n" + text):
        indent, keyword, name, binder, bound = match.groups()
        word, name = keyword or binder, name or bound
        if not name.startswith("__"):
            first = match.start(2 if keyword else 4) - 1
            plain = not indent and not name.startswith("_")
            topic = f"{word} {name.rstrip(':.')}", first, match.end() - 1
            (outer if plain else inner).append(topic)
    return outer + inner


# Quotations

_WORDS = r"[^\W\d_]{2,}[,;:]? [^\W\d_]{2,}[,;:]? [^\W\d_]+|" + _EAST_ASIAN


@cache
def _quote_pattern(ascii_only: bool) -> re.Pattern[str]:
    straight = r'"([^"\n]*)"'
    if ascii_only:
        return re.compile(straight)
    return re.compile(
        straight + "|“([^“”\n]*)”|„([^„“”\n]*)[“”]|「([^「」\n]*)」|『([^『』\n]*)』|«([^«»\n]*)»"
    )


def _quotes(text: str) -> Iterator[_Found]:
    # Pairs are taken from the left of each line, so that no text between two quotations counts.
    for match in _quote_pattern(text.isascii()).finditer(text):
        if match.end() - match.start() - 2 in _QUOTE:
            quote = _collapsed(match[match.lastindex or 0])
            if len(quote) in _QUOTE:
                yield quote, match.start(), match.end()
