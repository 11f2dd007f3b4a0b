"""Cases of a store under the whole search: the same corpus and question have the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo import registry
from camillo.model import Author, Filter, Session
from camillo.ops.search import SearchResult
from contract.applicable import needs
from contract.corpus import QUERIES, TEXTS, corpus
from contract.opener import Opener
from contract.searched import Searched
from contract.specimens import drawer, memory
from contract.store_cases.wording import AWKWARD

PRESETS = ("words", "vectors", "hybrid")


class FindingCases:
    """The pipeline over an engine, with whatever searches it."""

    @needs("keeps", "feed")
    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_first_five_are_those_that_sqlite_has(
        self, searched: Searched, tmp_path: Path, preset: str
    ) -> None:
        wanted = _answers(_local(tmp_path), preset)
        assert _answers(searched, preset) == wanted
        assert sum(map(bool, wanted.values())) == len(QUERIES)

    @needs("keeps", "feed")
    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_first_five_are_the_same_after_changes_and_deletes(
        self, searched: Searched, tmp_path: Path, preset: str
    ) -> None:
        rows = corpus()
        for engine in (searched, local := _local(tmp_path)):
            engine.put([memory(f"noise {n}", text) for n, text in enumerate(TEXTS["harbour"])])
            engine.fill()
            engine.put([row._replace(body=row.body[:20]) for row in rows[::2]])
            engine.store.delete([row.key for row in rows[::3]])
            engine.store.delete([memory(f"noise {n}").key for n in range(50)])
        assert _answers(searched, preset) == _answers(local, preset)

    @needs("keeps", "feed")
    @pytest.mark.parametrize("preset", PRESETS)
    def test_few_that_a_filter_admits_among_many_are_found(
        self, searched: Searched, preset: str
    ) -> None:
        texts = [f"the lamp of the lighthouse, number {n}" for n in range(600)]
        searched.put([memory(f"m{n}", text) for n, text in enumerate(texts)])
        searched.put([memory(f"few{n}", "a lamp", session="s") for n in range(3)])
        searched.put([memory("project", "no more than a lamp", scope="project")])
        searched.fill()
        asked = Filter(session=Session("only", "s"))
        found = searched.found("lamp of the lighthouse", 5, asked, preset)
        assert {result.id for result in found} <= {"few0", "few1", "few2"}
        assert found  # equal texts fold into one
        (one,) = searched.found("lamp of the lighthouse", 5, Filter(scope="project"), preset)
        assert one.id == "project"

    @needs("keeps", "feed")
    def test_the_four_session_filters_hold_in_a_search(self, searched: Searched) -> None:
        searched.put([memory(s or "global", f"lamp {s}", session=s) for s in ("", "s", "t")])
        seen = {
            mode: sorted(
                r.id for r in searched.found("lamp", 5, Filter(session=Session(mode, "s")))
            )
            for mode in ("any", "global", "only", "with-global")
        }
        assert seen == {
            "any": ["global", "s", "t"],
            "global": ["global"],
            "only": ["s"],
            "with-global": ["global", "s"],
        }

    @needs("keeps", "feed")
    def test_forgotten_in_one_scope_it_is_found_in_the_other(self, searched: Searched) -> None:
        rows = [memory("same", f"walrus in {s}", scope=s) for s in ("user", "project")]
        searched.put(rows)
        searched.fill()
        searched.delete(rows[0])
        for preset in PRESETS:
            assert [r.text for r in searched.found("walrus", 5, preset=preset)] == [
                "walrus in project"
            ], preset

    @pytest.mark.promise(12)
    @needs("keeps", "feed")
    def test_what_is_erased_is_found_by_nothing(self, searched: Searched) -> None:
        from camillo.lifecycle.forget import erase

        secret = drawer("a.md", 0, "perambulating marmalade")
        searched.put([secret, drawer("a.md", 1, "gate")])
        searched.fill()
        assert searched.found("marmalade")
        assert erase(searched.root, [secret], Author("ann")).clean
        for preset in PRESETS:
            texts = [r.text for r in searched.found("perambulating marmalade", 9, preset=preset)]
            assert "perambulating marmalade" not in texts
        assert searched.store.erased() is False
        assert searched.store.unclean() is False
        assert not any("marmalade" in str(change) for change in searched.store.changes(0))

    @pytest.mark.promise(22)
    @needs("keeps", "feed")
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(
        query=st.text(max_size=40) | st.sampled_from(AWKWARD) | st.sampled_from(["\ud83d", "\0"])
    )
    def test_any_string_is_a_question(self, searched: Searched, query: str) -> None:
        if not searched.store.count():
            searched.put(corpus()[::4])
            searched.fill()
        for preset in PRESETS:
            assert len(searched.find(query, 5, preset=preset).results) <= 5

    @pytest.mark.promise(31)
    @needs("keeps", "feed")
    @pytest.mark.parametrize(
        ("query", "id_"),
        [
            ("茶", "中文"), ("灯", "中文"), ("鍵", "日本語"), ("열쇠", "한국어"), ("แดง", "ไทย"),
            ("लाल", "हिन्दी"), ("ключ", "русский"), ("cafe\u0301", "accents"),
            ("ÅNGSTRÖM", "accents"),
        ],
    )  # fmt: skip
    def test_a_short_word_of_any_script_finds_its_memory(
        self, searched: Searched, query: str, id_: str
    ) -> None:
        searched.put([
            memory("中文", "她喜欢喝茶，灯很亮"), memory("日本語", "倉庫の鍵はここ"),
            memory("한국어", "창고 열쇠"), memory("ไทย", "ประตูสีแดง"), memory("हिन्दी", "लाल दरवाज़ा"),
            memory("русский", "ключ от двери"), memory("accents", "naïve caf\u00e9 ångström"),
        ])  # fmt: skip
        assert [result.id for result in searched.found(query)] == [id_]


def _local(folder: Path) -> Searched:
    """The same over sqlite."""
    target = registry.ENGINES["sqlite"]
    return Searched(Opener(target, "", ""), folder / "local")


def _answers(engine: Searched, preset: str) -> dict[str, list[tuple[object, ...]]]:
    """What each query finds first, with its score to three digits."""
    if not engine.store.count():
        rows = corpus()
        engine.put(rows[:120])
        engine.put(rows[120:])
    engine.fill()
    return {query: [_told(r) for r in engine.found(query, 5, preset=preset)] for query in QUERIES}


def _told(result: SearchResult) -> tuple[object, ...]:
    return result.id, result.scope, result.source, result.also_in
