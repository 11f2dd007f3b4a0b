"""The tables of the `tokens` index, and which passages it is for; apart from it, since a search by
words needs no NumPy.

`token_models`: `name` is the embedder's id, `+` and its projection's; `texts` and `tokens` count
what is kept; `budget` is what `floor` was found with: passages of that version and older ones are
left out; `upto` is the last passage when none was missing. `tokens`: by the hash of the embedded
text, with the version of a passage that holds it; `_token_codes.py` has `ids` and `data`, and `crc`
is the CRC-32 of both. `token_df`: in how many of the texts a token stands.
"""

from __future__ import annotations

__all__ = ["SCHEMA", "SUITED", "SUITED_FACET"]

# Also run over a file that was made before there were token vectors: to throw that away would cost
# its vectors.
SCHEMA = """
CREATE TABLE IF NOT EXISTS token_models(rowid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    dim INTEGER NOT NULL, texts INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0,
    budget INTEGER NOT NULL, floor INTEGER NOT NULL DEFAULT 0, upto INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS tokens(rowid INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES token_models(rowid), hash BLOB NOT NULL,
    version INTEGER NOT NULL, count INTEGER NOT NULL, crc INTEGER NOT NULL, ids BLOB NOT NULL,
    data BLOB NOT NULL, UNIQUE(hash, model));
CREATE INDEX IF NOT EXISTS tokens_version ON tokens(model, version);
CREATE TABLE IF NOT EXISTS token_df(model INTEGER NOT NULL REFERENCES token_models(rowid),
    id INTEGER NOT NULL, df INTEGER NOT NULL, PRIMARY KEY(model, id)) WITHOUT ROWID;
"""

_WHOLE = 3  # pieces of 800 characters up to which a memory is kept as a whole, else in pieces

# Of a facet `f`: notes, or what was said; no files of a project.
SUITED_FACET = "(f.kind <> 'drawer' OR f.session <> '')"

# Of a passage `p` as well.
SUITED = (
    f"{SUITED_FACET} AND (p.number = 0) = "
    f"((SELECT max(w.number) FROM passages w WHERE w.version = p.version) <= {_WHOLE})"
)
