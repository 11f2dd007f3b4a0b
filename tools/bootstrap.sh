# Sourced by ./camillo and ./test, which set $root: says whether a virtual environment is as its
# locks want it, and has tools/bootstrap.py make it when not. Portable sh; nothing on stdout.

# ready VENV LOCK: leaves the interpreter of VENV in $python.
# VENV/stamp is two lines: the Python it was made with, then checksum and size of the locks with
# the extras' names. VENV/extras names the extras; CAMILLO_EXTRAS adds some.
ready() {
    venv=$root/$1 extras='' base='' made=''
    set -- "$root/$2"
    [ -f "$venv/extras" ] && read -r extras <"$venv/extras"
    for extra in ${CAMILLO_EXTRAS-}; do
        case " $extras " in *" $extra "*) ;; *) extras="${extras:+$extras }$extra" ;; esac
    done
    for extra in $extras; do set -- "$@" "$root/requirements-$extra.lock"; done
    if [ $# = 1 ]; then sum=$(cksum <"$1"); else sum=$(cat "$@" | cksum); fi 2>/dev/null
    key="$sum $extras"
    [ -f "$venv/stamp" ] && { read -r base && IFS= read -r made; } <"$venv/stamp"
    interpreter
    [ "$made" = "$key" ] && [ -x "$base" ] && [ -x "$python" ] && return
    find_python || exit 4
    "$found" -I "$root/tools/bootstrap.py" "$venv" "$key" "$@" </dev/null >&2 || exit 4
    interpreter
}

interpreter() {
    python=$venv/bin/python
    [ -x "$python" ] || python=$venv/Scripts/python.exe # Windows
}

# find_python: leaves in $found a Python that can make an environment and fill it.
find_python() {
    probe='import sys; sys.exit(sys.version_info < (3, 11))'
    command -v uv >/dev/null 2>&1 || probe='import sys, venv; from importlib.util import find_spec
sys.exit(sys.version_info < (3, 11) or not (find_spec("pip") or find_spec("ensurepip")))'
    for found in ${CAMILLO_PYTHON+"$CAMILLO_PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
        "$found" -I -c "$probe" >/dev/null 2>&1 </dev/null && return
    done
    uv python install --quiet 3.13 >&2 2>/dev/null && found=$(uv python find --no-project 3.13) && return
    echo 'camillo: needs Python 3.11 or newer with venv and pip: install python3-venv and python3-pip' \
        '(apt, dnf), python (brew, winget) or uv, then run this again' >&2
    return 1
}
