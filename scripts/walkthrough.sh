#!/usr/bin/env bash
# Rewrites the generated part of docs/walkthrough.md: one layer (conv2 of examples/digits) at every stage of the compiler,
# as ripc itself prints it. Needs bin/ripc (make build) and LLVM. The same ripc and the same LLVM give the same page.
#
#   scripts/walkthrough.sh           rewrite the page
#   scripts/walkthrough.sh --check   only compare; exit 1 and print the difference if the page is out of date
set -euo pipefail
cd "$(dirname "$0")/.."

ripc=${RIPC:-bin/ripc}
page=docs/walkthrough.md
model=examples/digits/digits.json
layer=conv2
begin='<!-- walkthrough: begin (scripts/walkthrough.sh writes what follows) -->'
end='<!-- walkthrough: end -->'

die() { printf 'walkthrough: %s\n' "$*" >&2; exit 1; }
[ -x "$ripc" ] || die "$ripc is missing; run make build"
for mark in "$begin" "$end"; do
	[ "$(grep -cxF -- "$mark" $page)" = 1 ] || die "$page must hold one line: $mark"
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$ripc" compile $model --target rpi3 --algorithm $layer=popcount --emit ll,s,ripir --print-after import,fusedglue -o "$tmp/rpi3" >"$tmp/graphs" 2>"$tmp/log" ||
	die "$(cat "$tmp/log")"
"$ripc" compile $model --target x86-64-v4 --algorithm $layer=popcount --emit s -o "$tmp/v4" >/dev/null
"$ripc" inspect $model --target rpi3 --layer $layer --algorithm $layer=popcount --ir >"$tmp/layer"
kernel=$(sed -n 's/^  kernel  //p' "$tmp/layer")
[ -n "$kernel" ] || die "ripc inspect names no kernel for $layer"
llvm=$("$ripc" version | sed 's/.*(\(LLVM [0-9.]*\).*/\1/')

# graph STAGE: the graph after that stage
graph() { awk -v want="# after $1" '/^# after/ { on = $0 == want } on && !/^#/' "$tmp/graphs"; }

# fold: a run of lines that only close braces becomes one "...", a single one stays
fold() {
	awk '
		/^ *}+$/ { n++; held = $0; next }
		{ flush(); print }
		END { flush() }
		function flush() { if (n == 1) print held; else if (n > 1) print "..."; n = 0 }
	'
}

# without PATTERN: instructions but that of the sums, and loops with a name that matches, become "..."
without() {
	awk -v drop="^ *(for %($1) |instr @.*_(clear|uadalp)_)" '
		{ match($0, /^ */); depth = RLENGTH }
		off && (depth > level || /^\.\.\.$/) { next }
		{ off = $0 ~ drop; level = depth }
		!off { print; next }
		{ print "..." }' | awk '$0 != "..." || last != "..." { print } { last = $0 }'
}

# ends FIRST LAST: the first and the last lines, "..." between them
ends() {
	awk -v first="$1" -v last="$2" '
		{ line[NR] = $0 }
		END {
			for (i = 1; i <= NR; i++) {
				if (NR <= first + last + 1 || i <= first || i > NR - last) print line[i]
				else if (i == first + 1) print "..."
			}
		}'
}

# module FILE MARK: the kernel's part of a .ll or .s file
module() { awk -v want="$2 module $kernel" -v mark="$2 module " 'index($0, mark) == 1 { on = $0 == want } on' "$1"; }

# innermost_ll FILE: the block of the innermost loop over the sum
innermost_ll() {
	module "$1" ";" | awk '
		/^for\.acc\./ { n = 0; on = 1 }
		on && /^$/ { on = 0 }
		on { line[++n] = $0 }
		END { for (i = 1; i <= n; i++) print line[i] }' | expand -t 2
}

# innermost_asm FILE COMMENT: the same in assembly, without the comments
innermost_asm() {
	module "$1" "$2" | awk -v mark="$2" '
		/^\.LBB[0-9_]*:.*%for\.acc\./ { n = 0; on = 1 }
		on && n > 0 && (/^\.LBB/ || index($0, mark " %bb") == 1) { on = 0 }
		on { line[++n] = $0 }
		END { for (i = 1; i <= n; i++) print line[i] }' |
		sed "s|[ 	]*$2.*||" | grep -v '^$' | expand -t 8,20
}

# listing NAME LANGUAGE: standard input as a listing; the test finds it by its name
listing() {
	printf '\n<!-- listing: %s -->\n```%s\n' "$1" "$2"
	cat
	printf '```\n\n'
}

generated() {
	echo "## 1. The model file"
	echo
	echo "Four layers of \`$model\`: the convolution, its normalization, its quantizer and a pool."
	sed -n '/"name": "conv2"/,/"name": "pool2"/s/^ *//p' $model | listing json json

	echo "## 2. The graph"
	echo
	echo "\`ripc compile $model --target rpi3 --print-after import,fusedglue\` prints the whole graph twice. After the import:"
	graph import | sed -n '/^  conv2:/,/^  pool2:/s/^  //p' | listing import text
	echo "After \`fusedglue\` one node is left. The batch_norm and the quantizer have become thresholds on the sum of"
	echo "popcounts. xor counts differences, so the largest sum is the smallest count: the pool takes the minimum before the"
	echo "comparison."
	graph fusedglue | sed -n '/^  pool2:/s/^  //p' | listing fusedglue text

	echo "## 3. The computation: .ripir before scheduling"
	echo
	echo "From \`ripc inspect $model --target rpi3 --layer $layer --algorithm $layer=popcount --ir\`. This Func, run by the interpreter, is the definition of the"
	echo "layer. \`%xp\` is the padded input, \`%acc\` the sums, \`%pl\` the pooled sums; planes (\`%acc.n\`) are added from the top one"
	echo "down, doubling the sum in between. \`%t\` holds the thresholds, three for each filter, since the output has two bits."
	sed -n '/^# before scheduling/,/^# after scheduling/p' "$tmp/layer" | grep -v '^#' | fold | without xp.p | listing before text

	echo "## 4. How: the schedule"
	echo
	echo "The same command prints the trace that the search found for popcounts on rpi3 (docs/machines.md). docs/schedule.md explains the steps."
	sed -n '/^  trace/,/^# before/s/^    //p' "$tmp/layer" | ends 23 3 | listing trace text

	echo "## 5. .ripir after scheduling"
	echo
	echo "The same layer with the trace applied: rows are shared out among threads, channels are lanes of vectors, and padded"
	echo "rows, sums and pooled sums have shrunk to what one tile needs. Loops that pad rows, and that clear and widen sums, are left out."
	sed -n '1,/^# after scheduling/!p' "$tmp/layer" | fold | without 'xp.p|acc.[rb].[zw]1|acc.h.[12]' | listing after text

	echo "## 6. LLVM IR"
	echo
	echo "The innermost loop over the sum, from \`ripc compile $model --target rpi3 --algorithm $layer=popcount --emit ll\`. It is the text before LLVM's"
	echo "optimizer: index arithmetic is repeated for every access, and accumulators are still in memory."
	innermost_ll "$tmp/rpi3.ll" | ends 9 2 | listing ll llvm

	echo "## 7. Assembly"
	echo
	echo "The same loop for rpi3 ($llvm, \`--target rpi3 --algorithm $layer=popcount --emit s\`). xor is \`eor\`; \`cnt\` counts the bits of each byte;"
	echo "\`add\` or \`uqadd\`, which saturates where no sum here can, adds the counts of bytes. Behind the loop \`uaddlp\` and \`uadalp\` add bytes up to 32-bit sums."
	innermost_asm "$tmp/rpi3.s" "//" | ends 14 3 | listing asm-rpi3 asm
	echo "And for x86-64-v4 (\`--target x86-64-v4 --algorithm $layer=popcount --emit s\`), which has 512-bit vectors but no instruction that counts bits in"
	echo "them: LLVM counts by table, four bits at a time (\`vpshufb\`); \`vpmaddubsw\` and \`vpmaddwd\` add the bytes up. A host with"
	echo "AVX512_VPOPCNTDQ needs \`vpxord\`, \`vpopcntd\` and \`vpaddd\` instead. By default the layer looks its counts up there."
	innermost_asm "$tmp/v4.s" "#" | ends 10 3 | listing asm-x86-64-v4 asm
}

{
	awk -v stop="$begin" '{ print } $0 == stop { exit }' $page
	generated | cat -s
	awk -v start="$end" '$0 == start { on = 1 } on' $page
} >"$tmp/page"

if [ "${1:-}" = --check ]; then
	diff -u $page "$tmp/page" || die "$page is out of date; run scripts/walkthrough.sh"
	exit 0
fi
cat "$tmp/page" >$page
