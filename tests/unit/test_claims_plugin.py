"""The table of claims: every promise has a row, and nothing is skipped unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

import claims_plugin

PROMISES = "[promises]\n1 = 'kept a|b'\n2 = 'not tried'\n10 = 'half tried'\n11 = 'broken'\n"
TESTS = """
    import pytest

    @pytest.mark.promise(1)
    @pytest.mark.case("mempalace-22")
    def test_kept(): pass

    @pytest.mark.promise(10)
    @pytest.mark.parametrize("n", [1, 2])
    def test_half(n):
        if n == 2: pytest.skip("no engine")

    @pytest.mark.promise(1, 10)
    def test_absent(): pytest.skip("no model")

    @pytest.fixture
    def fragile():
        yield
        assert 0

    @pytest.mark.promise(11)
    def test_torn_down(fragile): pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.chdir(pytester.path)
    monkeypatch.setenv("PYTHONPATH", str(Path(claims_plugin.__file__).parent))
    pytester.makeini("[pytest]\ntestpaths = tests\nmarkers =\n  promise\n  case\n")
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "promises.toml").write_text(PROMISES)
    pytester.makepyfile(**{"tests/test_it": TESTS})
    return pytester


def _run(project: pytest.Pytester, *arguments: str) -> int:
    return project.runpytest_inprocess("-p", "claims_plugin", "-p", "no:xdist", *arguments).ret


def _table(project: pytest.Pytester, page: str) -> list[str]:
    lines = (project.path / page).read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith("|")][2:]


CLAIMS = [
    "| promise 1 | tests/test_it.py::test_absent | skipped: no model |",
    "| promise 1 | tests/test_it.py::test_kept | passed |",
    "| promise 2 | – | no test yet |",
    "| promise 10 | tests/test_it.py::test_absent | skipped: no model |",
    "| promise 10 | tests/test_it.py::test_half | passed, 1 of 2 skipped: no engine |",
    "| promise 11 | tests/test_it.py::test_torn_down | failed |",
    "| mempalace-22 | tests/test_it.py::test_kept | passed |",
]


def test_a_run_writes_each_claim_with_its_tests_and_their_result(
    project: pytest.Pytester,
) -> None:
    assert _run(project) == pytest.ExitCode.TESTS_FAILED
    assert _table(project, "build/claims.md") == CLAIMS
    assert not (project.path / "docs").exists()


def test_results_of_parallel_workers_are_gathered(project: pytest.Pytester) -> None:
    project.runpytest_subprocess("-p", "claims_plugin", "-n", "2")
    assert _table(project, "build/claims.md") == CLAIMS


def test_a_narrower_run_keeps_the_last_result_of_the_others(project: pytest.Pytester) -> None:
    _run(project)
    assert _run(project, "-k", "kept") == pytest.ExitCode.OK
    assert _table(project, "build/claims.md") == CLAIMS


def test_record_writes_one_row_for_every_promise_and_test(project: pytest.Pytester) -> None:
    _run(project, "--record")
    rows = _table(project, "docs/PROMISES.md")
    assert [row.split(" | ")[0].strip("| ") for row in rows] == ["1", "1", "2", "10", "10", "11"]
    assert rows[1] == "| 1 | kept a\\|b | tests/test_it.py::test_kept | passed |"
    assert rows[2] == "| 2 | not tried | – | no test yet |"


def test_record_refuses_a_narrowed_run(project: pytest.Pytester) -> None:
    assert _run(project, "--record", "-k", "kept") == pytest.ExitCode.USAGE_ERROR
    assert not (project.path / "docs").exists()


def test_a_promise_that_does_not_exist_is_an_error(project: pytest.Pytester) -> None:
    project.makepyfile(
        **{"tests/test_more": "import pytest\n@pytest.mark.promise(3)\ndef test_x(): pass"}
    )
    assert _run(project) != pytest.ExitCode.OK
