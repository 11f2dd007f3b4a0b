"""The tables of the `vectors` index, apart from it: a search by words needs no NumPy.

`vectors.hash` is that of the embedded text; `data` is the scale (float32, little-endian) and one
int8 per dimension, `crc` the CRC-32 of `data`. `models.made_with` is what
opens the embedder again, as the setting `search.embedder` names it.
"""

from __future__ import annotations

__all__ = ["SCHEMA"]

SCHEMA = """
CREATE TABLE models(rowid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL,
    made_with TEXT NOT NULL, complete INTEGER NOT NULL DEFAULT 0);
CREATE TABLE vectors(rowid INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models(rowid),
    hash BLOB NOT NULL, data BLOB NOT NULL, crc INTEGER NOT NULL,
    UNIQUE(hash, model));
"""
