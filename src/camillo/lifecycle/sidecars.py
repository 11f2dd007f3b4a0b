"""Which roots keep sidecars: a commonplace folder whose sidecars carry our model, or whose owner
asks for it. What a sidecar is, and how one is kept current, is the index's."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from camillo import registry
from camillo.notebook import Notebook
from camillo.ports import Embedder
from camillo.roots import Root

__all__ = ["sidecars_of"]


class Holder(Protocol):
    @property
    def root(self) -> Root: ...

    @property
    def notebook(self) -> Notebook | None: ...


def sidecars_of(
    holder: Holder, embedder: Embedder | None, wanted: Literal["auto", "write", "off"] | str
) -> Any:
    """The `Sidecars` of an opened root that are ours to keep, else None. `auto`: where one carries
    our model; `write`: always; `off`: never."""
    if embedder is None or wanted == "off" or holder.root.form != "commonplace":
        return None
    notebook = holder.notebook
    if notebook is None or not notebook.folder.writable:
        return None
    sidecars = registry.load("index", "sidecars")(notebook.folder, embedder)
    return sidecars if wanted == "write" or sidecars.ours() else None
