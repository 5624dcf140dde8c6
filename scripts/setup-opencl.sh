#!/usr/bin/env bash
# Installs what make opencl compares pocl with: Mesa's OpenCL (rusticl), and Oclgrind, which runs kernels and looks for data races
# and accesses outside of buffers. Some 150 MB are downloaded. Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-opencl.sh           install
#   scripts/setup-opencl.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

ls /usr/lib/*/libRusticlOpenCL.so.1 >/dev/null 2>&1 || packages+=(mesa-opencl-icd)
command -v oclgrind >/dev/null || packages+=(oclgrind)
if [ "${#packages[@]}" = 0 ]; then
	say "rusticl and Oclgrind are there; nothing to do"
	exit 0
fi
say "missing: ${packages[*]}"
[ "${1:-}" != --check ] || exit 1

apt_update
apt_install "${packages[@]}"
say "done"
