"""Measuring camillo itself."""
