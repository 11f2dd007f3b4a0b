"""Sidecars beside the notes of a folder: made, kept and taken away as commonplace does."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import NoteFolder
from camillo.indexes.sidecars import Beside, Refreshed, Sidecars
from camillo.numeric import np
from camillo.text.sidecar import Sidecar, content_sha, decode, encode, packed

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from camillo.ports import Role


class HashBow:
    """The embedder that the golden sidecars were made with, which has no token vectors; counts what
    it is asked."""

    id, dim, limit = "fake/hash-bow-64", 64, 0
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        self.asked += texts
        return np.array([_vector(text) for text in texts], np.float32).reshape(-1, self.dim)


def _vector(text: str) -> list[float]:
    vector = [0.0] * HashBow.dim
    for token in re.findall("[a-z0-9]+", text.lower()):
        vector[hashlib.sha256(token.encode()).digest()[0] % HashBow.dim] += 1
    if not any(vector):
        vector[0] = 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def _sidecars(folder: Path, embedder: HashBow | None = None) -> Sidecars:
    return Sidecars(NoteFolder(str(folder), CommonplaceDialect()), embedder or HashBow())


def _write(folder: Path, **bodies: str) -> None:
    for name, body in bodies.items():
        text = f"---\nname: {name}\ndescription: about {name}\ntype: user\n---\n{body}"
        (folder / f"{name}.md").write_text(text, "utf-8")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.case("CP21")
@pytest.mark.parametrize("store", ["store_user", "store_project"])
def test_they_are_made_byte_for_byte(golden: Path, tmp_path: Path, store: str) -> None:
    wanted = {path.name: path.read_bytes() for path in (golden / store).glob("*.embedding")}
    for path in (golden / store).glob("*.md"):
        shutil.copy(path, tmp_path)
    made = _sidecars(tmp_path).refresh()
    assert {n: c for n, c in _files(tmp_path).items() if n.endswith(".embedding")} == wanted
    assert (made.embedded, made.fresh) == (len(wanted), 0)


@pytest.mark.case("CP21")
def test_fresh_ones_load_no_model_and_keep_their_bytes(golden: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(golden / "store_user", tmp_path / "store"))
    folder.chmod(0o755)
    before, embedder = _files(folder), HashBow()
    made = _sidecars(folder, embedder).refresh(replace_foreign=True)
    assert embedder.asked == []
    assert _files(folder) == before
    assert made.fresh == len([name for name in before if name.endswith(".embedding")])


@pytest.mark.case("CP22", "CP23", "CP25")
def test_a_folder_goes_through_the_states_of_commonplace(golden: Path, tmp_path: Path) -> None:
    steps = {s["step"]: s for s in json.loads((golden / "scan_scenarios.json").read_text("utf-8"))}
    _write(tmp_path, **{name: f"body {name}" for name in "abcdef"})
    sidecars = _sidecars(tmp_path)

    def run(step: str, *, dry_run: bool = False) -> None:
        made = sidecars.refresh(replace_foreign=True, dry_run=dry_run)
        wanted = steps[step]["result"]
        assert _counted(made) == {name: wanted[name] for name in _counted(made)}, step
        assert [path for path, _ in made.skipped] == [
            Path(each["path"]).name for each in wanted["skipped"]
        ]
        if "sub" not in steps[step]["files"]:
            assert sorted(_files(tmp_path)) == steps[step]["files"]
        else:
            assert sorted(path.name for path in tmp_path.iterdir()) == steps[step]["files"]

    run("dry_run_first", dry_run=True)
    run("first")
    run("second_noop")
    _write(tmp_path, b="another body")
    (tmp_path / "c.embedding").write_bytes((tmp_path / "c.embedding").read_bytes()[:-1])
    other = decode((tmp_path / "d.embedding").read_bytes())
    (tmp_path / "d.embedding").write_bytes(encode(other._replace(model="another/model")))
    second = (tmp_path / "e.embedding").read_bytes()
    (tmp_path / "e.embedding").write_bytes(b"CMEM\x01" + second[5 : -8 * 64] + second[-4 * 64 :])
    (tmp_path / "f.md").unlink()
    (tmp_path / "bad.md").write_text("no frontmatter", "utf-8")
    (tmp_path / "bad.embedding").write_bytes(b"kept")
    for name in ("UPPER.MD", "a.md.0123456789abcdef.tmp", "z.md.tmp"):
        (tmp_path / name).write_text("---\nname: x\n---\n", "utf-8")
    (tmp_path / "sub").mkdir()
    _write(tmp_path / "sub", g="below")
    run("mixed_dry", dry_run=True)
    run("mixed")
    run("after_mixed")


def _counted(made: Refreshed) -> dict[str, int]:
    return {
        "fresh": made.fresh,
        "embedded": made.embedded,
        "staleReembedded": made.re_embedded,
        "orphaned": len(made.orphaned),
    }


def test_a_sidecar_belongs_to_a_file_whatever_its_note_is_called(tmp_path: Path) -> None:
    for name in ("file_one", "file_two"):
        (tmp_path / f"{name}.md").write_text(
            "---\nname: other_name\ndescription: d\ntype: user\n---\nb", "utf-8"
        )
    assert _sidecars(tmp_path).refresh().embedded == 2
    assert sorted(_files(tmp_path)) == [
        "file_one.embedding", "file_one.md", "file_two.embedding", "file_two.md"
    ]  # fmt: skip


def test_foreign_ones_are_left_alone(tmp_path: Path) -> None:
    _write(tmp_path, a="one", b="two")
    _sidecars(tmp_path).refresh()
    foreign = encode(Sidecar("Xenova/bge", 1, "0" * 64, packed([1.0]), packed([1.0])))
    for name in ("a.embedding", "gone.embedding"):
        (tmp_path / name).write_bytes(foreign)
    (tmp_path / "b.embedding").unlink()
    made = _sidecars(tmp_path).refresh()
    assert (made.foreign, made.embedded, made.orphaned) == (1, 1, ())
    assert (tmp_path / "a.embedding").read_bytes() == foreign
    assert (tmp_path / "gone.embedding").read_bytes() == foreign


def test_a_folder_is_ours_when_a_sidecar_carries_our_model(tmp_path: Path) -> None:
    _write(tmp_path, a="one")
    assert not _sidecars(tmp_path).ours()
    (tmp_path / "a.embedding").write_bytes(
        encode(Sidecar("another", 1, "0" * 64, packed([1.0]), packed([1.0])))
    )
    assert not _sidecars(tmp_path).ours()
    _sidecars(tmp_path).refresh(replace_foreign=True)
    assert _sidecars(tmp_path).ours()


def test_a_version_1_spares_the_embedding_of_the_body(golden: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(golden / "v021_store_user", tmp_path / "store"))
    folder.chmod(0o755)
    embedder = HashBow()
    made = _sidecars(folder, embedder).refresh()
    assert made.re_embedded > 0
    notes = [each for each in _sidecars(folder).beside() if isinstance(each, Beside)]
    bodies = {each.memory.body for each in notes}
    assert not bodies & set(embedder.asked)
    assert {each.state for each in notes} == {"fresh"}
    for each in notes:
        assert each.sidecar is not None
        assert each.sidecar.body == packed(_vector(each.memory.body))
        assert each.sidecar.summary == packed(_vector(each.memory.summary))


def test_vectors_of_fresh_ones_are_reused(tmp_path: Path) -> None:
    _write(tmp_path, a="one", b="two")
    _sidecars(tmp_path).refresh()
    _write(tmp_path, b="changed")
    embedder = HashBow()
    known = _sidecars(tmp_path, embedder).known()
    vectors = known.embed(["one", "two", "about a"], "passage")
    assert embedder.asked == ["two"]
    assert vectors.tolist() == HashBow().embed(["one", "two", "about a"], "passage").tolist()
    assert (known.id, known.dim) == (embedder.id, embedder.dim)
    known.embed(["one"], "query")
    assert embedder.asked == ["two", "one"]


def test_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret")
    folder = tmp_path / "notes"
    folder.mkdir()
    _write(folder, a="one")
    (folder / "a.embedding").symlink_to(secret)
    made = _sidecars(folder).refresh()
    assert made.re_embedded == 1
    assert secret.read_bytes() == b"a secret"
    assert decode((folder / "a.embedding").read_bytes()).sha == content_sha(
        "user", "a", "about a", "one"
    )
