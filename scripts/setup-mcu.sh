#!/usr/bin/env bash
# Installs what it takes to try out networks on microcontrollers, besides what scripts/setup.sh installs: a C compiler for
# chips without an operating system (arm-none-eabi-gcc, without a C library) and qemu for whole systems. 67 MB are downloaded.
# Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-mcu.sh           install
#   scripts/setup-mcu.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

install_programs "arm-none-eabi-gcc and qemu-system-arm" "${1:-}" arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm
