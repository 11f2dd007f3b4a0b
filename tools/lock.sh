#!/bin/sh
# lock.sh: remakes the locks from pyproject.toml, newest versions first, for every platform.
# requirements.lock is what the product runs on; requirements-test.lock adds the checks' own.
# A lock names no index, so that whoever installs it uses their own.
set -eu
cd "$(dirname "$0")/.."
uv=$(command -v uv || :)
if [ -z "$uv" ]; then
    python3 -m venv build/lock
    build/lock/bin/python -m pip install --quiet uv
    uv=build/lock/bin/uv
fi
compile() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file "$@" pyproject.toml
}
compile requirements.lock
compile requirements-test.lock --group test --constraint requirements.lock
