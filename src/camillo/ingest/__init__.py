"""From sources to drawers."""
