#!/usr/bin/env bash
# Installs what it takes to try out networks on microcontrollers, besides what scripts/setup.sh installs: a C compiler for
# chips without an operating system (arm-none-eabi-gcc, without a C library) and qemu for whole systems. 67 MB are downloaded.
# Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-mcu.sh           install
#   scripts/setup-mcu.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

say() { printf 'setup-mcu: %s\n' "$*"; }
die() { printf 'setup-mcu: %s\n' "$*" >&2; exit 1; }

packages=()
command -v arm-none-eabi-gcc >/dev/null || packages+=(gcc-arm-none-eabi)
command -v qemu-system-arm >/dev/null || packages+=(qemu-system-arm)
if [ "${#packages[@]}" = 0 ]; then
	say "arm-none-eabi-gcc and qemu-system-arm are there; nothing to do"
	exit 0
fi
say "missing: ${packages[*]}"
[ "${1:-}" != --check ] || exit 1

command -v apt-get >/dev/null || die "no apt-get here; install the above by hand"
as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || die "not root, and there is no sudo; run as root: scripts/setup-mcu.sh"
	as_root=(sudo)
fi

# DPkg::Lock::Timeout: wait for another apt instead of failing.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"; }

say "apt-get update"
apt update >/dev/null || say "apt-get update failed; going on with the package lists at hand"
say "apt-get install --no-install-recommends ${packages[*]}"
apt install -y --no-install-recommends "${packages[@]}"
say "done"
