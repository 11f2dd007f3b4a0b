"""Embedders, one implementation per file, and how the models that they need come into place."""
