# shellcheck shell=bash
# What the set-up scripts share: what they say, and how they install packages. They source it.

setup=$(basename "$0" .sh)

say() { printf '%s: %s\n' "$setup" "$*"; }
die() { printf '%s: %s\n' "$setup" "$*" >&2; exit 1; }

missing=() packages=() as_root=()
# want PACKAGES COMMAND...: if the command fails, these packages are missing.
want() {
	local wanted=$1
	shift
	"$@" >/dev/null 2>&1 && return
	missing+=("$wanted")
	read -ra wanted <<<"$wanted"
	packages+=("${wanted[@]}")
}

# say_missing prints what is missing.
say_missing() { say "missing: $(printf '%s, ' "${missing[@]}" | sed 's/, $//')"; }

# DPkg::Lock::Timeout: wait for another apt instead of failing.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"; }

become_root() {
	[ "$(id -u)" != 0 ] || return 0
	command -v sudo >/dev/null || die "not root, and there is no sudo; run as root: scripts/$setup.sh"
	as_root=(sudo)
}

# apt_update HINT: ends the script unless packages can be installed here, and brings their lists up to date. HINT is what else
# to do where they must be installed by hand.
apt_update() {
	command -v apt-get >/dev/null || die "no apt-get here; install the above by hand${1:+, $1}"
	become_root
	say "apt-get update"
	apt update >/dev/null || say "apt-get update failed; going on with the package lists at hand"
}

# apt_install PACKAGE...
apt_install() {
	say "apt-get install --no-install-recommends $*"
	apt install -y --no-install-recommends "$@"
}

# pip_install PACKAGE...: for all users, beside Debian's own.
pip_install() {
	command -v pip3 >/dev/null || { apt_update; apt_install python3-pip; }
	become_root
	say "pip3 install $*"
	"${as_root[@]}" env PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore pip3 install --quiet "$@" # older ones know neither
}

# install_programs WHAT OPTION PROGRAM:PACKAGE...: installs the packages of the programs that are missing; with --check it only
# says which, and ends the script with 1. WHAT names them all.
install_programs() {
	local what=$1 option=$2 pair packages=()
	shift 2
	for pair; do
		command -v "${pair%%:*}" >/dev/null || packages+=("${pair#*:}")
	done
	if [ "${#packages[@]}" = 0 ]; then
		say "$what are there; nothing to do"
		return
	fi
	say "missing: ${packages[*]}"
	[ "$option" != --check ] || exit 1
	apt_update
	apt_install "${packages[@]}"
	say "done"
}
