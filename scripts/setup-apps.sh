#!/usr/bin/env bash
# Installs the tools of the programs in examples, besides those of scripts/setup.sh: CMake, pkg-config, GCC for 64-bit and for
# 32-bit Arm Linux, Rust, and numpy. On Debian 12 about 400 MB are downloaded. Debian and
# Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-apps.sh           install
#   scripts/setup-apps.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

# links COMPILER: is there a C library to link with?
links() { echo 'int main(void) { return 0; }' | "$1" -x c -o /dev/null -; }
# numpy: has one of the Pythons that tests look for it?
numpy() { python3 -c 'import numpy' || /usr/bin/python3 -c 'import numpy'; }

want cmake cmake --version
want pkg-config pkg-config --version
want "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" links aarch64-linux-gnu-gcc
want "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" links arm-linux-gnueabihf-gcc
want libc6-riscv64-cross test -e /usr/riscv64-linux-gnu/lib
want g++-aarch64-linux-gnu aarch64-linux-gnu-g++ --version
want "cargo rustc" cargo --version
want "python3 python3-numpy" numpy
if [ "${#missing[@]}" = 0 ]; then
	say "CMake, pkg-config, GCC for Arm, Rust, and numpy are there; nothing to do"
	exit 0
fi
say_missing
[ "${1:-}" != --check ] || exit 1

apt_update
apt_install "${packages[@]}"
say "done"
