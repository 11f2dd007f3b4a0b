"""Patterns in .gitignore syntax: what each form matches, and that none can stall the walk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.ingest.gitignore import IgnoreRules


def ignored(rules: str, path: str) -> bool | None:
    """The verdict on `path`; a slash at its end makes it a folder."""
    bare = path.removesuffix("/").encode()
    return IgnoreRules(rules).verdict(bare.rpartition(b"/")[2], bare, path.endswith("/"))


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("notes.txt", "notes.txt"),
        ("notes.txt", "deep/down/notes.txt"),
        ("build", "build/"),
        ("build/", "build/"),
        ("/build", "build"),
        ("docs/build", "docs/build"),
        ("*.log", "a/b.log"),
        ("*", "anything"),
        ("a*c*e", "abcde"),
        ("*a*b", "xxaxxab"),
        ("?at", "cat"),
        ("[bc]at", "cat"),
        ("[!b]at", "cat"),
        ("[^b]at", "cat"),
        ("[a-c]at", "cat"),
        ("[]x]at", "]at"),
        ("[[:alpha:]-]at", "-at"),
        ("[a-\\c]at", "cat"),
        ("[[:a]at", ":at"),
        ("**/logs", "logs/"),
        ("**/logs", "a/b/logs/"),
        ("logs/**", "logs/a/b"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("a/**/m*/**/z", "a/m1/x/m2/z"),
        ("a**z", "abcz"),
        ("a/b**z", "a/bcz"),
        ("\\#note", "#note"),
        ("\\!note", "!note"),
        ("note\\ ", "note "),
        ("note   ", "note"),
        ("note\r\n", "note"),
        ("\ufeffnote", "note"),
        ("a\\*b", "a*b"),
        ("été", "été"),
    ],
)
def test_a_pattern_matches(rules: str, path: str) -> None:
    assert ignored(rules, path) is True


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("build/", "build"),
        ("/build", "a/build"),
        ("docs/build", "a/docs/build"),
        ("*.log", "b.log.txt"),
        ("a*c", "a/c"),
        ("/a*c", "a/c"),
        ("/a?c", "a/c"),
        ("/a[!x]c", "a/c"),
        ("[b-a]at", "aat"),
        ("logs/**", "logs/"),
        ("a/b**z", "a/b/z"),
        ("#note", "#note"),
        ("note\t", "note"),
        ("note", "Note"),
        ("a//b", "a/b"),
        ("/", "a"),
        ("!", "!"),
        ("?", "é"),  # two bytes, and git counts bytes
        ("[é]", "é"),
    ],
)
def test_a_pattern_leaves_alone(rules: str, path: str) -> None:
    assert ignored(rules, path) is None


@pytest.mark.parametrize("glob", ["a[", "a[b", "a[[:no-such:]]", "a\\", "[a-", "[!", "[[:alpha:"])
def test_a_broken_pattern_matches_nothing_and_spoils_no_other(glob: str) -> None:
    assert ignored(f"{glob}\nb", glob) is None
    assert ignored(f"{glob}\nb", "b") is True


def test_the_last_match_wins() -> None:
    rules = "*.txt\n!keep.txt\n/docs/*.txt\n!/docs/k*.txt\nkeep?txt"
    assert ignored(rules, "a.txt") is True
    assert ignored(rules, "docs/kind.txt") is False
    assert ignored(rules, "keep.txt") is True
    assert ignored("keep.txt\n!keep.txt", "keep.txt") is False


def test_the_last_match_wins_among_hundreds() -> None:
    rules = IgnoreRules("".join(f"{'!' * (n % 2)}a?{n % 7}*\n" for n in range(500)))
    assert rules.verdict(b"ax2", b"ax2") is False  # the last is line 499, which is 2 modulo 7
    assert rules.verdict(b"ax1", b"ax1") is True
    assert rules.verdict(b"ax7", b"ax7") is None


def test_case_counts_unless_the_repository_folds_it() -> None:
    rules = IgnoreRules("Build\n*.LOG\n[a-c]x\n[!a-c]y\n/docs/Out*", ignore_case=True)
    matched = [b"bUILD", b"a.log", b"Bx", b"dy", b"docs/oUT1"]
    assert [rules.verdict(path.rpartition(b"/")[2], path) for path in matched] == [True] * 5
    assert rules.verdict(b"By", b"By") is None


def test_patterns_can_be_given_one_by_one() -> None:
    assert IgnoreRules(("a", "!a")).verdict(b"a", b"a") is False
    assert not IgnoreRules(("# nothing", ""))


def test_bytes_that_are_no_text_are_matched_as_bytes() -> None:
    rules = IgnoreRules(b"caf\xe9*\n[\xf0-\xff]x")
    assert rules.verdict(b"caf\xe9.txt", b"caf\xe9.txt") is True
    assert rules.verdict(b"\xf1x", b"\xf1x") is True
    assert rules.verdict("café.txt".encode(), "café.txt".encode()) is None


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("/" + "*a" * 40 + "*b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 250 + "a"),
        ("**/*a*a*a/" * 20 + "b", "aaaaaa/" * 100 + "a"),
    ],
)
def test_a_hostile_pattern_costs_no_time(glob: str, path: str) -> None:
    assert ignored(glob, path) is None  # by plain backtracking, longer than anyone would wait


@given(st.binary(max_size=40), st.binary(min_size=1, max_size=12), st.booleans())
def test_any_bytes_are_rules(rules: bytes, name: bytes, folder: bool) -> None:
    for ignore_case in (False, True):
        verdict = IgnoreRules(rules, ignore_case=ignore_case).verdict(name, b"a/" + name, folder)
        assert verdict in (True, False, None)


@given(st.text("ab*?[]!-^\\/:", max_size=12), st.text("ab/", min_size=1, max_size=8))
def test_a_pattern_and_its_negation_differ_only_in_the_verdict(glob: str, path: str) -> None:
    plain, negated = ignored(f"x\n/{glob}", path), ignored(f"x\n!/{glob}", path)
    assert (plain is True) == (negated is False)
