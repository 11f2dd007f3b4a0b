"""Stop words: their tables, what counts as one, and the language they betray."""

from __future__ import annotations

import unicodedata

import pytest

from camillo.text.stopwords import FUNCTION_CHARACTERS, LANGUAGES, is_stop, language_of, stop_words


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_is_casefolded_nfc_words(language: str) -> None:
    table = stop_words(language)
    assert 60 <= len(table) <= 300
    assert all(word == unicodedata.normalize("NFC", word.casefold()) for word in table)
    assert not any(character.isspace() for word in table for character in word)


def test_an_unknown_language_has_no_stop_words() -> None:
    assert stop_words("tlh") == frozenset()


def test_stop_words_are_known_without_their_accents() -> None:
    assert {"für", "fur"} <= stop_words("de")
    assert {"más", "mas"} <= stop_words("es")


def test_letters_with_marks_of_their_own_are_not_folded() -> None:
    assert "мои" not in stop_words("ru")


@pytest.mark.parametrize("word", ["the", "nicht", "avec", "también", "något", "ещё", "που", "और"])
def test_grammar_of_any_language_is_a_stop_word(word: str) -> None:
    assert is_stop(word) == (word != "ещё")  # tables spell Russian without ё; callers fold


@pytest.mark.parametrize(
    ("word", "language"),
    [("war", "de"), ("door", "nl"), ("son", "fr"), ("care", "ro"), ("ten", "pl"), ("var", "sv")],
)
def test_an_english_word_stops_only_its_own_language(word: str, language: str) -> None:
    assert is_stop(word, language)
    assert not is_stop(word, "en")


@pytest.mark.parametrize("word", ["d", "c", "x", "python", "los"])
def test_content_is_no_stop_word(word: str) -> None:
    assert not is_stop(word)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "i think that it was not there when we came back"),
        ("de", "ich habe heute nicht gewusst dass wir zu spät sind"),
        ("fr", "je ne sais pas où nous avons laissé les clés pour lui"),
        ("es", "no sé dónde están las llaves pero también las tengo"),
        ("it", "non so dove sono le chiavi della casa perché le hai tu"),
        ("pt", "não sei onde estão as chaves mas você também as tem"),
        ("nl", "ik weet niet waar de sleutels zijn maar jij hebt ze ook"),
        ("sv", "jag vet inte var nycklarna är men du har också dem"),
        ("fi", "minä en tiedä missä avaimet ovat mutta sinä olet täällä"),
        ("pl", "nie wiem gdzie są klucze ale ty też je masz"),
        ("cs", "nevím kde jsou klíče ale ty je také máš protože jsi zde"),
        ("tr", "anahtarlar nerede bilmiyorum ama sen de çok iyi biliyorsun"),
        ("hu", "nem tudom hogy hol vannak a kulcsok de neked is van"),
        ("ro", "nu știu unde sunt cheile dar și tu ești acolo"),
        ("id", "saya tidak tahu di mana kunci itu tetapi anda juga punya"),
        ("ru", "я не знаю где ключи но ты тоже их ищешь"),
        ("uk", "я не знаю де ключі але ти теж їх шукаєш"),
        ("el", "δεν ξέρω πού είναι τα κλειδιά αλλά τα έχεις και εσύ"),
        ("ar", "أنا لا أعرف أين كانت المفاتيح لكن هي هنا"),
        ("hi", "मुझे नहीं पता कि चाबी कहाँ है और यह किस की है"),
        ("he", "אני לא יודע איפה המפתחות אבל גם אתה מחפש"),
    ],
)
def test_a_sentence_betrays_its_language(language: str, sentence: str) -> None:
    assert language_of(sentence.split()) == language


@pytest.mark.parametrize(
    "words", [[], ["python"], ["los", "angeles"], ["def", "main", "args", "de", "x", "y", "z", "w"]]
)
def test_english_is_assumed_without_proof(words: list[str]) -> None:
    assert language_of(words) == "en"


def test_function_characters_are_single_characters() -> None:
    assert 40 <= len(FUNCTION_CHARACTERS) <= 50
    assert {"的", "は", "를"} <= FUNCTION_CHARACTERS
