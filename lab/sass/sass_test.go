package sass

import (
	"os"
	"strings"
	"testing"
)

// TestReport: innermost loops are found, without the branch to itself behind a kernel, and their counts are right. A kernel without loops counts whole.
func TestReport(t *testing.T) {
	text, err := os.ReadFile("testdata/loops.sass")
	if err != nil {
		t.Fatal(err)
	}
	log := ""
	for _, name := range []string{"first", "second", "third"} {
		log += "ptxas info    : Compiling entry function '" + name + "' for 'sm_90'\n    8 bytes stack frame, 4 bytes spill stores, 2 bytes spill loads\n" +
			"ptxas info    : Used 44 registers, used 1 barriers, 1248 bytes smem\n"
	}
	var out strings.Builder
	if err := report(&out, log, string(text)); err != nil {
		t.Fatal(err)
	}
	const head = ": 44 registers, 8 bytes of stack, 6 spilled, 1248 shared\n"
	want := "first" + head + "    longest loop: 5 instructions: 1 popcounts, 2 integer, 1 memory, 0 matrix; 2.0 cycles of a warp, 2.00 a popcount\n" +
		"second" + head + "    longest loop: 3 instructions: 0 popcounts, 0 integer, 0 memory, 1 matrix; 4.0 cycles of a warp, 1 calls\n" +
		"third" + head + "    no loop: 3 instructions: 0 popcounts, 0 integer, 1 memory, 1 matrix; 4.0 cycles of a warp\n"
	if out.String() != want {
		t.Errorf("got\n%s\nnot\n%s", out.String(), want)
	}
}
