#!/usr/bin/env bash
# Makes a Python environment, build/venv, with the package of twin/ and what it trains and is tested with: PyTorch, numpy, scikit-learn and
# pytest, from PyPI. PyTorch brings libraries for GPUs: some gigabytes are downloaded. When nothing is missing it does nothing.
#
#   scripts/setup-twin.sh           install
#   scripts/setup-twin.sh --check   only say what is missing; exit 1 if anything is
#
# TWIN_PYTHON names another Python, which must have all that already.
set -euo pipefail

. "$(dirname "$0")/apt.sh"
cd "$(dirname "$0")/.."

own=$PWD/build/venv/bin/python
python=${TWIN_PYTHON:-$own}
complete() { "$python" -c 'import torch, numpy, sklearn, pytest' 2>/dev/null; }

if complete; then
	say "$python has PyTorch and what else the twin needs; nothing to do"
	exit 0
fi
say "missing: PyTorch, scikit-learn or pytest in $python"
[ "${1:-}" != --check ] || exit 1
[ "$python" = "$own" ] || exit 1

python3 -c 'import ensurepip' 2>/dev/null || { apt_update; apt_install python3-venv; }
[ -x "$python" ] || python3 -m venv build/venv
build/venv/bin/pip install --quiet './twin[digits,test]'
say "done"
