package networks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ripc/examples/networks/zoo"
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

// TestPaper: the paper's figures stand beside ours, a network that was not measured has dashes, and every row names a network.
func TestPaper(t *testing.T) {
	s := &figures.Store{}
	text, err := paperSection(t.TempDir(), "Riptide, table 1", s)
	if err != nil {
		t.Fatal(err)
	}
	const want = "| AlexNet, 1 bit, unipolar | 44.5 % | 150.4 | 8.4x | - | - | - |\n"
	if !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	var papers map[string]paperTable
	if err := json.Unmarshal(papersText, &papers); err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, n := range zoo.Networks() {
		known = append(known, n.Name)
	}
	for name, p := range papers {
		for _, r := range p.Rows {
			if !slices.Contains(known, r.Subject) {
				t.Errorf("%s: no network %s", name, r.Subject)
			}
		}
	}
	if _, err := paperSection(t.TempDir(), "another", s); err == nil {
		t.Error("a paper that is not there")
	}
}
