package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/golden"
	"ripc/measure/provenance"
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
	table := Table{Networks: []Row{{Name: "quicknet", OneMS: 2, FloatMS: 18, Cycles: map[string]float64{"rpi3": 3e6}, Library: 2 << 20, Memory: 2 << 10}}}
	const want = "| quicknet | 2.00 | - | 9.0x | - | 3.00 | - | 2.0 MiB | 0 KiB | 2 KiB | 0 KiB |\n"
	if got := table.markdown(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nends otherwise than\n%s", got, want)
	}
}

// TestResume: what was measured by the same machine and tools on the same day is taken over, other figures are not.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unfinished.json")
	now := provenance.Now()
	old := Table{Rounds: 3, Networks: []Row{{Name: "n", OneMS: 2, Mark: now}}}
	if err := old.write(path); err != nil {
		t.Fatal(err)
	}
	same, other, older := Table{Rounds: 3}, Table{Rounds: 2}, Table{Rounds: 3}
	same.resume(path)
	other.resume(path)
	old.Networks[0].Date = "2026-11-22"
	if err := old.write(path); err != nil {
		t.Fatal(err)
	}
	older.resume(path)
	if len(same.Networks) != 1 || same.Networks[0].OneMS != 2 || len(other.Networks) != 0 || len(older.Networks) != 0 {
		t.Errorf("%v, %v, %v", same, other, older)
	}
}

// TestKeep: networks that were not measured keep their rows and their places.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "networks.json")
	old := Table{Networks: []Row{{Name: "a", OneMS: 1}, {Name: "b", OneMS: 2}}}
	if err := old.write(path); err != nil {
		t.Fatal(err)
	}
	anew := Table{Networks: []Row{{Name: "b", OneMS: 3}, {Name: "c", OneMS: 4}}}
	anew.keep(path)
	var text []string
	for _, r := range anew.Networks {
		text = append(text, fmt.Sprint(r.Name, r.OneMS))
	}
	if got := strings.Join(text, " "); got != "a1 b3 c4" {
		t.Errorf("%s", got)
	}
}
