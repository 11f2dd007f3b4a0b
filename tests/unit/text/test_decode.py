"""Bytes become text by what they hold, and text goes back to the same bytes."""

import codecs
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.text.decode import Decoded, byte_order_mark, decode, encode_piece, is_binary

PROSE = {
    "ja": "これは古い文書です。保存時の文字コードは今とは違います。\n東京駅で会いましょう。",
    "zh": "这份文件是很多年前保存的，当时用的不是现在的编码。\n我们仍然要能够找到里面的每一句话。",
    "tw": "這份文件是很多年前儲存的，當時用的不是現在的編碼。\n我們仍然要能夠找到裡面的每一句話。",
    "ko": "이 문서는 오래전에 저장되었으며 지금과는 다른 인코딩을 사용합니다.\n내일 만나요.",
    "ru": "Этот документ сохранили давно и в другой кодировке.\nКаждое слово должно найтись.",
    "el": "Αυτό το έγγραφο αποθηκεύτηκε πριν από πολλά χρόνια με άλλη κωδικοποίηση.",
    "fr": "Ce document a été enregistré il y a des années. Où est passé le garçon naïf ? À Évry.",
    "pl": "Dokument zapisano wiele lat temu, źle i w innym kodowaniu. Każde słowo musi się znaleźć,"
    " choćby żółw gęgał nad ranem, a książka leżała wciąż na półce.",
    "hu": "Az árvíztűrő tükörfúrógépről mindenki tudja, hogy különösen jól működik. "
    "Régen így őrizték meg a szöveget, és minden szónak elő kell kerülnie belőle.",
    "de": "Die Prüfung der Größe läuft. Schöne Grüße aus Köln, und übermorgen öffnen wir früher.",
}
PAGES = [
    ("ja", "cp932"),
    ("ja", "euc_jp"),
    ("zh", "gb18030"),
    ("tw", "big5"),
    ("ko", "cp949"),
    ("ru", "cp1251"),
    ("ru", "koi8_r"),
    ("el", "cp1253"),
    ("pl", "cp1250"),
    ("hu", "cp1250"),
    ("fr", "cp1252"),
    ("de", "cp1252"),
]
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def back(decoded: Decoded, step: int = 7) -> bytes:
    """The bytes that the pieces of a decoded text came from."""
    text, encoding = decoded.text, decoded.encoding
    pieces = [encode_piece(text[i : i + step], encoding) for i in range(0, len(text), step)]
    return byte_order_mark(encoding, decoded.bom) + b"".join(pieces)


@pytest.mark.parametrize("language", PROSE)
def test_utf8_is_utf8(language: str) -> None:
    assert decode(PROSE[language].encode()) == Decoded(PROSE[language], "utf-8", 0)


def test_an_empty_file_is_empty_text() -> None:
    assert decode(b"") == Decoded("", "utf-8", 0)


@pytest.mark.parametrize("encoding", MARKS)
@pytest.mark.parametrize("language", ["zh", "ru", "fr"])
def test_a_byte_order_mark_decides_and_is_no_text(language: str, encoding: str) -> None:
    data = MARKS[encoding] + PROSE[language].encode(encoding)
    decoded = decode(data)
    assert decoded == Decoded(PROSE[language], encoding, len(MARKS[encoding]))
    assert back(decoded) == data


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", ["ru", "el", "fr", "de"])
def test_wide_text_without_a_mark_shows_in_its_zero_bytes(language: str, encoding: str) -> None:
    assert decode(PROSE[language].encode(encoding)) == Decoded(PROSE[language], encoding, 0)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_old_code_pages_are_recognised(language: str, page: str) -> None:
    data = PROSE[language].encode(page)
    decoded = decode(data)
    assert decoded is not None
    assert decoded.text == PROSE[language]
    assert back(decoded) == data


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_code_page_is_recognised_behind_ascii_source(language: str, page: str) -> None:
    code = "".join(f"def step_{i}(value):\n    return value + {i}\n\n" for i in range(500))
    text = code + "# " + PROSE[language] + "\n" + code
    decoded = decode(text.encode(page))
    assert decoded is not None
    assert decoded.text == text


def test_a_lone_accent_is_western() -> None:
    assert decode(b"caf\xe9 \x93ol\xe9\x94\n") == Decoded("café “olé”\n", "cp1252", 0)
    assert decode(b"Die Gr\xf6\xdfe") == Decoded("Die Größe", "cp1252", 0)


@pytest.mark.promise(32)
@pytest.mark.parametrize(("language", "page"), PAGES[:5])
def test_a_code_page_with_a_bad_byte_is_recognised(language: str, page: str) -> None:
    data = (PROSE[language] + "\n").encode(page) * 3
    for damaged in (data + b"\xff", b"ok\xff\n" + data, data[:-2] + b"\xff\n"):
        decoded = decode(damaged)
        assert decoded is not None
        assert decoded.encoding == page
        assert back(decoded, step=1) == damaged


@pytest.mark.promise(32)
def test_a_character_with_two_spellings_keeps_the_one_it_had() -> None:
    data = PROSE["ja"].encode("cp932") + b"\x87\x90" + PROSE["ja"].encode("cp932")
    decoded = decode(data)
    assert decoded == Decoded(PROSE["ja"] + "\udc87\udc90" + PROSE["ja"], "cp932", 0)
    assert back(decoded, step=1) == data


def test_one_endless_line_in_a_code_page_is_recognised() -> None:
    text = "".join(f'{{"{i}":"{PROSE["zh"][:51]}"}},' for i in range(1500))
    decoded = decode(text.encode("gb18030"))
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.promise(32)
def test_a_few_bad_bytes_leave_the_rest_utf8() -> None:
    data = PROSE["ru"].encode() + b" \xff\xc3 " + PROSE["zh"].encode()
    decoded = decode(data)
    assert decoded == Decoded(PROSE["ru"] + " \udcff\udcc3 " + PROSE["zh"], "utf-8", 0)
    assert back(decoded, step=1) == data


def test_a_character_cut_in_half_at_the_end_stays_utf8() -> None:
    data = PROSE["zh"].encode()[:-1]
    decoded = decode(data)
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert back(decoded) == data


def test_a_stateful_encoding_is_kept_as_the_ascii_it_is_made_of() -> None:
    data = PROSE["ja"].encode("iso2022_jp")
    decoded = decode(data)
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert back(decoded, step=1) == data


def test_half_pairs_in_utf16_survive() -> None:
    data = codecs.BOM_UTF16_LE + "broken \ud83d emoji".encode("utf-16-le", "surrogatepass")
    decoded = decode(data)
    assert decoded == Decoded("broken \ud83d emoji", "utf-16-le", 2)
    assert back(decoded, step=1) == data


BINARY = {
    "nul": b"text\0text",
    "controls": bytes(range(1, 9)) * 40,
    "random": random.Random(7).randbytes(4096),
    "deflated": zlib.compress(random.Random(7).randbytes(4096)),
    "executable": b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\x3e\0",
    "small pdf": b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n",
    "utf-16 mark before noise": codecs.BOM_UTF16_LE + random.Random(7).randbytes(4096),
    "sixteen-bit samples": b"".join(i.to_bytes(2, "little") for i in range(0, 4000, 7)),
    "text, then as much noise": b"text only\n" * 2000 + random.Random(7).randbytes(20000),
}


@pytest.mark.parametrize("data", BINARY.values(), ids=BINARY.keys())
def test_binary_data_is_known_by_its_content(data: bytes) -> None:
    assert is_binary(data)
    assert decode(data) is None


def test_a_log_padded_with_a_few_nul_bytes_is_text() -> None:
    data = b"2024-05-01 started\n" * 20_000 + bytes(100)
    decoded = decode(data)
    assert decoded is not None
    assert back(decoded) == data


def test_terminal_colours_are_text() -> None:
    assert not is_binary(b"\x1b[31mred\x1b[0m\r\n" * 20)


@pytest.mark.promise(32)
@given(st.binary(max_size=300), st.sampled_from([b"", *MARKS.values()]))
@settings(max_examples=300)
def test_any_bytes_are_binary_or_come_back(data: bytes, mark: bytes) -> None:
    data = mark + data
    decoded = decode(data)
    assert (decoded is None) == is_binary(data)
    if decoded is not None:
        assert back(decoded, step=1) == data


@pytest.mark.promise(32)
@given(st.data())
@settings(max_examples=200)
def test_text_damaged_anywhere_comes_back(data: st.DataObject) -> None:
    language, page = data.draw(st.sampled_from([*PAGES, ("ru", "utf-8"), ("zh", "utf-8")]))
    damaged = bytearray(PROSE[language].encode(page))
    for _ in range(data.draw(st.integers(0, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(1, 255))
    decoded = decode(bytes(damaged))
    assert decoded is None or back(decoded, step=1) == bytes(damaged)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=80))
def test_any_printable_utf8_text_is_text(text: str) -> None:
    expected = text.removeprefix("\ufeff")
    decoded = decode(text.encode())
    if decoded is not None and decoded.bom:
        assert decoded.text == expected
    else:
        assert decoded == Decoded(text, "utf-8", 0)


@given(st.text(st.characters(codec=None), max_size=40))
def test_every_python_string_has_bytes(text: str) -> None:
    pieces = [encode_piece(char, "utf-8") for char in text]
    assert encode_piece(text, "utf-8") == b"".join(pieces)
