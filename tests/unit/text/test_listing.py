"""Lines of a page that lists notes: ours come and go, those of people stay."""

from __future__ import annotations

from camillo.text.listing import listed, unlisted

PAGE = "# Memory\n\n- [Tabs](tabs.md) — mine\n\nSee also [tabs](tabs.md).\n"


def test_a_new_note_gets_a_line_at_the_end() -> None:
    assert listed(PAGE, "a.md", "- [A](a.md)") == PAGE + "- [A](a.md)\n"
    assert listed("", "a.md", "- [A](a.md)") == "- [A](a.md)\n"
    assert listed("no end", "a.md", "- [A](a.md)") == "no end\n- [A](a.md)\n"
    assert listed("x\r\n", "a.md", "- [A](a.md)") == "x\r\n- [A](a.md)\r\n"


def test_a_line_that_somebody_wrote_stays() -> None:
    assert listed(PAGE, "tabs.md", "- [Tabs](tabs.md) — ours") == PAGE


def test_a_line_of_ours_says_what_the_note_says_now() -> None:
    former, line = "- [Tabs](tabs.md) — mine", "- [Tabs](tabs.md) — two spaces"
    assert listed(PAGE, "tabs.md", line, former) == PAGE.replace(former, line)


def test_the_line_of_a_note_that_is_gone_goes_and_no_other() -> None:
    assert unlisted(PAGE, "tabs.md") == "# Memory\n\n\nSee also [tabs](tabs.md).\n"
    assert unlisted(PAGE, "abs.md") == PAGE
    assert unlisted("- [T](./t.md)\n* [T](<t.md>) x\n", "t.md") == ""
