"""`watch` keeps what is searched current, and ends when it is told."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from flows.command import Camillo, plant, start


def test_one_look_takes_everything_in(camillo: Camillo, user: Path) -> None:
    camillo("init")
    plant(user, {"gate.md": "The gate is oak.\n"})
    ran = camillo("watch", "--times", "1")
    assert ran.code == 0
    assert ran.report["looks"] == 1
    assert ran.first["root"] == "user"
    assert ran.first["changes"] == 1
    assert camillo.texts("oak")


def test_vectors_are_made(camillo: Camillo, user: Path) -> None:
    camillo("init")
    plant(user, {"gate.md": "The gate is oak.\n"})
    assert camillo("watch", "--times", "1", "--embedder", "hashing").first["vectors"] > 0
    assert camillo("watch", "--times", "1", "--embedder", "hashing").first["vectors"] == 0


def test_sidecars_of_our_own_model_follow_their_notes(camillo: Camillo, home: Path) -> None:
    store = home / ".commonplace" / "memory"
    head = "---\nname: a\ndescription: d\ntype: user\n---\n"
    plant(store, {"a.md": f"{head}one\n"})
    hashing = ("--embedder", "hashing")
    camillo("watch", "--times", "1", *hashing)
    assert not (store / "a.embedding").exists(), "nobody asked for sidecars here"
    camillo("migrate", store, *hashing)
    before = (store / "a.embedding").read_bytes()
    plant(store, {"a.md": f"{head}two\n"})
    assert camillo("watch", "--times", "1", *hashing).first["sidecars"] == 1
    assert (store / "a.embedding").read_bytes() != before


def test_without_a_root_there_is_nothing_to_watch(camillo: Camillo) -> None:
    ran = camillo("watch", "--times", "1")
    assert ran.code == 0
    assert "nothing to watch" in ran.report["degraded"][0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_sees_a_new_note_and_ends_when_told(
    camillo: Camillo, user: Path, number: signal.Signals
) -> None:
    camillo("init")
    with start("watch", "--json", "--every", "0.5") as process:
        _line_with(process, "watching")
        plant(user, {"gate.md": "The gate is oak.\n"})
        assert "1 changes" in _line_with(process, "took in")
        process.send_signal(number)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    report = json.loads(out)
    assert report["results"][0]["changes"] == 1
    assert report["looks"] >= 2


def _line_with(process: subprocess.Popen[str], words: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return line
    raise AssertionError(f"it ended without saying {words!r}")
