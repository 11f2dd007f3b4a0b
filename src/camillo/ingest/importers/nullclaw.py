"""NullClaw: its database, its snapshot, what `export-jsonl` wrote, or a workspace that holds them.

Which of them a file is, its structure says. A file of the database is only read: nothing is put
beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers._entry_files import holds_entries
from camillo.ingest.importers._foreign_database import is_database
from camillo.ingest.importers.note import Found, LeftOut
from camillo.ingest.importers.openclaw import (
    holds_database,
    read_workspace,
    rows_of,
)
from camillo.layouts import is_workspace, only_open_pages
from camillo.text.printable import printable

__all__ = ["NullclawImporter"]


class NullclawImporter:
    name = "nullclaw"
    default = "~/.nullclaw/workspace"

    def recognises(self, path: str) -> bool:
        """By a database, or pages of its own format alone. A workspace with other pages is
        `openclaw`, which reads the same."""
        if os.path.isdir(path):
            return not is_workspace(path) and (holds_database(path) or only_open_pages(path))
        return os.path.isfile(path) and holds_entries(path)

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        if os.path.isdir(path):
            yield from read_workspace(path)
        elif not os.path.isfile(path):
            raise NotFound(
                f"there is no {printable(path)}: give NullClaw's workspace, or its memory.db, "
                "MEMORY_SNAPSHOT.json or export"
            )
        elif not is_database(path) and not holds_entries(path):
            raise InvalidValue(
                f"{printable(path)} is neither a database nor JSON with key and content: give "
                "memory.db, MEMORY_SNAPSHOT.json or an export; `camillo mine` files any text"
            )
        else:
            yield from rows_of(path)
