"""Tokens: what a text is found by, what a query looks for, and that both count alike."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from camillo.text.tokens import (
    Term,
    may_hold,
    query_terms,
    term_counts,
    term_counts_of_all,
    token_text,
    tokenise,
    word_count,
)

_ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
_SURROGATES = st.characters(categories=("Cs", "Cn", "Cc", "Co", "L", "M", "S"))
_WORDS = st.sampled_from(
    [
        "the", "running", "runs", "getUserName", "snake_case", "HTTPServer2", "café", "cafe\u0301",
        "哈哈哈", "手机", "手\ufe00机", "用Python写", "２０００年", "ｶﾞｽ", "한국어", "น้ำ",
        "дома", "किताबें", "👍🏽", "🇩🇪", "der", "Häuser", "l'école", "½", "ﷺ",
        "_", "__init__", "\u200d", "\ud800",
    ]
)  # fmt: skip
_MIXED_TEXT = st.lists(_WORDS | st.text(max_size=5), max_size=12).flatmap(
    lambda words: st.sampled_from([" ".join(words), "".join(words)])
)


def found(query: str, text: str) -> bool:
    tokens = set(tokenise(text))
    return any(not tokens.isdisjoint(term.forms) for term in query_terms(query))


def words(query: str) -> list[str]:
    return [term.word for term in query_terms(query)]


# --- other scripts ------------------------------------------------------------------------------


@pytest.mark.promise(31)
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("猫", "我家的猫喜欢晒太阳。"),
        ("手机", "昨天买的手机坏了"),
        ("的", "我的书"),
        ("写", "用Python写脚本"),
        ("犬", "私は犬が好きです"),
        ("すし", "昨日はすしを食べた"),
        ("カメ", "新しいカメラを買った"),
        ("ガス", "ｶﾞｽ料金"),
        ("집", "우리 집에 왔어요"),
        ("학교", "학교에서 공부했다"),
        ("학교", unicodedata.normalize("NFD", "학교에서 공부했다")),
        ("แมว", "ฉันมีแมวสองตัว"),
        ("มด", "มีมดอยู่บนโต๊ะ"),
        ("น้ำ", "ดื่มน้ำเยอะๆ"),
        ("ໝາ", "ຂ້ອຍມີໝາ"),
        ("ឆ្កែ", "ខ្ញុំមានឆ្កែមួយ"),
        ("ခွေး", "ကျွန်တော်မှာခွေးရှိတယ်"),
        ("я", "это я написал"),
        ("ёж", "в саду живёт еж"),
        ("кошка", "Мы видели кошку во дворе"),
        ("घर", "मेरा घर दिल्ली में है"),
        ("किताब", "मेज़ पर किताबें हैं"),
        ("ज़मीन", "यह जमीन उपजाऊ है"),
        ("اب", "هذا اب صالح"),
        ("كتاب", "قرأت الكِتَاب أمس"),
        ("می‌خواهم", "من میخواهم بروم"),
        ("בית", "זה בית ספר"),
        ("σπίτι", "ΤΟ ΣΠΙΤΙ ΜΟΥ"),
        ("தமிழ்", "தமிழ் மொழி"),
        ("𠮷", "𠮷野家で食べた"),
        ("abc", "ＡＢＣ株式会社"),
        ("株式", "㈱ ㍿"),
        ("34", "العدد ٣٤"),
    ],
)
def test_a_short_word_finds_its_text(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.promise(31)
@given(st.data())
@settings(max_examples=60)
def test_every_one_or_two_characters_of_unspaced_text_find_it(data: st.DataObject) -> None:
    text = data.draw(
        st.sampled_from(["机器学习很有趣的", "すしがだいすきカメラ", "대한민국", "ฉันดื่มน้ำ"])
    )
    start = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(1, 2))
    query = text[start : start + length]
    assume(not all(unicodedata.combining(c) or unicodedata.category(c) == "Mn" for c in query))
    assert found(query, f"before {text} after")


@pytest.mark.promise(31)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize(
    "word", ["café", "Ångström", "naïve", "Ελλάδα", "Việt", "йод", "żółw", "İstanbul", "が", "ǰ"]
)
def test_both_normal_forms_give_the_same_tokens(word: str, form: str) -> None:
    assert tokenise(unicodedata.normalize(form, word)) == tokenise(word)


@pytest.mark.promise(31)
@pytest.mark.parametrize(
    ("bare", "accented"),
    [
        ("cafe", "café"), ("strasse", "Straße"), ("lodz", "Łódź"), ("kobenhavn", "København"),
        ("istanbul", "İSTANBUL"), ("dong", "Đông"), ("еще", "ещё"), ("замок", "за\u0301мок"),
        ("ελλαδα", "Ελλάδα"), ("oeuvre", "œuvre"),
    ],
)  # fmt: skip
def test_accents_are_found_either_way(bare: str, accented: str) -> None:
    assert found(bare, f"x {accented} y")
    assert found(accented, f"x {bare} y")


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("ї", "і"), ("が", "か"), ("कि", "क")])
def test_a_mark_that_makes_another_letter_is_kept(one: str, other: str) -> None:
    assert not set(tokenise(one)) & set(tokenise(other))


def test_unspaced_text_is_characters_and_pairs() -> None:
    assert tokenise("手机坏了") == ["手", "手机", "机", "机坏", "坏", "坏了", "了"]


def test_an_emoji_is_a_token_and_punctuation_is_none() -> None:
    assert tokenise("!? … «👍🏽» — 👩‍💻, 🇩🇪.") == ["👍", "👩", "💻", "🇩🇪"]
    assert found("👍", "great 👍🏿!")


def test_unseen_characters_do_not_part_a_word() -> None:
    assert tokenise("co\u00adoperate") == tokenise("cooperate")
    assert tokenise("手\ufe00机") == tokenise("手机")


# --- words and identifiers ----------------------------------------------------------------------


def test_a_word_gives_its_surface_and_its_stem() -> None:
    assert tokenise("running run runs") == ["running", "run", "run", "runs", "run"]


def test_words_of_three_letters_are_not_stemmed() -> None:
    assert tokenise("was gas his ing") == ["was", "gas", "his", "ing"]


def test_the_stemmer_follows_the_stop_words_of_the_text() -> None:
    assert "haus" in tokenise("Die Häuser sind nicht in dem Garten")
    assert "cant" not in tokenise("we heard cantaremos once")
    assert "cant" in tokenise("hoy cantaremos para los niños porque es su fiesta")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("getUserName", "getusername get user name"),
        ("snake_case_name", "snakecasename snake case name"),
        ("__init__", "init"),
        ("HTTPServer2", "httpserver2 http server"),
        ("maxGröße", "maxgrosse max grosse"),
        ("MAX_RETRIES", "maxretries max retries retri"),
        ("src/app/main.py", "src app main py"),
        ("os.path.join", "os path join"),
        ("3.11.7", "3 11 7"),
        ("ann.lee@mail.org", "ann lee mail org"),
        ("well-known", "well known"),
        ("sha256", "sha256 sha 256"),
        ("plan_b", "planb plan b"),
        ("iPhone手机", "iphone phone 手 手机 机"),
        ("a3f9c2e1b", "a3f9c2e1b"),
        ("aGVsbG8gd29ybGQ", "agvsbg8gd29ybgq"),
    ],
)
def test_identifiers_are_whole_and_in_parts(text: str, tokens: str) -> None:
    assert token_text(text) == tokens


@pytest.mark.parametrize(
    "text", ["fn getUserName()", "get_user_name = 1", "GetUserName", "GET_USER_NAME"]
)
def test_an_identifier_is_found_in_every_style(text: str) -> None:
    for query in ("getUserName", "get_user_name", "user", "username getusername"):
        assert found(query, text)


def test_long_blobs_are_cut_to_64_characters() -> None:
    assert tokenise("x" * 5000) == ["x" * 64]
    assert tokenise("é" * 100) == ["e" * 64]
    assert len(tokenise("aB3" * 1000)) == 1


def test_parts_of_a_long_snake_case_name_are_found() -> None:
    assert found(
        "unreadable", "def test_that_" + "very_" * 20 + "unreadable_folder_deletes_nothing():"
    )


# --- any string ---------------------------------------------------------------------------------


@pytest.mark.promise(22)
@given(_ANY_TEXT | st.text(alphabet=_SURROGATES, max_size=30) | _MIXED_TEXT)
@settings(max_examples=400)
def test_any_string_gives_clean_tokens(text: str) -> None:
    tokens = tokenise(text)
    for token in tokens:
        token.encode("utf-8")
        assert 1 <= len(token) <= 64
        assert not any(c.isspace() or c in '"_' or unicodedata.category(c) == "Cc" for c in token)
    assert token_text(text) == " ".join(tokens)
    assert tokenise(text) == tokens


@pytest.mark.promise(22)
@given(_ANY_TEXT | st.text(alphabet=_SURROGATES, max_size=30) | _MIXED_TEXT)
@example("\ua9f0")  # a digit of a script whose letters are no runs
@settings(max_examples=400)
def test_any_string_is_a_query_that_finds_itself(query: str) -> None:
    terms = query_terms(query)
    assert len({term.word for term in terms}) == len(terms)
    assert all(term.forms and 0 < term.weight <= 1 for term in terms)
    # Tokens and terms may take different stemmers, so equality is for the surface only.
    assert bool(terms) == bool(tokenise(query))
    assert not terms or found(query, query)


@pytest.mark.promise(22)
@pytest.mark.parametrize(
    "query", ["", " ", "\0", '"', "'", "()", "NEAR(a b)", "a AND", "*", "\ud800"]
)
def test_full_text_syntax_is_no_syntax(query: str) -> None:
    assert all('"' not in form for term in query_terms(query) for form in term.forms)


def test_tokens_do_not_depend_on_what_was_tokenised_before() -> None:
    text = "Running getUserName aBcD12 aBcD12x abcd12 die Häuser sind nicht alt ＡＢＣ"
    first = tokenise(text)
    for word in text.split():
        tokenise(word)
        tokenise(word.lower())
    assert tokenise(text) == first


def test_threads_agree_on_every_stem() -> None:
    texts = [
        f"{word}ing {word}ation{n}s" for n in range(40) for word in ("relat", "connect", "oper")
    ]
    with ThreadPoolExecutor(8) as pool:
        several = list(pool.map(tokenise, texts * 4))
    assert several == [tokenise(text) for text in texts] * 4


# --- queries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("What did Caroline say about the adoption?", ["caroline", "say", "adoption"]),
        ("Where doesn't Melanie's dog sleep", ["melanie", "dog", "sleep"]),
        ("wo ist der Schlüssel von dem Haus", ["schlüssel", "haus"]),
        ("où est la clé de l'école", ["clé", "école"]),
        ("¿dónde están las llaves?", ["llaves"]),
        ("где мой ключ от квартиры", ["ключ", "квартиры"]),
        ("что ещё есть", ["что", "ещё", "есть"]),
        ("मेरी किताब कहाँ है", ["किताब"]),
    ],
)
def test_stop_words_are_dropped(query: str, kept: list[str]) -> None:
    assert words(query) == kept


@pytest.mark.parametrize("query", ["to be or not to be", "the", "的", "der die das", "это", "が"])
def test_a_query_of_stop_words_alone_keeps_them(query: str) -> None:
    assert query_terms(query)
    assert found(query, f"{query} x")


def test_english_words_survive_the_tables_of_other_languages() -> None:
    assert words("the war of the van door") == ["war", "van", "door"]
    assert words("wo war der Hund") == ["hund"]


def test_capitals_make_a_stop_word_a_name() -> None:
    assert words("IT department") == ["it", "department"]
    assert words("what did Will buy") == ["will", "buy"]
    assert words("wo haben Sie das Buch") == ["buch"]
    assert words("WHO IS IN IT") == ["who", "is", "in", "it"]  # nothing else is left
    assert words("cats AND dogs") == ["cats", "dogs"]


def test_an_identifier_is_one_term_with_lighter_parts() -> None:
    assert query_terms("getUserName") == (
        Term("getusername", ("getusername",), 1.0),
        Term("get", ("get",), 0.5),
        Term("user", ("user",), 0.5),
        Term("name", ("name",), 0.5),
    )


def test_a_word_that_is_also_a_part_has_its_full_weight() -> None:
    weights = {term.word: term.weight for term in query_terms("getUserName user")}
    assert weights["user"] == 1.0


def test_forms_are_surface_and_stem() -> None:
    assert query_terms("running café") == (
        Term("running", ("running", "run"), 1.0),
        Term("café", ("cafe",), 1.0),
    )


def test_a_run_is_pairs_and_lighter_characters_without_grammar() -> None:
    assert query_terms("我的猫") == (
        Term("我的", ("我的",), 1.0),
        Term("的猫", ("的猫",), 1.0),
        Term("我", ("我",), 0.3),
        Term("猫", ("猫",), 0.3),
    )
    assert words("什么书") == ["么书", "书"]


def test_letters_of_unspaced_scripts_mean_nothing_alone() -> None:
    assert words("แมว") == ["แม", "มว"]


# --- counting -----------------------------------------------------------------------------------


@given(_MIXED_TEXT, _MIXED_TEXT)
@settings(max_examples=400)
def test_counts_are_those_of_the_tokens(text: str, query: str) -> None:
    tokens = tokenise(text)
    terms = query_terms(query) + query_terms(text)[:5]
    counts = [max(map(tokens.count, term.forms)) for term in terms]
    assert term_counts(text, terms) == (counts, word_count(text))


def test_overlapping_pairs_are_all_counted() -> None:
    assert term_counts("哈哈哈哈, 哈哈", query_terms("哈哈"))[0] == [4, 6]


def test_no_terms_count_nothing() -> None:
    assert term_counts("three little words", ()) == ([], 3)
    assert term_counts("words", (Term("w", (), 1.0),)) == ([0], 1)


_ENGLISH = """The cats were dying to see what the Dutch bakers had hidden; lying about it, tying
knots, they used abilities that nobody is able to explain. Skies, skis and sky! An early, ugly,
gentle generalisation (naïve, "flexible", flexibility) -- 2024's `HTTPServer2` re-used
TESTING_ROOT."""
_GERMAN = """Die Häuser der Straße müssen größer sein, als der Wirt und die Köche es gewollt haben.
Muessen wir Fuesse und Fuß, Maße und Masse zählen? Das Kind ist im Haus, wie die Kinder auch."""
_RUSSIAN = """Дом стоял на горе, и ёлки в домах были зелёными. Кошки, кошка и кошкой: всё это было
давно. Український дім їхав не так, как русский."""
_CHINESE = """手机里的哈哈哈镜子,用Python写的程序:我的手機是新的。部署失败
ｶﾞｽ 2０２4年 이번 주에 회의가 있다."""
_CODE = """def getUserName(self, user_id: int) -> HTTPServer2:
    return _get_user_name_of(self.userNames[user_id], ABCDef, n_samples=2**64, eraseText='erased')
class TestErasing(unittest.TestCase): MAX_ERASE_COUNT2erase = g_etUser"""


@pytest.mark.parametrize("query", [_ENGLISH, _GERMAN, _RUSSIAN, _CHINESE, _CODE])
def test_counts_in_real_texts_are_those_of_the_tokens(query: str) -> None:
    terms = query_terms(query)
    texts = [_ENGLISH, _GERMAN, _RUSSIAN, _CHINESE, _CODE, f"{_CODE}\n{_GERMAN}\n{_CHINESE}"]
    for text, (counts, _) in zip(texts, term_counts_of_all(texts, terms), strict=True):
        tokens = tokenise(text)
        assert counts == [max(map(tokens.count, term.forms)) for term in terms]


_STEMS = st.sampled_from(
    ["d", "di", "t", "l", "sk", "us", "abl", "mobil", "gener", "nation", "hop", "runn", "tr", "fl",
     "cr", "y", "ey", "ang", "happ", "ag", "ow"]
)  # fmt: skip
_ENDINGS = st.sampled_from(
    ["y", "e", "ies", "ied", "ying", "ing", "ings", "ed", "er", "s", "es", "ly", "al", "ation",
     "ational", "ability", "ibility", "ble", "bly", "eed", "ness", "fulness", "ization", "ousness",
     "iviti", "logy", "ie", "ier"]
)  # fmt: skip


@given(st.lists(st.builds(str.__add__, _STEMS, _ENDINGS), min_size=1, max_size=30), st.data())
def test_no_english_word_is_passed_over(words: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([" ".join(words), "_".join(words)]))
    title = text.title()
    text = data.draw(st.sampled_from([text, title, title.replace(" ", ""), text.upper()]))
    terms = query_terms(" ".join(words[:8]))
    tokens = tokenise(text)
    assert term_counts(text, terms)[0] == [max(map(tokens.count, term.forms)) for term in terms]


@given(st.lists(_MIXED_TEXT, max_size=4), _MIXED_TEXT)
def test_many_texts_count_as_each_by_itself(texts: list[str], query: str) -> None:
    terms = query_terms(query)
    assert term_counts_of_all(texts, terms) == [term_counts(text, terms) for text in texts]


def test_a_text_is_as_long_as_its_words() -> None:
    assert word_count("") == 0
    assert word_count("Running get_user_name, the HTTPServer2!") == 4
    assert word_count("naïve – 👍 ok") == 3


def test_without_spaces_each_character_is_a_word() -> None:
    assert word_count("手机坏了") == 4
    assert word_count("手机 is 坏了.") == 5


_SOME_WORDS = st.one_of(
    st.builds(str.__add__, _STEMS, _ENDINGS),
    st.sampled_from(
        [
            "the",
            "de",
            "la",
            "le",
            "der",
            "die",
            "und",
            "est",
            "Fuesse",
            "getUserName",
            "e_rase",
            "is",
            "in",
            "naïve",
            "→",
        ]
    ),
)


@given(
    st.lists(st.one_of(_MIXED_TEXT, st.lists(_SOME_WORDS, max_size=8).map(" ".join)), max_size=5),
    st.lists(_SOME_WORDS, max_size=8).map(" ".join),
)
@settings(max_examples=150)
def test_what_no_line_may_hold_none_holds(lines: list[str], query: str) -> None:
    terms = query_terms(query) + query_terms(" ".join(lines))[:5]
    possible = may_hold("\n".join(lines), terms)
    for line in lines:
        counted = term_counts(line, terms)[0]
        assert all(may or not count for may, count in zip(possible, counted, strict=True))


@pytest.mark.parametrize("query", [_ENGLISH, _GERMAN, _RUSSIAN, _CHINESE, _CODE])
def test_what_no_line_of_a_real_text_may_hold_none_holds(query: str) -> None:
    terms = query_terms(query)
    for text in (_ENGLISH, _GERMAN, _RUSSIAN, _CHINESE, _CODE):
        possible = may_hold(text, terms)
        for line in (text, *text.split("\n")):
            counted = term_counts(line, terms)[0]
            assert all(may or not count for may, count in zip(possible, counted, strict=True))
