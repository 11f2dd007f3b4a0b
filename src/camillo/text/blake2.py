"""BLAKE2b for commands that start often: `hashlib` has the same function, and takes 3 ms to load
OpenSSL for others.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # pragma: no cover
    from hashlib import blake2b

__all__ = ["blake2b"]
