"""The index of codes: under the tests of `vectors`, and what it owes beyond them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from zlib import crc32

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from camillo.config import child_environment
from camillo.embed.hashing import HashingEmbedder
from camillo.errors import UnknownName
from camillo.indexes import fast
from camillo.indexes.vectors import VectorIndex, quantised
from camillo.model import Filter, Key, Memory, Place
from camillo.ops.signature import run
from camillo.ports import Role
from camillo.text.passages import text_hash
from camillo.vault import OpenRoot, Vault, open_vault
from unit.indexes import test_vectors as scanned
from unit.indexes.test_vectors import model, root

pytest.importorskip("turbovec", reason="turbovec, of the extra `fast`, is not installed")

__all__ = ["model", "root"]  # fixtures
FAST = {"search.vectors": "fast"}
SCAN = {"search.vectors": "scan"}


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault(overrides=FAST) as opened:
        yield opened


class TestFilling(scanned.TestFilling):
    """As by scan."""


class TestNeighbours(scanned.TestNeighbours):
    """As by scan."""


class TestSweeping(scanned.TestSweeping):
    """As by scan."""


class TestModels(scanned.TestModels):
    """As by scan."""


class TestDamageOfVectors(scanned.TestDamage):
    """As by scan."""


class Points(HashingEmbedder):
    """Texts are numbers: the vector of `n` is point n."""

    def __init__(self, points: NDArray[np.float32]) -> None:
        self.points = points
        self.dim = points.shape[1]
        self.id = f"points/{self.dim}"

    def embed(self, texts: Any, role: Role) -> NDArray[np.float32]:
        return self.points[[int(text) for text in texts]]


def clustered(count: int, dim: int = 64, seed: int = 1) -> NDArray[np.float32]:
    """Unit vectors in fifty clusters."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((50, dim))
    points = centres[chance.integers(0, 50, count)] + 0.7 * chance.standard_normal((count, dim))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit.astype(np.float32)


def _fill(root: OpenRoot, embedder: HashingEmbedder, texts: list[str], first: int = 0) -> None:
    numbered = enumerate(texts, first)
    root.store.put([Memory(f"m{n}", text, "drawer") for n, text in numbered])
    root.catch_up()
    root.meaning.fill(root.store, embedder, "hashing")


def _fill_at_once(home: Path, embedder: Points) -> None:
    """Passages without memories, and their vectors: a large store in a moment."""
    data = [scale + codes for scale, codes in _kept_forms(embedder.points)]
    rows = [(n, str(n), text_hash(str(n))) for n in range(1, len(data) + 1)]
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    with connection:
        connection.execute("INSERT INTO facets VALUES (1, '', 'user', '', 'drawer', '', '')")
        connection.execute(
            "INSERT INTO models VALUES (1, ?, ?, 'hashing', 1)", (embedder.id, embedder.dim)
        )
        connection.executemany(
            "INSERT INTO passages(rowid, version, number, facet, id, words, hash) "
            "VALUES (?, 1, 0, 1, ?, 1, ?)",
            rows,
        )
        connection.executemany(
            "INSERT INTO vectors(model, hash, data, crc) VALUES (1, ?, ?, ?)",
            [(row[2], each, crc32(each)) for row, each in zip(rows, data, strict=True)],
        )
    connection.close()


def _kept_forms(points: NDArray[np.float32]) -> Iterator[tuple[bytes, bytes]]:
    codes, scales = quantised(points)
    for row, scale in zip(codes, scales, strict=True):
        yield scale.tobytes(), row.tobytes()


def _index(root: OpenRoot) -> VectorIndex:
    assert isinstance(root.meaning, VectorIndex)
    return root.meaning


def _kept(root: OpenRoot, embedder: Points) -> int | None:
    """How many codes another process would find in the file."""
    index = _index(root)
    index.models()
    codes = fast.load_codes(index._file.database, index._folder, embedder.id, embedder.dim)
    return None if codes is None else len(codes)


def _same_as_scan(root: OpenRoot, embedder: HashingEmbedder, vector: Any) -> None:
    ours = root.meaning.nearness(embedder, vector)
    got = [cosine for _, cosine in ours.best(10, Filter())]
    with open_vault(overrides=SCAN) as vault:
        theirs = vault.root("user").meaning.nearness(embedder, vector)
        assert got == pytest.approx([c for _, c in theirs.best(10, Filter())], abs=1e-6)
        assert len(ours) == len(theirs)


def _best(root: OpenRoot, embedder: HashingEmbedder, vector: Any, k: int = 10) -> Any:
    return root.meaning.nearness(embedder, vector).best(k, Filter())


def _files(home: Path) -> list[Path]:
    return sorted((home / ".camillo" / "index").glob("fast-*"))


def _mark(root: OpenRoot, embedder: Points, text: str) -> bytes:
    """What stands in the file for this vector alone."""
    data = _index(root).kept(1, [text_hash(text)])[text_hash(text)]
    codes = np.frombuffer(data, np.int8, offset=4).reshape(1, -1)
    return fast._marks(codes, np.frombuffer(data, "<f4", 1)).tobytes()


def _recall(root: OpenRoot, embedder: HashingEmbedder, queries: Any, k: int) -> float:
    """The share of the k nearest, as a scan gives them, that codes give too."""
    with open_vault(overrides=SCAN) as vault:
        by_scan = vault.root("user").meaning
        shares = []
        for query in queries:
            wanted = by_scan.nearness(embedder, query).best(k, Filter())
            got = _best(root, embedder, query, k)
            assert [cosine for _, cosine in got] == sorted((c for _, c in got), reverse=True)
            shares.append(len({row for row, _ in wanted} & {row for row, _ in got}) / len(wanted))
        return float(np.mean(shares))


class TestRecall:
    def test_ten_nearest_of_five_thousand_clustered_points(self, root: OpenRoot) -> None:
        points = Points(clustered(5000))
        _fill(root, points, [str(n) for n in range(5000)])
        queries = clustered(5040)[5000:]
        assert _recall(root, points, queries, 10) >= 0.98
        assert _recall(root, points, queries[:10], 200) >= 0.98

    def test_ten_nearest_of_real_texts(self, root: OpenRoot, data: Path) -> None:
        lines = (data / "locomo" / "corpus.jsonl").read_text("utf-8").splitlines()[:3000]
        texts = [json.loads(line)["text"] for line in lines]
        embedder = HashingEmbedder()
        _fill(root, embedder, texts)
        queries = embedder.embed([text[: len(text) // 2] for text in texts[:2000:50]], "query")
        assert _recall(root, embedder, queries, 10) >= 0.98

    def test_what_is_returned_has_the_numbers_of_a_scan(self, root: OpenRoot) -> None:
        points = Points(clustered(1500))
        _fill(root, points, [str(n) for n in range(1500)])
        query = clustered(1501)[-1]
        ours = root.meaning.nearness(points, query)
        with open_vault(overrides=SCAN) as vault:
            theirs = vault.root("user").meaning.nearness(points, query)
            rows = [row for row, _ in ours.best(1500, Filter())]
            wanted = theirs.of([*rows, 99_999])
            assert ours.of([*rows, 99_999]) == [pytest.approx(c, abs=1e-6) for c in wanted]
            got = dict(ours.best(50, Filter()))
            assert got == pytest.approx(dict(theirs.best(50, Filter())), abs=1e-6)
            assert len(ours) == len(theirs) == 1500

    def test_a_filter_that_admits_many_and_one_that_admits_few(self, root: OpenRoot) -> None:
        points = Points(clustered(2000))
        root.store.put(
            [
                Memory(f"m{n}", str(n), "drawer", place=Place("rare" if n % 400 == 7 else "often"))
                for n in range(2000)
            ]
        )
        root.catch_up()
        root.meaning.fill(root.store, points, "hashing")
        query = clustered(2001)[-1]
        for wing, count in (("rare", 5), ("often", 1995)):
            found = root.meaning.nearness(points, query).best(20, Filter(wing=wing))
            places = [int(hit.key.id[1:]) for hit in root.words.hits(found)]
            allowed = [n for n in range(2000) if (n % 400 == 7) == (wing == "rare")]
            wanted = sorted(allowed, key=lambda n: -float(points.points[n] @ query))[:20]
            assert len(places) == min(20, count)
            assert len(set(places) & set(wanted)) >= 0.95 * len(places)
            assert set(places) <= set(allowed)

    def test_a_search_gives_the_same_results(self, root: OpenRoot, vault: Vault) -> None:
        texts = [f"Door {n} of hall {n % 17} has {n * 7 % 31} gates." for n in range(900)]
        settings = {"search.embedder": "hashing", "search.preset": "hybrid"}
        _fill(root, HashingEmbedder(), texts)
        found = []
        for way in (FAST, SCAN):
            with open_vault(overrides={**way, **settings}) as opened:
                report = run(opened, "search", query="which hall has seven gates", k=20)
                found.append([(r.id, round(r.score, 6)) for r in report.results])
        assert found[0] == found[1]
        assert len(found[0]) == 20


class TestFollowing:
    def test_what_comes_and_goes_in_turns_is_followed(self, root: OpenRoot) -> None:
        points = Points(clustered(3000))
        for first in range(0, 1500, 500):
            _fill(root, points, [str(n) for n in range(first, first + 500)], first)
            _same_as_scan(root, points, clustered(3001)[-1])
        root.store.delete([Key("", "user", "", f"m{n}") for n in range(0, 1500, 5)])
        root.catch_up()
        _same_as_scan(root, points, clustered(3001)[-1])
        assert root.scrub()
        _fill(root, points, [str(n) for n in range(2000, 2300)], 5)
        _same_as_scan(root, points, clustered(3001)[-1])

    def test_the_file_spares_the_next_process_the_work(self, root: OpenRoot, home: Path) -> None:
        points = Points(clustered(400))
        _fill(root, points, [str(n) for n in range(400)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        before = path.stat()
        assert (before.st_mode & 0o777) == 0o600
        with open_vault(overrides=FAST) as vault:
            other = vault.root("user")
            assert _kept(other, points) == 400
            _same_as_scan(other, points, points.points[3])
        assert path.stat().st_mtime_ns == before.st_mtime_ns

    def test_a_file_that_lags_behind_is_carried_on(self, root: OpenRoot, home: Path) -> None:
        points = Points(clustered(1000))
        _fill(root, points, [str(n) for n in range(900)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        before = path.read_bytes()
        _fill(root, points, [str(n) for n in range(900, 930)], 900)
        with open_vault(overrides=FAST) as vault:
            _same_as_scan(vault.root("user"), points, points.points[915])
            assert path.read_bytes() == before  # too little to write for
            _fill(root, points, [str(n) for n in range(930, 1000)] * 2, 930)
            _same_as_scan(vault.root("user"), points, points.points[990])
        assert path.read_bytes() != before
        assert len(_files(home)) == 1

    def test_another_models_codes_are_its_own(self, root: OpenRoot, home: Path) -> None:
        first, second = Points(clustered(400)), Points(clustered(400, dim=32, seed=2))
        for embedder in (first, second):
            _fill(root, embedder, [str(n) for n in range(400)])
            _same_as_scan(root, embedder, embedder.points[7])
            assert len(_files(home)) == 1

    def test_a_dimension_that_does_not_fit_is_scanned(self, root: OpenRoot, home: Path) -> None:
        points = Points(clustered(300, dim=30))
        _fill(root, points, [str(n) for n in range(300)])
        _same_as_scan(root, points, points.points[3])
        assert _files(home) == []

    def test_zeros_do_not_stop_it(self, root: OpenRoot) -> None:
        points = Points(np.vstack([clustered(300), np.zeros((3, 64), np.float32)]))
        _fill(root, points, [str(n) for n in range(303)])
        _same_as_scan(root, points, points.points[3])

    def test_threads_may_search_while_vectors_come(self, root: OpenRoot) -> None:
        points = Points(clustered(1200))
        _fill(root, points, [str(n) for n in range(600)])
        wrong: list[object] = []

        def ask() -> None:
            for n in range(60):
                try:
                    [(_, cosine)] = _best(root, points, points.points[n], 1)
                    if cosine < 0.99:
                        wrong.append(cosine)
                except Exception as error:  # noqa: BLE001 (whatever it is, it is wrong)
                    wrong.append(error)

        threads = [Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for first in range(600, 1200, 100):
            _fill(root, points, [str(n) for n in range(first, first + 100)], first)
        for thread in threads:
            thread.join()
        assert wrong == []


def _overwritten(data: bytes, at: int) -> bytes:
    return data[:at] + b"\xff" * 64 + data[at + 64 :]


def _grown_head(data: bytes) -> bytes:
    return data[:64] + b"\xff" * 16 + data[80:]


@pytest.mark.promise(3)
class TestDamage:
    @pytest.mark.parametrize(
        "change",
        [
            lambda data: _overwritten(data, 0),
            lambda data: _overwritten(data, 100),
            lambda data: _overwritten(data, len(data) // 2),
            lambda data: _overwritten(data, len(data) - 64),
            lambda data: data[: len(data) // 2],
            lambda data: data[:50],
            lambda data: b"",
            lambda data: data + b"more",
            _grown_head,
        ],
    )
    def test_a_changed_file_is_noticed_and_made_again(
        self, root: OpenRoot, home: Path, change: Callable[[bytes], bytes]
    ) -> None:
        points = Points(clustered(500))
        _fill(root, points, [str(n) for n in range(500)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        good = path.read_bytes()
        path.write_bytes(change(good))
        with open_vault(overrides=FAST) as vault:
            other = vault.root("user")
            assert _kept(other, points) is None
            _same_as_scan(other, points, points.points[7])
        assert len(path.read_bytes()) == len(good)
        assert path.read_bytes() != change(good)
        with open_vault(overrides=FAST) as vault:
            assert _kept(vault.root("user"), points) == 500

    def test_a_file_of_another_store_or_model_is_not_taken(
        self, root: OpenRoot, home: Path
    ) -> None:
        points, others = Points(clustered(400)), Points(clustered(400, seed=9))
        _fill(root, points, [str(n) for n in range(400)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        foreign = path.read_bytes()
        root.rebuild()  # as for another store: nothing of the old numbering holds
        _fill(root, others, [])
        path.write_bytes(foreign)
        _same_as_scan(root, others, others.points[7])
        with open_vault(overrides=FAST) as vault:
            assert _kept(vault.root("user"), others) == 400

    def test_where_it_cannot_be_written_searches_go_on(self, root: OpenRoot, home: Path) -> None:
        points = Points(clustered(400))
        _fill(root, points, [str(n) for n in range(400)])
        _best(root, points, points.points[7])
        [path] = _files(home)
        path.unlink()
        blocking = path.with_name(f"{path.name}.new")
        blocking.mkdir()
        with open_vault(overrides=FAST) as vault:
            _same_as_scan(vault.root("user"), points, points.points[7])
        assert _files(home) == [blocking]


@pytest.mark.promise(12)
class TestForgetting:
    def test_no_byte_of_the_vector_stays(self, root: OpenRoot, home: Path) -> None:
        points = Points(clustered(400))
        _fill(root, points, [str(n) for n in range(400)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        secret, kept = _mark(root, points, "17"), _mark(root, points, "18")
        assert secret in path.read_bytes()
        root.store.delete([Key("", "user", "", "m17")])
        root.catch_up()
        assert root.scrub()
        assert _files(home) == []
        _same_as_scan(root, points, points.points[17])
        with open_vault(overrides=FAST) as vault:
            _same_as_scan(vault.root("user"), points, points.points[17])
        [path] = _files(home)
        assert kept in path.read_bytes()
        for each in (home / ".camillo").rglob("*"):
            assert not each.is_file() or secret not in each.read_bytes()
            assert not each.is_file() or text_hash("17") not in each.read_bytes()

    def test_codes_without_it_are_those_that_never_had_it(self, root: OpenRoot) -> None:
        """The library leaves nothing of what it removes in what it writes."""
        points = Points(clustered(400))
        _fill(root, points, [str(n) for n in range(400)])
        followed, never = fast.Codes(points.dim), fast.Codes(points.dim)
        followed.follow(_index(root)._load(1, points.dim))
        root.store.delete([Key("", "user", "", "m399")])
        root.catch_up()
        root.scrub()
        vectors = _index(root)._load(1, points.dim)
        for codes in (followed, never):
            codes.follow(vectors)
        assert len(followed) == len(never) == 399
        assert followed.written() == never.written()

    def test_a_process_that_still_holds_it_does_not_write_it_back(
        self, root: OpenRoot, home: Path
    ) -> None:
        points = Points(clustered(400))
        _fill(root, points, [str(n) for n in range(400)])
        codes = fast.Codes(points.dim)
        codes.follow(_index(root)._load(1, points.dim))
        with open_vault(overrides=FAST) as vault:
            theirs = vault.root("user")
            theirs.store.delete([Key("", "user", "", "m17")])
            theirs.catch_up()
            assert theirs.scrub()
        _index(root)._keep(1, points, codes)
        assert _files(home) == []

    @pytest.mark.parametrize("name", ["fast-0011223344556677.bin", "fast-0011.bin.new"])
    def test_what_a_killed_process_left_goes(self, root: OpenRoot, home: Path, name: str) -> None:
        points = Points(clustered(300))
        _fill(root, points, [str(n) for n in range(300)])
        _best(root, points, points.points[0])
        [path] = _files(home)
        path.with_name(name).write_bytes(b"what is left of a vector" * 9)
        assert root.scrub()
        assert _files(home) == [path]

    def test_an_index_that_was_thrown_away_takes_its_codes_along(
        self, root: OpenRoot, home: Path
    ) -> None:
        points = Points(clustered(300))
        _fill(root, points, [str(n) for n in range(300)])
        _best(root, points, points.points[0])
        root.rebuild()
        root.catch_up()
        root.scrub()
        assert _files(home) == []


class TestTogether:
    def test_two_processes_search_and_fill(self, root: OpenRoot, home: Path) -> None:
        code = (
            "import sys; from camillo.vault import open_vault\n"
            "from camillo.embed.hashing import HashingEmbedder\n"
            "from camillo.model import Filter\n"
            "with open_vault(overrides={'search.vectors': 'fast'}) as vault:\n"
            "    root, model = vault.root('user'), HashingEmbedder()\n"
            "    for n in range(40):\n"
            "        vector = model.embed([f'door {n}'], 'query')[0]\n"
            "        found = root.meaning.nearness(model, vector).best(5, Filter())\n"
            "        assert len(found) == 5 and found[0][1] > 0.99, found\n"
        )
        model = HashingEmbedder()
        _fill(root, model, [f"door {n}" for n in range(500)])
        environment = child_environment()
        children = [
            subprocess.Popen(
                [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        for first in range(500, 1500, 100):
            _fill(root, model, [f"gate {n}" for n in range(first, first + 100)], first)
            root.store.delete([Key("", "user", "", f"m{first}")])
            root.catch_up()
            root.scrub()
            _best(root, model, model.embed(["gate 700"], "query")[0])
        for child in children:
            assert child.communicate(timeout=60)[1] == ""
            assert child.returncode == 0
        _same_as_scan(root, model, model.embed(["gate 1100"], "query")[0])

    def test_other_instructions_nominate_the_same(self, root: OpenRoot) -> None:
        code = (
            "from camillo.vault import open_vault\n"
            "from camillo.embed.hashing import HashingEmbedder\n"
            "from camillo.model import Filter\n"
            "with open_vault(overrides={'search.vectors': 'fast'}) as vault:\n"
            "    root, model = vault.root('user'), HashingEmbedder()\n"
            "    for n in range(20):\n"
            "        vector = model.embed([f'door {n} of hall {n * 3}'], 'query')[0]\n"
            "        found = root.meaning.nearness(model, vector).best(10, Filter())\n"
            "        print([round(cosine, 5) for _, cosine in found])\n"
        )
        _fill(root, HashingEmbedder(), [f"door {n} of hall {n * 3}" for n in range(1000)])
        said = []
        for off in ({}, dict.fromkeys(("TURBOVEC_NO_VNNI", "TURBOVEC_NO_GFNI"), "1")):
            ended = subprocess.run(
                [sys.executable, "-c", code], env=child_environment(**off), check=True,
                capture_output=True, text=True,
            )  # fmt: skip
            said.append(ended.stdout)
        assert said[0] == said[1]
        assert len(said[0].splitlines()) == 20

    def test_it_takes_one_thread(self, root: OpenRoot) -> None:
        threads = Path("/proc/self/task")
        if not threads.is_dir():
            pytest.skip("threads are counted under /proc")
        code = (
            "import os\n"
            "from camillo.numeric import np\n"
            "from camillo.indexes.fast import Codes\n"
            "from camillo.indexes._loaded_vectors import Vectors\n"
            "from camillo.indexes._passages import Columns\n"
            "rows = np.arange(1, 20001)\n"
            "codes = np.random.default_rng(1).integers(-9, 9, (20000, 64)).astype(np.int8)\n"
            "columns = Columns(1, rows, np.ones(20000, np.float32), rows, 0 * rows)\n"
            "there = np.ones(20000, bool)\n"
            "made = Codes(64)\n"
            "made.follow(Vectors(columns, there, np.ones(20000, np.float32), codes))\n"
            "made.nearest(codes[0].astype(np.float32), 40, columns, None)\n"
            "print(len(os.listdir('/proc/self/task')))\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert int(ended.stdout) <= 3  # ours, the library's one, and one of it that only waits


class TestSetting:
    def test_below_the_size_where_it_wins_all_are_scanned(self, home: Path) -> None:
        with open_vault() as vault:
            root = vault.root("user", create=True)
            points = Points(clustered(300))
            _fill(root, points, [str(n) for n in range(300)])
            _best(root, points, points.points[0])
        assert _files(home) == []

    def test_above_it_codes_are_taken_by_themselves(self, home: Path) -> None:
        with open_vault() as vault:
            root = vault.root("user", create=True)
            points = Points(clustered(fast.FROM, dim=8))
            root.catch_up()
            _fill_at_once(home, points)
            assert _best(root, points, points.points[5], 1)[0][1] > 0.98
            assert len(_files(home)) == 1

    def test_another_word_is_an_error(self) -> None:
        with pytest.raises(UnknownName, match="did you mean 'fast'"):
            open_vault(overrides={"search.vectors": "fats"})

    def test_without_its_library_it_says_what_to_install(self, root: OpenRoot) -> None:
        code = (
            "import sys; sys.modules['turbovec'] = None\n"
            "from camillo.surfaces.cli import main\n"
            "sys.exit(main(['search', 'gate', '--preset', 'vectors', '--embedder', 'hashing',\n"
            "               '--config', 'search.vectors=' + sys.argv[1]]))\n"
        )
        _fill(root, HashingEmbedder(), ["gate", "wall"])
        ended = {
            way: subprocess.run(
                [sys.executable, "-c", code, way], env=child_environment(), check=False,
                capture_output=True, text=True,
            )
            for way in ("fast", "auto", "scan")
        }  # fmt: skip
        assert (ended["fast"].returncode, ended["auto"].returncode) == (4, 0)
        assert "camillo[fast]" in ended["fast"].stderr
        assert ended["auto"].stdout == ended["scan"].stdout != ""
