#!/usr/bin/env bash
# What ripc does, in about a minute: compiles a trained network (digits) and SqueezeNet for this machine and for a
# Raspberry Pi 3, runs both on both (the Pi in simulation), and compares; then networks from Larq and Brevitas. It ends with the gain over the
# same network in floats, measured here, or with exit code 1 at the first difference.
# Needs bin/ripc (make build); `make demo` sees to that. What it makes lies in build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."

ripc=bin/ripc
out=build/demo
data=examples/digits/data
board=rpi3

die() { printf 'demo: %s\n' "$*" >&2; exit 1; }
say() { printf '\n== %s\n' "$*"; }
now() { date +%s%N; }
# took START: milliseconds since then
took() { echo $((($(now) - $1) / 1000000)); }
# field NAME FILE: the first number of that name in ripc's JSON
field() { sed -n '/^ *"'"$1"'": *[0-9]/{s/[^0-9.]//g;p;q}' "$2"; }

[ -x $ripc ] || die "$ripc is missing; run make build"
rm -rf $out
mkdir -p $out

table=()
# row NETWORK TARGET STEP RESULT
row() { table+=("$(printf '%-12s %-6s %-28s %s' "$@")"); }

for net in digits squeezenet; do
	for target in host $board; do
		say "compile $net for $target"
		start=$(now)
		$ripc compile examples/$net/$net.json --target $target -o $out/$net-$target | sed -n '1p;/^wrote/p'
		row $net $target "compile" "$(took "$start") ms"
	done
done

say "classify 360 digits here"
$ripc run $out/digits-host.so --input $data/x_test.npy --output $out/digits-host --json >$out/digits-host.json
# judge NETWORK LOGITS [FLAGS]: how many digits are right (at least 98 % must be), and how far the logits are from the framework's
judge() {
	local net=$1 logits=$2
	shift 2
	$ripc eval "$net" --input $data/x_test.npy --labels $data/y_test.npy --min-top1 0.98 --expect "$logits" --tol 1e-3 "$@" | sed 1d ||
		die "$net does not classify the digits as it should"
}
judge $out/digits-host.so $data/w1a2_logits_torch.npy
row digits host "360 digits, all together" "$(printf '%.2f' "$(field ms $out/digits-host.json)") ms"

say "classify 40 digits on the simulated $board"
start=$(now)
$ripc run $out/digits-$board.so --input $data/x_test.npy --first 40 --output $out/digits-$board >/dev/null
row digits $board "40 digits in simulation" "$(took "$start") ms"
judge $out/digits-$board.so $data/w1a2_logits_torch.npy --first 40
# The same bytes as here, in 40 rows of 10 floats behind the headers.
cmp -i 128 -n 1600 $out/digits-$board/output_0.npy $out/digits-host/output_0.npy ||
	die "the $board gives other logits"
echo "the same bytes as here"

say "SqueezeNet here and on the simulated $board, one random picture"
$ripc run $out/squeezenet-host.so --seed 1 --threads 2 --output $out/squeezenet-host --top 3
start=$(now)
$ripc run $out/squeezenet-$board.so --seed 1 --threads 2 --output $out/squeezenet-$board >/dev/null
row squeezenet $board "1 picture in simulation" "$(took "$start") ms"
cmp $out/squeezenet-host/output_0.npy $out/squeezenet-$board/output_0.npy || die "the $board gives another output"
echo "the same bytes"

say "a network from Larq (.tflite): 360 digits, against Larq Compute Engine"
judge testdata/lce/digits_w1a1.tflite testdata/lce/digits_w1a1.logits.npy

say "a network from Brevitas (.onnx): what becomes binary"
layers=$($ripc inspect testdata/qonnx/digits_w1a2.onnx | sed -n '/ LAYER /,/^$/p;/ bitserial, /p' | cut -c1-86)
case $layers in
*binary*) echo "$layers" ;;
*) die "inspect names no binary layer" ;;
esac

say "every stage against the interpreter"
for net in digits squeezenet; do
	$ripc verify examples/$net/$net.json | tail -n 1
done

say "SqueezeNet in floats: the same layers and shapes"
$ripc compile examples/squeezenet/squeezenet.json --float-twin -o $out/squeezenet-float | sed -n '/^weights/p'
# weights LIBRARY: its bytes of weights and tables
weights() { $ripc inspect "$1" --json | sed -n 's/^  "weight_bytes": \([0-9]*\).*/\1/p'; }
# turns FILE: times of the networks in bits and in floats, in turns; a line each
turns() {
	for round in 1 2 3; do
		for form in host float; do
			$ripc bench $out/squeezenet-$form.so --json >$out/round.json
			printf '%s %s\n' $form "$(field min_ms $out/round.json)" >>"$1"
		done
	done
}
turns $out/times

for net in digits squeezenet; do
	$ripc bench $out/$net-host.so --json >$out/$net-bench.json
	row $net host "one run, one thread" "$(field min_ms $out/$net-bench.json) ms"
	$ripc bench $out/$net-$board.so --json >$out/$net-bench-$board.json
	count=$(field instructions $out/$net-bench-$board.json)
	row $net $board "one run, one thread" "${count:+$((count / 1000)) thousand instructions}"
done

printf '\n%-12s %-6s %-28s %s\n' network target step result
printf '%s\n' "${table[@]}"

awk -v bits="$(weights $out/squeezenet-host.so)" -v floats="$(weights $out/squeezenet-float.so)" '
	!($1 in least) || $2 < least[$1] { least[$1] = $2 }
	END {
		times = least["float"] / least["host"]
		speed = times >= 1 ? sprintf("%.1f times faster", times) : sprintf("%.1f times slower", 1 / times)
		printf "\nSqueezeNet of 1 bit, on this machine: %s and %.0f times smaller than the same network in floats; every stage equal.\n", speed, floats / bits
	}' $out/times
