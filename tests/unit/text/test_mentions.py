"""Mentions in a body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.mentions import mentions, reader, wikilinks


@pytest.mark.case("CP26")
def test_only_double_brackets_around_a_name_mention() -> None:
    body = "[[a]] [[a]] [[B]] [[[c]]] [[ d ]] [[e-f]] [[g|h]] [[i#j]] [[中]]"
    assert mentions(body) == ("a",)


@pytest.mark.case("CP26")
def test_code_is_searched_too() -> None:
    assert mentions("`[[a]]`\n```\n[[b_1]]\n```\n") == ("a", "b_1")


@given(st.lists(st.from_regex(r"[a-z0-9_]+", fullmatch=True)))
def test_each_name_comes_once_in_the_order_of_the_body(names: list[str]) -> None:
    body = " and ".join(f"[[{name}]]" for name in names)
    assert mentions(body) == tuple(dict.fromkeys(names))


@given(st.text("[]ab A\n|"))
def test_a_mention_stands_in_the_body(body: str) -> None:
    for name in mentions(body):
        assert f"[[{name}]]" in body


class TestWikilinks:
    @pytest.mark.parametrize(
        ("body", "names"),
        [
            ("as [[no-force-push]] says", ("no-force-push",)),
            ("[[Deploy Rule]] and [[部署 规则]]", ("Deploy Rule", "部署 规则")),
            ("[[rule|what we said]] [[rule#Why|why]] [[rule#^b1]]", ("rule",)),
            ("![[picture]] [[ padded ]] [[note.md]]", ("picture", "padded", "note")),
            ("| [[a\\|b]] |", ("a",)),
            ("[[#heading]] [[|x]] [[]] [[a\nb]]", ()),
            (f"[[{'x' * 100}]] [[{'y' * 101}]]", ("x" * 100,)),
            ("[[b]] [[a]] [[b]]", ("b", "a")),
        ],
    )
    def test_names_are_what_people_write(self, body: str, names: tuple[str, ...]) -> None:
        assert wikilinks(body) == names

    @pytest.mark.parametrize(
        "code",
        [
            "`[[a]]`",
            "``x ` [[a]]``",
            "```\n[[a]]\n```",
            "~~~ md\n[[a]]\n~~~",
            "> ```\n> [[a]]\n> ```",
        ],
    )
    def test_code_mentions_nothing(self, code: str) -> None:
        assert wikilinks(f"before [[b]]\n\n{code}\n\nafter [[c]]\n") == ("b", "c")

    @given(st.text("[]ab A\n|#`~-", max_size=60))
    def test_any_body_is_read(self, body: str) -> None:
        for name in wikilinks(body):
            assert name in body


class TestReader:
    NOTES = (
        ("rules/no-force-push", "rules", ()),
        ("rules/build", "rules", ()),
        ("facts/build", "facts", ()),
        ("ada", "people", ("Ada Lovelace", "Countess")),
        ("byron", "people", ("Countess", "ada")),
    )

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("rules/no-force-push", "rules/no-force-push"),
            ("no-force-push", "rules/no-force-push"),
            ("rules/build", "rules/build"),
            ("build", "build"),  # two rooms have it
            ("Ada Lovelace", "ada"),
            ("people/ada", "ada"),
            ("ada", "ada"),  # though another is called so too
            ("Countess", "Countess"),  # two are
            ("nobody", "nobody"),
        ],
    )
    def test_a_name_means_an_id_or_what_only_one_is_called(self, written: str, read: str) -> None:
        assert list(reader("camillo", self.NOTES)(f"see [[{written}|it]]")) == [read]

    def test_two_names_of_one_note_are_one_mention(self) -> None:
        assert list(reader("oc", self.NOTES)("[[ada]] [[Ada Lovelace]]")) == ["ada"]

    def test_commonplace_reads_as_it_does(self) -> None:
        read = reader("commonplace", self.NOTES)
        assert list(read("[[no-force-push]] [[Countess]] `[[a_1]]`")) == ["a_1"]
