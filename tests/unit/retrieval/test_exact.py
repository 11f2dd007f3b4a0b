"""BM25 from columns in memory: what reading every text would give, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo import registry
from camillo.config import SearchSettings
from camillo.model import Filter, Key, Memory, Origin, Place, Session
from camillo.ops.search import search
from camillo.retrieval.candidate import Context, Counts, Query
from camillo.retrieval.exact import Scores
from camillo.retrieval.keyword import MIDDLING, count_words, keyword_score
from camillo.retrieval.pipeline import run
from camillo.text.passages import passage
from camillo.text.tokens import Term
from camillo.vault import OpenRoot, open_vault

PAGE = """
gate gates painted painting the of running easily
der die Gärten Türen geöffnet Straße und wir
ворота ворот двери открыты ёлка замо́к и не
七道门 门 门道 画廊里的门 哈哈 哈哈哈 哈哈哈哈
ドアを開ける ドア 門 絵 한국어 문을 열다 ประตู ประตูเจ็ดบาน
😀 👍 😀😀 naïve naïve ½ ﬁne ＡＢＣ １２
getUserName user_name parseURLPath get_user HTTPServer2 user name v2.0 a_b
"""
WORDS = PAGE.split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).flatmap(
    lambda words: st.sampled_from([" ", " ", "\n", "", ", "]).map(lambda sign: sign.join(words))
)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


def _context(text: str, *roots: OpenRoot, filter: Filter = Filter(), k: int = 10) -> Context:
    """After the stages that nominate by words."""
    for root in roots:
        root.catch_up()
    context = Context(roots, SearchSettings(), warm=True)
    stages = [(name, registry.load("stage", name)) for name in ("expand", "keyword")]
    run(Query(text, k, filter), stages, context)
    return context


def _rows(root: OpenRoot) -> list[int]:
    occurrences = root.words.occurrences([])
    assert occurrences is not None
    return [int(row) for row in occurrences.rows]


def _texts(root: OpenRoot, rows: Sequence[int]) -> list[str]:
    hits = root.words.hits([(row, 0.0) for row in rows])
    memories = root.store.get([hit.key for hit in hits])
    return [passage(m, hit.passage).text for m, hit in zip(memories, hits, strict=True) if m]


def _is_as_read(root: OpenRoot, text: str) -> None:
    context = _context(text, root)
    rows = _rows(root)
    read = count_words(_texts(root, rows), context)
    wanted = [keyword_score(each, context) for each in read]
    if not context.terms:
        return
    exact = context.exact[0]
    assert exact.counts(rows) == read
    assert exact.of(rows) == pytest.approx(wanted, abs=1e-6)
    found = exact.best(len(rows) + 1, Filter())
    assert sorted(row for row, _ in found) == [
        row for row, score in zip(rows, wanted, strict=True) if score > 0
    ]
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


class TestAsRead:
    @pytest.mark.promise(31)
    @settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=st.lists(TEXTS, min_size=1, max_size=6), query=QUERIES)
    def test_scores_and_counts_are_those_of_reading_every_text(
        self, root: OpenRoot, texts: list[str], query: str
    ) -> None:
        root.store.delete([memory.key for memory in root.store.scan(Filter())])
        root.store.put([Memory(f"m{n}", text, "drawer") for n, text in enumerate(texts)])
        _is_as_read(root, query)

    @pytest.mark.promise(22)
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=4), at=st.integers(0, 40))
    def test_also_of_any_text_whatever(self, root: OpenRoot, texts: list[str], at: int) -> None:
        root.store.delete([memory.key for memory in root.store.scan(Filter())])
        root.store.put([Memory(f"m{n}", text, "drawer") for n, text in enumerate(texts)])
        _is_as_read(root, texts[0][at:] or texts[0])

    def test_overlapping_pairs_are_counted_each(self, root: OpenRoot) -> None:
        root.store.put([Memory("m", "哈哈哈哈", "drawer")])
        context = _context("哈哈", root)
        assert context.terms[0].forms == ("哈哈",)
        assert context.exact[0].counts(_rows(root))[0].tf == [3, 4]

    def test_a_word_counts_as_often_as_its_most_frequent_form(self, root: OpenRoot) -> None:
        root.store.put([Memory("m", "gates gates gate", "drawer")])
        context = _context("gates", root)
        assert context.terms[0].forms == ("gates", "gate")
        assert context.exact[0].counts(_rows(root)) == [Counts([3], 3)]

    def test_notes_are_scored_by_their_passages(self, root: OpenRoot) -> None:
        body = "Ordinary words. " * 100 + "\n\nThe painted gates are here, gates of wood.\n"
        root.store.put([Memory("n", body, "note", "Of gates", "painted ones")])
        _is_as_read(root, "painted gates wood")

    def test_a_title_is_stemmed_in_its_own_language(self, root: OpenRoot) -> None:
        """The index parts the fields, so that a German path does not decide how an English text
        is stemmed; whoever reads the whole sees one language."""
        origin = Origin("/Die Bücher und der Garten/wir sind nicht da.md")
        root.store.put([Memory("m", "painting gates", "drawer", origin=origin)])
        context = _context("painted gate", root)
        [text] = _texts(root, _rows(root))
        assert count_words([text], context)[0].tf == [0, 0]
        assert context.exact[0].counts(_rows(root))[0].tf == [1, 1]


class TestBest:
    def test_a_filter_holds_before_the_limit(self, root: OpenRoot) -> None:
        root.store.put(
            [
                *(Memory(f"a{n}", "gate gate", "drawer", place=Place("loud")) for n in range(9)),
                Memory("b", "gate and many other words", "drawer", place=Place("quiet", "r")),
            ]
        )
        filters = [
            Filter(wing="quiet"),
            Filter(room="r"),
            Filter(wing="quiet", room="r", kinds=("drawer", "note")),
        ]
        for filter in filters:
            context = _context("gate", root, filter=filter)
            [(row, _)] = context.exact[0].best(1, filter)
            assert [hit.key.id for hit in root.words.hits([(row, 0.0)])] == ["b"]
            assert [each.row for each in context.nominated] == [row]

    @pytest.mark.parametrize(
        "filter",
        [
            Filter(),
            Filter(namespace="other"),
            Filter(namespace=None),
            Filter(scope="project"),
            Filter(kinds=("note", "fact")),
            Filter(kinds=()),
            Filter(wing="w1"),
            Filter(room="r2"),
            Filter(source="/a"),
            Filter(source="/none"),
            Filter(since="2024-02-01"),
            Filter(before="2024-02-01"),
            Filter(since="2024-01-02", before="2024-03-01", wing="w1"),
            Filter(archived=True),
            Filter(session=Session("global")),
            Filter(session=Session("only", "s1")),
            Filter(session=Session("with-global", "s1")),
        ],
    )
    def test_it_admits_what_the_engine_admits(self, root: OpenRoot, filter: Filter) -> None:
        memories = [
            Memory(
                f"m{n}",
                "gate " + "wall " * n,
                ("drawer", "note", "fact")[n % 3],
                namespace="other" if n % 7 == 3 else "",
                session=("", "s1", "s2")[n % 5 % 3],
                place=Place(f"w{n % 2}", f"r{n % 3}"),
                origin=Origin("/a" if n % 2 else "/b", n) if n % 3 == 0 else None,
                happened_at=("", "2024-01-15", "2024-02-15", "2024-03-15")[n % 4],
                archived=7 if n % 6 == 1 else 0,
            )
            for n in range(60)
        ]
        root.store.put(memories)
        context = _context("gate", root, filter=filter, k=99)
        rows = [row for row, _ in context.exact[0].best(999, filter)]
        ids = sorted(hit.key.id for hit in root.words.hits([(row, 0.0) for row in rows]))
        assert ids == sorted(memory.id for memory in memories if filter.admits(memory))
        asked = root.words.keyword(["gate"], 999, filter)
        assert sorted(rows) == sorted(row for row, _ in asked)

    def test_what_came_after_the_state_has_no_score(self, root: OpenRoot) -> None:
        root.catch_up()
        empty = _context("gate", root)
        assert not empty.exact or empty.exact[0].of([7]) == [0]
        root.store.put([Memory("a", "gate", "drawer")])
        scores = _context("gate", root).exact[0]
        [row] = _rows(root)
        assert scores.of([row + 1, row]) == [0, scores.best(1, Filter())[0][1]]
        assert scores.counts([row + 1]) == [Counts([0], 0)]

    def test_of_an_empty_index_nothing_is_best(self, root: OpenRoot) -> None:
        root.catch_up()
        occurrences = root.words.occurrences(["gate"])
        assert occurrences is not None
        scores = Scores(occurrences, [Term("gate", ("gate",), 1.0)], [1.0], 0.0)
        assert (scores.best(5, Filter()), scores.of([3]), scores.of([])) == ([], [0], [])
        assert scores.counts([3]) == [Counts([0], 0)]


class TestWarmAndCold:
    """A store that is large enough for some of what is nominated not to be read."""

    COUNT = MIDDLING + 400

    @pytest.mark.parametrize("preset", ["words", "hybrid"])
    def test_the_first_result_is_the_same(self, home: Path, preset: str) -> None:
        with open_vault(overrides={"search.embedder": "hashing"}) as vault:
            first = vault.scratch(str(home / "a"), "project")
            second = vault.scratch(str(home / "b"), "user")
            for number, root in enumerate((first, second)):
                Path(root.root.folder).mkdir()
                root.store.put(list(_crowd(self.COUNT // (1 + 3 * number), number)))
                root.catch_up()
                vault.embed(root)
            for roots in ([first], [first, second]):
                for n in range(0, self.COUNT, 190):
                    text = f"lamp{n} of wall{n % 40} beside gate{n % 7}"
                    warm, cold = (_asked(text, preset, roots, each) for each in (True, False))
                    assert warm[0] == cold[0]
                    assert preset == "hybrid" or warm[0][0] == f"m0-{n}"
                    assert len({*warm} & {*cold}) >= 7

    @pytest.mark.parametrize("warm", [True, False])
    def test_what_is_not_read_is_still_found_by_what_points_at_it(
        self, home: Path, warm: bool
    ) -> None:
        with open_vault(overrides={"search.embedder": "hashing"}) as vault:
            root = vault.root("user", create=True)
            root.store.put(list(_crowd(self.COUNT)))
            body = "# Velvet curtain\n" + "Ordinary words go on and on. " * 25
            origin = Origin("/pointed.md", 0, 1, 2, 0, len(body))
            source = Memory("src", "", "source", origin=Origin("/pointed.md"), extra={"parts": 1})
            root.store.replace_source(source, [Memory("pointed", body, "drawer", origin=origin)])
            loud = [Memory(f"loud{n}", "velvet curtain " * 3, "drawer") for n in range(40)]
            root.store.put(loud)
            root.catch_up()
            vault.embed(root)
            context = Context([root], SearchSettings(), vault.embedder, warm=warm)
            names = ("expand", "keyword", "vector", "read", "grains", "fuse")
            stages = [(name, registry.load("stage", name)) for name in names]
            left = run(Query("velvet curtain", 10), stages, context)
            assert "pointed" not in {each.memory.id for each in left}
            closets = registry.load("stage", "closets")
            found = closets(Query("velvet curtain", 10), left, context)
            [pointed] = [each for each in found if each.memory.id == "pointed"]
            assert pointed.closet_boost > 0
            assert 0 < pointed.signals["vector"] < 1
            plain = context.scales[0].score(pointed.signals["keyword"], pointed.signals["vector"])
            assert pointed.score == pytest.approx(plain + pointed.closet_boost)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "put", "delete", "archive", "embed", "search"]),
            st.integers(0, 7),
            TEXTS,
            st.booleans(),
        ),
        max_size=12,
    ),
    query=QUERIES,
)
def test_a_process_that_stays_finds_what_one_that_begins_finds(
    home: Path, steps: list[tuple[str, int, str, bool]], query: str
) -> None:
    hashing = {"search.embedder": "hashing", "search.preset": "hybrid"}
    with open_vault(overrides=hashing) as staying, open_vault(overrides=hashing) as other:
        staying.root("user", create=True).catch_up()
        for what, number, text, elsewhere in steps:
            vault = other if elsewhere else staying
            store = vault.root("user").store
            [held] = store.get([Key("", "user", "", f"m{number}")])
            if what == "put":
                store.put([Memory(f"m{number}", text, "drawer")])
            elif what == "archive" and held:
                store.put([held._replace(archived=0 if held.archived else 9)])
            elif what == "delete" and held:
                store.delete([held.key])
            vault.root("user").catch_up()
            if what == "embed":
                vault.embed(vault.root("user"))
            if what == "search":
                search(staying, query)
        with open_vault(overrides=hashing) as beginning:
            found = search(beginning, query)
        again = search(staying, query)
        assert (again.results, again.degraded) == (found.results, found.degraded)


def _crowd(count: int, number: int = 0) -> Iterator[Memory]:
    for n in range(count):
        text = f"lamp{n} stands on wall{n % 40} and gate{n % 7} " + f"filler{n % 11} " * (n % 13)
        yield Memory(f"m{number}-{n}", text, "drawer")


def _asked(text: str, preset: str, roots: Sequence[OpenRoot], warm: bool) -> list[tuple[str, int]]:
    from camillo.embed.hashing import HashingEmbedder
    from camillo.retrieval.presets import stages

    embedder = HashingEmbedder() if preset == "hybrid" else None
    context = Context(roots, SearchSettings(), embedder, warm=warm)
    chosen = [(name, registry.load("stage", name)) for name in stages(preset)]
    found = run(Query(text, 10), chosen, context)
    assert bool(context.exact) == warm
    return [(each.memory.id, each.root) for each in found]


def test_a_warm_search_needs_no_numpy(home: Path) -> None:
    program = """
import sys
sys.modules["numpy"] = None
from camillo.model import Filter, Memory
from camillo.ops.search import search
from camillo.retrieval import keyword
from camillo.vault import open_vault
keyword.MIDDLING = 1
with open_vault() as vault:
    root = vault.root("user", create=True)
    root.store.put([Memory(f"m{n}", f"gate lamp{n}", "drawer") for n in range(9)])
    root.catch_up()
    assert vault.warm and root.words.occurrences(["gate"]) is None
    print(search(vault, "lamp7 gate").results[0].id)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("m7\n", "")
