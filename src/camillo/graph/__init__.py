"""Walks and drawings over typed edges between memories; pure, nothing here reads a store."""
