"""Settings that ask for what is not there: what comes from a project stops nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant


@pytest.fixture
def project(home: Path, camillo: Camillo) -> Path:
    """The root of the project that the working directory is in, with one memory."""
    (home / "work" / ".git").mkdir()
    camillo("init", "--scope", "project")
    camillo("remember", "the heron is grey", "--scope", "project")
    return home / "work" / ".camillo"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CAMILLO_EMBEDDER", "CAMILLO_PRESET"):
        monkeypatch.delenv(name)


@pytest.mark.promise(23)
@pytest.mark.parametrize("embedder", ["none", "e5"])
@pytest.mark.parametrize("preset", ["vectors", "hybrid"])
def test_a_preset_without_its_embedder_answers_by_words(
    camillo: Camillo, project: Path, preset: str, embedder: str
) -> None:
    text = f'[search]\npreset = "{preset}"\nembedder = "{embedder}"\n'
    plant(project, {"config.toml": text})
    ran = camillo("search", "heron")
    assert (ran.code, ran.report["preset"]) == (0, "words")
    assert [note for note in ran.report["degraded"] if note.startswith("words only: ")]
    assert camillo("mine", ".").code in (0, 1)


@pytest.mark.parametrize("embedder", ["none", "e5"])
def test_a_preset_that_is_asked_for_is_had_or_refused(
    camillo: Camillo, project: Path, embedder: str
) -> None:
    ran = camillo("search", "heron", "--preset", "vectors", "--embedder", embedder)
    assert (ran.code, ran.report["error"]["code"]) == (4, "missing-extra")


@pytest.mark.promise(23)
@pytest.mark.parametrize("text", ["x = " + "[" * 5000, '[search]\npreset = "bogus"\n'])
def test_every_report_says_that_settings_were_left_out(
    camillo: Camillo, project: Path, text: str
) -> None:
    plant(project, {"config.toml": text})
    for words in (["search", "heron"], ["list"], ["roots"], ["remember", "x"]):
        ran = camillo(*words)
        assert ran.code == 0
        told = " ".join(ran.report["degraded"])
        assert "the project's settings are left out: " in told, words


def test_a_folder_whose_note_is_nested_too_deeply_is_left_out(
    camillo: Camillo, project: Path, user: Path
) -> None:
    plant(user, {".roots/x/config.toml": "x = " + "[" * 5000})
    ran = camillo("search", "heron")
    assert ran.code == 0
    assert [note for note in ran.report["degraded"] if ".roots" in note and "left out" in note]
