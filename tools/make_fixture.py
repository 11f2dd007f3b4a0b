"""Make the store that every later version must open: tests/fixtures/store-1.db.gz.

Run once for each schema of store.db; a fixture that was released is never made again.
"""

import gzip
import sys
import tempfile
from pathlib import Path

from camillo.model import GLOBAL, Author, Edge, Memory, Place
from camillo.ops import run
from camillo.vault import open_vault

FILES = {
    "decisions.md": "# Queue\n\nWe decided to move the queue to Redis because polling was slow.\n",
    "人/会议.md": "# 会议\n\n我们决定把数据库迁移到柏林。\n",
    "src/cart.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "secret.txt": "The launch code is nineteen zebras.\n",
    "old.txt": "The first logo was a blue heron.\n",
}


def main(target: str) -> None:
    with tempfile.TemporaryDirectory(dir="/srv") as scratch:  # its name stays in the store
        folder = Path(scratch) / "shop"
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        with open_vault(cwd=scratch) as vault:
            run(vault, "mine", path=str(folder))
            store = vault.root("user").store
            store.put([_note()], Author("person", "fixture"))
            for name, what in (("secret.txt", "forget"), ("old.txt", "archive")):
                found = run(vault, "list", source=str(folder / name)).results
                run(vault, what, ids=tuple(each["id"] for each in found))
            file = vault.folder("user")
        Path(target).write_bytes(gzip.compress(Path(f"{file}/store.db").read_bytes(), mtime=0))


def _note() -> Memory:
    return Memory(
        id="prefers-tea", body="Mei prefers tea to coffee.", kind="user", title="Prefers tea",
        session=GLOBAL, place=Place("people", "mei"), tags=("drink",),
        edges=(Edge("related-to", "kitchen"),), happened_at="2026-05-21", created=1_779_321_600_000,
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
