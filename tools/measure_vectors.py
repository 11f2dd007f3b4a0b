"""Measures a search by meaning over all vectors (`scan`) and by codes first (`fast`).

    python tools/measure_vectors.py 10000 100000 300000

Each number is a store of so many clustered unit vectors of 384 dimensions, made in a folder that
goes afterwards. Prints CPU milliseconds, megabytes, and the share of a scan's nearest that codes
give too; docs/BENCH.md has the table.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from camillo import registry
from camillo.indexes.vectors import Nearness, VectorIndex, quantised
from camillo.model import Filter
from camillo.numeric import np

__all__ = ["clustered", "measure"]

DIM, QUESTIONS, BATCH = 384, 40, 10_000


class Model:
    """What an index asks of an embedder when it searches."""

    id = "measured"
    dim = DIM


def clustered(count: int, chance: Any) -> Iterator[Any]:
    """Unit vectors around 2,000 centres, which lie around 50, in 96 of the dimensions; the rest
    is noise. The nearest of one has a cosine of about .7, the tenth of .63."""
    plane = chance.standard_normal((96, DIM), np.float32)
    middles = chance.standard_normal((50, 96), np.float32)
    centres = middles[chance.integers(0, 50, 2000)]
    centres = centres + 0.6 * chance.standard_normal((2000, 96), np.float32)
    for start in range(0, count, BATCH):
        some = min(BATCH, count - start)
        points = centres[chance.integers(0, 2000, some)]
        points = (points + 0.5 * chance.standard_normal((some, 96), np.float32)) @ plane
        points += 3 * chance.standard_normal((some, DIM), np.float32)
        yield points / np.linalg.norm(points, axis=1, keepdims=True)


def write(file: Any, batches: Iterator[Any]) -> Any:
    """Rows as `lexical` and `vectors` write them; the questions, made of some of the vectors."""
    asked: list[Any] = []
    first = 1
    with file.database.write(durable=False) as connection:
        connection.execute("INSERT INTO facets VALUES (1, '', 'user', '', 'drawer', '', '')")
        connection.execute("INSERT INTO facets VALUES (2, '', 'user', '', 'drawer', 'w', '')")
        connection.execute("INSERT INTO models VALUES (1, ?, ?, 'none', 1)", (Model.id, DIM))
        for batch in batches:
            asked += list(batch[:QUESTIONS])
            rows = range(first, first + len(batch))
            connection.executemany(
                "INSERT INTO passages(rowid, version, number, facet, id, words, hash) "
                "VALUES (?, 1, 0, ?, ?, 100, ?)",
                [(row, 1 + row % 2, f"{row:024x}", row.to_bytes(16, "big")) for row in rows],
            )
            codes, scales = quantised(batch)
            kept = [s.tobytes() + c.tobytes() for s, c in zip(scales, codes, strict=True)]
            connection.executemany(
                "INSERT INTO vectors(model, hash, data, crc) VALUES (1, ?, ?, ?)",
                [
                    (row.to_bytes(16, "big"), each, crc32(each))
                    for row, each in zip(rows, kept, strict=True)
                ],
            )
            first += len(batch)
    step = max(1, len(asked) // QUESTIONS)
    chance = np.random.default_rng(2)
    vectors = np.array(asked[::step][:QUESTIONS])
    vectors += 0.03 * chance.standard_normal(vectors.shape, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def milliseconds(what: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = what()
    return 1000 * (time.process_time() - start), result


def resident() -> int:
    """Megabytes in memory; 0 where that cannot be read."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 1_000_000
    except OSError:
        return 0


def measure(count: int) -> None:
    embedder: Any = Model()
    with tempfile.TemporaryDirectory() as folder:
        file = registry.open_index_file(f"{folder}/index/index.db", "measured")
        questions = write(file, clustered(count, np.random.default_rng(1)))
        found: dict[str, list[list[tuple[int, float]]]] = {}
        for way in ("scan", "fast", "fast"):
            before = resident()
            index = VectorIndex(file, way)
            first, _ = milliseconds(lambda: index.nearness(embedder, questions[0]))  # noqa: B023

            def ask(vector: Any, filter: Filter) -> list[tuple[int, float]]:
                nearness: Nearness = index.nearness(embedder, vector)  # noqa: B023
                nearness.of(range(1, 201))
                return nearness.best(200, filter)

            took, half = [], []
            found[way] = []
            for question in questions:
                spent, best = milliseconds(lambda: ask(question, Filter()))  # noqa: B023
                took.append(spent)
                found[way].append(best)
                half.append(milliseconds(lambda: ask(question, Filter(wing="w")))[0])  # noqa: B023
            shares = [share(found["scan"], found[way], k) for k in (10, 40, 200)]
            print(
                f"{count:9,} {way}: {statistics.median(took):6.2f} ms, least {min(took):.2f}; "
                f"filtered {statistics.median(half):6.2f} ms; first {first:6.0f} ms; "
                f"+{resident() - before} MB; of 10, 40, 200: {shares}",
                flush=True,
            )
        kept = sum(path.stat().st_size for path in Path(folder, "index").glob("fast-*"))
        print(f"{count:9,} file: {kept / 1e6:.1f} MB")
        file.close()


def share(wanted: list[list[tuple[int, float]]], got: list[list[tuple[int, float]]], k: int) -> Any:
    """Of the k nearest by a scan, how many are among the k that were given."""
    shares = [
        len(dict(w[:k]).keys() & dict(g[:k]).keys()) / k for w, g in zip(wanted, got, strict=True)
    ]
    return round(statistics.mean(shares), 4)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        measure(int(each))
