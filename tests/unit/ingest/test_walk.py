"""The walk: what is found, what is left out and why, in trees made for each claim.

Git itself is the oracle for ignore rules: random trees with random rules in every place.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import camillo
from camillo.errors import NotFound
from camillo.ingest.walk import Found, Skipped, WalkRules, display, walk

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

DEFAULT = WalkRules()

WALK_IN_A_PROCESS = """
import dataclasses, json, sys
from camillo.ingest.walk import walk
print(json.dumps([{"type": type(item).__name__, **dataclasses.asdict(item)}
                  for item in walk(sys.argv[1])]))
"""


def make(root: Path, *files: str, **texts: str) -> Path:
    """A tree: empty files by path, a folder where the path ends with a slash."""
    for file in (*files, *texts):
        path = root / file
        (path if file.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not file.endswith("/"):
            path.write_text(texts.get(file, ""), encoding="utf-8")
    return root


def make_repository(top: Path) -> Path:
    return make(top, **{".git/HEAD": "ref: refs/heads/main\n"})


def found(root: Path, rules: WalkRules = DEFAULT) -> list[str]:
    return [item.relative for item in walk(root, rules, os.environ) if isinstance(item, Found)]


def skipped(root: Path, rules: WalkRules = DEFAULT) -> dict[str, str]:
    """Reasons by path; a folder has a slash at its end."""
    items = [item for item in walk(root, rules, os.environ) if isinstance(item, Skipped)]
    return {item.relative + "/" * item.folder: item.reason for item in items}


def walk_in_a_process(
    root: Path, *wrapper: str, before: Callable[[], None] | None = None
) -> list[dict[str, object]]:
    source = str(Path(camillo.__file__).parent.parent)
    command = [*wrapper, sys.executable, "-B", "-c", WALK_IN_A_PROCESS, str(root)]
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        preexec_fn=before,
        env={**os.environ, "PYTHONPATH": source},
    )
    items: list[dict[str, object]] = json.loads(done.stdout)
    return items


# What is found.


def test_a_file_is_found_with_its_size_and_stamp(tmp_path: Path) -> None:
    make(tmp_path, **{"docs/a.md": "four"})
    stamp = (tmp_path / "docs" / "a.md").stat().st_mtime_ns
    assert list(walk(tmp_path)) == [Found(str(tmp_path / "docs/a.md"), "docs/a.md", 4, stamp)]


def test_the_order_is_that_of_the_bytes_folder_by_folder(tmp_path: Path) -> None:
    make(tmp_path, "b", "a/z", "a/b/c", "a.txt", "Z", "é", "中", "z")
    assert found(tmp_path) == ["Z", "a/b/c", "a/z", "a.txt", "b", "z", "é", "中"]


def test_dot_files_are_content(tmp_path: Path) -> None:
    make(tmp_path, ".editorconfig", ".github/workflows/ci.yml", ".gitignore")
    assert found(tmp_path) == [".editorconfig", ".github/workflows/ci.yml", ".gitignore"]


def test_hidden_names_can_be_left_out(tmp_path: Path) -> None:
    make(tmp_path, ".editorconfig", ".github/ci.yml", "a")
    rules = WalkRules(hidden=False)
    assert found(tmp_path, rules) == ["a"]
    assert list(skipped(tmp_path, rules)) == [".editorconfig", ".github/"]


def test_names_that_differ_in_case_or_normal_form_are_two_files(tmp_path: Path) -> None:
    names = ["README", "readme", unicodedata.normalize("NFD", "é"), "é"]
    make(tmp_path, *names)
    if len(os.listdir(tmp_path)) < len(names):
        pytest.skip("this file system folds names")
    assert found(tmp_path) == sorted(names, key=str.encode)


def test_a_name_that_is_not_utf8_is_found_and_can_be_shown(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (item,) = walk(tmp_path)
    assert isinstance(item, Found)
    assert Path(item.path).read_text() == "x"
    assert display(item.relative) == r"caf\xe9.txt"


def test_a_name_is_shown_without_control_characters() -> None:
    assert display("a\x1b[31m\n\u202e\u2028b") == r"a\x1b[31m\n\u202e\u2028b"
    assert display("été 中文\u3000ไทย") == "été 中文\u3000ไทย"


def test_a_tree_deeper_than_the_recursion_limit_is_walked(tmp_path: Path) -> None:
    folders = [tmp_path / "d"]
    for _ in range(sys.getrecursionlimit() + 100):
        folders.append(folders[-1] / "d")
    for folder in folders:
        folder.mkdir()
    (folders[-1] / "end").touch()
    try:
        assert [item.rpartition("/")[2] for item in found(tmp_path)] == ["end"]
    finally:  # pytest's own removal is recursive
        (folders[-1] / "end").unlink()
        for folder in reversed(folders):
            folder.rmdir()


# The root.


def test_a_missing_root_is_an_error_at_once(tmp_path: Path) -> None:
    make(tmp_path, "file")
    for missing in (tmp_path / "no", tmp_path / "file" / "below", "a\0b"):
        with pytest.raises(NotFound, match="no file or folder at"):
            walk(missing)


def test_a_root_that_is_a_file_is_found_whatever_the_rules_say(tmp_path: Path) -> None:
    make_repository(make(tmp_path, **{".gitignore": "*", ".env": "A=1"}))
    (item,) = walk(tmp_path / ".env")
    assert isinstance(item, Found)
    assert (item.relative, item.path, item.size) == (".env", str(tmp_path / ".env"), 3)


def test_an_ignored_folder_is_walked_when_it_is_the_root(tmp_path: Path) -> None:
    make_repository(make(tmp_path, "build/a", "build/b.log", **{".gitignore": "build/\n*.log"}))
    assert found(tmp_path) == [".gitignore"]
    assert found(tmp_path / "build") == ["a"]


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    make_repository(make(tmp_path, "top/real/a", "top/real/b.log"))
    make_repository(make(tmp_path / "top", **{".gitignore": "/real/*.log"}))
    (tmp_path / "link").symlink_to(tmp_path / "top" / "real")
    (item, other) = walk(tmp_path / "link")
    assert isinstance(item, Found)
    assert item.path == str(tmp_path / "link" / "a")
    assert other == Skipped("b.log", "ignored by ../.gitignore")


# What is left out, each with one reason.


def test_every_file_is_listed_once(tmp_path: Path) -> None:
    files = ["a.md", ".env", "yarn.lock", "x.log", "app.min.js", "docs/b.md", "docs/.DS_Store"]
    make(tmp_path, *files, **{".gitignore": "*.log\n"})
    listed = [item.relative for item in walk(tmp_path)]
    assert sorted(listed) == sorted([*files, ".gitignore"])


def test_a_folder_that_is_left_out_is_listed_once_as_a_folder(tmp_path: Path) -> None:
    make(tmp_path, "dist/a", "dist/b/c", "src/dist/d", "z", **{".gitignore": "dist/\n"})
    reason = "ignored by .gitignore"
    assert skipped(tmp_path) == {"dist/": reason, "src/dist/": reason}


def test_links_are_listed_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "tree/a", "outside/secret")
    (tmp_path / "tree" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "loop").symlink_to(tmp_path / "tree")
    (tmp_path / "tree" / "file").symlink_to(tmp_path / "outside" / "secret")
    (tmp_path / "tree" / "dangling").symlink_to("nowhere")
    assert found(tmp_path / "tree") == ["a"]
    links = ("dangling", "file", "folder", "loop")
    assert skipped(tmp_path / "tree") == dict.fromkeys(links, "symlink, not followed")


def test_special_files_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")  # opening it would wait for a writer
    os.mkfifo(tmp_path / "CACHEDIR.TAG")
    os.mkfifo(tmp_path / "fifo")
    names = (".gitignore", "CACHEDIR.TAG", "fifo")
    assert skipped(tmp_path) == dict.fromkeys(names, "not a regular file")
    assert list(walk(tmp_path / "fifo")) == [Skipped("fifo", "not a regular file")]


def test_a_file_over_the_cap_is_reported_with_both_sizes(tmp_path: Path) -> None:
    make(tmp_path, a="12345", b="1234")
    rules = WalkRules(max_bytes=4)
    assert found(tmp_path, rules) == ["b"]
    assert skipped(tmp_path, rules) == {"a": "over the size cap (5 > 4 bytes)"}
    assert list(walk(tmp_path / "a", rules)) == [Skipped("a", "over the size cap (5 > 4 bytes)")]


def test_version_control_and_camillo_roots_are_never_walked(tmp_path: Path) -> None:
    make(tmp_path, ".git/config", ".hg/x", ".svn/x", "sub/.git", ".camillo/store.db", "a")
    make(tmp_path, "elsewhere/store.db", "elsewhere/config.toml", "elsewhere/index/index.db")
    rules = WalkRules(include_ignored=(".git/config", ".git"))
    assert found(tmp_path, rules) == ["a"]
    assert skipped(tmp_path) == {
        ".camillo/": "camillo root",
        ".git/": "version control",
        ".hg/": "version control",
        ".svn/": "version control",
        "elsewhere/": "camillo root",
        "sub/.git": "version control",
    }


def test_noise_is_left_out_by_name_only_where_the_name_is_strong(tmp_path: Path) -> None:
    tag = "Signature: 8a477f597d28d172789f06886806bc55\n"
    make(tmp_path, "node_modules/x/a.js", "pkg/__pycache__/a.pyc", "env/pyvenv.cfg", "go.sum")
    make(tmp_path, "env2/a", "target/a", "build/a", "dist/a", "bundle.min.js", "bundle.js.map")
    make(tmp_path, "world.map", **{"out/CACHEDIR.TAG": tag, "fake/CACHEDIR.TAG": "no tag"})
    kept = ["build/a", "dist/a", "env2/a", "fake/CACHEDIR.TAG", "target/a", "world.map"]
    assert found(tmp_path) == kept
    assert skipped(tmp_path) == {
        "bundle.js.map": "source map",
        "bundle.min.js": "minified bundle",
        "env/": "virtual environment",
        "go.sum": "lock file",
        "node_modules/": "dependencies of a package manager",
        "out/": "cache folder",
        "pkg/__pycache__/": "cache folder",
    }


@pytest.mark.parametrize(
    "name",
    [".env", ".ENV", ".env.local", "server.pem", "id_rsa", "id_ed25519_work", ".netrc", ".aws/x"],
)
def test_likely_secrets_are_left_out_and_the_reason_says_how_to_have_them(
    tmp_path: Path, name: str
) -> None:
    make(tmp_path, f"conf/{name}", **{".camilloignore": f"!{name}\n", "conf/.gitignore": "!*"})
    assert found(tmp_path) == [".camilloignore", "conf/.gitignore"]
    ((path, reason),) = skipped(tmp_path).items()
    assert "mine.include" in reason
    assert f"conf/{name}" in found(tmp_path, WalkRules(include_ignored=(path,)))


@pytest.mark.parametrize("name", [".env.example", "id_rsa.pub", "credentials.py", "secrets.md"])
def test_what_only_looks_like_a_secret_is_content(tmp_path: Path, name: str) -> None:
    assert found(make(tmp_path, name)) == [name]


# What the user asks for.


def test_exclude_is_the_last_word(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md", "drafts/c.md", "docs/drafts/d.md")
    rules = WalkRules(exclude=("/drafts/", "b.*"), include_ignored=("drafts/c.md", "b.md"))
    assert found(tmp_path, rules) == ["a.md", "docs/drafts/d.md"]
    assert set(skipped(tmp_path, rules).values()) == {"excluded by the exclude setting"}


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("a.log", ["a.log"]),
        ("*.log", ["a.log"]),  # a bare name opens no ignored folder
        ("dist/", ["dist/a.log", "dist/b.md", "dist/sub/c.md"]),
        ("dist/b.md", ["dist/b.md"]),
        ("/dist/sub", ["dist/sub/c.md"]),
        ("dist/*/c.md", ["dist/sub/c.md"]),
        ("dist/**/c.md", ["dist/sub/c.md"]),
        ("node_modules/x/", ["node_modules/x/i.js"]),
        ("uv.lock", ["uv.lock"]),
    ],
)
def test_include_ignored_brings_back(tmp_path: Path, pattern: str, more: list[str]) -> None:
    make(tmp_path, "a.log", "dist/a.log", "dist/b.md", "dist/sub/c.md", "plain", "uv.lock")
    make(tmp_path, "node_modules/x/i.js", "node_modules/y/i.js", "node_modules/i.js")
    make(tmp_path, **{".gitignore": "*.log\ndist/\ndist/**\n"})
    rules = WalkRules(include_ignored=(pattern,))
    assert sorted(found(tmp_path, rules)) == sorted([".gitignore", "plain", *more])


def test_what_stays_out_beside_an_included_file_keeps_its_reason(tmp_path: Path) -> None:
    make(tmp_path, "dist/a", "dist/b", "dist/c/d", **{".gitignore": "dist/\n"})
    reason = "ignored by .gitignore"
    rules = WalkRules(include_ignored=("dist/a",))
    assert skipped(tmp_path, rules) == {"dist/b": reason, "dist/c/": reason}


def test_gitignore_can_be_switched_off(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.tmp", **{".gitignore": "*.log", ".camilloignore": "*.tmp"})
    rules = WalkRules(gitignore=False)
    assert found(tmp_path, rules) == [".camilloignore", ".gitignore", "a.log"]
    assert skipped(tmp_path, rules) == {"b.tmp": "ignored by .camilloignore"}


def test_a_camilloignore_outranks_every_gitignore(tmp_path: Path) -> None:
    make(tmp_path, "sub/a.log", "sub/b.md", "sub/c.md", "yarn.lock")
    make(tmp_path, **{".camilloignore": "!*.log\n*.md\n!yarn.lock", "sub/.camilloignore": "!c.md"})
    make(tmp_path, **{"sub/.gitignore": "*.log\n!b.md"})
    files = ["sub/.camilloignore", "sub/.gitignore", "sub/a.log", "sub/c.md", "yarn.lock"]
    assert found(tmp_path) == [".camilloignore", *files]


# Git's rules.


def test_a_deeper_gitignore_outranks_and_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "sub/a.txt", "sub/b.md", "sub/deep/b.md", "c/b.md")
    make(tmp_path, **{".gitignore": "*.txt", "sub/.gitignore": "!a.txt\n/b.md"})
    assert "sub/a.txt" in found(tmp_path)
    assert skipped(tmp_path) == {
        "a.txt": "ignored by .gitignore",
        "sub/b.md": "ignored by sub/.gitignore",
    }


def test_the_rules_above_the_root_hold_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "top/a/b/x.log", "top/a/b/y.tmp", "top/a/b/z", **{".gitignore": "z"})
    make_repository(make(tmp_path / "top", **{".gitignore": "*.log", "a/.gitignore": "/b/*.tmp"}))
    assert found(tmp_path / "top" / "a" / "b") == ["z"]
    assert skipped(tmp_path / "top" / "a" / "b") == {
        "x.log": "ignored by ../../.gitignore",
        "y.tmp": "ignored by ../.gitignore",
    }


def test_a_repository_inside_keeps_its_own_rules(tmp_path: Path) -> None:
    make_repository(make(tmp_path, "vendor/lib/a.log", "b.log", **{".gitignore": "*.log"}))
    make_repository(make(tmp_path / "vendor/lib", "c.tmp", **{".git/info/exclude": "/c.tmp"}))
    reasons = skipped(tmp_path)
    assert "vendor/lib/a.log" in found(tmp_path)
    assert reasons["vendor/lib/c.tmp"] == "ignored by vendor/lib/.git/info/exclude"


def test_the_users_global_excludes_hold_and_are_named(tmp_path: Path, home: Path) -> None:
    make(home, **{".gitconfig": "[core]\n\texcludesFile = ~/ignored", "ignored": "*.bak"})
    make_repository(make(tmp_path, "a.bak", "a.md"))
    assert skipped(tmp_path)["a.bak"] == f"ignored by {home / 'ignored'}"
    assert [item.relative for item in walk(tmp_path) if isinstance(item, Found)] == [
        "a.bak",  # no environment given: nobody's excludes
        "a.md",
    ]


def test_a_linked_gitignore_is_passed_over_as_git_does(tmp_path: Path) -> None:
    make(tmp_path, "tree/a.log", rules="*.log")
    (tmp_path / "tree" / ".gitignore").symlink_to(tmp_path / "rules")
    assert found(tmp_path / "tree") == ["a.log"]


def test_a_gitignore_that_cannot_be_read_is_reported_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "sub/a.log", **{"sub/.gitignore": "*.log\n" * 100_000})
    reason = "unreadable ignore rules: over 262144 bytes"
    assert next(walk(tmp_path)) == Skipped("sub/.gitignore", reason, unreadable=True)
    assert found(tmp_path) == ["sub/a.log"]


NAMES = (
    "a",
    "b",
    "foo",
    "bar",
    "a.c",
    "b.c",
    "foo.txt",
    "x y",
    "Z",
    "[a]",
    "#h",
    "!n",
    "é",
    "foo ",
)
GLOBS = (
    *("a", "b", "foo", "bar", "*", "**", "?", "??", "*.c", "f*", "*o", "*.txt", "a*b", "*o*o*"),
    *("[ab]", "[!a]", "[^a-]*", "[a-c]*", "[]a]", "[[:alpha:]]", "[[:no:]]", "[:a]", "[a", "[a/b]"),
    *("\\#h", "\\!n", "#h", "foo\\ ", "foo ", "b\\", "x y", "*.[ct]", "é", "[a-\\c]", "\\a"),
)


def some_rules(dice: random.Random) -> str:
    return "".join(some_rule(dice) + "\n" for _ in range(dice.randint(1, 6)))


def some_rule(dice: random.Random) -> str:
    glob = "/".join(dice.choices(GLOBS, k=dice.choice((1, 1, 1, 2, 2, 3))))
    start = dice.choice(("", "", "/", "!", "!", "!/"))
    return start + glob + dice.choice(("", "", "", "/", " "))


def some_tree(dice: random.Random, folder: Path, depth: int = 0) -> Iterator[Path]:
    """Fills `folder`; the folders made."""
    if depth == 0 or dice.random() < 0.25:
        (folder / ".gitignore").write_text(some_rules(dice), encoding="utf-8")
    for name in dice.sample(NAMES, dice.randint(1, 6)):
        if depth < 3 and dice.random() < 0.45:
            (folder / name).mkdir()
            yield folder / name
            yield from some_tree(dice, folder / name, depth + 1)
        else:
            (folder / name).touch()


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=environ,
    )


def untracked(folder: Path) -> list[str]:
    listing = git(folder, "ls-files", "-z", "--others", "--exclude-standard").stdout
    return sorted(listing.split("\0")[:-1])


@needs_git
@pytest.mark.parametrize("seed", range(60))
def test_the_walk_finds_what_git_would_not_ignore(tmp_path: Path, home: Path, seed: int) -> None:
    dice = random.Random(seed)
    top = tmp_path / "top"
    git(tmp_path, "init", "--quiet", str(top))
    folders = list(some_tree(dice, top))
    make(top, **{".git/info/exclude": some_rules(dice)})
    make(home, **{"xdg/config/git/ignore": some_rules(dice)})
    if dice.random() < 0.3:
        git(top, "config", "core.ignoreCase", "true")
    assert sorted(found(top)) == untracked(top)
    kept = [folder for folder in folders if git(top, "check-ignore", "-q", str(folder)).returncode]
    for folder in dice.sample(kept, min(2, len(kept))):
        assert sorted(found(folder)) == untracked(folder)


# A tree that changes or cannot be read: a sync must change nothing about it.


def test_what_vanishes_during_the_walk_is_reported(tmp_path: Path) -> None:
    make(tmp_path, "a", "b", "c/d")
    steps = walk(tmp_path)
    assert isinstance(next(steps), Found)
    (tmp_path / "b").unlink()
    shutil.rmtree(tmp_path / "c")
    reason = "vanished while walking"
    assert list(steps) == [
        Skipped("b", reason, unreadable=True),
        Skipped("c", reason, folder=True, unreadable=True),
    ]


def test_a_root_that_vanishes_is_reported_as_unreadable(tmp_path: Path) -> None:
    steps = walk(make(tmp_path / "root", "a"))
    shutil.rmtree(tmp_path / "root")
    reason = "vanished while walking"
    assert list(steps) == [Skipped(".", reason, folder=True, unreadable=True)]


def drop_the_powers_of_root() -> None:
    """CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, so that modes hold for root too (Linux)."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):
            libc.prctl(24, capability, 0, 0, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="drops capabilities")
def test_what_may_not_be_read_is_reported_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "a", "closed/x", "listed/y", "sub/z.log", **{"sub/.gitignore": "*.log"})
    locked = {"closed": 0o000, "listed": 0o400, "sub/.gitignore": 0o000}
    for name, mode in locked.items():
        (tmp_path / name).chmod(mode)
    try:
        items = walk_in_a_process(tmp_path, before=drop_the_powers_of_root)
    finally:
        for name in locked:
            (tmp_path / name).chmod(0o700)
    reasons = {item["relative"]: item["reason"] for item in items if item["type"] == "Skipped"}
    assert reasons == {
        "closed": "unreadable: permission denied",
        "listed/y": "unreadable: permission denied",
        "sub/.gitignore": "unreadable ignore rules: permission denied",
    }
    assert all(item["unreadable"] for item in items if item["type"] == "Skipped")
    assert [item["relative"] for item in items if item["type"] == "Found"] == ["a", "sub/z.log"]


@pytest.mark.skipif(shutil.which("unshare") is None, reason="mounts in a namespace of its own")
def test_a_folder_mounted_inside_itself_is_walked_once(tmp_path: Path) -> None:
    make(tmp_path, "a", "sub/mount/")
    script = 'mount --bind "$1" "$1/sub/mount" && shift && exec "$@"'
    wrapper = ("unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path))
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount")
    items = walk_in_a_process(tmp_path, *wrapper)
    assert [(item["relative"], item.get("reason")) for item in items] == [
        ("a", None),
        ("sub/mount", "the same folder as one above it"),
    ]
