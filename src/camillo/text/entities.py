"""Entities: the names that a text keeps using, most frequent first.

Names of products are known whole; other names are found by how the text itself spells them.
Nothing but the text is consulted, so a rebuild finds the same names again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice

__all__ = ["find_entities"]


def find_entities(text: str, limit: int = 5, *, minimum: int = 2) -> tuple[str, ...]:
    """At most `limit` names seen at least `minimum` times, ties in the order of appearance."""
    counts = _counts(text)
    frequent = [item for item in counts.items() if item[1] >= minimum]
    if not frequent:
        return ()
    spelling = _Spelling(text)
    names: list[str] = []
    for name, count in sorted(frequent, key=lambda item: -item[1]):
        if len(names) == limit:
            break
        # Known products and titles are the only ones with a space, a full stop or brackets.
        if not name.isalpha() or spelling.is_name(name, count):
            names.append(name)
    return tuple(names)


def _counts(text: str) -> Counter[str]:
    """Every capitalised word, known name and title with its frequency, by first appearance."""
    found = Counter(_candidate_pattern(text.isascii()).findall(text))
    counts: Counter[str] = Counter()
    for word, count in found.items():
        counts[word if word.isalpha() else " ".join(word.split())] += count
    if "\u300a" in text:
        counts.update(re.findall(_TITLE, text))
    return counts


# Titles of works in Chinese: 《…》.
_TITLE = "\u300a[^\u300a\u300b\n]{1,30}\u300b"

# Latin, Greek and Cyrillic letters: between them and Han or kana a word may begin or end.
_LETTERS = "0-9A-Z_a-z\u00aa\u00ba\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff"


@cache
def _upper(ascii_only: bool) -> str:
    if ascii_only:
        return "A-Z"
    blocks = (0x41, 0x5B), (0xC0, 0x250), (0x370, 0x530), (0x1E00, 0x2000)
    return "".join(chr(c) for low, high in blocks for c in range(low, high) if chr(c).isupper())


@cache
def _candidate_pattern(ascii_only: bool) -> re.Pattern[str]:
    """A known name, or a whole capitalised word of 2 to 30 letters."""
    upper = _upper(ascii_only)
    letters = _LETTERS.replace("0-9", "").replace("_", "")
    # The first letter opens the pattern, so that the engine may leap from capital to capital.
    return re.compile(
        rf"[{upper}](?<![{_LETTERS}].)(?:(?:{_known_tails()})(?![{_LETTERS}])"
        rf"|[{letters}]{{1,29}}+(?![{_LETTERS}]))"
    )


def _known_tails() -> str:
    tails: dict[str, list[str]] = {}
    for name in sorted(_KNOWN, key=len, reverse=True):
        tails.setdefault(name[0], []).append(re.escape(name[1:]).replace(r"\ ", r"\s"))
    return "|".join(f"(?<={first})(?:{'|'.join(rest)})" for first, rest in tails.items())


@cache
def _start_pattern(ascii_only: bool) -> re.Pattern[str]:
    """A capitalised word at the start of a sentence, of a line or of a quotation."""
    upper = _upper(ascii_only)
    letters = _LETTERS.replace("0-9", "").replace("_", "")
    ends = ".!?:;|>#\n\"'" if ascii_only else ".!?:;|>#\n\"'。！？…：；“„«「¿¡•"
    return re.compile(
        rf"[{ends}][ \t\r`*_(\[+/\-\u2013\u2014\u2019\u201d\u00bb\u3000]*+"
        rf"([{upper}][{letters}]{{1,29}}+)(?![{_LETTERS}])"
    )


_HEADING = r"\n#{1,6}[ \t]([^\n]*)"


class _Spelling:
    """How a text spells a word: capitalised at starts, capitalised inside, in lower case."""

    def __init__(self, text: str) -> None:
        self._text = "\n" + text
        ascii_only = text.isascii()
        self._starts = Counter(_start_pattern(ascii_only).findall(self._text))
        pattern = _candidate_pattern(ascii_only)
        for heading in re.findall(_HEADING, self._text):
            # Title case proves nothing; a word that opens the heading is counted already.
            self._starts.update(pattern.findall(heading, 1))
        self._german = _is_german(text)

    def is_name(self, word: str, count: int) -> bool:
        """Whether the text treats a capitalised word as a name."""
        if word in _stop_words() or word.isupper():
            return False
        if not word[1:].islower():
            return True
        inside = max(0, count - self._starts[word])
        lower = sum(1 for _ in islice(self._places(word.lower()), inside + 1))
        if lower and lower >= inside:
            return False
        if not inside:
            return self._acts(word)
        return not (self._german and self._takes_article(word))

    def _places(self, word: str) -> Iterator[tuple[int, int]]:
        """Where a word stands whole; a pattern for each word would cost more to compile."""
        at = self._text.find(word)
        while at >= 0:
            end = at + len(word)
            if not (self._text[at - 1].isalnum() or self._text[end : end + 1].isalnum()):
                yield at, end
            at = self._text.find(word, end)

    def _acts(self, word: str) -> bool:
        """Whether a word seen only at starts does something, owns something or speaks."""
        if word.lower() in _openers():
            return False
        followers: set[str] = set()
        acting, following = re.compile(_ACTING), re.compile(_FOLLOWER)
        for _, end in self._places(word):
            if acting.match(self._text, end):
                return True
            follower = following.match(self._text, end)
            if follower:
                followers.add(follower[0])
        return len(followers) >= 3 and not word.endswith("s")

    def _takes_article(self, word: str) -> bool:
        """Common nouns of German are capitalised too, but seldom stand without an article."""
        places = list(self._places(word))
        article = re.compile(_ARTICLE)
        articles = sum(
            1 for start, _ in places if article.search(self._text, max(0, start - 40), start)
        )
        return articles * 3 >= len(places)


_FOLLOWER = r"[ \t]+[^\W\d_]+"
_ACTING = (
    r"\*{0,2}:|['’]s[ \t]|[ \t]+(?:\w+ed|wrote|built|made|said|says|told|asked|is|was|has|had|will"
    r"|can|could|would|and|ran|sent|gave|got|took|went|came|thinks|wants|likes|works|lives|knows"
    r"|hat|ist|war|und|est|était|et|es|fue|y|è|ha|e|и|\w+(?:[аиеё]л|[аие]ла|[аие]ли))\b"
)
_ARTICLE = (
    r"(?i)\b(?:der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|im|am|zum|zur|vom|beim|kein|keine"
    r"|keinen|jede|jeder|jedes|diese|dieser|dieses|mehr|viele|alle)\s(?:\w+e[nrsm]?\s)?\Z"
)


def _is_german(text: str) -> bool:
    if " der " not in text and " die " not in text:
        return False
    german = text.count(" der ") + text.count(" die ") + text.count(" und ") + text.count(" das ")
    return german > text.count(" the ") + text.count(" of ")


# Tables

_KNOWN = (
    "Claude Code", "Claude Desktop", "Claude Opus", "Claude Sonnet", "Claude Haiku",
    "Claude Agent SDK", "Model Context Protocol", "GitHub Copilot", "GitHub Actions",
    "GitHub Pages", "GitLab CI", "Gemini CLI", "Google Cloud", "Google Drive", "Google Docs",
    "Google Sheets", "Google Maps", "Google Calendar", "Visual Studio Code", "Visual Studio",
    "VS Code", "Android Studio", "Apple Silicon", "Amazon Web Services", "AWS Lambda",
    "Microsoft Teams", "Microsoft Azure", "Microsoft Office", "SQL Server", "Open WebUI",
    "LM Studio", "Hugging Face", "Stable Diffusion", "Azure DevOps", "Docker Compose",
    "Docker Desktop", "Docker Hub", "Kubernetes Engine", "Cloud Run", "Elastic Search",
    "Redis Stack", "Apache Kafka", "Apache Spark", "Apache Airflow", "Power BI", "Home Assistant",
    "Stack Overflow", "Linux Mint", "Red Hat", "Raspberry Pi", "Next.js", "Node.js", "Vue.js",
    "React Native", "Ruby on Rails", "Spring Boot", "Tailwind CSS", "Unreal Engine",
    "Jupyter Notebook", "Obsidian Sync", "Notion AI", "Continue.dev", "Llama.cpp",
    "Final Cut Pro", "Game Boy", "New York", "San Francisco", "Los Angeles", "Hong Kong",
    "United States", "United Kingdom",
)  # fmt: skip

_STOP = """
The This That These Those There Here When Where What Why Who Whom Whose Which How After Before Then
Than Now And But Or Nor Yet So If Else Yes No Not Maybe Okay Ok It Its He She We They You Your Our
Their His Her My Mine Me Us Them In On At By To Of For From With Without Into As An Is Are Was Were
Be Been Being Do Does Did Has Have Had Can Could Should Would Will May Might Must Shall Also Just
Only Once Since Until While Because Although Though However Therefore Thus Hence Instead Otherwise
Let Some Any All Both Each Every Other Another Many Most More Much Few Several Such Same First
Second Third Next Last One Two Three Four Five Six Seven Eight Nine Ten User Assistant System Tool
Human Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June
July August September October November December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec
Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Today Tomorrow Yesterday Hi Hello Hey Thanks Thank
Please Sorry Dear Sure Great Good Well Oh Ah Wow Don Doesn Didn Isn Aren Wasn Won Can Couldn Ll Ve
None True False Null Undefined NaN Handler Node String Str Int Integer Float Double Boolean Bool
Bytes Byte Char Array List Dict Dictionary Set Map Tuple Object Class Function Method Module Type
Types Value Values Key Keys Error Errors Exception Exceptions Warning Warnings Todo Fixme Note Notes
Any Optional Union Callable Iterable Iterator Sequence Mapping Promise Buffer Stream Event Events
Request Response Result Results Option Options Some Ok Err Vec Box Self Args Kwargs Params
Parameter Parameters Argument Arguments Return Returns Raises Yields Example Examples Usage Default
Defaults Deprecated Added Changed Fixed Removed Updated Created Version Copyright License Licensed
Author Authors Table Contents Overview Introduction Summary Conclusion Background Description
Details Section Chapter Figure Appendix Index See Step Steps Test Tests Input Output File Files
Folder Path Name Names Line Lines Code Data Text Title Link Links Page Pages History Release
Features Feature Bug Bugs Issue Issues Status Info Debug Question Answer Problem Solution Goal Goals
TypeError ValueError KeyError IndexError AttributeError RuntimeError ImportError OSError IOError
NotImplementedError StopIteration AssertionError KeyboardInterrupt SyntaxError ReferenceError
RangeError UnicodeError UnicodeDecodeError UnicodeEncodeError FileNotFoundError PermissionError
TimeoutError ConnectionError LookupError OverflowError ZeroDivisionError DeprecationWarning
Der Die Das Den Dem Ein Eine Und Oder Aber Wenn Dann Wir Ich Sie Er Es Ihr Mit Von Nicht Auch Wie
Was Wer Wo Diese Dieser Dieses Im Am Zum Zur Für Bei Nach Montag Dienstag Mittwoch Donnerstag
Freitag Samstag Sonntag Januar Februar März Mai Juni Juli Oktober Dezember
Le La Les Un Une Des Du Et Ou Mais Donc Il Elle Nous Vous Ils Elles On Ce Cette Ces Je Tu Dans Pour
Avec Sur Par Que Qui Quand Si Comment Pourquoi Est Lundi Mardi Mercredi Jeudi Vendredi Samedi
Dimanche
El Los Las Una Unos Unas Pero Porque Cuando Como Donde Este Esta Estos Yo Ella Nosotros Para Con Por
Sin En De Lunes Martes Miércoles Jueves Viernes Sábado Domingo
Gli Lo Uno Ma Perché Quando Dove Questo Questa Io Noi Voi Loro Per Non Che Come Nel Nella
Os As Um Uma Mas Quando Onde Isto Esse Essa Ele Ela Eles Elas Não Sim Também No Na
И В На Не Но Он Она Оно Они Мы Вы Я Ты Это Как Что Где Когда Если Для По Из От До За При Так Тоже
Все Был Была Были Есть Понедельник Вторник Среда Четверг Пятница Суббота Воскресенье
"""

# Words that often open a sentence, a list item or a label without being names.
_OPENERS = """
use uses used using run running make making add adding get getting put set see show shows shown
check create call calls change click close configure connect consider contains copy define delete
deploy disable do download edit enable ensure enter execute export extract fetch fill find finish
fix follow generate give go handle hide ignore implement import improve include increase initialize
insert install instead join keep launch learn leave like list load look mark merge migrate move need
open order pass pick prefer press print provide publish pull push raise read rebuild record reduce
refactor register reload remember remove rename repeat replace report require reset restart restore
review rewrite save search select send share skip sort specify split start stop store submit support
supports switch take tell test think track try turn type understand update upgrade upload validate
verify view wait want watch write about above across again against almost along already always
among apart around away back based basically below besides between beyond briefly clearly currently
depending despite down during earlier early either especially even eventually ever everyone
everything exactly existing fewer final finally five following generally given half hopefully
ideally immediately important including indeed inside internally it's key large later least left
less likely little local long lots low main mainly major manual meanwhile minor multiple mostly near
nearly never new nobody normally nothing obviously off often old onto open optional original others
outside overall own particularly partly past people perhaps possible possibly previous previously
primary probably quick quickly quite rather really recent recently regarding related right rough
several short similar similarly simple simply slightly somebody someone something sometimes soon
still strictly surely technically that's their through throughout together too total toward towards
true typically under unfortunately unless unlike up upon useful usually various very via what's
whatever whenever whether whoever within wrong worse yet better best big small high fast slow safe
time date day week month year team project client server internal external public private static
global build builds cause context cost current design document documentation email environment
expected fallback format general hint id image impact input key label language level message mode
model name notice number output owner package phase plan priority process product purpose reason
reference required requirement root rule sample scope security service session setup size source
special start state strategy style subject task tip tips topic url value warning why work
"""


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP.split())


@cache
def _openers() -> frozenset[str]:
    return frozenset(_OPENERS.split())
