package main

import (
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestPage: the page has the figures of docs/networks.json. Measuring is for make table.
func TestPage(t *testing.T) {
	table, err := readTable("../../../docs/networks.json")
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckSection(t, "../../../"+page, strings.TrimSpace(begin), strings.TrimSpace(end), table.markdown())
}

// TestMarkdown: figures that were not taken are dashes, and ratios are those of times with one thread.
func TestMarkdown(t *testing.T) {
	table := Table{Networks: []Row{{Name: "n", OneMS: 2, FloatMS: 18, Cycles: map[string]float64{"rpi3": 3e6}, Library: 2 << 20, Memory: 2 << 10}}}
	const want = "| n | 2.00 | - | 18.00 | - | 9.0x | - | - | 3.00 | - | 0 % | 0 % | 2.0 MiB | 0 KiB | 2 KiB | 0 KiB | 0.0 s | - |\n"
	if got := table.markdown(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nends otherwise than\n%s", got, want)
	}
}
