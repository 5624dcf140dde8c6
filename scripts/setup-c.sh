#!/usr/bin/env bash
# Installs what it takes to try out the C back end with two compilers, besides what scripts/setup.sh installs: gcc, Clang,
# and the libraries behind Clang's -fsanitize. On Debian 12 about 45 MB are downloaded. Debian and Ubuntu only. When
# nothing is missing it does nothing, in a blink.
#
#   scripts/setup-c.sh           install
#   scripts/setup-c.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

say() { printf 'setup-c: %s\n' "$*"; }
die() { printf 'setup-c: %s\n' "$*" >&2; exit 1; }

# sanitizes COMPILER: can it link what it sanitized?
sanitizes() { echo 'int main(void) { return 0; }' | "$1" -fsanitize=undefined,address -x c -o /dev/null - 2>/dev/null; }

missing=()
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
say "missing: $(printf '%s, ' "${missing[@]}" | sed 's/, $//')"
[ "${1:-}" != --check ] || exit 1

command -v apt-get >/dev/null || die "no apt-get here; install the above by hand"
as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || die "not root, and there is no sudo; run as root: scripts/setup-c.sh"
	as_root=(sudo)
fi

# DPkg::Lock::Timeout: wait for another apt instead of failing.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"; }

# install PACKAGE...
install() {
	say "apt-get install --no-install-recommends $*"
	apt install -y --no-install-recommends "$@"
}

say "apt-get update"
apt update >/dev/null || say "apt-get update failed; going on with the package lists at hand"
packages=()
command -v gcc >/dev/null || packages+=(gcc libc6-dev)
command -v clang >/dev/null || packages+=(clang)
[ "${#packages[@]}" = 0 ] || install "${packages[@]}"
# The package of the sanitizers is called after Clang's version; older ones came with Clang.
if ! sanitizes clang; then
	version=$(clang -dumpversion)
	install "libclang-rt-${version%%.*}-dev"
fi
say "done"
