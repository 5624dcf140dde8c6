#!/usr/bin/env bash
# Copies ripc, its manual pages, completions, CMake module and pkg-config file below a folder, by sudo where the user may not write.
#
#   scripts/install.sh RIPC FOLDER     RIPC is the built program, FOLDER such as /usr/local
set -euo pipefail

. "$(dirname "$0")/apt.sh"

umask 022 # every user may run it
ripc=$(realpath "$1")
mkdir -p "$2" 2>/dev/null || true
to=$(realpath -m "$2")
cd "$(dirname "$0")/.."
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
share=$stage/all/share
install -D "$ripc" "$stage/all/bin/ripc"
mkdir -p "$share"/{man,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
"$ripc" man "$share/man/man1" >/dev/null
"$ripc" completion bash >"$share/bash-completion/completions/ripc"
"$ripc" completion zsh >"$share/zsh/site-functions/_ripc"
"$ripc" completion fish >"$share/fish/vendor_completions.d/ripc.fish"
install -D -m 644 -t "$share/cmake/ripc" share/cmake/ripc/*.cmake
install -D -m 644 -t "$share/pkgconfig" share/pkgconfig/ripc.pc

# writable: may the user write each folder that is there already?
writable() {
	local folder
	while read -r folder; do
		[ ! -d "$to/$folder" ] || [ -w "$to/$folder" ] || return 1
	done < <(cd "$stage/all" && find . -type d)
	[ -d "$to" ]
}
if ! writable; then
	say "$to belongs to another user; going on by sudo (make install PREFIX=FOLDER takes another folder)"
	become_root
fi
"${as_root[@]}" mkdir -p "$to"
"${as_root[@]}" cp -R --no-preserve=ownership --remove-destination "$stage/all/." "$to"
say "$to/bin/ripc is there"
