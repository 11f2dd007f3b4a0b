"""Derived rows: what is found by, one file an index."""
