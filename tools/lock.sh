#!/bin/sh
# lock.sh: remakes the locks from pyproject.toml, newest versions first, for every platform.
# requirements.lock is what the product runs on; requirements-test.lock adds the checks' own, and
# those of the other names add an extra.
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
    lock=$1
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
        --override tools/never.txt --no-header --no-annotate --no-emit-index-url \
        --no-emit-find-links --output-file "$lock" "$@" pyproject.toml
    # uv keeps what no platform takes: such an entry goes, with its hashes.
    awk '/^[^ ]/ { keep = !/never/ } keep' "$lock" >"$lock.new" && mv "$lock.new" "$lock"
}
compile requirements.lock
compile requirements-e5.lock --extra e5 --constraint requirements.lock
compile requirements-fast.lock --extra fast --constraint requirements.lock
compile requirements-postgres.lock --extra postgres --constraint requirements.lock
compile requirements-watch.lock --extra watch --constraint requirements.lock
compile requirements-test.lock --extra e5 --extra fast --extra postgres --extra watch --group test \
    --constraint requirements-e5.lock --constraint requirements-fast.lock \
    --constraint requirements-postgres.lock --constraint requirements-watch.lock
