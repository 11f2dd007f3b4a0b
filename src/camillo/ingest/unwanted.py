"""What is hardly ever wanted in a memory: names and marks of files and folders, with the reason.

Caches, dependencies, lock files and bundles are noise; likely secrets are left out for privacy.
A name that may well mean something else (`target`, `build`, `env`) is not here: such a folder is
known by what it holds. Who may overrule which of these is the business of walk.py.
"""

from __future__ import annotations

import os
from collections.abc import Container
from functools import cache

from camillo.ingest.gitignore import IgnoreRules
from camillo.ingest.repository import read_rules

__all__ = ["SECRET", "barred", "is_secret", "unwanted", "unwanted_inside"]

SECRET = "likely a secret; to mine it, name it in mine.include"

_VERSION_CONTROL = frozenset((b".git", b".hg", b".svn", b".bzr", b".jj", b"_darcs", b"CVS"))

_DEPENDENCIES = "dependencies of a package manager"
_CACHE = "cache folder"
_FOLDERS: dict[bytes, str] = {
    **dict.fromkeys((b"node_modules", b"bower_components", b".pnpm-store"), _DEPENDENCIES),
    **dict.fromkeys(
        (
            b"__pycache__",
            b".mypy_cache",
            b".ruff_cache",
            b".pytest_cache",
            b".hypothesis",
            b".tox",
            b".nox",
            b".eggs",
            b".gradle",
            b".terraform",
            b".parcel-cache",
            b".turbo",
            b".ipynb_checkpoints",
        ),
        _CACHE,
    ),
}

_FILES: dict[bytes, str] = {
    **dict.fromkeys((b".DS_Store", b"Thumbs.db", b"desktop.ini"), "file of the desktop"),
    **dict.fromkeys(
        (
            b".terraform.lock.hcl",
            b"Cargo.lock",
            b"Gemfile.lock",
            b"MODULE.bazel.lock",
            b"Package.resolved",
            b"Pipfile.lock",
            b"Podfile.lock",
            b"bun.lock",
            b"bun.lockb",
            b"composer.lock",
            b"deno.lock",
            b"flake.lock",
            b"go.sum",
            b"gradle.lockfile",
            b"mix.lock",
            b"npm-shrinkwrap.json",
            b"package-lock.json",
            b"packages.lock.json",
            b"pdm.lock",
            b"pixi.lock",
            b"pnpm-lock.yaml",
            b"poetry.lock",
            b"pubspec.lock",
            b"uv.lock",
            b"yarn.lock",
        ),
        "lock file",
    ),
}

_BUNDLE = "minified bundle"
_MAP = "source map"
_BUNDLES = (b".min.js", b".min.mjs", b".min.css")
_MAPS = (b".js.map", b".mjs.map", b".cjs.map", b".css.map", b".ts.map")
_ENDINGS = _BUNDLES + _MAPS

_SECRETS = """
.env
.env.*
!.env.dist
!.env.example
!.env.sample
!.env.template
.envrc
*.jks
*.kdbx
*.key
*.keystore
*.p12
*.pem
*.pfx
*.ppk
id_dsa*
id_ecdsa*
id_ed25519*
id_rsa*
!id_*.pub
.git-credentials
.htpasswd
.netrc
_netrc
.npmrc
.pgpass
.pypirc
.vault-token
credentials
credentials.json
.*_history
*.tfstate
*.tfstate.backup
*.tfvars
secrets.json
secrets.toml
secrets.yaml
secrets.yml
.aws/
.gnupg/
.ssh/
"""

# The opening of a CACHEDIR.TAG: https://bford.info/cachedir/
_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"


def barred(name: bytes) -> str:
    """Why nothing of this name is ever walked, or ""."""
    if name in _VERSION_CONTROL:
        return "version control"
    return "camillo root" if name == b".camillo" else ""


def unwanted(name: bytes, folder: bool) -> str:
    """Why a file or folder of this name is left out unless someone asks for it, or ""."""
    if folder:
        return _FOLDERS.get(name, "")
    if name.endswith(_ENDINGS):
        return _BUNDLE if name.endswith(_BUNDLES) else _MAP
    return _FILES.get(name, "")


def unwanted_inside(folder: str, names: Container[bytes]) -> str:
    """Why a folder with these names in it is left out unless someone asks for it, or ""."""
    if b"store.db" in names and b"index" in names and b"config.toml" in names:
        return "camillo root"
    if b"pyvenv.cfg" in names or b"conda-meta" in names:
        return "virtual environment"
    if b"CACHEDIR.TAG" in names and _is_cache_tag(os.path.join(folder, "CACHEDIR.TAG")):
        return _CACHE
    return ""


def is_secret(name: bytes, folder: bool) -> bool:
    """Whether files of this name commonly hold keys or passwords, whatever their case."""
    return _secrets().verdict(name, name, folder) is True


@cache
def _secrets() -> IgnoreRules:
    return IgnoreRules(_SECRETS, ignore_case=True)


def _is_cache_tag(path: str) -> bool:
    try:
        return read_rules(path).startswith(_CACHE_TAG)
    except OSError:
        return False
