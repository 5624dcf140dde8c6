#!/usr/bin/env bash
# fuzz.sh REGEXP TIME: runs each fuzz target whose PACKAGE.NAME matches, one after the other, for TIME. The Go tool lists them.
# All are run, whatever they find; the exit status says whether one found something.
set -euo pipefail
go=${GO:-go}
trap 'exit 130' INT
list=$("$go" test -list '^Fuzz' ./...) || { echo "$list"; exit 1; }
targets=$(awk '/^Fuzz/ { names[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print $2 "." names[i]; n = 0 }' <<<"$list" | grep -E -- "$1") ||
	{ echo "fuzz.sh: no fuzz target matches $1" >&2; exit 2; }
found=0
for t in $targets; do
	echo "$t"
	"$go" test "${t%.*}" -run '^$' -fuzz "^${t##*.}\$" -fuzztime "$2" -fuzzminimizetime 1s || found=1
done
exit $found
