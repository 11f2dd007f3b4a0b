"""What setting up a model means: the records and the one error that all of them share."""

from __future__ import annotations

from collections.abc import Callable

from camillo.embed.golden import TOLERANCE, golden_vectors, strangeness
from camillo.errors import CamilloError
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from camillo.ports import Embedder
else:
    Protocol = object

__all__ = ["ModelDamaged", "ModelSetup", "Plan", "Tell", "check_golden"]

Tell = Callable[[str], None]


class ModelDamaged(CamilloError):
    """Weights that are not the ones that were asked for, or compute something else."""

    code = "model-damaged"


class Plan(NamedTuple):
    """What a setup will do; bytes are to be fetched and to be kept, seconds on a common line."""

    model: str
    licence: str
    folder: str
    fetch_bytes: int
    keep_bytes: int
    seconds: int

    def sentence(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return (
            f"{self.model} ({self.licence}): {self.fetch_bytes / 1e6:.0f} MB to fetch, "
            f"{self.keep_bytes / 1e6:.0f} MB to keep{where}, about {self.seconds} s"
        )


class ModelSetup(Protocol):
    """Puts a model in place. Made with the folder where models lie."""

    def ready(self) -> bool:
        """Is it there and whole? Reads every byte."""

    def plan(self) -> Plan: ...

    def install(self, tell: Tell, source: str = "") -> str:
        """Do what the plan says and hand back the embedder's id. May be interrupted at any point
        and run again; a model that others use is only ever replaced by a whole one. `source` is a
        file to take the weights from instead of fetching them."""


def check_golden(embedder: Embedder) -> None:
    """Raises ModelDamaged when it gives other vectors than it gave us."""
    if not golden_vectors(embedder.id):
        raise ModelDamaged(f"no golden vectors are recorded for {embedder.id!r}")
    off = strangeness(embedder)
    if off > TOLERANCE:
        raise ModelDamaged(
            f"{embedder.id} computes something else here: a component is off by {off:.4f}, "
            f"at most {TOLERANCE} is allowed"
        )
