"""Closets: they lead to the lines that they name, and never outlive what they point at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camillo.text.closets import ClosetLine, closet_id, parse_line
from camillo.vault import Vault
from flows.command import Camillo, plant

TEXT = (
    """# Seven gates

The theatre of memory has seven gates, and behind each of them a drawer.

"""
    + "Ordinary words fill the space between two headings.\n" * 30
    + """
## Painted doors

Giulio Camillo painted the doors himself; Giulio said "the doors shall never be locked again".

"""
    + "More ordinary words fill the space to the end of it.\n" * 30
    + """
### Wooden walls

The walls were built from oak.
"""
)


@pytest.fixture
def lines(camillo: Camillo, shop: Path, vault: Vault) -> list[ClosetLine]:
    """The pointer lines of one file in several drawers."""
    plant(shop, {"theatre.md": TEXT})
    assert camillo.mine(shop)["drawers_stored"] > 3
    return _lines(vault, shop / "theatre.md")


def _lines(vault: Vault, path: Path) -> list[ClosetLine]:
    vault.root("user").catch_up()
    closets = vault.root("user").closets.of_source(str(path))
    parsed = [parse_line(line) for closet in closets for line in closet.lines]
    return [line for line in parsed if line is not None]


def test_a_topic_stands_at_the_lines_that_its_pointer_names(
    lines: list[ClosetLine], shop: Path
) -> None:
    in_file = (shop / "theatre.md").read_text("utf-8").splitlines()
    assert {"seven gates", "painted doors", "wooden walls"} <= {line.topic for line in lines}
    for line in lines:
        assert line.line_start is not None
        assert line.line_end is not None
        there = " ".join(in_file[line.line_start - 1 : line.line_end]).lower()
        assert line.topic.strip('"').lower() in " ".join(there.split())


def test_the_first_pointer_is_the_drawer_that_holds_the_topic(
    lines: list[ClosetLine], camillo: Camillo
) -> None:
    for line in lines:
        text = camillo("show", line.ids[0]).first["text"]
        assert line.topic.strip('"').lower() in " ".join(text.lower().split())


def test_every_pointer_leads_to_a_drawer_of_the_source(
    lines: list[ClosetLine], camillo: Camillo, shop: Path
) -> None:
    for line in lines:
        for id in line.ids:
            assert camillo("show", id).first["source"] == str(shop / "theatre.md")


def test_people_and_quotations_are_in_the_lines(lines: list[ClosetLine]) -> None:
    assert any("Giulio" in entity for line in lines for entity in line.entities)
    assert '"the doors shall never be locked again"' in [line.topic for line in lines]


@pytest.mark.case("mempalace-15")
class TestPurge:
    def test_a_second_mine_with_fewer_topics_leaves_no_orphan(
        self, camillo: Camillo, shop: Path, vault: Vault
    ) -> None:
        many = "".join(
            f"# Heading number {n} {'of this theatre ' * 2}\n\ntext\n\n" for n in range(12)
        )
        plant(shop, {"a.md": many})
        camillo.mine(shop, "--config", "closets.closet_chars=300")
        vault.root("user").catch_up()
        assert len(vault.root("user").closets.of_source(str(shop / "a.md"))) > 1
        plant(shop, {"a.md": "# Only heading\n\ntext\n"})
        camillo.mine(shop, "--config", "closets.closet_chars=300")
        assert [line.topic for line in _lines(vault, shop / "a.md")] == ["only heading"]
        [closet] = vault.root("user").closets.of_source(str(shop / "a.md"))
        assert closet.id == closet_id("shop", "general", str(shop / "a.md"), 1)

    def test_a_second_mine_overwrites_the_first_closet_completely(
        self, camillo: Camillo, shop: Path, vault: Vault
    ) -> None:
        plant(shop, {"a.md": "# Painted doors\n\n# Wooden walls\n"})
        camillo.mine(shop)
        plant(shop, {"a.md": "# Seven gates\n"})
        camillo.mine(shop)
        assert [line.topic for line in _lines(vault, shop / "a.md")] == ["seven gates"]
        assert camillo.texts("painted doors") == []

    def test_only_the_source_that_changed_is_purged(
        self, camillo: Camillo, shop: Path, vault: Vault
    ) -> None:
        plant(shop, {"a.md": "# Painted doors\n", "b.md": "# Wooden walls\n"})
        camillo.mine(shop)
        before = _lines(vault, shop / "b.md")
        plant(shop, {"a.md": "# Seven gates\n"})
        camillo.mine(shop)
        assert _lines(vault, shop / "b.md") == before

    @pytest.mark.parametrize("content", [b"", b"\0\1\2\3", b"  \n"])
    def test_a_source_without_drawers_has_no_closets(
        self, camillo: Camillo, shop: Path, vault: Vault, content: bytes
    ) -> None:
        plant(shop, {"a.md": "# Painted doors\n"})
        camillo.mine(shop)
        plant(shop, {"a.md": content})
        camillo.mine(shop)
        assert _lines(vault, shop / "a.md") == []

    @pytest.mark.parametrize("how", ["forget", "archive", "sync"])
    def test_however_the_last_drawer_went(
        self, camillo: Camillo, shop: Path, vault: Vault, how: str
    ) -> None:
        plant(shop, {"a.md": "# Painted doors\n", "b.md": "# Wooden walls\n"})
        camillo.mine(shop)
        if how == "sync":
            (shop / "a.md").unlink()
            camillo("sync")
        else:
            camillo(how, camillo("search", "painted doors").first["id"])
        assert _lines(vault, shop / "a.md") == []
        assert len(_lines(vault, shop / "b.md")) == 1

    def test_one_drawer_of_several_takes_its_topics_along(
        self, camillo: Camillo, lines: list[ClosetLine], shop: Path, vault: Vault
    ) -> None:
        [doors] = [line for line in lines if line.topic == "painted doors"]
        camillo("forget", *doors.ids)
        left = _lines(vault, shop / "theatre.md")
        assert left != []
        assert not [line for line in left if set(line.ids) & set(doors.ids)]
        assert "painted doors" not in [line.topic for line in left]


def test_closets_are_those_of_the_rules_in_force(
    camillo: Camillo, shop: Path, vault: Vault
) -> None:
    plant(shop, {"a.md": "# Painted doors\n\n# Wooden walls\n\n# Seven gates\n"})
    camillo.mine(shop)
    assert len(_lines(vault, shop / "a.md")) == 3
    assert camillo.mine(shop, "--config", "closets.topics=1")["files_changed"] == 1
    assert len(_lines(vault, shop / "a.md")) == 1


def test_two_sources_whose_names_run_together_share_nothing(
    camillo: Camillo, shop: Path, vault: Vault
) -> None:
    plant(shop, {"a1": "# Painted doors\n", "a": "# Wooden walls\n", "1": "# Seven gates\n"})
    camillo.mine(shop)
    topics = [_lines(vault, shop / name)[0].topic for name in ("a1", "a", "1")]
    assert topics == ["painted doors", "wooden walls", "seven gates"]


class TestThePalacePreset:
    """`--config mine.preset=palace`: overlap 100, the first 5000 characters, no definitions."""

    def test_drawers_overlap_by_a_hundred_characters(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.txt": "a" * 1600})
        camillo.mine(shop, "--config", "mine.preset=palace")
        drawers = sorted(camillo.listed(), key=lambda entry: int(entry["part"]))
        assert [len(entry["text"]) for entry in drawers] == [800, 800, 200]
        assert [entry["byte_start"] for entry in drawers] == [0, 700, 1400]

    @pytest.mark.case("mempalace-10")
    def test_topics_are_looked_for_in_the_first_5000_characters(
        self, camillo: Camillo, shop: Path, vault: Vault
    ) -> None:
        plant(shop, {"a.md": "# Seven gates\n\n" + "word " * 1000 + "\n\n# Painted doors\n\nx\n"})
        camillo.mine(shop, "--config", "mine.preset=palace")
        palace = [line.topic for line in _lines(vault, shop / "a.md")]
        assert palace == ["seven gates"]
        camillo.mine(shop)
        assert "painted doors" in [line.topic for line in _lines(vault, shop / "a.md")]

    def test_names_that_code_defines_are_no_topics(
        self, camillo: Camillo, shop: Path, vault: Vault
    ) -> None:
        plant(shop, {"a.py": "def discount_total():\n    return 1\n"})
        camillo.mine(shop, "--config", "mine.preset=palace")
        assert [line.topic for line in _lines(vault, shop / "a.py")] == ["shop/general/a"]
        camillo.mine(shop)
        assert "shop/general/a" not in [line.topic for line in _lines(vault, shop / "a.py")]

    def test_a_setting_of_ones_own_beats_the_preset(
        self, camillo: Camillo, shop: Path, user: Path
    ) -> None:
        config: dict[str, Any] = {"config.toml": '[mine]\npreset = "palace"\noverlap_chars = 50\n'}
        plant(user, config)
        plant(shop, {"a.txt": "a" * 1600})
        camillo.mine(shop)
        starts = sorted(entry["byte_start"] for entry in camillo.listed())
        assert starts == [0, 750, 1500]
