"""Stems: which words have one, and by whose rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from camillo.text.stems import LATIN_STEMMERS, stem


@pytest.mark.parametrize(
    ("word", "latin", "expected"),
    [
        ("running", "en", "run"),
        ("häuser", "de", "haus"),
        ("chevaux", "fr", "cheval"),
        ("кошками", "en", "кошк"),
        ("किताबें", "en", "किताब"),
        ("الكتاب", "en", "كتاب"),
    ],
)
def test_script_and_language_choose_the_rules(word: str, latin: str, expected: str) -> None:
    assert stem(word, latin) == expected


@pytest.mark.parametrize("word", ["was", "дом", "", "a"])
def test_three_letters_are_never_stemmed(word: str) -> None:
    assert stem(word, "en") == word


@pytest.mark.parametrize("word", ["українською", "книгаќ", "המפתחות", "trường"])
def test_a_word_without_rules_is_its_own_stem(word: str) -> None:
    assert stem(word, "vi") == word


@pytest.mark.parametrize("latin", LATIN_STEMMERS)
def test_every_named_language_has_its_rules(latin: str) -> None:
    assert stem("internationalisation", latin)


def test_the_other_languages_and_pystemmer_are_not_loaded() -> None:
    code = (
        "import sys; from camillo.text.stems import stem; stem('running', 'en'); "
        "print([n for n in sys.modules if n == 'Stemmer' or n.startswith('snowballstemmer.')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
