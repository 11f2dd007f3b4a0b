"""Sidecars of commonplace, byte for byte."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.errors import InvalidValue, NoteBroken
from camillo.text.sidecar import (
    Sidecar,
    content_sha,
    decode,
    encode,
    floats,
    packed,
    reusable,
    state,
)

FILES = ("sidecar.json",)
WITH_MINUS_ZERO = ("model255",)  # which JSON does not have
MODEL, DIM = "fake/hash-bow-64", 64
STORES = ("store_user", "store_project")


@pytest.mark.case("CP18", "CP19")
def test_a_sidecar_has_the_bytes_of_commonplace(case: dict[str, Any]) -> None:
    if "input" in case and "error" in case:
        with pytest.raises(InvalidValue):
            encode(_given(case["input"]))
    elif "input" in case:
        made, wanted = encode(_given(case["input"])), bytes.fromhex(case["hex"])
        assert encode(decode(wanted)) == wanted
        assert len(made) == case["len"]
        assert made == wanted or case["id"] in WITH_MINUS_ZERO
    elif "decoded" in case:
        found, wanted = decode(bytes.fromhex(case["hex"])), case["decoded"]
        assert (found.model, found.dim, found.sha) == (
            wanted["modelId"], wanted["dim"], wanted["contentSha"]
        )  # fmt: skip
        assert floats(found.summary) == wanted["descriptionVector"]
        assert floats(found.body) == wanted["bodyVector"]
    elif "vector" in case:  # version 1, which commonplace 0.7 makes anew
        found = decode(bytes.fromhex(case["hex"]))
        assert (found.version, found.summary, found.body) == (1, b"", packed(case["vector"]))
    else:
        with pytest.raises(InvalidValue):
            decode(bytes.fromhex(case["hex"]))


@pytest.mark.case("CP21")
def test_every_sidecar_of_a_store_is_made_again_byte_for_byte(golden: Path) -> None:
    made = 0
    for store in STORES:
        for path, content, sha, memory in _notes(golden / store):
            vectors = packed(_embedded(memory.summary)), packed(_embedded(memory.body))
            assert encode(Sidecar(MODEL, DIM, sha, *vectors)) == content, path
            assert state(content, MODEL, DIM, sha) == "fresh"
            made += 1
    assert made == 12


def test_a_version_1_gives_the_vector_of_the_body(golden: Path) -> None:
    reused = 0
    for store in ("v021_store_user", "v021_store_project"):
        for _, content, sha, memory in _notes(golden / store):
            assert state(content, MODEL, DIM, sha) == "stale"
            found = reusable(content, MODEL, DIM, sha)
            assert found is not None
            assert found.body == packed(_embedded(memory.body))
            reused += 1
    assert reused > 0


@pytest.mark.case("CP22", "CP23")
def test_a_scan_counts_sidecars_as_commonplace_does(golden: Path) -> None:
    steps = json.loads((golden / "scan_scenarios.json").read_text("utf-8"))
    mixed = next(step["result"] for step in steps if step["step"] == "mixed")
    note = content_sha("user", "n", "d", "b")
    zeros = bytes(4 * DIM)
    fresh = encode(Sidecar(MODEL, DIM, note, zeros, zeros))
    older = content_sha("user", "n", "d", "older")
    not_fresh = [
        encode(Sidecar(MODEL, DIM, older, zeros, zeros)),
        fresh[:-1],
        encode(Sidecar("another/model", DIM, note, zeros, zeros)),
        b"CMEM\x01" + fresh[5 : -4 * DIM],
    ]
    states = [state(content, MODEL, DIM, note) for content in (fresh, *not_fresh)]
    assert states == ["fresh", "stale", "foreign", "foreign", "stale"]
    assert states.count("fresh") == mixed["fresh"]
    assert len(not_fresh) == mixed["staleReembedded"]
    assert state(None, MODEL, DIM, note) == "missing"


def _given(said: dict[str, Any]) -> Sidecar:
    """JSON has null for what is no number: not a number in the first vector, infinite in the
    second."""
    summary = [math.nan if value is None else value for value in said["descriptionVector"]]
    body = [math.inf if value is None else value for value in said["bodyVector"]]
    return Sidecar(said["modelId"], said["dim"], said["contentSha"], packed(summary), packed(body))


def _notes(folder: Path) -> list[tuple[str, bytes, str, Any]]:
    found = []
    for path in sorted(folder.glob("*.md")):
        beside = path.with_suffix(".embedding")
        if not beside.is_file():
            with pytest.raises(NoteBroken):
                CommonplaceDialect().parse(path.name, path.read_bytes())
            continue
        memory = CommonplaceDialect().parse(path.name, path.read_bytes())
        sha = content_sha(memory.kind, memory.id, memory.summary, memory.body)
        found.append((path.name, beside.read_bytes(), sha, memory))
    return found


def _embedded(text: str) -> list[float]:
    vector = [0.0] * DIM
    for token in re.findall("[a-z0-9]+", text.lower()):
        vector[hashlib.sha256(token.encode()).digest()[0] % DIM] += 1
    if not any(vector):
        vector[0] = 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]
