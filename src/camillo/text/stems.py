"""The Snowball stem of one word: which stemmer a word gets, and the stemmers themselves.

The script of the word decides, and for Latin letters the language that the caller names.
Always the pure Python stemmers, never PyStemmer even where it is installed: an index deletes a
text by making its tokens again, so two machines must agree on every stem.
Caching is left to the caller (a stem costs 3 to 80 microseconds), folding of accents too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LATIN_STEMMERS", "stem"]

LATIN_STEMMERS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "pl": "polish",
    "cs": "czech",
    "tr": "turkish",
    "hu": "hungarian",
    "ro": "romanian",
    "id": "indonesian",
    "ca": "catalan",
}
"""Language code -> Snowball algorithm, for words in Latin letters."""

_SHORTEST = 4
_LONGEST = 64
_PERSIAN = frozenset("پچژگکی")
# Letters that Russian lacks: its stemmer would cut Ukrainian, Serbian or Kazakh words at random.
_NOT_RUSSIAN = frozenset("іїєґђћџљњјѓќѕўғқңөұүһә")

_PACKAGE = "_camillo_snowball"
_idle: dict[str, list[Any]] = {}


def stem(word: str, latin: str) -> str:
    """Stem of a casefolded NFC word; the word itself when it is short or has no stemmer.

    `latin` is the language code that words in Latin letters are taken to be in.
    """
    if not _SHORTEST <= len(word) <= _LONGEST:
        return word
    algorithm = _algorithm(word, latin)
    return (_stemmed(word, algorithm) or word) if algorithm else word


def _algorithm(word: str, latin: str) -> str | None:
    point = ord(word[0])
    if point < 0x250 or 0x1E00 <= point < 0x1F00:
        return LATIN_STEMMERS.get(latin)
    if 0x370 <= point < 0x400 or 0x1F00 <= point < 0x2000:
        return "greek"
    if 0x400 <= point < 0x530:
        return "russian" if _NOT_RUSSIAN.isdisjoint(word) else None
    if 0x530 <= point < 0x590:
        return "armenian"
    if 0x600 <= point < 0x700:
        return "arabic" if _PERSIAN.isdisjoint(word) else "persian"
    if 0x900 <= point < 0x980:
        return "hindi"
    return "tamil" if 0xB80 <= point < 0xC00 else None


def _stemmed(word: str, algorithm: str) -> str:
    # A stemmer holds the word it works on, so no two threads may share one: each call takes an
    # idle one from the list, or makes one (15 microseconds), and gives it back.
    idle = _idle.setdefault(algorithm, [])
    try:
        stemmer = idle.pop()
    except IndexError:
        stemmer = _new_stemmer(algorithm)
    result: str = stemmer.stemWord(word)
    idle.append(stemmer)
    return result


def _new_stemmer(algorithm: str) -> Any:
    module = import_module(f"{_package()}.{algorithm}_stemmer")
    return getattr(module, f"{algorithm.title()}Stemmer")()


def _package() -> str:
    # `import snowballstemmer` loads 36 languages (13 ms) and prefers PyStemmer. Opening the same
    # folder as a package without its __init__ loads the one language that is wanted (2 ms).
    if _PACKAGE not in sys.modules:
        spec = PathFinder.find_spec("snowballstemmer")
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError(
                "no module named 'snowballstemmer'; pip install camillo again"
            )
        package = ModuleType(_PACKAGE)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[_PACKAGE] = package
    return _PACKAGE
