#!/usr/bin/env bash
# Makes a Python for 64-bit Arm in DIR, which runs under qemu-user: qemu-aarch64 -L DIR DIR/usr/bin/python3. Debian's packages are unpacked
# there, and wheels of PyPI in DIR/wheels. The system and its packages stay as they are. When it is there already it does nothing.
#
#   scripts/setup-arm64.sh DIR [ARGUMENT...]     arguments of pip install: wheels
set -euo pipefail

. "$(dirname "$0")/apt.sh"

mkdir -p "$1"
dir=$(realpath "$1")
shift
files=("$0")
for a; do [ ! -f "$a" ] || files+=("$a"); done
made=$(echo "$@" && sha256sum "${files[@]}")
[ "$(cat "$dir/made" 2>/dev/null)" != "$made" ] || exit 0
command -v apt-get >/dev/null || die "no apt-get here, which fetches Debian's packages"

mkdir -p "$dir"/apt/{lists,cache}/partial
: >"$dir/apt/status"
arm() {
	apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o Dir::Cache::archives="$dir/apt/cache" -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@"
}
arm update
arm install --download-only -y --no-install-recommends python3 libstdc++6
for package in "$dir"/apt/cache/*.deb; do
	dpkg-deb --extract "$package" "$dir"
done
if [ $# -gt 0 ]; then
	version=$(basename "$(readlink "$dir/usr/bin/python3")")
	platforms=()
	for minor in $(seq 17 "$(basename "$dir"/apt/cache/libc6_2.* | sed -E 's/^libc6_2\.([0-9]+).*/\1/')"); do # of glibc
		platforms+=(--platform "manylinux_2_${minor}_aarch64")
	done
	python3 -m pip install --quiet --disable-pip-version-check --target "$dir/wheels" --upgrade --no-deps --only-binary :all: \
		"${platforms[@]}" --platform manylinux2014_aarch64 --python-version "${version#python}" "$@"
fi
echo "$made" >"$dir/made"
