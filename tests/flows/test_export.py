"""`camillo export`: notes go out in another form, and come back as what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camillo import registry
from flows.command import Camillo, Ran, files, plant

FORMS = ("camillo", "claude", "commonplace", "nullclaw", "oc")
PAGES = ("ROOT.md", "MEMORY.md", "index.md")
NOTES = {
    "facts/heron.md": "---\ndescription: the heron is grey\n---\nIt fishes at dawn.\n",
    "tabs.md": "---\ntype: feedback\ndescription: four spaces\n---\nNever tabs.\n",
}
# Of everything that a note may hold; the bodies are hard to keep.
WHOLE: dict[str, str | bytes] = {
    "facts/gate.md": (
        "---\ntype: user\ntitle: Gates, all of them\ndescription: 'two: approvals'\n"
        "tags: [doors, iron]\naliases: [portal]\nload_when: [deploy]\npinned: true\nwing: shop\n"
        "hall: work\nhappened_at: 2026-05-01\ncreated: 2026-01-02T03:04:05Z\n"
        "updated: 2026-01-03T03:04:05Z\nwritten_by: ada\nowner: kim\n"
        "metadata: {room: kitchen}\nrelations:\n  - to: lamp\n    type: builds-on\n"
        "supersedes:\n  - old_gate\n---\n\n  # Gates\n---\nnot a head\n---\n"
    ),
    "facts/lamp.md": b"---\r\ntype: feedback\r\n---\r\none\r\n\r\ntwo \t\r\n",
    "facts/old_gate.md": "---\ntype: project\ncreated: 2026-01-02\n---\nno end of line",
    "notes/日记.md": "晴。\n\n\n",
    "bare.md": "only words\n",
}


@pytest.fixture
def notes(user: Path) -> Path:
    return plant(user, NOTES)


@pytest.fixture
def whole(user: Path) -> Path:
    return plant(user, WHOLE)


@pytest.fixture
def place(home: Path) -> Path:
    return home / "out"


def counts(ran: Ran) -> dict[str, int]:
    """What became of the notes; nothing that became of none."""
    names = ("written", "changed", "unchanged", "differs", "failed")
    return {name: ran.report[name] for name in names if ran.report[name]}


def made(place: Path) -> dict[str, tuple[int, bytes]]:
    """The files of notes: when they were changed, what they say. Pages follow the notes."""
    paths = [path for path in place.rglob("*.md") if path.name not in PAGES]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def by_id(ran: Ran) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in ran.results}


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("form", FORMS)
class TestForms:
    def test_a_dry_run_says_it_and_writes_nothing(
        self, camillo: Camillo, place: Path, form: str
    ) -> None:
        planned = camillo("export", place, "--form", form, "--dry-run")
        assert (planned.code, counts(planned)) == (0, {"written": len(WHOLE)})
        assert not place.exists()
        done = camillo("export", place, "--form", form)
        assert (done.code, done.results) == (0, planned.results)
        assert all((place / each["path"]).is_file() for each in done.results)

    def test_twice_changes_nothing(self, camillo: Camillo, place: Path, form: str) -> None:
        camillo("export", place, "--form", form)
        before = files(place)
        for more in ([], ["--overwrite"], ["--dry-run"]):
            again = camillo("export", place, "--form", form, *more)
            assert (again.code, counts(again)) == (0, {"unchanged": len(WHOLE)})
            assert files(place) == before

    def test_a_text_stays_byte_for_byte(self, camillo: Camillo, place: Path, form: str) -> None:
        dialect, own = (registry.load("dialect", each)() for each in (form, "camillo"))
        for each in camillo("export", place, "--form", form).results:
            content = (place / each["path"]).read_bytes()
            [source] = [name for name in WHOLE if f"/{name}".endswith(f"/{each['id']}.md")]
            text = WHOLE[source]
            former = own.parse(source, text.encode() if isinstance(text, str) else text)
            assert dialect.parse(each["path"], content).body == former.body

    def test_a_file_that_says_something_else_stays(
        self, camillo: Camillo, place: Path, form: str
    ) -> None:
        path = by_id(camillo("export", place, "--form", form))["bare"]["path"]
        (place / path).write_bytes((place / path).read_bytes().replace(b"only", b"edited"))
        before = made(place)
        ran = camillo("export", place, "--form", form)
        assert (ran.code, counts(ran)) == (3, {"unchanged": len(WHOLE) - 1, "differs": 1})
        assert "--overwrite" in by_id(ran)["bare"]["reason"]
        assert made(place) == before

    def test_overwriting_changes_only_what_differs(
        self, camillo: Camillo, place: Path, form: str
    ) -> None:
        path = place / by_id(camillo("export", place, "--form", form))["lamp"]["path"]
        text = path.read_bytes()
        edited = text.replace(b"---\n", b"---\ncolour: red # mine\n", 1).replace(b"two", b"2")
        assert edited.count(b"red") == edited.count(b"2 \t") == 1
        path.write_bytes(edited)
        before = made(place)
        ran = camillo("export", place, "--form", form, "--overwrite")
        assert (ran.code, counts(ran)) == (0, {"unchanged": len(WHOLE) - 1, "changed": 1})
        assert path.read_bytes() == edited.replace(b"2 \t", b"two \t")
        now = made(place)
        assert {name for name in before if now[name] != before[name]} == {str(path)}
        assert counts(camillo("export", place, "--form", form)) == {"unchanged": len(WHOLE)}

    def test_heads_are_compared_too(self, camillo: Camillo, place: Path, form: str) -> None:
        path = place / by_id(camillo("export", place, "--form", form))["gate"]["path"]
        path.write_bytes(path.read_bytes().replace(b"two: approvals", b"three"))
        assert counts(camillo("export", place, "--form", form))["differs"] == 1
        camillo("export", place, "--form", form, "--overwrite")
        assert counts(camillo("export", place, "--form", form)) == {"unchanged": len(WHOLE)}

    def test_what_has_no_key_there_is_told(self, camillo: Camillo, place: Path, form: str) -> None:
        ran = camillo("export", place, "--form", form)
        lost = " ".join(by_id(ran)["gate"]["lost"])
        there = registry.load("dialect", form)().fields
        for name in ("tags", "aliases", "load_when", "pinned", "happened_at"):
            assert (name in lost) is (name not in there), lost
        for told in ("wing 'shop'", "hall 'work'"):
            assert (told in lost) is (form != "camillo")
        assert ("key 'metadata'" in lost) is (form == "claude")
        assert ran.report["lossy"] == sum(bool(each["lost"]) for each in ran.results)

    def test_links_in_the_folder_lead_nowhere(
        self, camillo: Camillo, home: Path, place: Path, form: str
    ) -> None:
        """A link as the file, as its room, as the page that lists it."""
        outside = plant(home / "outside", {"kept.md": "kept\n"})
        paths = {each["path"] for each in camillo("export", place, "--form", form).results}
        pages = {"ROOT.md", "MEMORY.md"} & {path.name for path in place.iterdir()}
        for path in sorted(paths | pages):
            (place / path).unlink()
            (place / path).symlink_to(outside / "kept.md")
        before = files(outside)
        ran = camillo("export", place, "--form", form, "--overwrite")
        assert (ran.code, counts(ran)) == (3, {"failed": len(WHOLE)})
        assert files(outside) == before

    def test_no_room_is_a_link(self, camillo: Camillo, home: Path, place: Path, form: str) -> None:
        outside = plant(home / "outside", {"kept.md": "kept\n"})
        results = camillo("export", place, "--form", form, "--dry-run").results
        rooms = {each["path"].partition("/")[0] for each in results if "/" in each["path"]}
        place.mkdir()
        for room in rooms:
            (place / room).symlink_to(outside)
        before = files(outside)
        ran = camillo("export", place, "--form", form)
        inside = sum("/" in each["path"] for each in results)
        assert ran.report["failed"] == inside
        assert ran.code == (3 if inside else 0)
        assert files(outside) == before


class TestNames:
    def test_names_that_collide_stay_apart(self, camillo: Camillo, user: Path, place: Path) -> None:
        plant(user, {"a/日记.md": "one\n", "b/日志.md": "two\n", "note.md": "three\n"})
        ran = camillo("export", place, "--form", "commonplace")
        assert counts(ran) == {"written": 3}
        assert len({each["path"] for each in ran.results}) == 3
        texts = {each["id"]: (place / each["path"]).read_text("utf-8") for each in ran.results}
        assert {id: text.splitlines()[-1] for id, text in texts.items()} == {
            "日记": "one", "日志": "two", "note": "three",
        }  # fmt: skip
        assert counts(camillo("export", place, "--form", "commonplace")) == {"unchanged": 3}

    def test_a_file_of_another_note_is_not_taken(
        self, camillo: Camillo, notes: Path, place: Path
    ) -> None:
        plant(place, {"tabs.md": "somebody's own\n"})
        ran = camillo("export", place, "--form", "camillo")
        assert (ran.code, counts(ran)) == (3, {"written": 1, "differs": 1})
        assert (place / "tabs.md").read_text("utf-8") == "somebody's own\n"


def test_bytes_that_are_no_text_are_told(camillo: Camillo, user: Path, place: Path) -> None:
    plant(user, {"a.md": b"caf\xe9\n", "b.md": "caf\u00e9\n"})
    ran = camillo("export", place, "--form", "claude")
    told = {id for id, each in by_id(ran).items() if "bytes that are no UTF-8" in each["lost"]}
    assert told == {"a"}


class TestDates:
    def test_the_day_goes_along(self, camillo: Camillo, user: Path, place: Path) -> None:
        head = "---\nhappened_at: 2020-02-03\ncreated: 2026-01-02T03:04:05Z\n---\n"
        plant(user, {"a.md": f"{head}x\n"})
        [one] = camillo("export", place, "--form", "nullclaw").results
        assert "timestamp: 2020-02-03\n" in (place / one["path"]).read_text("utf-8")
        assert not [each for each in one["lost"] if "happened" in each]

    def test_one_that_no_day_can_say_is_told(
        self, camillo: Camillo, user: Path, place: Path
    ) -> None:
        head = "---\nhappened_at: 2020-02\ncreated: 2026-01-02T03:04:05Z\n---\n"
        plant(user, {"a.md": f"{head}x\n"})
        [one] = camillo("export", place, "--form", "nullclaw").results
        assert "timestamp" not in (place / one["path"]).read_text("utf-8")
        assert "happened_at '2020-02'" in one["lost"]

    def test_another_day_differs(self, camillo: Camillo, user: Path, place: Path) -> None:
        plant(user, {"a.md": "---\nhappened_at: 2020-02-03\n---\nx\n"})
        [one] = camillo("export", place, "--form", "nullclaw").results
        path = place / one["path"]
        path.write_text(path.read_text("utf-8").replace("2020", "2021"), "utf-8")
        assert camillo("export", place, "--form", "nullclaw").code == 3
        assert camillo("export", place, "--form", "nullclaw", "--overwrite").code == 0
        assert "timestamp: 2020-02-03\n" in path.read_text("utf-8")


class TestPlaces:
    def test_a_folder_around_a_root_is_refused(
        self, camillo: Camillo, notes: Path, home: Path
    ) -> None:
        kept = plant(home / "docs" / "facts", {"heron.md": "theirs\n"})
        assert camillo("open", kept).code == 0
        before = files(home / "docs")
        for more in ([], ["--overwrite"], ["--dry-run"]):
            ran = camillo("export", home / "docs", "--form", "oc", "--scope", "user", *more)
            assert (ran.code, ran.report["error"]["code"]) == (4, "refused")
            assert "facts" in ran.report["error"]["message"]
        assert files(home / "docs") == before

    def test_one_that_is_open_in_another_project_is_refused(
        self, camillo: Camillo, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = plant(home / "docs", {"heron.md": "theirs\n"})
        (home / "p" / ".git").mkdir(parents=True)
        monkeypatch.chdir(home / "p")
        assert camillo("open", kept, "--scope", "project").code == 0
        monkeypatch.chdir(home / "work")
        ran = camillo("export", kept, "--form", "camillo")
        assert (ran.code, ran.report["error"]["code"]) == (4, "refused")

    @pytest.mark.parametrize("name", ["-work-app/memory", "-work-app", "."])
    def test_what_claude_code_remembers_is_only_read(
        self, camillo: Camillo, notes: Path, home: Path, name: str
    ) -> None:
        projects = home / ".claude" / "projects"
        plant(projects, {"-work-app/memory/style.md": "theirs\n"})
        ran = camillo("export", projects / name, "--form", "claude")
        assert (ran.code, ran.report["error"]["code"]) == (4, "refused")

    def test_a_root_of_the_form_that_may_be_written_is_written(
        self, camillo: Camillo, notes: Path, home: Path
    ) -> None:
        kept = plant(home / "docs", {"mine.md": "---\nname: mine\n---\nx\n"})
        camillo("open", kept, "--form", "claude")
        assert camillo("export", kept, "--form", "claude", "--scope", "user").code == 4
        camillo("open", kept, "--write")
        assert camillo("export", kept, "--form", "claude", "--scope", "user").code == 0
        assert (kept / "heron.md").exists()

    def test_a_projects_own_folder_may_be_a_workspace(
        self, camillo: Camillo, notes: Path, home: Path
    ) -> None:
        (home / "work" / ".git").mkdir()
        assert camillo("export", home / "work", "--form", "nullclaw").code == 0


class TestRoots:
    @pytest.fixture
    def both(self, notes: Path, home: Path) -> Path:
        text = "---\nname: theirs\ndescription: d\ntype: user\n---\nx\n"
        return plant(home / ".commonplace" / "memory", {"theirs.md": text})

    def test_a_scopes_name_is_also_that_of_a_root(
        self, camillo: Camillo, both: Path, place: Path
    ) -> None:
        ran = camillo("export", place, "--form", "claude", "--scope", "user")
        assert (ran.code, ran.report["root"], set(by_id(ran))) == (0, "user", {"heron", "tabs"})

    def test_the_other_is_named(self, camillo: Camillo, both: Path, place: Path) -> None:
        ran = camillo("export", place, "--form", "claude", "--scope", "user-commonplace")
        assert (ran.code, set(by_id(ran))) == (0, {"theirs"})

    def test_without_a_name_it_asks(self, camillo: Camillo, both: Path, place: Path) -> None:
        ran = camillo("export", place, "--form", "claude")
        assert (ran.code, ran.report["error"]["code"]) == (2, "ambiguous")
        assert "--scope user-commonplace" in ran.report["error"]["message"]


@pytest.mark.usefixtures("notes")
class TestOc:
    def test_the_plan_is_in_the_language_that_is_asked_for(
        self, camillo: Camillo, home: Path
    ) -> None:
        assert camillo("export", home / "zh", "--form", "oc").code == 0
        assert (home / "zh" / "ROOT.md").read_text("utf-8").startswith("# 记忆总纲")
        assert camillo("export", home / "en", "--form", "oc", "--language", "en").code == 0
        assert (home / "en" / "ROOT.md").read_text("utf-8").startswith("# Memory of en\n")
        assert "| File | Summary |" in (home / "en" / "facts" / "index.md").read_text("utf-8")

    def test_a_setting_says_it_too(self, camillo: Camillo, home: Path) -> None:
        camillo("export", home / "en", "--form", "oc", "--config", "outline.language=en")
        assert (home / "en" / "ROOT.md").read_text("utf-8").startswith("# Memory of en\n")

    def test_an_english_plan_gets_english_tables(self, camillo: Camillo, home: Path) -> None:
        plan = (
            "# The shop\n\nWhat we know of it.\n\n<!-- auto:begin registry -->\n<!-- auto:end -->\n"
        )
        plant(home / "there", {"ROOT.md": plan})
        camillo("export", home / "there", "--form", "oc")
        made = (home / "there" / "ROOT.md").read_text("utf-8")
        assert "| Folder | Summary | Entries |" in made
        assert made.startswith("# The shop\n")
        assert "# facts index" in (home / "there" / "facts" / "index.md").read_text("utf-8")

    def test_a_plan_that_people_wrote_is_kept_and_told(self, camillo: Camillo, home: Path) -> None:
        plant(home / "there", {"ROOT.md": "# Mine\n"})
        ran = camillo("export", home / "there", "--form", "oc")
        assert ran.code == 0
        assert [note for note in ran.report["degraded"] if "written by hand" in note]
        assert (home / "there" / "ROOT.md").read_text("utf-8") == "# Mine\n"

    def test_a_plan_that_is_a_link_is_left_alone_and_told(
        self, camillo: Camillo, home: Path
    ) -> None:
        plant(home, {"outside.md": "# Mine\n\n<!-- auto:begin registry -->\n<!-- auto:end -->\n"})
        (home / "there").mkdir()
        (home / "there" / "ROOT.md").symlink_to(home / "outside.md")
        ran = camillo("export", home / "there", "--form", "oc")
        assert (ran.code, counts(ran)) == (3, {"written": 2})
        assert [note for note in ran.report["degraded"] if note.startswith("ROOT.md: ")]
        assert (home / "outside.md").read_text("utf-8").endswith("<!-- auto:end -->\n")


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(
    ("form", "format"),
    [
        ("camillo", ""),
        ("claude", "claude-code"),
        ("commonplace", "commonplace"),
        ("nullclaw", "nullclaw"),
        ("oc", "oc"),
    ],
)
def test_what_goes_out_is_known_again(camillo: Camillo, home: Path, form: str, format: str) -> None:
    folder = home / "out"
    assert camillo("export", folder, "--form", form).report["written"] == 2
    if format:
        ran = camillo("import", "auto", folder, "--dry-run")
        assert (ran.code, ran.report["format"], len(ran.results)) == (0, format, 2), ran
    opened = camillo("open", folder).first
    assert (opened["form"], opened["memories"]) == (form, 2)
