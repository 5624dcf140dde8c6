#!/usr/bin/env bash
# Installs what it takes to try out networks on microcontrollers, besides what scripts/setup.sh installs: a C compiler for
# chips without an operating system (arm-none-eabi-gcc, without a C library) and qemu for whole systems. 67 MB are downloaded.
# Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-mcu.sh           install
#   scripts/setup-mcu.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

packages=()
command -v arm-none-eabi-gcc >/dev/null || packages+=(gcc-arm-none-eabi)
command -v qemu-system-arm >/dev/null || packages+=(qemu-system-arm)
if [ "${#packages[@]}" = 0 ]; then
	say "arm-none-eabi-gcc and qemu-system-arm are there; nothing to do"
	exit 0
fi
say "missing: ${packages[*]}"
[ "${1:-}" != --check ] || exit 1

apt_update
apt_install "${packages[@]}"
say "done"
