"""Stages and presets of the search pipeline."""
