"""What was mined is given back byte for byte: drawers joined by their origins are the file."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.model import Filter, Memory, drawer_id
from camillo.ops.signature import run
from camillo.text.decode import byte_order_mark, encode_piece
from camillo.vault import Vault
from flows.command import Camillo, plant

CASES: dict[str, str | bytes] = {
    "crlf": "first line\r\nsecond line\r\n" * 200,
    "mixed": "unix\ndos\r\nmac\rnone",
    "no newline at the end": "gates " * 500,
    "leading and trailing blanks": "\n\n\t  gates\n\n" + " " * 3000 + "\n\n",
    "bom": b"\xef\xbb\xbfgates and doors\n" * 3,
    "utf-16": "\ufeffGates 七道门 und Türen\r\n".encode("utf-16-le") * 100,
    "utf-16-be": b"\xfe\xff" + ("七道门 " * 900).encode("utf-16-be"),
    "latin-1": "Die Türen der Höfe sind schön und größer als früher.\n".encode("latin-1") * 40,
    "shift-jis": "記憶の劇場には七つの門があります。\n".encode("cp932") * 60,
    "broken": b"gates \xff\xfe\xc3\x28 and doors \xe2\x82\n" * 80 + b"more words here\n" * 300,
    "combining": "e\u0301" * 2000,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 300,
    "one long line": "x" * 5000,
    "chinese": "朱利奥卡米洛的记忆剧场有七道门" * 200,
    "short": "x",
}


@pytest.mark.promise(32)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("overlap", [0, 100])
def test_a_file_comes_back_byte_for_byte(
    camillo: Camillo, shop: Path, vault: Vault, name: str, overlap: int
) -> None:
    plant(shop, {"a.txt": CASES[name]})
    camillo.mine(shop, "--config", f"mine.overlap_chars={overlap}")
    assert _given_back(vault, shop / "a.txt") == (shop / "a.txt").read_bytes()


_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
_PIECES = st.sampled_from(["gate\r\n", "门\n", "\r", " ", "e\u0301", "\U0001f468\u200d", "\0", "ß"])
_ENCODINGS = st.sampled_from(["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252", "gb18030"])
_FILES = st.one_of(
    _WORDS.map(str.encode),
    st.lists(_PIECES, max_size=900).map(lambda parts: "".join(parts).encode()),
    st.tuples(_ENCODINGS, _WORDS).map(lambda each: each[1].encode(each[0], "replace") * 4),
    st.binary(max_size=200).map(lambda junk: b"Plain words. " * 90 + junk + b" and after." * 60),
)


@pytest.mark.promise(32)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=_FILES)
def test_any_file_comes_back_or_is_skipped_with_a_reason(
    vault: Vault, shop: Path, data: bytes
) -> None:
    path = shop / "a.txt"
    path.write_bytes(data)
    report = run(vault, "mine", path=str(shop))
    skipped = report.as_dict()["skipped"]
    if skipped:
        assert [each["path"] for each in skipped] == ["a.txt"]
        assert skipped[0]["reason"] in ("binary", "empty", "only white space")
        assert list(vault.root("user").store.scan()) == []
    else:
        assert _given_back(vault, path) == data


@pytest.mark.case("mempalace-27")
class TestIds:
    def test_they_stay_when_a_file_is_mined_again(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.txt": "gates and doors " * 190})
        camillo.mine(shop)
        before = [(entry["id"], entry["text"]) for entry in camillo.listed("--order", "id")]
        plant(shop, {"a.txt": "gates and doors " * 190 + "end"})
        camillo.mine(shop)
        after = [(entry["id"], entry["text"]) for entry in camillo.listed("--order", "id")]
        assert [id for id, _ in after] == [id for id, _ in before]
        assert len(set(after) & set(before)) == len(before) - 1

    def test_they_stay_in_another_wing_and_in_another_root(
        self, camillo: Camillo, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(shop, {"a.txt": "gates\n"})
        camillo.mine(shop)
        before = camillo.listed()[0]["id"]
        camillo.mine(shop, "--wing", "other")
        assert camillo.listed()[0]["id"] == before
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "other"))
        camillo.mine(shop)
        assert camillo.listed()[0]["id"] == before

    def test_sources_and_parts_that_run_together_do_not_collide(self) -> None:
        pairs = [("/a1", 23), ("/a12", 3), ("/a", 123), ("/a1:2", 3), ("2:/a", 1), ("/a", 1)]
        assert len({drawer_id(source, part) for source, part in pairs}) == len(pairs)


def _given_back(vault: Vault, path: Path) -> bytes:
    """The file, from the store alone."""
    store = vault.root("user").store
    [source] = store.scan(Filter(source=str(path), kinds=("source",), internal=True))
    encoding, bom = source.extra["encoding"], source.extra["bom"]
    drawers = sorted(store.scan(Filter(source=str(path))), key=_start)
    pieces = [byte_order_mark(encoding, bom)]
    end = bom
    for drawer in drawers:
        assert drawer.origin is not None
        start = max(drawer.origin.byte_start, bom)
        assert start <= end  # nothing is missing in between
        raw = drawer.extra.get("raw")
        piece = base64.b64decode(raw) if raw else encode_piece(drawer.body, encoding)
        pieces.append(piece[end - start :])
        end = max(end, drawer.origin.byte_end)
    return b"".join(pieces)


def _start(drawer: Memory) -> int:
    assert drawer.origin is not None
    return drawer.origin.byte_start
