package web

import (
	"strings"
	"testing"

	"ripc/lab/figures"
)

// TestTable: figures that were not taken are dashes, and ratios are those of the same quantity.
func TestTable(t *testing.T) {
	f := figures.Figure{Key: figures.Key{Subject: "squeezenet, 1 bit"}, Values: map[string]float64{
		"min_node_ms": 4, "min_native_ms": 8, "min_node_binary_ms": 2.2, "min_native_binary_ms": 2, "min_node_float_ms": 1,
		"module_bytes": 2048}}
	const want = "| squeezenet, 1 bit | 4.00 | 8.00 | 1.10 | 0.25 | - | - | 2 KiB |\n"
	if got := table(figures.New(f)); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nends otherwise than\n%s", got, want)
	}
}
