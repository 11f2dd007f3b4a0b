"""Cases of a store's search by words: counts are exact, what is nominated holds a word and is
admitted. Whether the engine searches itself or a local index does is not asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.model import INTERNAL_KINDS, Filter, Memory, Origin, Place, Session
from camillo.text.passages import passages
from camillo.text.tokens import tokenise, word_count
from contract.applicable import needs
from contract.corpus import TEXTS, corpus
from contract.searched import Searched
from contract.specimens import drawer, memory, varied
from contract.store_cases.asking import ASKED, mixed
from contract.store_cases.wording import AWKWARD

_VOCABULARY = ("gate", "gates", "lamp", "ключ", "茶", "library", "o'brien", "c++")
_BODIES = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=6).map(" ".join)
_STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["", "s"]), st.none() | _BODIES),
    min_size=1, max_size=12,
)  # fmt: skip
FEW = [
    (Filter(kinds=("rule",)), {"kind": "rule"}),
    (Filter(session=Session("only", "s")), {"session": "s"}),
    (Filter(session=Session("with-global", "s"), kinds=("rule",)), {"kind": "rule"}),
    (Filter(wing="w", room="r"), {"place": Place("w", "r")}),
    (Filter(source="f"), {"origin": Origin("f", 1)}),
    (Filter(since="2024"), {"happened_at": "2024-02-03"}),
    (Filter(since="2024", before="2025"), {"happened_at": "2024-02-03"}),
    (Filter(scope="project"), {"scope": "project"}),
    (Filter(namespace="n"), {"namespace": "n"}),
]  # a filter, and what those few have that it admits


HOSTILE = (
    "gate & !lamp | (x)", "gate:*", "<->", "gate'", "'gate'", "\\", "gate\\", ":a", "gate OR lamp",
    "NEAR(gate lamp)", "{body}:gate", "^gate", "gate)", "x" * 3000, "%s", "$1", "' || '",
)  # fmt: skip


class WordCases:
    """size, df, keyword, same_text."""

    @needs("keeps", "feed")
    def test_counts_are_those_of_the_passages(self, searched: Searched) -> None:
        rows = [*corpus(), *mixed()]
        searched.put(rows)
        counts_are_exact(searched, rows, TEXTS["中文"] + TEXTS["code"] + TEXTS["signs"])

    @needs("keeps", "feed")
    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(steps=_STEPS, pause=st.integers(1, 4))
    def test_counts_are_exact_after_puts_deletes_and_puts_again(
        self, searched: Searched, steps: list[tuple[str, str, str | None]], pause: int
    ) -> None:
        searched.store.delete([m.key for m in searched.store.scan()])
        held: dict[tuple[str, str], Memory] = {}
        for step, (id_, session, body) in enumerate(steps):
            row = memory(id_, body or "", session=session)
            if body is None:
                searched.store.delete([row.key])
                held.pop((id_, session), None)
            else:
                searched.put([row])
                held[id_, session] = row
            if step % pause == 0:
                counts_are_exact(searched, held.values(), _VOCABULARY)
        counts_are_exact(searched, held.values(), _VOCABULARY)

    @needs("keeps", "feed")
    def test_an_empty_store_has_no_words(self, searched: Searched) -> None:
        assert searched.words.size() == (0, 0)
        assert searched.words.df(["gate", "茶"]) == {"gate": 0, "茶": 0}
        assert searched.words.df([]) == {}
        assert searched.hits("gate") == searched.hits() == []
        assert searched.words.hits([]) == searched.words.hits([(99, 0.5)]) == []

    @needs("keeps", "feed")
    def test_what_is_nominated_holds_one_of_the_words(self, searched: Searched) -> None:
        rows = [m for m in corpus() if Filter().admits(m)]
        searched.put(corpus())
        asked = ("lighthouse", "oven", "ключи", "仓", "ม")
        wanted = {
            (m.key, passage.number)
            for m in rows
            for passage in passages(m)
            if not set(asked).isdisjoint(_tokens_of(passage.text))
        }
        hits = searched.hits(*asked)
        assert {(hit.key, hit.passage) for hit in hits} == wanted
        assert len(hits) == len(wanted)
        assert all(hit.score > 0 for hit in hits)
        assert all(one.score >= other.score for one, other in pairwise(hits))
        assert [hit[:2] for hit in searched.hits(*asked, k=3)] == [hit[:2] for hit in hits[:3]]

    @needs("keeps", "feed")
    def test_a_rare_word_counts_more_than_a_common_one(self, searched: Searched) -> None:
        searched.put([memory(f"m{n}", "the common gate") for n in range(50)])
        searched.put([memory("rare", "the walrus gate")])
        assert searched.ids("common", "walrus", k=1) == ["rare"]

    @needs("keeps", "feed")
    @pytest.mark.parametrize("name", sorted(ASKED))
    def test_a_filter_admits_what_it_says_by_words(self, searched: Searched, name: str) -> None:
        rows, asked = mixed(), ASKED[name]
        searched.put(rows)
        wanted = {m.key for m in rows if asked.admits(m) and m.kind not in INTERNAL_KINDS}
        found = [hit.key for hit in searched.hits("text", k=500, filter=asked)]
        assert set(found) == wanted
        assert len(found) == len(wanted)

    @needs("keeps", "feed")
    @pytest.mark.parametrize(("asked", "fields"), FEW)
    def test_few_that_a_filter_admits_among_many_are_nominated(
        self, searched: Searched, asked: Filter, fields: dict[str, object]
    ) -> None:
        rows = [memory(f"m{n:03}", "gate gate lamp") for n in range(400)]
        few = [varied(memory(f"few{n}", "a gate " + "and more " * 40), **fields) for n in range(3)]
        searched.put([*rows[:200], *few, *rows[200:]])
        assert sorted(searched.ids("gate", "lamp", k=3, filter=asked)) == ["few0", "few1", "few2"]

    @needs("keeps", "feed")
    def test_archived_memories_stay_out_of_the_words_until_asked_for(
        self, searched: Searched
    ) -> None:
        searched.put([memory("live", "gate"), memory("old", "gate", archived=5)])
        assert searched.ids("gate") == ["live"]
        assert sorted(searched.ids("gate", filter=Filter(archived=True))) == ["live", "old"]
        searched.put([memory("old", "gate"), memory("live", "gate", archived=6)])
        assert searched.ids("gate") == ["old"]

    @needs("keeps", "feed")
    def test_an_update_takes_its_old_words_away(self, searched: Searched) -> None:
        searched.put([memory("a", "old walrus"), memory("b", "walrus")])
        searched.put([memory("a", "new penguin")])
        assert searched.words.df(["walrus", "penguin"]) == {"walrus": 1, "penguin": 1}
        assert searched.ids("walrus") == ["b"]
        assert searched.ids("penguin") == ["a"]

    @needs("keeps", "feed")
    def test_a_move_without_a_change_of_text_is_followed(self, searched: Searched) -> None:
        searched.put([memory("a", "gate", place=Place("here"))])
        searched.put([memory("a", "gate", place=Place("there"))])
        assert searched.ids("gate", filter=Filter(wing="here")) == []
        assert searched.ids("gate", filter=Filter(wing="there")) == ["a"]

    @needs("keeps", "feed")
    def test_what_is_deleted_is_found_by_no_word_and_put_again_it_is(
        self, searched: Searched
    ) -> None:
        searched.put([memory("a", "walrus"), memory("b", "gate")])
        searched.delete(memory("a"))
        assert searched.ids("walrus") == []
        assert searched.words.df(["walrus"]) == {"walrus": 0}
        searched.put([memory("a", "walrus")])
        assert searched.ids("walrus") == ["a"]

    @needs("keeps", "feed")
    def test_deleted_in_one_scope_it_is_found_in_the_other(self, searched: Searched) -> None:
        places = [("", "user", ""), ("", "project", ""), ("", "user", "s"), ("n", "user", "")]
        rows = [
            memory("same", "walrus", namespace=namespace, scope=scope, session=session)
            for namespace, scope, session in places
        ]
        everything = Filter(namespace=None)
        searched.put(rows)
        for gone in range(len(rows)):
            assert {h.key for h in searched.hits("walrus", filter=everything)} == {
                m.key for m in rows[gone:]
            }
            searched.delete(rows[gone])
        assert searched.words.size() == (0, 0)

    @needs("keeps", "feed", "transaction")
    def test_what_is_undone_leaves_no_words(self, searched: Searched) -> None:
        searched.put([memory("a", "gate")])
        with suppress(LookupError), searched.store.transaction():
            searched.put([memory("a", "walrus"), memory("b", "walrus")])
            raise LookupError
        assert searched.words.df(["gate", "walrus"]) == {"gate": 1, "walrus": 0}
        assert searched.words.size() == (1, 1)

    @needs("keeps", "feed")
    def test_a_replaced_source_has_the_words_of_its_new_drawers(self, searched: Searched) -> None:
        source = memory("source", "", kind="source", origin=Origin("a.md"))
        old = [drawer("a.md", n, text) for n, text in enumerate(("gate", "walrus", "lamp"))]
        searched.store.replace_source(source, old)
        searched.store.replace_source(source, [old[0], drawer("a.md", 1, "penguin")])
        words = searched.words.df(["gate", "walrus", "lamp", "penguin"])
        assert words == {"gate": 1, "walrus": 0, "lamp": 0, "penguin": 1}

    @needs("keeps", "feed")
    def test_passages_of_one_memory_have_rows_that_follow_each_other(
        self, searched: Searched
    ) -> None:
        body = "\n\n".join(f"word{n} " + "and filling " * 60 for n in range(8))
        long = memory("long", body, title="head", kind="reference")
        searched.put([memory("before", "head"), long, memory("after", "head")])
        searched.put([memory("later", "head"), varied(long, body=body + " end"), memory("x", "y")])
        hits = [h for h in searched.hits("head", "fill", "filling") if h.key.id == "long"]
        assert len(hits) == len(passages(varied(long, body=body + " end"))) > 5
        assert len({hit.row - hit.passage for hit in hits}) == 1
        assert all(hit.row > 0 for hit in hits)

    @needs("keeps", "feed")
    def test_messages_that_follow_each_other_have_rows_that_do(self, searched: Searched) -> None:
        talk = [
            memory(f"t{n:02}", f"message {n}", kind="drawer", session="talk",
                   origin=Origin("talk", n)) for n in range(30)
        ]  # fmt: skip
        searched.put([memory("before", "message")])
        searched.put(talk[:10])
        searched.put(talk[10:])
        searched.put([memory("after", "message")])
        rows = {hit.key.id: hit.row for hit in searched.hits("messag", "message")}
        first = rows["t00"]
        assert [rows[m.id] for m in talk] == list(range(first, first + 30))

    @needs("keeps", "feed")
    def test_hits_are_in_the_order_asked_for_and_without_what_is_gone(
        self, searched: Searched
    ) -> None:
        searched.put([memory(id_, f"text of {id_}") for id_ in "abcd"])
        rows = {hit.key.id: hit.row for hit in searched.hits("text")}
        asked = [(rows["c"], 0.5), (rows["a"], 0.9), (rows["d"], 0.1)]
        found = searched.words.hits(asked)
        assert [(hit.key.id, hit.score, hit.row) for hit in found] == [
            ("c", 0.5, rows["c"]), ("a", 0.9, rows["a"]), ("d", 0.1, rows["d"])
        ]  # fmt: skip
        searched.delete(memory("a"))
        assert [hit.key.id for hit in searched.words.hits(asked)] == ["c", "d"]

    @needs("keeps", "feed")
    def test_there_are_conversations_where_a_passage_has_a_session(
        self, searched: Searched
    ) -> None:
        talk = memory("t", "message", session="talk")
        assert searched.words.conversations() is False
        searched.put([memory("a", "gate"), memory("s", "", kind="setting", session="talk")])
        assert searched.words.conversations() is False
        searched.put([talk])
        assert searched.words.conversations() is True

    @needs("keeps", "feed")
    def test_kinds_are_those_that_have_passages(self, searched: Searched) -> None:
        assert searched.words.kinds() == set()
        odd = memory("odd", "lamp", kind="ré\0gle", session="talk")
        searched.put([memory("a", "gate", kind="fact"), memory("s", "", kind="setting"), odd])
        assert searched.words.kinds() == {"fact", "ré\0gle"}

    @needs("keeps", "feed")
    def test_occurrences_are_those_of_the_passages(self, searched: Searched) -> None:
        rows = [*corpus(), *mixed()]
        searched.put(rows)
        searched.delete(*rows[5:50:9])
        asked = ["lamp", "仓", "ключи", "text", "never-there"]
        found = searched.words.occurrences(asked)
        if found is None:  # it cannot tell that cheaply: only a server may say so
            assert "keyword" in searched.store.capabilities
            return
        kept = {m.key: m for m in rows if m not in rows[5:50:9]}
        everything = Filter(namespace=None, archived=True)
        chosen = [(int(row), 1.0) for row in found.rows]
        hits = searched.words.hits(chosen)
        assert [hit.row for hit in hits] == [row for row, _ in chosen]
        texts = [passages(kept[hit.key])[hit.passage].text for hit in hits]
        assert len(texts) == searched.words.size()[0]
        assert found.words.tolist() == list(map(word_count, texts))
        for token in asked:
            places, counts = found.of(token)
            wanted = {n: tokenise(text).count(token) for n, text in enumerate(texts)}
            assert dict(zip(places.tolist(), counts.tolist(), strict=True)) == {
                n: count for n, count in wanted.items() if count
            }, token
        for name, filter in {**ASKED, "everything": everything}.items():
            admitted = found.admitted(filter)
            wanted_here = [filter.admits(kept[hit.key]) for hit in hits]
            assert all(wanted_here) if admitted is None else admitted.tolist() == wanted_here, name

    @needs("keeps", "feed")
    def test_bookkeeping_has_no_words(self, searched: Searched) -> None:
        searched.put([memory(kind, "gate", kind=kind) for kind in INTERNAL_KINDS])
        assert searched.words.size() == (0, 0)
        assert searched.hits("gate", filter=Filter(internal=True)) == []

    @needs("keeps", "feed")
    def test_title_and_summary_are_words_too(self, searched: Searched) -> None:
        searched.put([memory("a", "body", title="walrus", summary="penguin")])
        assert searched.ids("walrus") == searched.ids("penguin") == ["a"]

    @needs("keeps", "feed")
    def test_equal_texts_are_found_letter_for_letter(self, searched: Searched) -> None:
        rows = [
            drawer("a.md", 0, "The same  text"), drawer("b.md", 0, "The same  text"),
            drawer("c.md", 0, "The same text"), drawer("d.md", 0, "the same  text"),
        ]  # fmt: skip
        searched.put(rows)
        assert set(searched.words.same_text(["The same  text"])) == {m.key for m in rows[:2]}
        assert set(searched.words.same_text(["The same text", "x"])) == {rows[2].key}
        searched.delete(rows[0])
        assert searched.words.same_text(["The same  text"]) == [rows[1].key]

    @pytest.mark.promise(22)
    @needs("keeps", "feed")
    def test_any_string_may_be_asked_for_as_a_word(self, searched: Searched) -> None:
        searched.put([memory("gate", "the gate"), memory("gates", "two gatesmen")])
        for text in (*AWKWARD, *HOSTILE):
            assert list(searched.words.df([text])) == [text]
            assert {hit.key.id for hit in searched.hits(text)} <= {"gate", "gates"}
        assert searched.words.df([*HOSTILE, "gate"])["gate"] == 1

    @needs("keeps", "feed")
    def test_a_sign_in_a_word_is_no_wildcard(self, searched: Searched) -> None:
        searched.put([memory(f"m{n}", text) for n, text in enumerate((*AWKWARD, "gate"))])
        for text in (
            "%",
            "_",
            "*",
            "?",
            "gate%",
            "gat_",
            "gat*",
            "gate:*",
            "g.*",
            "!gate",
            "-gate",
        ):
            assert searched.hits(text) == [], text
        tokens = sorted({token for text in AWKWARD for token in tokenise(text)})
        counts = searched.words.df(tokens)
        for token in tokens:
            holding = {f"m{n}" for n, text in enumerate(AWKWARD) if token in tokenise(text)}
            assert set(searched.ids(token)) == holding, token
            assert counts[token] == len(holding), token

    @needs("keeps", "feed")
    def test_a_drawer_of_a_megabyte_is_found_by_its_last_word(self, searched: Searched) -> None:
        body = " ".join(f"word{n:x}" for n in range(130_000)) + " walrus"
        assert len(body) > 1_000_000
        searched.put([drawer("big.txt", 0, body), memory("b", "gate")])
        assert len(searched.ids("walrus")) == 1
        assert len(searched.ids("word0")) == 1
        assert searched.words.size()[1] == word_count(body) + word_count("big.txt") + 1
        searched.delete(drawer("big.txt", 0, body))
        assert searched.words.size() == (1, 1)

    @needs("keeps", "feed")
    def test_a_word_without_end_hides_no_other(self, searched: Searched) -> None:
        searched.put([drawer("a", 0, "gate " + "x" * 20_000 + " lamp " + "汉" * 5000)])
        assert searched.ids("gate") == searched.ids("lamp") == [drawer("a", 0, "").id]
        assert searched.words.df(["汉"]) == {"汉": 1}

    @needs("keeps", "feed", "persistent")
    def test_words_are_there_when_the_store_is_opened_again(self, searched: Searched) -> None:
        searched.put([memory("a", "walrus"), memory("b", "gate")])
        size = searched.words.size()
        searched.vault.close()
        root = searched.vault.root("user")
        root.catch_up()
        assert root.words.size() == size
        assert len(root.words.keyword(["walrus"], 5, Filter())) == 1


def _tokens_of(text: str) -> set[str]:
    return set(tokenise(text))


def counts_are_exact(searched: Searched, held: Iterable[Memory], asked: Iterable[str]) -> None:
    """df of every token of the texts asked for, and the size, against counting by hand."""
    kept = [m for m in held if m.kind not in INTERNAL_KINDS]
    texts = [passage for m in kept for passage in passages(m)]
    df: Counter[str] = Counter()
    for each in texts:
        df.update({token for part in (each.title, each.summary, each.body)
                   for token in tokenise(part)})  # fmt: skip
    tokens = {token for text in asked for token in tokenise(text)} | {"never-there"}
    assert searched.words.df(tokens) == {token: df[token] for token in tokens}
    words = sum(word_count(each.text) for each in texts)
    assert searched.words.size() == (len(texts), words)
