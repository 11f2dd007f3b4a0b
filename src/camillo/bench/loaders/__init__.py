"""Loaders: known layouts of public test sets, read from files that the user has."""
