"""The nullclaw dialect: a workspace's memory file, its days and its pages."""

from __future__ import annotations

import pytest

from camillo.engines.markdown.nullclaw import NullclawDialect
from camillo.errors import Refused
from camillo.model import Memory, Place

DIALECT = NullclawDialect()
PAGE = b"---\ntype: runbook\ntitle: Router\ntags: [net]\nowner: ada\n---\nThe red switch.\n"


def test_memory_days_and_pages_are_notes_and_the_agents_files_are_not() -> None:
    notes = ["MEMORY.md", "memory/2026-05-02.md", "memory/archive/2026-01-01.md", "okf/net/a.md"]
    assert [path for path in notes if not DIALECT.is_note(path)] == []
    others = ["SOUL.md", "AGENTS.md", "README.md", "okf/index.md", "notes/a.md", "okf/.x/a.md"]
    others += ["memory/.dreams/a.md", "okf/" + "d/" * 9 + "a.md"]
    assert [path for path in others if DIALECT.is_note(path)] == []
    assert not DIALECT.enters("memory/.dreams")
    assert not DIALECT.enters("skills")


def test_entries_stay_word_for_word() -> None:
    content = b"# Core\n- **user_name**: Ada\n- **tz**: Europe/Paris\n"
    memory = DIALECT.parse("MEMORY.md", content)
    assert (memory.id, memory.kind, memory.body) == ("MEMORY", "core", content.decode())


def test_a_dated_file_has_its_day() -> None:
    memory = DIALECT.parse("memory/2026-05-02-0930.md", b"watered the orchid\n")
    assert (memory.id, memory.kind, memory.happened_at, memory.place.room) == (
        "memory/2026-05-02-0930", "daily", "2026-05-02T09:30", "memory"
    )  # fmt: skip


def test_a_file_without_a_day_is_no_daily_one() -> None:
    for name in ("vendors", "plan-for-2026-05-02", "2026-13-40"):
        memory = DIALECT.parse(f"memory/{name}.md", b"Acme ships late.\n")
        assert (memory.kind, memory.happened_at) == ("core", "")


def test_a_page_says_its_type() -> None:
    memory = DIALECT.parse("okf/net/router.md", PAGE)
    assert (memory.id, memory.kind, memory.title, memory.tags) == (
        "okf/net/router", "runbook", "Router", ("net",)
    )  # fmt: skip
    assert memory.extra["frontmatter"] == {"owner": "ada"}
    assert DIALECT.parse("okf/a.md", PAGE.replace(b"runbook", b"okf:runbook")).kind == "runbook"
    changed = DIALECT.render(memory._replace(kind="howto"), PAGE)
    assert changed == PAGE.replace(b"type: runbook", b"type: howto")


def test_a_new_note_is_a_page() -> None:
    memory = Memory("okf/net/dns", "1.1.1.1\n", "reference", "DNS", "where names come from")
    assert DIALECT.path_of(memory) == "okf/net/dns.md"
    assert DIALECT.path_of(Memory("dns", "", place=Place(room="net"))) == "okf/net/dns.md"
    assert DIALECT.id_of("dns", "net") == DIALECT.id_of("okf/net/dns", "") == "okf/net/dns"
    made = DIALECT.render(memory)
    assert made == (
        b"---\ntype: reference\ntitle: DNS\ndescription: where names come from\n---\n1.1.1.1\n"
    )
    with pytest.raises(Refused):
        DIALECT.path_of(Memory("okf/../dns", ""))
