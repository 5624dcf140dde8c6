package networks

import (
	"strings"
	"testing"

	"ripc/lab/figures"
)

// TestTable: figures that were not taken are dashes, and ratios are those of times with one thread.
func TestTable(t *testing.T) {
	f := figures.Figure{Key: figures.Key{Subject: "quicknet"}, Values: map[string]float64{
		"1_threads_ms": 2, "float_twin_1_threads_ms": 18, "rpi3_cycles": 3e6, "library_bytes": 2 << 20, "activations_bytes": 2 << 10}}
	const want = "| quicknet | 2.00 | - | 9.0x | - | 3.00 | - | 2.0 MiB | 0 KiB | 2 KiB | 0 KiB |\n"
	if got := table([]*figures.Figure{&f}); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nends otherwise than\n%s", got, want)
	}
}
