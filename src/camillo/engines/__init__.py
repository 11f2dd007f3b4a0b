"""Implementations of the `Store` port, one file each."""
