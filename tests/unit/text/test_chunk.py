"""Chunks are the source, whole, in good pieces, and each knows its place in it."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.errors import InvalidValue
from camillo.text.chunk import Chunk, chunk, chunk_text, join
from camillo.text.decode import Decoded, decode

NEWLINE = re.compile(r"\r\n|\n|\r")


def texts(text: str, size: int = 800, overlap: int = 0) -> list[str]:
    return [each.text for each in chunk_text(text, size, overlap)]


def of(data: bytes, size: int = 800, overlap: int = 0) -> tuple[list[Chunk], bytes]:
    """A file's chunks, and the file as they give it back."""
    decoded = decode(data)
    assert decoded is not None
    chunks = list(chunk(decoded, size, overlap))
    return chunks, join(chunks, decoded.encoding, decoded.bom)


def words(count: int, word: str = "lorem") -> str:
    return " ".join([word] * count)


# -- what is kept


@pytest.mark.case("mempalace-22")
@pytest.mark.parametrize("text", ["short", "a" * 49, "a" * 50, "x"])
def test_short_files_are_one_chunk(text: str) -> None:
    assert list(chunk_text(text)) == [Chunk(text, 0, 1, 1, 0, len(text), 0)]


@pytest.mark.case("mempalace-22")
def test_short_tails_are_kept() -> None:
    assert texts("a" * 795 + "\n\nend.") == ["a" * 795 + "\n\n", "end."]
    assert texts("a" * 800 + "b") == ["a" * 800, "b"]


@pytest.mark.case("mempalace-23")
def test_text_without_any_boundary_is_cut_at_the_size() -> None:
    assert [len(t) for t in texts("a" * 1600)] == [800, 800]
    assert [(c.char_start, len(c.text)) for c in chunk_text("a" * 1600, 800, 100)] == [
        (0, 800),
        (700, 800),
        (1400, 200),
    ]
    assert [len(t) for t in texts("a" * 830, 800, 100)] == [800, 130]


def test_half_the_size_is_the_most_overlap() -> None:
    assert [c.char_start for c in chunk_text("a" * 2000, 800, 400)] == [0, 400, 800, 1200]
    assert {len(t) for t in texts("a" * 2000, 800, 400)} == {800}


def test_a_chunk_shorter_than_the_overlap_is_not_repeated() -> None:
    fence = "```\n" + "x = 1\n\n" * 108 + "```\n"
    assert texts(words(30) + "\n\n" + fence, 800, 400) == [words(30) + "\n\n", fence]


def test_an_overlap_that_a_grapheme_would_stretch_is_left_out() -> None:
    assert [c.char_start for c in chunk_text("xe\u0301\u0301abcd", 4, 2)] == [0, 4]


@pytest.mark.case("mempalace-25")
@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-5, 0), (800, 800), (800, 401), (800, -1)])
def test_impossible_sizes_are_refused_at_once(size: int, overlap: int) -> None:
    with pytest.raises(InvalidValue, match=str(overlap) if size > 0 else str(size)):
        chunk_text("text", size, overlap)


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\r\n\t \u3000", " " * 5000])
def test_white_space_alone_has_no_chunks(text: str) -> None:
    assert texts(text) == []


def test_white_space_at_the_end_of_a_file_hangs_on_its_last_chunk() -> None:
    assert texts("a" * 800 + "\n" * 5000) == ["a" * 800 + "\n" * 5000]
    assert texts("a" * 790 + "\n" * 30) == ["a" * 790 + "\n" * 30]
    assert texts("a" * 500 + " " + "b" * 299 + "\n") == ["a" * 500 + " " + "b" * 299 + "\n"]


def test_white_space_before_the_first_word_leads_the_first_chunk() -> None:
    assert texts("\n" * 5000 + "a" * 900) == ["\n" * 5000 + "a" * 800, "a" * 100]


def test_a_long_run_of_white_space_hangs_on_the_chunk_before_it() -> None:
    assert texts("a" * 700 + " " * 3000 + "b" * 700) == ["a" * 700 + " " * 3000, "b" * 700]


# -- where a cut is made


@pytest.mark.case("mempalace-26")
def test_a_blank_line_beyond_the_half_is_preferred_to_a_later_newline() -> None:
    text = "a" * 450 + "\n\n" + "b" * 200 + "\n" + "c" * 400
    assert texts(text) == ["a" * 450 + "\n\n", "b" * 200 + "\n" + "c" * 400]


def test_a_blank_line_before_the_half_is_not_used() -> None:
    text = "a" * 300 + "\n\n" + "b" * 200 + "\n" + "c" * 700
    assert texts(text)[0] == "a" * 300 + "\n\n" + "b" * 200 + "\n"


@pytest.mark.parametrize("blank", ["\n\n", "\n \t\n", "\r\n\r\n", "\r\n  \r\n", "\r\r", "\n\n\n\n"])
def test_blank_lines_of_every_kind_end_a_paragraph(blank: str) -> None:
    newline = "\r" if "\n" not in blank else "\n"
    text = "a" * 500 + blank + "b" * 100 + newline + "c" * 700
    assert texts(text)[0] == "a" * 500 + blank


def test_the_indentation_below_a_cut_stays_with_its_line() -> None:
    text = "a" * 500 + "\n\n" + "        b" + "c" * 600
    assert texts(text)[1].startswith("        b")


def test_a_line_break_is_preferred_to_a_sentence() -> None:
    text = words(80) + "\n" + words(20) + ". " + words(100)
    assert texts(text)[0] == words(80) + "\n"


@pytest.mark.parametrize("end", [". ", "! ", "? ", '." ', "… ", "؟ ", "। ", "。", "！", "？」"])
def test_a_sentence_is_preferred_to_a_word(end: str) -> None:
    text = words(80) + end + words(100)
    assert texts(text)[0] == words(80) + end


def test_a_full_stop_inside_a_word_ends_no_sentence() -> None:
    assert texts(words(200, "v1.2.3"))[0] == words(114, "v1.2.3") + " "


def test_a_word_is_not_cut() -> None:
    assert {w for t in texts(words(1000, "memory")) for w in t.split()} == {"memory"}


def test_chinese_without_punctuation_fills_the_chunk() -> None:
    assert [len(t) for t in texts("记忆" * 800)] == [800, 800]


def test_closing_punctuation_does_not_begin_a_chunk() -> None:
    assert texts("，" + "字" * 799 + "，" + "字" * 100)[1].startswith("字，")


def test_code_without_spaces_is_cut_behind_punctuation() -> None:
    assert texts("call(argument);" * 100)[0] == "call(argument);" * 53 + "call("


def test_a_heading_goes_with_the_text_below_it() -> None:
    text = "a" * 600 + "\n\n## Heading\n\n" + "b" * 700
    assert texts(text) == ["a" * 600 + "\n\n", "## Heading\n\n" + "b" * 700]


def test_headings_in_a_row_go_together() -> None:
    text = "a" * 600 + "\r\n\r\n# One\r\n\r\n## Two\r\n\r\n" + "b" * 700
    assert texts(text)[1].startswith("# One\r\n\r\n## Two\r\n\r\nb")


def test_a_heading_that_begins_a_chunk_stays_there() -> None:
    assert texts("# " + "h" * 500 + "\n\n" + "b" * 500) == ["# " + "h" * 500 + "\n\n", "b" * 500]


FENCED = "```python\nprint('one')\n\nprint('two')\n\nprint('three')\n```\n"


@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
@pytest.mark.parametrize("before", range(300, 840, 20))
def test_fenced_code_stays_whole(before: int, mark: str) -> None:
    fence = FENCED.replace("```", mark)
    text = words(before // 6) + "\n\n" + fence + "\n" + words(100)
    assert any(fence in t for t in texts(text))


def test_a_fence_that_fits_is_not_cut_for_a_long_text_before_it() -> None:
    fence = "```\n" + "x = 1\n\n" * 108 + "```\n"
    assert texts("intro\n\n" + fence + words(20)) == ["intro\n\n" + fence, words(20)]
    assert texts(words(30) + "\n\n" + fence + "end") == [words(30) + "\n\n", fence + "end"]


def test_the_heading_above_a_fence_goes_with_it() -> None:
    fence = "```\n" + "x = 1\n\n" * 90 + "```\n"
    assert texts(words(40) + "\n\n# Code\n" + fence)[1] == "# Code\n" + fence


def test_what_only_looks_like_a_fence_is_none() -> None:
    inline = "``` not `code` here\n" + "word\n" * 50 + "```\n"
    nested = "```\n```not the end\n" + "x = 1\n" * 30 + "```\n" + words(20) + "\n"
    assert texts(words(100) + "\n" + inline + words(60))[0] != words(100) + "\n"
    assert texts(words(110) + "\n" + nested + words(60))[0] == words(110) + "\n"


def test_a_fence_longer_than_a_chunk_is_cut_between_lines() -> None:
    pieces = texts("```\n" + "value = 12345\n" * 200 + "```\n")
    assert len(pieces) > 3
    assert all(piece.endswith("\n") for piece in pieces)
    assert len(texts("intro\n\n" + "```\n" + "value = 12345\n" * 200 + "```\n")[0]) > 700


def test_a_long_row_of_comment_lines_is_not_taken_for_headings_to_keep_together() -> None:
    pieces = texts(words(8) + "\n\n" + "# a line of comment\n" * 200)
    assert min(map(len, pieces[:-1])) > 780


# -- where a chunk comes from


def test_a_chunk_knows_its_lines() -> None:
    text = "a\nb\n" + "c" * 12 + "\r\n" + "d\x0c\u2028e\r" + "f" * 6 + "\n\n\n"
    assert [(c.text, c.line_start, c.line_end) for c in chunk_text(text, 8)] == [
        ("a\nb\ncccc", 1, 3),
        ("cccccccc", 3, 3),
        ("\r\nd\x0c\u2028e\r", 3, 4),
        ("ffffff\n\n\n", 5, 5),
    ]


def test_the_byte_order_mark_belongs_to_the_first_chunk_but_not_to_its_text() -> None:
    data = "word ".encode("utf-16") + ("word " * 400).encode("utf-16-le")
    chunks, joined = of(data)
    assert (chunks[0].byte_start, chunks[0].char_start) == (0, 0)
    assert chunks[0].text.startswith("word")
    assert chunks[0].byte_end == 2 + 2 * len(chunks[0].text)
    assert joined == data


@pytest.mark.promise(32)
def test_invalid_bytes_show_as_replacement_characters_and_are_kept_beside() -> None:
    data = "déjà vu ".encode() * 150 + b"\xff\xfe " + b"encore " * 200
    chunks, joined = of(data)
    raw = [c for c in chunks if c.raw is not None]
    assert len(raw) == 1
    assert "\ufffd\ufffd" in raw[0].text
    assert raw[0].raw == data[raw[0].byte_start : raw[0].byte_end]
    assert joined == data


def test_half_a_surrogate_pair_in_a_string_is_no_error() -> None:
    (only,) = chunk_text("broken \ud83d escape")
    assert only.text == "broken \ufffd escape"
    assert only.raw == b"broken \xed\xa0\xbd escape"


def test_nul_characters_are_text_like_any_other() -> None:
    assert join(chunk_text("a\0b\n" * 500)) == b"a\0b\n" * 500


def test_a_missing_chunk_is_noticed_when_joining() -> None:
    first, _, third = chunk_text("a" * 2400)
    with pytest.raises(InvalidValue, match="byte 1600"):
        join([first, third])


def test_no_chunks_join_to_nothing_but_the_mark() -> None:
    assert join([], "utf-16-le", 2) == b"\xff\xfe"


# -- what holds for every text

SNIPPETS = [
    *(
        "a",
        "word ",
        "Sentence one. ",
        "x" * 30,
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\r\n\r\n",
        "    ",
        "\t",
    ),
    *(
        "# Heading\n",
        "```\n",
        "~~~\n",
        "中文，",
        "。",
        "かな",
        "ไทยเก่า ",
        "नमस्ते ",
        "क्षि",
        "한국어 ",
        "\u1112\u1161",
    ),
    *(
        "e\u0301",
        "\u0301",
        "👍🏽",
        "👨‍👩‍👧",
        "🇫🇷",
        "🇫",
        "\u200d",
        "\ufeff",
        "\u2028",
        "\x0c",
        "\0",
        "\x85",
    ),
]
anything = st.one_of(
    st.lists(st.sampled_from(SNIPPETS), max_size=60).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
)
shapes = st.integers(1, 60).flatmap(
    lambda size: st.tuples(st.just(size), st.sampled_from([0, 0, size // 2, size // 4]))
)


@pytest.mark.promise(32)
@given(
    anything, shapes, st.sampled_from(["utf-8", "utf-16-le", "utf-32-be", "gb18030"]), st.booleans()
)
@settings(max_examples=400)
def test_chunks_joined_are_the_file(
    text: str, shape: tuple[int, int], encoding: str, marked: bool
) -> None:
    bom = {"utf-8": 3, "utf-16-le": 2, "utf-32-be": 4}.get(encoding, 0) if marked else 0
    chunks = list(chunk(Decoded(text, encoding, bom), *shape))
    assert bool(chunks) == bool(text.strip())
    if not chunks:
        return
    data = join([], encoding, bom) + text.encode(encoding)
    assert join(chunks, encoding, bom) == data
    assert chunks[0].byte_start == 0
    assert chunks[-1].byte_end == len(data)
    assert [c.part for c in chunks] == list(range(len(chunks)))
    for c in chunks:
        assert c.text == text[c.char_start : c.char_start + len(c.text)]
        assert data[c.byte_start + (0 if c.part else bom) : c.byte_end] == c.text.encode(encoding)
        assert c.raw is None


@pytest.mark.promise(32)
@given(st.lists(st.one_of(st.binary(max_size=9), st.sampled_from(SNIPPETS)), max_size=60), shapes)
@settings(max_examples=300)
def test_chunks_of_damaged_text_joined_are_the_file(
    pieces: list[bytes | str], shape: tuple[int, int]
) -> None:
    data = b"".join(p.encode() if isinstance(p, str) else p for p in pieces)
    decoded = Decoded(data.decode("utf-8", "surrogateescape"))
    chunks = list(chunk(decoded, *shape))
    if decoded.text.strip():
        assert join(chunks) == data
    for c in chunks:
        piece = data[c.byte_start : c.byte_end]
        assert c.raw == (piece if "\ufffd" in c.text and c.text.encode() != piece else None)
        assert c.text.encode()


@given(anything, shapes)
@settings(max_examples=300)
def test_overlapping_chunks_reach_back_and_go_on(text: str, shape: tuple[int, int]) -> None:
    size, overlap = shape
    for one, two in pairwise(chunk_text(text, size, overlap)):
        end = one.char_start + len(one.text)
        assert one.char_start < two.char_start <= end < two.char_start + len(two.text)
        assert end - two.char_start <= size // 2
        if overlap == 0:
            assert two.char_start == end


@given(anything, shapes)
@settings(max_examples=300)
def test_lines_are_those_of_a_naive_split(text: str, shape: tuple[int, int]) -> None:
    for c in chunk_text(text, *shape):
        before = text[: c.char_start]
        shown = text[: c.char_start + len(c.text.rstrip("\r\n"))]
        assert c.line_start == len(NEWLINE.split(before))
        assert c.line_end == len(NEWLINE.split(shown))


@pytest.mark.promise(32)
@given(anything, shapes)
@settings(max_examples=400)
def test_no_chunk_begins_inside_a_grapheme(text: str, shape: tuple[int, int]) -> None:
    for previous, c in pairwise(chunk_text(text, *shape)):
        if len(previous.text.strip()) >= 64:  # the one place where a grapheme is cut
            continue
        before, first = text[c.char_start - 1], c.text[0]
        assert before + first != "\r\n"
        assert unicodedata.category(first)[0] != "M"
        assert first not in "\u200d\U0001f3fd"
        assert before != "\u200d" or first in "\r\n"
        flags = re.search(r"[\U0001f1e6-\U0001f1ff]*\Z", text[: c.char_start])
        assert not ("🇦" <= first <= "🇿" and flags and len(flags[0]) % 2)


@given(anything, shapes)
@settings(max_examples=300)
def test_the_size_holds_but_for_hanging_space_and_one_long_grapheme(
    text: str, shape: tuple[int, int]
) -> None:
    size, overlap = shape
    for c in chunk_text(text, size, overlap):
        inked = c.text.strip() if c.part == 0 else c.text.rstrip()
        assert inked
        assert len(inked) <= max(size, 64)
        if text.isascii():
            assert len(inked) <= size
            assert len(c.text) <= size or c.part == 0 or c.text[size:].isspace()


def test_a_space_before_a_long_grapheme_is_no_chunk() -> None:
    assert texts(" e" + "\u0301" * 6, 4) == [" e" + "\u0301" * 6]
    assert texts("word \u2028\u0301", 2, 1)[-1].strip() != ""


def test_a_grapheme_of_endless_marks_is_cut_at_the_size() -> None:
    assert [len(t) for t in texts("e" + "\u0301" * 1999)] == [800, 800, 400]
    assert [len(t) for t in texts("e" + "\u0301" * 199, 10)] == [64, 64, 64, 8]


def test_the_same_text_is_cut_the_same_way_whatever_its_encoding() -> None:
    text = "Это одно предложение. И ещё одно.\n" * 100
    assert [c.text for c in of(text.encode("cp1251"))[0]] == texts(text)
    assert [c.text for c in of(text.encode("utf-16"))[0]] == texts(text)


def test_pieces_are_about_as_many_as_another_splitter_makes() -> None:
    splitter = pytest.importorskip(
        "semantic_text_splitter", reason="the oracle, semantic-text-splitter, is not installed"
    )
    oracle = splitter.TextSplitter(800, trim=False)
    for text in (
        "# Title\n\n" + ("A sentence about something. " * 9 + "\n\n") * 60,
        ("def step(value):\n    return value + 1\n\n\n" * 200),
        "中文的句子没有空格，但是有标点。" * 400,
        words(3000),
    ):
        assert "".join(oracle.chunks(text)) == "".join(texts(text)) == text
        assert len(texts(text)) <= 1.25 * len(oracle.chunks(text))
