"""camillo: long-term memory for AI agents and the people who work with them."""

__version__ = "0.1.0"

__all__ = ["__version__"]
