#!/bin/sh
# The command n6build of a checkout, .venv/bin/n6build: asks n6build.engine first, for which Python starts without its library.
here=${0%/*}
[ -h "$0" ] && here=$(dirname -- "$(readlink -f -- "$0")")
"$here/python" -I -S "$here/../../site_scons/n6build/engine/ask.py" n6build "$@" || exec "$here/python" -P -m n6build "$@"
