#!/usr/bin/env bash
# Installs the engines that ripc is measured beside, in Python environments below DIR, some gigabytes, and makes models for them. Environments and
# models that were made of the same files stay. It prints the version of each engine, and "lacking ENVIRONMENT: WHY" for what cannot be had.
#
#   scripts/setup-peers.sh DIR [PYTHON]     PYTHON makes the environments where there is no uv
#   scripts/setup-peers.sh --only ENVIRONMENT DIR [PYTHON]     one environment, and no models
set -euo pipefail

version=3.11 # of Python: the newest that Larq Compute Engine has packages for
only=
if [ "$1" = --only ]; then
	only=$2
	shift 2
fi
dir=$(realpath -m "$1")
pythons=${2:-python$version python3 python}
cd "$(dirname "$0")/../lab/peers/python"
mkdir -p "$dir/models"

# made MARK FILE...: whether the mark was made of these files
made() { [ "$(cat "$1" 2>/dev/null)" = "$(sha256sum "${@:2}")" ]; }

find_python() {
	for p in $pythons; do
		if "$p" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
			echo "$p"
			return
		fi
	done
	echo "no Python $version with venv (tried $pythons); install it, or uv" >&2
	return 1
}

# Requirements name all packages, so none brings others: tensorflow is there as tensorflow-cpu.
install() {
	local python=$dir/$1/bin/python requirements=requirements-$1.txt found
	! made "$dir/$1/ripc-installed" "$requirements" || return 0
	echo "$1: installing $requirements ($dir)" >&3
	rm -rf "${dir:?}/$1"
	if command -v uv >/dev/null; then
		uv venv --quiet --python "$version" "$dir/$1" && uv pip install --quiet --no-deps --python "$python" -r "$requirements" || return 1
	else
		found=$(find_python) && "$found" -m venv "$dir/$1" &&
			"$python" -m pip install --quiet --no-deps --disable-pip-version-check -r "$requirements" || return 1
	fi
	sha256sum "$requirements" >"$dir/$1/ripc-installed"
}

models() {
	[ -z "$only" ] || return 0
	local files=("requirements-$1.txt" "models_$1.py" networks.py) mark=$dir/models/made-$1
	! made "$mark" "${files[@]}" || return 0
	echo "$1: making models ($dir)" >&3
	"$dir/$1/bin/python" "models_$1.py" "$dir/models" || return 1
	sha256sum "${files[@]}" >"$mark"
}

exec 3>&2
for env in ${only:-onnx larq tvm}; do
	if { install "$env" && models "$env"; } >"$dir/$env.log" 2>&1; then
		sed -nE 's/^(onnxruntime|ai-edge-litert|larq-compute-engine|tensorflow-cpu|apache-tvm)==/\1 /p' "requirements-$env.txt"
	else
		cat "$dir/$env.log" >&2
		echo "lacking $env: $(tail -n 1 "$dir/$env.log")"
	fi
done
