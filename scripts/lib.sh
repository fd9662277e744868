# What the scripts beside this file share. POSIX sh; each sets `me`, its name, and sources this.
set -eu
unset PYTHONPATH PYTHONHOME CDPATH # a foreign path would shadow what is installed here
root=$(cd -- "$(dirname -- "$0")/.." && pwd -P)
venv=$root/.venv
log=$venv/install.log

die() {
    printf '%s: %s\n' "$me" "$*" >&2
    exit 1
}

# The first Python that is new enough. If PYTHON is set, that one or none.
find_python() {
    set -- python3 python3.14 python3.13 python3.12 python3.11 python
    [ -z "${PYTHON:-}" ] || set -- "$PYTHON"
    for python; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    [ -z "${PYTHON:-}" ] || die "PYTHON is $PYTHON, which is not Python 3.11 or newer"
    die "needs Python 3.11 or newer (set PYTHON if it is not on PATH)"
}

# An empty environment in $venv, unless one that works is there.
make_venv() {
    if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c '' 2>/dev/null; then
        return
    fi
    rm -rf -- "$venv"
    python=$(find_python)
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --python "$python" "$venv" || die "uv could not make $venv"
    elif "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        "$python" -m venv "$venv" || die "could not make $venv"
    elif "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --without-pip "$venv" || die "could not make $venv"
    else
        die "$python has neither ensurepip nor pip: install python3-venv (Debian, Ubuntu), python3-pip, or uv"
    fi
}

# pip install, by whichever installer there is.
install() {
    if command -v uv >/dev/null 2>&1; then
        uv pip install --python "$venv/bin/python" "$@"
    elif "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        "$venv/bin/python" -m pip --disable-pip-version-check install "$@"
    else
        "$(find_python)" -m pip --disable-pip-version-check --python "$venv/bin/python" install "$@"
    fi >>"$log" 2>&1
}

# Everything that a lock file pins, and the checkout itself; at once where that has been done already.
set_up() {
    make_venv
    lock=$root/$1
    stamp=$venv/.done-$1
    state=$(cksum "$lock" "$root/pyproject.toml" && printf '%s\n' "$root")
    if [ -f "$stamp" ] && [ "$(cat -- "$stamp")" = "$state" ]; then
        return
    fi
    printf '%s: installing what %s pins into %s\n' "$me" "$1" "${venv##*/}" >&2
    : >"$log"
    install --require-hashes -r "$lock" ||
        die "could not install the pinned packages: is a package index reachable? (see ${venv##*/}/install.log)"
    install --no-deps --no-build-isolation --editable "$root" ||
        die "could not install the checkout (see ${venv##*/}/install.log)"
    printf '%s\n' "$state" >"$stamp"
}
