#!/usr/bin/env bash
# Installs what ripc needs besides Go, git and make: the LLVM tools (opt, llc, llvm-mc, llvm-mca, ld.lld ...), qemu-user, which
# runs artifacts of other machines, XGBoost's library, with which tuning learns, and a C compiler, with which the tests check the
# headers and ripc bench builds its instruction counter. Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup.sh           install
#   scripts/setup.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

# have_llvm VERSION: are all tools there, on PATH or in LLVM's own folder?
have_llvm() {
	local tool
	for tool in opt llc llvm-mc llvm-ar llvm-objcopy llvm-mca ld.lld; do
		command -v "$tool-$1" >/dev/null || [ -x "/usr/lib/llvm-$1/bin/$tool" ] || return 1
	done
}

# have_llvm_bin: are all tools in the folder that RIPC_LLVM_BIN names?
have_llvm_bin() {
	local tool
	for tool in opt llc llvm-mc llvm-ar llvm-objcopy llvm-mca ld.lld; do
		[ -x "$RIPC_LLVM_BIN/$tool" ] || [ -x "$RIPC_LLVM_BIN/$tool-22" ] || [ -x "$RIPC_LLVM_BIN/$tool-19" ] ||
			die "RIPC_LLVM_BIN=$RIPC_LLVM_BIN has no $tool; unset it to use the system's LLVM"
	done
}

# offered PACKAGE: does apt know a version of it?
offered() {
	local policy
	policy=$(apt-cache policy "$1" 2>/dev/null) || return 1
	[[ $policy == *"Candidate: "[!\(]* ]]
}

need_llvm=no
if [ -n "${RIPC_LLVM_BIN:-}" ]; then
	have_llvm_bin
elif ! have_llvm 22 && ! have_llvm 19; then
	need_llvm=yes
fi
need_qemu=no
for arch in aarch64 arm x86_64; do
	[ "$arch" = "$(uname -m)" ] && continue
	command -v "qemu-$arch" >/dev/null || command -v "qemu-$arch-static" >/dev/null || need_qemu=yes
done

need_cc=no
command -v cc >/dev/null && command -v c++ >/dev/null || need_cc=yes

# ldconfig is in a folder of root's PATH.
need_xgboost=no
[[ $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) == *libxgboost.so* ]] || need_xgboost=yes

need_sshd=no
PATH=$PATH:/sbin:/usr/sbin command -v sshd >/dev/null && command -v ssh >/dev/null || need_sshd=yes

need_opencl=no
[[ $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) == *libOpenCL.so.1* ]] && ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 &&
	[ -e /usr/include/CL/cl.h ] ||
	need_opencl=yes

if [ "$need_llvm$need_qemu$need_cc$need_xgboost$need_sshd$need_opencl" = nononononono ]; then
	say "LLVM, qemu-user, XGBoost, a C compiler, sshd and OpenCL are there; nothing to do"
	exit 0
fi
[ "$need_llvm" = no ] || say "missing: LLVM tools (llvm-22 and lld-22, or llvm-19 and lld-19)"
[ "$need_qemu" = no ] || say "missing: qemu-user"
[ "$need_cc" = no ] || say "missing: a C and C++ compiler (g++)"
[ "$need_xgboost" = no ] || say "missing: XGBoost's library (libxgboost0)"
[ "$need_sshd" = no ] || say "missing: ssh and sshd (openssh-client and openssh-server)"
[ "$need_opencl" = no ] || say "missing: OpenCL for CPUs (pocl-opencl-icd and ocl-icd-opencl-dev)"
[ "${1:-}" != --check ] || exit 1

apt_update "and set RIPC_LLVM_BIN to the folder of the LLVM tools"
packages=()
if [ "$need_llvm" = yes ]; then
	if offered llvm-22 && offered lld-22; then
		packages+=(llvm-22 lld-22)
	elif offered llvm-19 && offered lld-19; then
		say "no LLVM 22 in the package lists; taking 19"
		packages+=(llvm-19 lld-19)
	else
		die "the package lists have neither llvm-22 nor llvm-19; see https://apt.llvm.org, then set RIPC_LLVM_BIN"
	fi
fi
[ "$need_qemu" = no ] || packages+=(qemu-user)
[ "$need_cc" = no ] || packages+=(g++ libc6-dev)
[ "$need_sshd" = no ] || packages+=(openssh-client openssh-server)
[ "$need_xgboost" = no ] || packages+=(libxgboost0)
[ "$need_opencl" = no ] || packages+=(pocl-opencl-icd ocl-icd-opencl-dev)

apt_install "${packages[@]}"
say "done"
