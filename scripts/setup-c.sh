#!/usr/bin/env bash
# Installs what it takes to try out the C back end with two compilers, besides what scripts/setup.sh installs: gcc, Clang,
# and the libraries behind Clang's -fsanitize. On Debian 12 about 45 MB are downloaded. Debian and Ubuntu only. When
# nothing is missing it does nothing, in a blink.
#
#   scripts/setup-c.sh           install
#   scripts/setup-c.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

# sanitizes COMPILER: can it link what it sanitized?
sanitizes() { echo 'int main(void) { return 0; }' | "$1" -fsanitize=undefined,address -x c -o /dev/null - 2>/dev/null; }

command -v gcc >/dev/null || missing+=(gcc)
if ! command -v clang >/dev/null; then
	missing+=(clang "clang's sanitizers")
elif ! sanitizes clang; then
	missing+=("clang's sanitizers")
fi
if [ "${#missing[@]}" = 0 ]; then
	say "gcc, and clang with its sanitizers, are there; nothing to do"
	exit 0
fi
say_missing
[ "${1:-}" != --check ] || exit 1

apt_update
command -v gcc >/dev/null || packages+=(gcc libc6-dev)
command -v clang >/dev/null || packages+=(clang)
[ "${#packages[@]}" = 0 ] || apt_install "${packages[@]}"
# The package of the sanitizers is called after Clang's version; older ones came with Clang.
if ! sanitizes clang; then
	version=$(clang -dumpversion)
	apt_install "libclang-rt-${version%%.*}-dev"
fi
say "done"
